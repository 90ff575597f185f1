//! `kernmark doc`: a tool's page, and its parameters.

use super::{Context, list, tool};
use crate::args::Doc;
use crate::exit::{Exit, Failure};

pub(super) fn run(command: &Doc, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (tool, _) = tool(&command.tool)?;
    context.print(|out| {
        writeln!(out, "{}\n", tool.doc.trim_end())?;
        writeln!(out, "## Parameters\n")?;
        list::parameters(out, tool, tool.workloads)
    })?;
    Ok(Exit::Done)
}
