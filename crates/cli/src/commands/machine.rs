//! `kernmark machine`: what is recorded beside every number.

use std::io::{self, Write};

use kernmark_engine::machine::{Root, Site, read, read_target, this_build};
use kernmark_model::machine::{Difference, Fact, Machine, Target, facts_diff, summary};
use kernmark_model::run::Run;
use serde::Serialize;

use super::{Context, head};
use crate::args::{Machine as Command, MachineCommand};
use crate::exit::{Exit, Failure};
use crate::output::{columns, json_line};
use crate::surroundings::program;

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
        writeln!(out, "{}\n", summary(&machine, target.as_ref()))?;
        facts(out, "machine", &machine.facts())?;
        target.map_or(Ok(()), |target| facts(out, "target", &target.facts()))
    })
}

fn facts(out: &mut dyn Write, record: &str, facts: &[Fact]) -> io::Result<()> {
    let rows: Vec<[String; 2]> = facts
        .iter()
        .map(|fact| [format!("{record}.{}", fact.key), fact.value.clone()])
        .collect();
    columns(out, "", &rows)
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
        if differences.is_empty() {
            return writeln!(
                out,
                "machine and target are the same in all that is recorded"
            );
        }
        let rows: Vec<[String; 3]> = differences.iter().map(row).collect();
        columns(out, "", &rows)
    })
}

fn row(difference: &Difference) -> [String; 3] {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    [
        difference.key.clone(),
        known(&difference.first),
        known(&difference.second),
    ]
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
