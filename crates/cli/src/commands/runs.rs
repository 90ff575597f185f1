//! `kernmark runs`: what is stored, and how it is removed.

use kernmark_report::{Form, RunLine, runs_text};
use kernmark_store::{Detail, RunHead, Store, StoreError};
use serde::Serialize;
use uuid::Uuid;

use super::Context;
use crate::args::Runs;
use crate::exit::{Exit, Failure, complain};
use crate::output::{columns, json_line};

/// Version of what `runs --json` writes.
const VERSION: u32 = 1;

pub(super) fn run(command: &Runs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if command.delete {
        return delete(command, context);
    }
    let store = context.store()?;
    if command.facts {
        facts(&store, context)?;
        return Ok(Exit::Done);
    }
    let selection = command.which.selection(&store)?;
    if context.common.json {
        let runs = store.runs(&selection)?;
        context.print(|out| {
            runs.iter()
                .try_for_each(|run| json_line(out, &Told::of(run)))
        })?;
        return Ok(Exit::Done);
    }
    let mut lines = Vec::new();
    store.each(&selection, Detail::Figures, |run| {
        lines.push(RunLine::of(&run));
        Ok::<(), StoreError>(())
    })?;
    context.print(|out| out.write_all(runs_text(&lines, Form::Text).as_bytes()))?;
    Ok(Exit::Done)
}

fn delete(command: &Runs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if command.which.is_all() {
        return Err(Failure::wrong_use(
            "which runs are to be removed?\n  name them, or select them with --where; `kernmark runs` lists all",
        ));
    }
    // Looked up for reading: a mistyped store is not made.
    let store = context.store()?;
    let selection = command.which.selection(&store)?;
    let runs: Vec<Uuid> = store.runs(&selection)?.iter().map(|run| run.uuid).collect();
    drop(store);
    let removed = context.location()?.open()?.delete(&runs)?;
    if !context.common.quiet {
        complain(format_args!("{removed} runs removed"));
    }
    Ok(Exit::Done)
}

/// Every fact that runs are selected by, its first values, and how many it has.
fn facts(store: &Store, context: &mut Context<'_>) -> Result<(), Failure> {
    const SHOWN: usize = 4;
    let mut rows = Vec::new();
    for key in store.fact_keys()? {
        let values = store.fact_values(&key)?;
        let more = values.len().saturating_sub(SHOWN);
        let first = values.iter().take(SHOWN).map(|(value, _)| value.as_str());
        let mut shown = first.collect::<Vec<_>>().join(" | ");
        if more > 0 {
            shown.push_str(&format!(" | and {more} more"));
        }
        rows.push((key, shown));
    }
    context.print(|out| columns(out, &rows))
}

#[derive(Serialize)]
struct Told<'a> {
    version: u32,
    uuid: Uuid,
    started: Option<&'a str>,
    selector: &'a str,
    label: Option<&'a str>,
    params: &'a kernmark_model::plan::Params,
    on: Option<&'a str>,
    kernel: Option<&'a str>,
    filesystem: Option<&'a str>,
    outcome: &'a kernmark_model::run::Outcome,
    /// Nanoseconds.
    elapsed: Option<kernmark_model::units::Nanos>,
    session: Option<&'a kernmark_model::run::SessionPlace>,
    imported: bool,
    doubts: u32,
}

impl<'a> Told<'a> {
    fn of(run: &'a RunHead) -> Self {
        Self {
            version: VERSION,
            uuid: run.uuid,
            started: run.started.as_deref(),
            selector: &run.selector,
            label: run.label.as_deref(),
            params: &run.params,
            on: run.on.as_deref(),
            kernel: run.kernel.as_deref(),
            filesystem: run.filesystem.as_deref(),
            outcome: &run.outcome,
            elapsed: run.elapsed,
            session: run.session.as_ref(),
            imported: run.imported,
            doubts: run.doubts,
        }
    }
}
