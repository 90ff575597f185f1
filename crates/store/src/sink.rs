//! A run as it happens: written between phases only, one transaction for each event.

use kernmark_model::event::{Event, EventBody, Sink, SinkError};
use kernmark_model::run::{Doubt, Outcome, Run};
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::code::{from_json, to_json};
use crate::error::Fault;
use crate::{Store, StoreError, write};

/// What stands in a run from its beginning until it is finished: who reads it in between, reads it after a kill.
const INTERRUPTED: &str = "interrupted: the program ended before the run did";

impl Sink for Store {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        let name = event.run;
        let written = match &event.body {
            EventBody::RunStarted { run } => {
                self.change("beginning a run", |change| begin(change, run))
            }
            EventBody::PhaseFinished { phase } => self.change("storing a phase", |change| {
                write::append(change, name, row(change, name)?, phase)
            }),
            EventBody::Doubted { doubt } => self.change("storing a doubt", |change| {
                doubt_run(change, name, std::slice::from_ref(doubt)).map(drop)
            }),
            EventBody::RunFinished { run } => {
                self.change("finishing a run", |change| finish(change, run))
            }
            // For those who watch.
            EventBody::Note { .. } | EventBody::PhaseStarted { .. } | EventBody::Tick(_) => Ok(()),
        };
        written.map_err(|error| SinkError(Box::new(error)))
    }
}

fn begin(change: &Connection, run: &Run) -> Result<(), Fault> {
    if write::id(change, &run.uuid)?.is_some() {
        return Err(StoreError::Begun { run: run.uuid }.into());
    }
    let run = Run {
        outcome: Outcome::Partial(INTERRUPTED.to_owned()),
        phases: Vec::new(),
        ..run.clone()
    };
    write::save(change, &run)?;
    Ok(())
}

/// Takes everything from the run as it is now but the phases, which are there; doubts that were told before stay.
fn finish(change: &Connection, run: &Run) -> Result<(), Fault> {
    let doubts = doubt_run(change, run.uuid, &run.doubts)?;
    let run = Run {
        doubts,
        phases: Vec::new(),
        ..run.clone()
    };
    write::save(change, &run)?;
    // Its machine and target may have been told better, and the first tellings are then nobody's.
    write::forget_records(change)
}

/// Adds doubts that the run does not have yet; returns all it has then.
fn doubt_run(change: &Connection, name: Uuid, doubts: &[Doubt]) -> Result<Vec<Doubt>, Fault> {
    let id = row(change, name)?;
    let known: String = change
        .prepare_cached("SELECT doubts FROM run WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let mut all: Vec<Doubt> = from_json(format!("the doubts of run {name}"), &known)?;
    for doubt in doubts {
        if !all.contains(doubt) {
            all.push(doubt.clone());
        }
    }
    let text = to_json(name, "doubts", &all)?;
    change
        .prepare_cached("UPDATE run SET doubts = ?2 WHERE id = ?1")?
        .execute(params![id, text])?;
    Ok(all)
}

/// The row of a run that was begun.
fn row(change: &Connection, name: Uuid) -> Result<i64, Fault> {
    let missing = || StoreError::NoSuchRun {
        name: name.to_string(),
    };
    Ok(write::id(change, &name)?.ok_or_else(missing)?)
}
