//! Ours against the original: alternating pairs on one machine, every pair kept, one verdict a setting.
//!
//! Writes a section of `docs/versus.md` and the raw pairs beside it. The section is replaced in place, so each tool
//! can be measured on its own day.

mod cpu;
mod dbench;
pub(crate) mod null;
mod page;
mod pairs;
mod place;

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use place::Place;

/// Fewer pairs show something, but are not published.
const FEWEST_PAIRS: usize = 12;

/// What the command line asks for.
struct Options {
    /// Runs of each side in a setting.
    pairs: usize,
    /// Measured seconds of a run; `None` leaves it to the comparison.
    seconds: Option<u32>,
    /// Client counts, a setting for each; `None` as above.
    clients: Option<Vec<u32>>,
    /// Where the files lie, a setting for each.
    places: Vec<Place>,
}

/// The chore: the tool's name and its flags.
pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut tool = None;
    let mut options = Options {
        pairs: FEWEST_PAIRS,
        seconds: None,
        clients: None,
        places: vec![Place::Tmpfs, Place::Ext4],
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(word) if tool.is_none() => tool = Some(word.string()?),
            Long("pairs") => options.pairs = arguments.value()?.parse()?,
            Long("seconds") => options.seconds = Some(arguments.value()?.parse()?),
            Long("clients") => options.clients = Some(list(&arguments.value()?.string()?)?),
            Long("on") => options.places = list(&arguments.value()?.string()?)?,
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(options.pairs > 0, "--pairs 0 measures nothing");
    match tool.as_deref() {
        Some("dbench") => dbench::run(&options),
        Some("null") => null::run(&options),
        Some(other) => bail!("{other:?} is not compared yet: dbench and null are"),
        None => bail!("versus which tool? dbench or null"),
    }
}

/// `a,b,c`, each read as a `T`.
fn list<T: std::str::FromStr<Err: Into<anyhow::Error>>>(text: &str) -> Result<Vec<T>> {
    text.split(',')
        .map(|item| {
            item.parse()
                .map_err(Into::into)
                .with_context(|| format!("in {text:?}"))
        })
        .collect()
}
