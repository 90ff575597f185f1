//! Who hears what the engine says: the store first, then the JSON stream, then whoever watches.

use std::io::{self, Write};

use kernmark_model::event::{Event, EventBody, Sink, SinkError};
use kernmark_model::run::Doubt;
use kernmark_store::Store;
use uuid::Uuid;

use crate::progress::Progress;

/// The receivers of one run of a plan.
pub(crate) struct Receivers<'a> {
    pub(crate) store: &'a mut Store,
    /// The plan that the run is of, and its place therein.
    pub(crate) plan: (Uuid, u32),
    /// What a reader of the run must know, and the engine does not.
    pub(crate) doubts: &'a [Doubt],
    /// Takes a line of JSON for each event.
    pub(crate) json: Option<&'a mut dyn Write>,
    pub(crate) progress: &'a mut Progress,
}

impl Sink for Receivers<'_> {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        let doubted = self.doubted(event);
        let event = doubted.as_ref().unwrap_or(event);
        self.store.event(event)?;
        if matches!(event.body, EventBody::RunStarted { .. }) {
            let (plan, position) = self.plan;
            self.store
                .mark_started(plan, position, event.run)
                .map_err(|error| SinkError(Box::new(error)))?;
        }
        if let Some(json) = &mut self.json {
            line(json, event).map_err(|error| SinkError(Box::new(error)))?;
        }
        self.progress.event(event);
        Ok(())
    }
}

impl Receivers<'_> {
    /// The event with our doubts, where it carries a run.
    fn doubted(&self, event: &Event) -> Option<Event> {
        let carries = matches!(
            event.body,
            EventBody::RunStarted { .. } | EventBody::RunFinished { .. }
        );
        if !carries || self.doubts.is_empty() {
            return None;
        }
        let mut event = event.clone();
        if let EventBody::RunStarted { run } | EventBody::RunFinished { run } = &mut event.body {
            run.doubts.extend_from_slice(self.doubts);
        }
        Some(event)
    }
}

/// At once: whoever reads the stream waits for it.
fn line(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}
