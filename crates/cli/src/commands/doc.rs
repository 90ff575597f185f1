//! `kernmark doc`: a tool's page, and its parameters.

use super::{Context, list, tool};
use crate::args::Doc;
use crate::exit::{Exit, Failure};

pub(super) fn run(command: &Doc, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (tool, _) = tool(&command.tool)?;
    context.print(|out| {
        let parameters = list::parameters(tool, tool.workloads);
        write!(
            out,
            "{}\n\n## Parameters\n\n{parameters}",
            tool.doc.trim_end()
        )
    })?;
    Ok(Exit::Done)
}
