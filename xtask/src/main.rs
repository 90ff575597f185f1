//! kernmark's chores, one file each: `cargo xtask ci` is the one test command.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who started it"
)]

mod bench;
mod ci;
mod command;
mod docs;
mod elf;
mod fuzz;
mod setup;
mod static_build;
mod versus;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

const USAGE: &str = "\
usage: cargo xtask CHORE

  ci                     every check and test; keeps going and ends with a summary
  setup                  install, as root by apt, what tests would otherwise skip for
  docs                   write the generated pages under docs/
  static                 build the static program and check that it is one
  bench                  start time and null engine rate of the static program
  versus TOOL            ours against the original in alternating pairs (dbench, null)
      --pairs N          pairs a setting (default 12; with fewer nothing is written)
      --seconds S        measured seconds a run (default 10; null 5)
      --clients 1,2,48   client counts (dbench)
      --on tmpfs,ext4    where the files lie (dbench)
  fuzz TARGET SECONDS    feed a parser nonsense (needs cargo-fuzz and a nightly toolchain)
";

fn main() -> ExitCode {
    match dispatch(lexopt::Parser::from_env()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut arguments: lexopt::Parser) -> Result<ExitCode> {
    let chore = match arguments.next()? {
        Some(Value(word)) => word.string()?,
        Some(Short('h') | Long("help")) => {
            print!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(other) => return Err(other.unexpected().into()),
        None => bail!("which chore?\n{USAGE}"),
    };
    match chore.as_str() {
        "versus" => versus::run(arguments)?,
        "fuzz" => {
            let [target, seconds] = values(arguments)?;
            let seconds = seconds.parse().context("SECONDS is a whole number")?;
            fuzz::run(&target, seconds)?;
        }
        other => {
            let [] = values(arguments)?;
            match other {
                "ci" => return ci::run(),
                "setup" => setup::run()?,
                "docs" => docs::write()?,
                "static" => drop(static_build::run()?),
                "bench" => bench::run()?,
                _ => bail!("no chore is called {other:?}\n{USAGE}"),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The rest of the line: exactly `N` words and no flag.
fn values<const N: usize>(mut arguments: lexopt::Parser) -> Result<[String; N]> {
    let mut words = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(word) => words.push(word.into_string().map_err(not_utf8)?),
            other => return Err(other.unexpected().into()),
        }
    }
    let found = words.len();
    words
        .try_into()
        .map_err(|_| anyhow::anyhow!("expected {N} more words, found {found}\n{USAGE}"))
}

fn not_utf8(word: OsString) -> anyhow::Error {
    anyhow::anyhow!("{} is not UTF-8", word.display())
}
