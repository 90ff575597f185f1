//! The text of dbench 4.00, read and written.
//!
//! [`DBENCH_4`] is both directions. A personality that prints while it runs makes its lines with the functions of
//! this module, each of which gives a line, or the lines of a table, without the last line end; [`ending`] is what
//! comes after the last tick.
//!
//! Read is every result in a text: quoted in a mail, with long lines broken and blanks squeezed, with other text around
//! and between. The tables of the later development line, whose names are longer, are read as well; they are written in
//! the width of 4.00. One MB is 10^6 bytes.

mod imported;
mod lines;
mod measured;
pub mod printf;
mod read;
mod restored;
mod text;

#[cfg(test)]
mod tests;

use kernmark_engine::tool::{Format, FormatError};
use kernmark_model::run::{Origin, Run};

use super::{CLEANUP, EXECUTE};

pub use lines::{
    CHILD_FAILED_LINE, ClientResult, RELEASING_LINE, Row, Stage, ThroughputLine, banner,
    cleanup_line, per_client_table, prepared_line, running_line, table, throughput_line, tick_line,
};

/// The text of dbench 4.00, as most distributions have it.
pub const DBENCH_4: Format = Format {
    name: "dbench-4.0",
    parse: parse_text,
    print,
};

/// Every result of dbench 4.00 in the text, in order.
///
/// A run whose result line is missing is `Partial` if it got as far as an execute line or a table; one whose client
/// ended with an error is `Failed`. The file's name is left empty for the caller to fill in.
pub fn parse_text(text: &str) -> Result<Vec<Run>, FormatError> {
    let found = text::find(text)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let digest = imported::digest(text);
    Ok(found
        .iter()
        .map(|found| imported::run(found, &digest))
        .collect())
}

/// The whole text of a run.
fn print(run: &Run) -> Result<String, FormatError> {
    Ok(report(run)?.to_string())
}

/// What comes after the last tick: the tables and the result, each with the empty lines around it.
pub fn ending(run: &Run) -> Result<String, FormatError> {
    Ok(report(run)?.ending())
}

fn report(run: &Run) -> Result<text::Report, FormatError> {
    match run.origin {
        Origin::Measured => measured::report(run),
        Origin::Imported { .. } => restored::report(run),
    }
}
