//! `kernmark export`: stored runs as text for other programs.

use kernmark_store::export;

use super::Context;
use crate::args::{Export, ExportFormat};
use crate::exit::{Exit, Failure};

pub(super) fn run(command: &Export, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let store = context.store()?;
    let selection = command.which.selection(&store)?;
    let write = match command.format {
        ExportFormat::Json => export::json,
        ExportFormat::Csv => export::csv,
        ExportFormat::Sql => export::sql,
    };
    write(&store, &selection, command.redact, context.out)?;
    Ok(Exit::Done)
}
