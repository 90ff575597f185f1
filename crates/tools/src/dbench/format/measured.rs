//! The text that dbench 4.00 would have printed for a run of ours.
//!
//! It differs from the original's where that is wrong: the throughput is of the whole measured time, not of the time
//! until the last tick. Loadfile lines are the ops that ended since the window opened; what was done in the warm-up is
//! not kept, and neither are its ticks.

use std::collections::BTreeMap;

use kernmark_engine::tool::FormatError;
use kernmark_model::plan::{ParamValue, Params};
use kernmark_model::run::{Outcome, Phase, Run, WorkerResult};
use kernmark_model::series::{Series, SeriesKind};
use kernmark_model::units::{Bytes, Nanos};

use super::lines::{
    CHILD_FAILED_LINE, Cleanup, ClientResult, RELEASING_LINE, Row, Running, Stage, Throughput,
    ThroughputLine, Tick, prepared_line,
};
use super::text::{Progress, Report};
use super::{CLEANUP, EXECUTE};

/// The ops of the table, in its order.
const OPS: [&str; 17] = [
    "NTCreateX",
    "Close",
    "Rename",
    "Unlink",
    "Deltree",
    "Rmdir",
    "Mkdir",
    "Qpathinfo",
    "Qfileinfo",
    "Qfsinfo",
    "Sfileinfo",
    "Find",
    "WriteX",
    "ReadX",
    "LockX",
    "UnlockX",
    "Flush",
];

/// A cleaning up that takes longer than this many seconds is not followed to its end: nobody waits for it.
const MOST_CLEANUP_LINES: u64 = 86_400;

const SECOND: u64 = 1_000_000_000;

/// The text as dbench would have printed it. A run that ended early or failed has no table and no result.
pub(super) fn report(run: &Run) -> Result<Report, FormatError> {
    let params = &run.plan.params;
    let measured = Measured::of(run)?;
    let mut report = Report {
        version: Some("4.00".to_owned()),
        running: running(params),
        progress: measured.progress(),
        ..Report::default()
    };
    match run.outcome {
        Outcome::Complete | Outcome::Voided(_) => {
            let tallies = measured.tallies();
            let all = Tally::all(&tallies);
            let ops = all.executed();
            report.rows = all.rows(&ops);
            if params.flag("per-client-results").unwrap_or(false) {
                report.clients = measured.clients(&tallies, &ops);
            }
            report.result = Some(measured.result(params)?);
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

/// The parts of a run that the text is made of.
struct Measured<'run> {
    execute: &'run Phase,
    cleanup: Option<&'run Phase>,
    clients: u64,
    processes: u64,
}

impl<'run> Measured<'run> {
    fn of(run: &'run Run) -> Result<Self, FormatError> {
        let params = &run.plan.params;
        let clients = params
            .count("clients")
            .map_err(|_| FormatError::Lacks("number of clients"))?;
        let per_process = params.count("clients-per-process").unwrap_or(1).max(1);
        Ok(Self {
            execute: run
                .phase(EXECUTE)
                .ok_or(FormatError::Lacks("phase \"execute\""))?,
            cleanup: run.phase(CLEANUP),
            clients,
            processes: clients.div_ceil(per_process),
        })
    }

    fn progress(&self) -> Vec<Progress> {
        let launch = self.execute.start - self.execute.warm_up;
        let mut progress = vec![
            Progress::Line(prepared_line(
                self.processes,
                self.processes,
                launch.as_secs_f64(),
            )),
            Progress::Line(RELEASING_LINE.to_owned()),
        ];
        progress.extend(self.ticks().map(Progress::Tick));
        if let Some(cleanup) = self.cleanup {
            let line = |clients, since: Nanos| {
                let end = self.execute.elapsed + since;
                Progress::Cleanup(Cleanup::new(clients, end.as_secs_f64()))
            };
            progress.push(line(self.clients, Nanos(0)));
            for second in (1..=MOST_CLEANUP_LINES).map(Nanos::secs) {
                let busy = cleanup.workers.iter().filter(|worker| worker.end > second);
                let processes = busy.count() as u64;
                if processes == 0 {
                    break;
                }
                let clients = processes * self.clients / self.processes.max(1);
                progress.push(line(clients, second));
            }
            progress.push(line(0, cleanup.elapsed));
        }
        progress
    }

    /// One for each second of the window but the last, in whose stead the cleaning up is announced.
    fn ticks(&self) -> impl Iterator<Item = Tick> {
        let values = |kind| {
            let of_all = |series: &&Series| {
                series.kind == kind && series.op.is_none() && series.worker.is_none()
            };
            (self.execute.series.iter())
                .find(of_all)
                .map_or(&[][..], |series| series.values.as_slice())
        };
        let window = self.execute.elapsed.0;
        let clients = self.clients;
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

    /// What each worker did while measuring and cleaning up, by rank.
    fn tallies(&self) -> BTreeMap<u32, Tally<'run>> {
        let mut tallies = BTreeMap::<u32, Tally<'_>>::new();
        for phase in [Some(self.execute), self.cleanup].into_iter().flatten() {
            for worker in &phase.workers {
                tallies.entry(worker.rank).or_default().add(phase, worker);
            }
        }
        tallies
    }

    /// What each client did; nothing where several clients share a process, whose figures are one.
    fn clients(&self, tallies: &BTreeMap<u32, Tally<'_>>, ops: &[&str]) -> Vec<ClientResult> {
        if self.clients != self.processes {
            return Vec::new();
        }
        (tallies.iter())
            .map(|(rank, tally)| {
                ClientResult::new(*rank, tally.lines, tally.bytes, tally.rows(ops))
            })
            .collect()
    }

    fn result(&self, params: &Params) -> Result<Throughput, FormatError> {
        let elapsed = self.execute.elapsed.as_secs_f64();
        if elapsed <= 0.0 {
            return Err(FormatError::Lacks("time in its phase \"execute\""));
        }
        let total = self.execute.total(&[]);
        Ok(Throughput::from(ThroughputLine {
            mb_per_sec: total.bytes.as_mb() / elapsed,
            sync: params.flag("sync").unwrap_or(false),
            sync_dir: params.flag("sync-dir").unwrap_or(false),
            clients: self.clients,
            processes: self.processes,
            max_latency_ms: total.max.as_millis_f64(),
        }))
    }
}

/// What some workers did.
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

impl Sum {
    fn add(&mut self, count: u64, total: Nanos, max: Nanos) {
        self.count = self.count.saturating_add(count);
        self.total += total;
        self.max = self.max.max(max);
    }
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
            sum.add(op.count, op.total, op.max);
        }
    }

    /// All of them together.
    fn all(tallies: &BTreeMap<u32, Self>) -> Self {
        let mut all = Self::default();
        for tally in tallies.values() {
            for (name, sum) in &tally.ops {
                let of_all = all.ops.entry(name).or_default();
                of_all.add(sum.count, sum.total, sum.max);
            }
        }
        all
    }

    /// The ops that happened, in the order of the table. Those that dbench 4.00 does not have come last, but are not
    /// hidden.
    fn executed(&self) -> Vec<&'run str> {
        let happened = |name: &&str| self.ops.get(name).is_some_and(|sum| sum.count > 0);
        let others = self.ops.keys().copied().filter(|name| !OPS.contains(name));
        OPS.into_iter().chain(others).filter(happened).collect()
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
