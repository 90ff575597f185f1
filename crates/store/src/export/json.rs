//! Every bit of a run as JSON: a head, then one run a line.

use std::io::{BufRead, Write};

use kernmark_model::run::Run;
use serde::{Deserialize, Serialize};

use crate::export::each;
use crate::{Detail, Selection, Store, StoreError};

/// Version of the export's form.
pub const JSON_VERSION: u32 = 1;

/// What the first line says.
const FORMAT: &str = "kernmark-runs";

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// [`FORMAT`].
    format: String,
    /// [`JSON_VERSION`] of the program that wrote it.
    version: u32,
    /// Names were taken out.
    redacted: bool,
}

/// Writes the selected runs whole: a line `{"format":"kernmark-runs","version":1,"redacted":false}`, then each run on a
/// line of its own. [`read_json`] reads the same runs back.
pub fn json(
    store: &Store,
    selection: &Selection,
    redact: bool,
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    let head = Head {
        format: FORMAT.to_owned(),
        version: JSON_VERSION,
        redacted: redact,
    };
    line(out, &head).map_err(StoreError::Export)?;
    each(store, selection, Detail::Full, redact, |run| line(out, run))?;
    out.flush().map_err(StoreError::Export)
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The beginning of a text says that it is such an export.
pub fn recognises_json(first: &str) -> bool {
    let mut lines = first.lines();
    lines.next().is_some_and(|line| {
        serde_json::from_str::<Head>(line).is_ok_and(|head| head.format == FORMAT)
    })
}

/// Reads runs that [`json`] wrote, one by one. After an error nothing more comes.
pub fn read_json(text: impl BufRead) -> impl Iterator<Item = Result<Run, StoreError>> {
    let mut over = false;
    (1_u64..)
        .zip(text.lines())
        .map(|(number, line)| {
            let refused = |why: String| StoreError::Format { line: number, why };
            let line = line.map_err(|error| refused(error.to_string()))?;
            if number == 1 {
                check_head(&line).map_err(refused).map(|()| None)
            } else if line.trim().is_empty() {
                Ok(None)
            } else {
                let run = serde_json::from_str(&line);
                run.map(Some)
                    .map_err(|error| refused(format!("not a run: {error}")))
            }
        })
        .take_while(move |read| !std::mem::replace(&mut over, read.is_err()))
        .filter_map(Result::transpose)
}

fn check_head(line: &str) -> Result<(), String> {
    match serde_json::from_str::<Head>(line) {
        Ok(head) if head.format != FORMAT => {
            Err(format!("an export of \"{}\" and not of runs", head.format))
        }
        Ok(head) if head.version > JSON_VERSION => Err(format!(
            "an export of version {}, and this program knows versions up to {JSON_VERSION}; use a later program",
            head.version
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("not the head of an export of runs: {error}")),
    }
}
