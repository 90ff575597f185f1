//! `kernmark show`: a stored run, whole.

use kernmark_engine::tool::Format;
use kernmark_report::{Form, run_text};
use kernmark_store::{Selection, export};
use kernmark_tools::ALL;

use super::Context;
use crate::args::Show;
use crate::exit::{Exit, Failure};
use crate::workshop::short;

pub(super) fn run(command: &Show, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let store = context.store()?;
    let uuid = store.find(&command.run)?;
    if context.common.json {
        let selection = Selection {
            runs: vec![uuid],
            ..Selection::default()
        };
        export::json(&store, &selection, false, context.out)?;
        return Ok(Exit::Done);
    }
    let run = store.run(&uuid)?;
    if let Some(name) = &command.format {
        let format = format(name, &run.plan.tool)?;
        let text = (format.print)(&run).map_err(|error| {
            Failure::wrong_use(format_args!(
                "cannot show {} as {name}: {error}",
                short(uuid)
            ))
        })?;
        context.print(|out| out.write_all(text.as_bytes()))?;
        return Ok(Exit::Done);
    }
    context.print(|out| out.write_all(run_text(&run, Form::Text).as_bytes()))?;
    Ok(Exit::Done)
}

/// The format called so.
fn format(name: &str, tool: &str) -> Result<&'static Format, Failure> {
    let mut formats = ALL.iter().flat_map(|tool| tool.formats);
    formats.find(|format| format.name == name).ok_or_else(|| {
        let own = ALL.iter().filter(|known| known.name == tool);
        let names: Vec<&str> = own
            .flat_map(|tool| tool.formats)
            .map(|format| format.name)
            .collect();
        let there_are = match names.as_slice() {
            [] => format!("{tool} has none"),
            names => format!("{tool} has {}", names.join(", ")),
        };
        Failure::wrong_use(format_args!("there is no format \"{name}\"; {there_are}"))
    })
}
