//! A run made from a text; [`restored`](super::restored) makes the text from it again.
//!
//! Every figure is a sample with the characters it was printed with:
//!
//! | phase | samples |
//! |---|---|
//! | `launch` | `line`: a line of the launch, or a message before the first tick |
//! | `warm-up`, `execute` | a tick: `clients`, `lines`, `throughput so far`, `seconds`, `latency`; `line`: a message |
//! | `execute` | of the result: `throughput`, `max latency`; of each op: `Count`, `AvgLat`, `MaxLat`, for all clients and for each (`worker`); of each client: `lines`, `bytes` |
//! | `cleanup` | a tick: `clients`, `seconds`; `line`: a message |
//!
//! The repetition of a tick's sample, or of a line's, is that line's place among all of them, from 1: the order in the
//! text. Only the phase `execute` has a length, the whole seconds of its last tick; the others' are not in the text.
//! Clients, processes, seconds and flags are the plan's parameters.

use std::collections::BTreeMap;

use kernmark_model::machine::Machine;
use kernmark_model::plan::{Cache, PLAN_VERSION, ParamValue, Params, Program, RunPlan};
use kernmark_model::run::{
    Better, Clock, Doubt, Formula, Metric, Origin, Outcome, Phase, Point, Reported, Run, Sample,
    Statistic, Usage, Value,
};
use kernmark_model::units::Nanos;
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use super::lines::{Row, Stage, Tick};
use super::printf::{half_unit, half_unit_g};
use super::text::{Found, Progress, Report};
use super::{CLEANUP, EXECUTE};

const LAUNCH: &str = "launch";
pub(super) const WARM_UP: &str = "warm-up";

/// Before the version in the name of the program that made the run.
pub(super) const PROGRAM: &str = "dbench ";

/// The digest of a text, in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The name of the run on that line of the text with that digest: the same for everybody who reads the text. It is of
/// version 7, as every run's; its time is not known, so that its runs sort by their lines.
fn name(digest: &str, line: u64) -> Uuid {
    let mut random = [0; 10];
    let hash = Sha256::digest(format!("{digest} {line}"));
    random.copy_from_slice(&hash[..10]);
    Builder::from_unix_timestamp_millis(line, &random).into_uuid()
}

/// The run that was found in the text with that digest.
pub(super) fn run(found: &Found, digest: &str) -> Run {
    let report = &found.report;
    let phases = phases(report);
    Run {
        uuid: name(digest, found.line),
        started: None,
        plan: RunPlan {
            version: PLAN_VERSION,
            tool: "dbench".to_owned(),
            workload: "dbench".to_owned(),
            params: params(report),
            on: None,
            label: None,
            repetition: 1,
            repetitions: 1,
            cache: Cache::Unchanged,
            destroy: None,
            seed: 0,
            program: Program {
                version: (report.version.as_ref())
                    .map_or_else(String::new, |version| format!("{PROGRAM}{version}")),
                commit: None,
            },
        },
        machine: Machine::default(),
        target: None,
        boot_id: None,
        clock: Clock::Wall,
        session: None,
        origin: Origin::Imported {
            digest: digest.to_owned(),
            file: String::new(),
            line: found.line,
            notes: notes(report),
        },
        outcome: outcome(report),
        usage: Usage::default(),
        metrics: if report.result.is_some() {
            metrics()
        } else {
            Vec::new()
        },
        doubts: doubts(found),
        phases,
    }
}

fn metrics() -> Vec<Metric> {
    let metric = |name, unit, better| Metric::new(name, unit, better, EXECUTE, Formula::Stored);
    vec![
        metric("throughput", "MB/s", Better::Higher),
        metric("max latency", "ms", Better::Lower),
    ]
}

fn params(report: &Report) -> Params {
    let mut params = BTreeMap::new();
    let mut set = |name: &str, value| {
        params.insert(name.to_owned(), value);
    };
    if let Some(running) = &report.running {
        set(
            "seconds",
            ParamValue::Duration(Nanos::secs(running.seconds)),
        );
        set("loadfile", ParamValue::Text(running.load.clone()));
        set("warmup", ParamValue::Duration(Nanos::secs(running.warmup)));
    }
    if let Some(result) = &report.result {
        set("clients", ParamValue::Count(result.clients));
        set("processes", ParamValue::Count(result.processes));
        set("sync", ParamValue::Flag(result.sync));
        set("sync-dir", ParamValue::Flag(result.sync_dir));
    } else if let Some(clients) = executes(report).find_map(|tick| tick.clients.parse().ok()) {
        // All clients are at work until the time is over.
        set("clients", ParamValue::Count(clients));
    }
    Params(params)
}

fn executes(report: &Report) -> impl DoubleEndedIterator<Item = &Tick> {
    report.progress.iter().filter_map(|line| match line {
        Progress::Tick(tick) if tick.stage == Stage::Execute => Some(tick),
        _ => None,
    })
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.result.is_some() {
        notes.push(
            "throughput is that of the last execute line, about a second before the end; max latency is the longest \
             wait that such a line showed, and a longer one may stand in the table",
        );
        notes.push("whether every write was followed by an fsync (-F) is not in the text");
    }
    notes.into_iter().map(str::to_owned).collect()
}

fn outcome(report: &Report) -> Outcome {
    if let Some(line) = report.child_failed() {
        return Outcome::Failed(format!("the text says: {line}"));
    }
    let Some(result) = &report.result else {
        return Outcome::Partial("the text ends before the result".to_owned());
    };
    if result.clients == 0 {
        return Outcome::Failed("it had no clients".to_owned());
    }
    match result.throughput.parse::<f64>() {
        Ok(number) if number.is_finite() => Outcome::Complete,
        _ => Outcome::Failed(format!("its throughput is {}", result.throughput)),
    }
}

fn doubts(found: &Found) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let input = |line: &&str| line.contains("] Unknown operation ") || line.starts_with("Badly ");
    let op = |line: &&str| line.starts_with(['[', '(']) && !input(line);
    let messages = || {
        found.report.progress.iter().filter_map(|line| match line {
            Progress::Line(line) => Some(line.as_str()),
            _ => None,
        })
    };
    if let Some(first) = messages().find(op) {
        doubts.push(Doubt::Unexpected {
            phase: EXECUTE.to_owned(),
            count: messages().filter(op).count() as u64,
            first: first.to_owned(),
        });
    }
    if let Some(first) = messages().find(input) {
        doubts.push(Doubt::Input {
            what: format!(
                "{} messages on loadfile lines that were skipped, first: {first}",
                messages().filter(input).count()
            ),
        });
    }
    if let Some((first, count)) = found.bad_rows {
        doubts.push(Doubt::Input {
            what: format!(
                "{count} lines of the table could not be read and are left out, first: line {first}"
            ),
        });
    }
    if (found.report.result.as_ref())
        .is_some_and(|result| result.clients > 0 && result.throughput == "0")
    {
        doubts.push(Doubt::Note {
            text: "a throughput of 0 may only mean that it ended before its first execute line; dbench 4.00 needs \
                   two seconds"
                .to_owned(),
        });
    }
    doubts
}

/// A figure of the text.
struct Figure {
    metric: &'static str,
    text: String,
    half_unit: f64,
    statistic: Statistic,
}

impl Figure {
    /// Not rounded.
    fn exact(metric: &'static str, text: &str) -> Self {
        Self {
            metric,
            text: text.to_owned(),
            half_unit: 0.0,
            statistic: Statistic::Single,
        }
    }

    fn rounded(metric: &'static str, text: &str, statistic: Statistic) -> Self {
        Self {
            half_unit: half_unit(text),
            statistic,
            ..Self::exact(metric, text)
        }
    }

    fn sample(self, repetition: u32) -> Sample {
        Sample {
            metric: self.metric.to_owned(),
            op: None,
            worker: None,
            repetition,
            value: Value::Reported(Reported {
                text: self.text,
                half_unit: self.half_unit,
                statistic: self.statistic,
                of: None,
            }),
        }
    }
}

/// The phases in the making, in the order of their first line.
#[derive(Default)]
struct Phases(Vec<Phase>);

impl Phases {
    fn samples(&mut self, name: &str) -> &mut Vec<Sample> {
        &mut self.phase(name).samples
    }

    fn phase(&mut self, name: &str) -> &mut Phase {
        let index = (self.0.iter())
            .position(|phase| phase.name == name)
            .unwrap_or_else(|| {
                self.0.push(Phase {
                    name: name.to_owned(),
                    point: Point::default(),
                    repetition: 1,
                    start: Nanos(0),
                    elapsed: Nanos(0),
                    warm_up: Nanos(0),
                    spawn: None,
                    ops: Vec::new(),
                    workers: Vec::new(),
                    series: Vec::new(),
                    samples: Vec::new(),
                    counters: None,
                });
                self.0.len() - 1
            });
        &mut self.0[index]
    }
}

fn phases(report: &Report) -> Vec<Phase> {
    let mut phases = Phases::default();
    let mut stage = LAUNCH;
    for (place, line) in (1_u32..).zip(&report.progress) {
        let figures = match line {
            Progress::Tick(tick) => {
                stage = match tick.stage {
                    Stage::Warmup => WARM_UP,
                    Stage::Execute => EXECUTE,
                };
                vec![
                    Figure::exact("clients", &tick.clients),
                    Figure::rounded("lines", &tick.lines, Statistic::Mean),
                    Figure::rounded("throughput so far", &tick.throughput, Statistic::Single),
                    Figure::rounded("seconds", &tick.seconds, Statistic::Single),
                    Figure::rounded("latency", &tick.latency, Statistic::Max),
                ]
            }
            Progress::Cleanup(cleanup) => {
                stage = CLEANUP;
                vec![
                    Figure::exact("clients", &cleanup.clients),
                    Figure::rounded("seconds", &cleanup.seconds, Statistic::Single),
                ]
            }
            Progress::Line(line) => vec![Figure {
                statistic: Statistic::Unknown,
                ..Figure::exact("line", line)
            }],
        };
        phases
            .samples(stage)
            .extend(figures.into_iter().map(|figure| figure.sample(place)));
    }
    if let Some(result) = &report.result {
        phases.samples(EXECUTE).extend([
            Figure {
                half_unit: half_unit_g(&result.throughput),
                ..Figure::exact("throughput", &result.throughput)
            }
            .sample(1),
            Figure::rounded("max latency", &result.max_latency, Statistic::Max).sample(1),
        ]);
    }
    if !report.rows.is_empty() {
        let samples = phases.samples(EXECUTE);
        samples.extend(report.rows.iter().flat_map(|row| row_samples(row, None)));
        for client in &report.clients {
            let worker = Some(client.client);
            for figure in [
                Figure::exact("lines", &client.lines),
                Figure::exact("bytes", &client.bytes),
            ] {
                let sample = figure.sample(1);
                samples.push(Sample { worker, ..sample });
            }
            samples.extend(client.rows.iter().flat_map(|row| row_samples(row, worker)));
        }
    }
    if let Some(seconds) = executes(report).next_back().map(|tick| &tick.seconds) {
        phases.phase(EXECUTE).elapsed = (seconds.parse().ok())
            .and_then(Nanos::from_secs_f64)
            .unwrap_or_default();
    }
    phases.0
}

fn row_samples(row: &Row, worker: Option<u32>) -> impl Iterator<Item = Sample> {
    let of = row.count.parse().ok();
    [
        Figure::exact("Count", &row.count),
        Figure::rounded("AvgLat", &row.mean, Statistic::Mean),
        Figure::rounded("MaxLat", &row.max, Statistic::Max),
    ]
    .into_iter()
    .map(move |figure| {
        let mut sample = figure.sample(1);
        sample.op = Some(row.op.clone());
        sample.worker = worker;
        if let Value::Reported(reported) = &mut sample.value
            && reported.statistic != Statistic::Single
        {
            reported.of = of;
        }
        sample
    })
}
