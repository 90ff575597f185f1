//! `kernmark machine`: what is recorded beside every number.

use kernmark_engine::machine::{Root, Site, read, read_target, this_build};
use kernmark_model::machine::{Difference, Machine, Target, facts_diff};
use kernmark_model::run::Run;
use kernmark_report::{Form, machine_diff_text, machine_text};
use serde::Serialize;

use super::{Context, head};
use crate::args::{Machine as Command, MachineCommand};
use crate::exit::{Exit, Failure};
use crate::output::json_line;
use crate::surroundings::program;
use crate::workshop::short;

/// Version of what `machine --json` writes.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Told {
    version: u32,
    machine: Machine,
    target: Option<Target>,
}

#[derive(Serialize)]
struct ToldDifference<'a> {
    version: u32,
    key: &'a str,
    first: Option<&'a str>,
    second: Option<&'a str>,
}

pub(super) fn run(command: &Command, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match &command.command {
        Some(MachineCommand::Diff { first, second }) => diff(first, second, context)?,
        None => here(command, context)?,
    }
    Ok(Exit::Done)
}

/// This machine, and perhaps a target on it.
fn here(command: &Command, context: &mut Context<'_>) -> Result<(), Failure> {
    let root = Root::real();
    let mut build = this_build(None);
    build.commit = program().commit;
    let machine = read(&root, build);
    let target = match &command.on {
        None => None,
        Some(path) => {
            let site = Site::of(&context.around.cwd.join(path)).map_err(|error| {
                Failure::need(format_args!(
                    "cannot look at {}: {error}\n  name a directory, file or device with --on",
                    path.display()
                ))
            })?;
            Some(read_target(&root, &site))
        }
    };
    let json = context.common.json;
    context.print(|out| {
        if json {
            return json_line(
                out,
                &Told {
                    version: VERSION,
                    machine,
                    target,
                },
            );
        }
        out.write_all(machine_text(&machine, target.as_ref(), Form::Text).as_bytes())
    })
}

/// In what two runs' machines and targets differ.
fn diff(first: &str, second: &str, context: &mut Context<'_>) -> Result<(), Failure> {
    let store = context.store()?;
    let (first, second) = (head(&store, first)?, head(&store, second)?);
    let mut differences = named(
        "machine",
        facts_diff(&first.machine.facts(), &second.machine.facts()),
    );
    let target = |run: &Run| run.target.as_ref().map(Target::facts).unwrap_or_default();
    differences.extend(named(
        "target",
        facts_diff(&target(&first), &target(&second)),
    ));
    let json = context.common.json;
    context.print(|out| {
        if json {
            return differences.iter().try_for_each(|difference| {
                let told = ToldDifference {
                    version: VERSION,
                    key: &difference.key,
                    first: difference.first.as_deref(),
                    second: difference.second.as_deref(),
                };
                json_line(out, &told)
            });
        }
        let names = [&first, &second].map(headed);
        let text = machine_diff_text(&names[0], &names[1], &differences, Form::Text);
        out.write_all(text.as_bytes())
    })
}

/// A run, as its facts are headed.
fn headed(run: &Run) -> String {
    let label = run.plan.label.as_ref();
    let label = label.map_or_else(String::new, |label| format!(" ({label})"));
    format!("{}{label}", short(run.uuid))
}

fn named(record: &str, differences: Vec<Difference>) -> Vec<Difference> {
    differences
        .into_iter()
        .map(|difference| Difference {
            key: format!("{record}.{}", difference.key),
            ..difference
        })
        .collect()
}
