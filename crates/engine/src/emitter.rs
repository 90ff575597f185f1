//! Numbers the events of a run and hands them to their receivers.

use kernmark_model::event::{EVENT_VERSION, Event, EventBody, Sink, SinkError};
use kernmark_model::units::Nanos;
use kernmark_sys::clock;
use uuid::Uuid;

/// Speaks for one run.
pub(crate) struct Emitter<'s> {
    sinks: Vec<&'s mut dyn Sink>,
    number: &'s mut u64,
    run: Uuid,
    started: u64,
    /// The run's clock where it is scripted.
    scripted: Option<u64>,
}

impl<'s> Emitter<'s> {
    pub(crate) fn new(
        sinks: Vec<&'s mut dyn Sink>,
        number: &'s mut u64,
        run: Uuid,
        started: u64,
        scripted: bool,
    ) -> Self {
        Self {
            sinks,
            number,
            run,
            started,
            scripted: scripted.then_some(0),
        }
    }

    /// The run's start on its clock.
    pub(crate) const fn started(&self) -> u64 {
        self.started
    }

    /// The run's clock.
    pub(crate) fn now(&self) -> u64 {
        self.scripted.unwrap_or_else(clock::monotonic)
    }

    /// Moves the clock of a scripted run.
    pub(crate) const fn set_scripted(&mut self, now: u64) {
        self.scripted = Some(now);
    }

    /// Sends one event to every receiver; the first error is returned, after all have had it.
    pub(crate) fn emit(&mut self, body: EventBody) -> Result<(), SinkError> {
        let at = Nanos(self.now().saturating_sub(self.started));
        let event = Event {
            version: EVENT_VERSION,
            number: *self.number,
            run: self.run,
            at,
            body,
        };
        *self.number += 1;
        let mut result = Ok(());
        for sink in &mut self.sinks {
            let sent = sink.event(&event);
            if result.is_ok() {
                result = sent;
            }
        }
        result
    }
}
