//! The text that dbench 4.00 would have printed for a run of ours.
//!
//! It differs from the original's where that is wrong: the throughput is of the whole measured time, not of the time
//! until the last tick. Loadfile lines are the ops that ended since the window opened; what was done in the warm-up is
//! not kept, and neither are its ticks. Cleaning up is not in the table, as in the original.

use std::collections::BTreeMap;

use kernmark_engine::tool::FormatError;
use kernmark_model::plan::{ParamValue, Params};
use kernmark_model::run::{Outcome, Phase, Run, WorkerResult};
use kernmark_model::series::{Series, SeriesKind};
use kernmark_model::units::{Bytes, Nanos};

use super::lines::{
    CHILD_FAILED_LINE, Cleanup, ClientResult, RELEASING_LINE, Row, Running, Stage, Throughput,
    ThroughputLine, Tick, VERSION, prepared_line,
};
use super::text::{Progress, Report};
use super::{CLEANUP, EXECUTE};
use crate::dbench::loadfile::OpCode;

/// A cleaning up that takes longer than this many seconds is not followed to its end: nobody waits for it.
const MOST_CLEANUP_LINES: u64 = 86_400;

const SECOND: u64 = 1_000_000_000;

/// The text as dbench would have printed it. A run that ended early or failed has no table and no result.
pub(super) fn report(run: &Run) -> Result<Report, FormatError> {
    let params = &run.plan.params;
    let execute = run
        .phase(EXECUTE)
        .ok_or(FormatError::Lacks("phase \"execute\""))?;
    let clients_in_all = params
        .count("clients")
        .map_err(|_| FormatError::Lacks("number of clients"))?;
    let per_process = params.count("clients-per-process").unwrap_or(1).max(1);
    let processes = clients_in_all.div_ceil(per_process);

    let mut report = Report {
        version: Some(VERSION.to_owned()),
        running: running(params),
        ..Report::default()
    };
    report.progress.extend(launching(execute, processes));
    (report.progress).extend(ticks(execute, clients_in_all).map(Progress::Tick));
    if let Some(cleanup) = run.phase(CLEANUP) {
        let lines = cleaning(cleanup, execute.elapsed, clients_in_all, per_process);
        report.progress.extend(lines.map(Progress::Cleanup));
    }
    match run.outcome {
        Outcome::Complete | Outcome::Voided(_) => {
            let tallies = Tallies::of(execute);
            report.rows = rows(&tallies);
            // Clients that share a process have their figures together: nobody's own.
            let apart = clients_in_all == processes;
            if apart && params.flag("per-client-results").unwrap_or(false) {
                report.clients = clients(&tallies);
            }
            report.result = Some(result(execute, params, clients_in_all, processes)?);
        }
        Outcome::Failed(_) => report
            .progress
            .push(Progress::Line(CHILD_FAILED_LINE.to_owned())),
        Outcome::Partial(_) => {}
    }
    Ok(report)
}

fn running(params: &Params) -> Option<Running> {
    let seconds = seconds(params, "seconds")?;
    Some(Running {
        seconds,
        load: params.text("loadfile").ok()?,
        warmup: self::seconds(params, "warmup").unwrap_or(seconds / 5),
    })
}

/// Whole seconds, as the original counts them.
fn seconds(params: &Params, name: &str) -> Option<u64> {
    match params.0.get(name)? {
        ParamValue::Duration(duration) => Some(duration.0 / SECOND),
        ParamValue::Count(count) => Some(*count),
        _ => None,
    }
}

fn launching(execute: &Phase, processes: u64) -> [Progress; 2] {
    let released = (execute.start - execute.warm_up).as_secs_f64();
    [
        Progress::Line(prepared_line(processes, processes, released)),
        Progress::Line(RELEASING_LINE.to_owned()),
    ]
}

/// One for each second of the window but the last, in whose stead the cleaning up is announced.
fn ticks(execute: &Phase, clients: u64) -> impl Iterator<Item = Tick> {
    let values = |kind| {
        let of_all = |series: &&Series| {
            series.kind == kind && series.op.is_none() && series.worker.is_none()
        };
        (execute.series.iter())
            .find(of_all)
            .map_or(&[][..], |series| series.values.as_slice())
    };
    let window = execute.elapsed.0;
    let (mut ops, mut bytes) = (0_u64, Bytes(0));
    (values(SeriesKind::Time).iter())
        .zip(values(SeriesKind::Count))
        .zip(values(SeriesKind::Bytes))
        .zip(values(SeriesKind::LongestNanos))
        .filter_map(move |(((&time, &count), &moved), &longest)| {
            ops = ops.saturating_add(count);
            bytes += Bytes(moved);
            let seconds = Nanos(time).as_secs_f64();
            (SECOND..window).contains(&time).then(|| {
                Tick::new(
                    Stage::Execute,
                    clients,
                    ops / clients.max(1),
                    bytes.as_mb() / seconds,
                    seconds,
                    Nanos(longest).as_millis_f64(),
                )
            })
        })
}

/// One when it begins, one for each second in which somebody is at it, and one when all are done.
fn cleaning(
    cleanup: &Phase,
    begun: Nanos,
    clients: u64,
    per_process: u64,
) -> impl Iterator<Item = Cleanup> {
    let line = move |clients, since| Cleanup::new(clients, (begun + since).as_secs_f64());
    let at_it = |second: &Nanos| {
        let workers = cleanup.workers.iter();
        workers.filter(|worker| worker.end > *second).count() as u64
    };
    let seconds = (1..=MOST_CLEANUP_LINES)
        .map(Nanos::secs)
        .map(move |second| (at_it(&second), second))
        .take_while(|(processes, _)| *processes > 0)
        .map(move |(processes, second)| {
            line(processes.saturating_mul(per_process).min(clients), second)
        });
    [line(clients, Nanos(0))]
        .into_iter()
        .chain(seconds)
        .chain([line(0, cleanup.elapsed)])
}

fn result(
    execute: &Phase,
    params: &Params,
    clients: u64,
    processes: u64,
) -> Result<Throughput, FormatError> {
    let elapsed = execute.elapsed.as_secs_f64();
    if elapsed <= 0.0 {
        return Err(FormatError::Lacks("time in its phase \"execute\""));
    }
    let total = execute.total(&[]);
    Ok(Throughput::from(ThroughputLine {
        mb_per_sec: total.bytes.as_mb() / elapsed,
        sync: params.flag("sync").unwrap_or(false),
        sync_dir: params.flag("sync-dir").unwrap_or(false),
        clients,
        processes,
        max_latency_ms: total.max.as_millis_f64(),
    }))
}

fn rows(tallies: &Tallies<'_>) -> Vec<Row> {
    tallies.all.rows(&tallies.all.executed())
}

fn clients(tallies: &Tallies<'_>) -> Vec<ClientResult> {
    let ops = tallies.all.executed();
    (tallies.workers.iter())
        .map(|(rank, tally)| ClientResult::new(*rank, tally.lines, tally.bytes, tally.rows(&ops)))
        .collect()
}

/// What the workers of a phase did: each by its rank, and all together.
struct Tallies<'run> {
    workers: BTreeMap<u32, Tally<'run>>,
    all: Tally<'run>,
}

impl<'run> Tallies<'run> {
    fn of(phase: &'run Phase) -> Self {
        let mut workers = BTreeMap::<u32, Tally<'_>>::new();
        let mut all = Tally::default();
        for worker in &phase.workers {
            all.add(phase, worker);
            workers.entry(worker.rank).or_default().add(phase, worker);
        }
        Self { workers, all }
    }
}

/// What one or several workers did.
#[derive(Default)]
struct Tally<'run> {
    /// Ops in all, spans left out.
    lines: u64,
    bytes: Bytes,
    /// By name.
    ops: BTreeMap<&'run str, Sum>,
}

/// Ops of one name.
#[derive(Default, Clone, Copy)]
struct Sum {
    count: u64,
    total: Nanos,
    max: Nanos,
}

impl<'run> Tally<'run> {
    fn add(&mut self, phase: &'run Phase, worker: &WorkerResult) {
        for op in &worker.ops {
            // A span is time that other ops are counted for.
            let Some(name) = phase.ops.get(op.op as usize).filter(|name| !name.span) else {
                continue;
            };
            self.lines = self.lines.saturating_add(op.count);
            self.bytes += op.bytes;
            let sum = self.ops.entry(&name.name).or_default();
            sum.count = sum.count.saturating_add(op.count);
            sum.total += op.total;
            sum.max = sum.max.max(op.max);
        }
    }

    /// The ops that happened, in the order of the table. Those that dbench 4.00 does not have come last, but are not
    /// hidden.
    fn executed(&self) -> Vec<&'run str> {
        let known = OpCode::ALL.map(OpCode::table_name);
        let others = self.ops.keys().copied();
        let others = others.filter(|name| !known.contains(name));
        (known.into_iter().chain(others))
            .filter(|name| self.ops.get(name).is_some_and(|sum| sum.count > 0))
            .collect()
    }

    fn rows(&self, ops: &[&str]) -> Vec<Row> {
        ops.iter()
            .map(|name| {
                let sum = self.ops.get(name).copied().unwrap_or_default();
                Row::new(name, sum.count, sum.total, sum.max)
            })
            .collect()
    }
}
