//! The engine over work that is nothing, against fio's null engine: what each costs an op at the most.
//!
//! fio keeps its full timing: it reads the clock for every I/O and records its latency, as we do.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use kernmark_model::event::{Event, EventBody};
use kernmark_sys::testing::program;
use serde::Serialize;
use serde_json::Value;

use super::Options;
use super::page::{self, Circumstances};
use super::pairs::{Pair, Ratio, Side, alternate};
use crate::command::{output, scratch};
use crate::static_build;

/// How many times fio's rate we want to reach.
const GOAL: f64 = 3.0;

/// The comparison, as it is stored; figures are ops a second of one thread.
#[derive(Serialize)]
struct Contest {
    circumstances: Circumstances,
    seconds: u32,
    ratio: Ratio,
    pairs: Vec<Pair<f64>>,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let fio = program("fio").context("fio is not installed: the Debian package is called fio")?;
    let ours = static_build::build()?;
    let seconds = options.seconds.unwrap_or(5);
    let pairs = alternate(options.pairs, |side| match side {
        Side::Ours => our_rate(&ours, seconds),
        Side::Original => fio_rate(&fio, seconds),
    })?;
    let contest = Contest {
        circumstances: Circumstances::new("fio")?,
        seconds,
        ratio: Ratio::of(&pairs, |rate| *rate)?,
        pairs,
    };
    println!("{}", contest.section());
    page::publish("null", &contest.section(), options.pairs, &contest)
}

/// Ops a second of our null tool, as its phase counted them.
pub(crate) fn our_rate(kernmark: &Path, seconds: u32) -> Result<f64> {
    let mut command = Command::new(kernmark);
    command.args([
        "run",
        "null",
        &format!("seconds={seconds}"),
        "--json",
        "--db",
    ]);
    command.arg(scratch()?.join("null.db")); // not among the runs of whoever measures
    let text = output(&mut command)?;
    for line in text.lines() {
        let event: Event =
            serde_json::from_str(line).with_context(|| format!("reading the event {line}"))?;
        if let EventBody::PhaseFinished { phase } = event.body {
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            let ops = phase.total(&[]).count as f64;
            return Ok(ops / phase.elapsed.as_secs_f64());
        }
    }
    anyhow::bail!("no phase finished in:\n{text}")
}

fn fio_rate(fio: &Path, seconds: u32) -> Result<f64> {
    let text = output(Command::new(fio).args([
        "--name=null",
        "--ioengine=null",
        "--rw=read",
        "--bs=4k",
        "--size=1t",
        "--time_based",
        &format!("--runtime={seconds}"),
        "--output-format=json",
    ]))?;
    parse_fio(&text).with_context(|| format!("reading fio's\n{text}"))
}

fn parse_fio(text: &str) -> Result<f64> {
    let whole: Value = serde_json::from_str(text)?;
    let rate = whole["jobs"][0]["read"]["iops"]
        .as_f64()
        .context("no jobs[0].read.iops")?;
    ensure!(rate > 0.0, "fio did nothing");
    Ok(rate)
}

impl Contest {
    fn section(&self) -> String {
        let Self {
            circumstances,
            seconds,
            ratio,
            pairs,
        } = self;
        let millions = |side: fn(&Pair<f64>) -> f64| page::median(pairs.iter().map(side)) / 1e6;
        let reached = if ratio.estimate >= GOAL {
            "reached"
        } else {
            "missed"
        };
        format!(
            "{}\nOne thread over work that is nothing, {seconds} s a run: `kernmark run null` against \
             `fio --ioengine=null --bs=4k`; both read the clock and record a latency for every op.\n\n\
             | pairs | ours, million ops/s | fio | ratio | |\n|---|---|---|---|---|\n\
             | {} | {:.1} | {:.1} | {ratio} | goal {GOAL} {reached} |\n",
            circumstances.line(),
            pairs.len(),
            millions(|pair| pair.ours),
            millions(|pair| pair.original),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fios_rate() {
        let text = r#"{"jobs": [{"read": {"iops": 12192490.25}}]}"#;
        assert_eq!(parse_fio(text).unwrap(), 12_192_490.25);
        assert!(parse_fio(r#"{"jobs": []}"#).is_err());
        assert!(parse_fio(r#"{"jobs": [{"read": {"iops": 0}}]}"#).is_err());
    }
}
