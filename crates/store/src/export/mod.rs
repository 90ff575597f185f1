//! Runs as text for other programs: JSON that reads back, CSV for spreadsheets, SQL for databases.
//!
//! Each writes run by run; none holds more than one in memory.

mod csv;
mod json;
mod sql;

pub use csv::{CSV_HEADER, csv};
pub use json::{JSON_VERSION, json, read_json, recognises_json};
pub use sql::sql;

use std::io;

use kernmark_model::run::Run;

use crate::{Detail, Redactor, Selection, Store, StoreError};

/// Hands the selected runs to `write`, without names where they shall be redacted.
fn each(
    store: &Store,
    selection: &Selection,
    detail: Detail,
    redact: bool,
    mut write: impl FnMut(&Run) -> io::Result<()>,
) -> Result<(), StoreError> {
    let mut redactor = redact.then(Redactor::default);
    store.each(selection, detail, |run| {
        let run = match &mut redactor {
            Some(redactor) => redactor.run(run),
            None => run,
        };
        write(&run).map_err(StoreError::Export)
    })
}
