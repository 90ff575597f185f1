//! What ran and what was measured: runs, phases, ops, samples.
//!
//! Measured runs hold what was measured; rates, means and verdicts are derived when reading ([`crate::derive`]). An
//! imported figure is held as it was printed ([`Value::Reported`]) and never recomputed in place.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::counters::Counters;
use crate::histogram::Histogram;
use crate::machine::{Machine, Target};
use crate::plan::RunPlan;
use crate::series::Series;
use crate::units::{Bytes, Nanos};

/// One execution of one workload on one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Time-ordered (version 7) and the run's name in every store it travels to.
    pub uuid: Uuid,
    /// Wall clock at the start, RFC 3339 in UTC; for people only, durations are monotonic. `None` for an import
    /// whose text does not say.
    pub started: Option<String>,
    /// The plan as it ran.
    pub plan: RunPlan,
    /// Where it ran; all unknown for most imports.
    pub machine: Machine,
    /// What was measured on; `None` for work that needs no storage.
    pub target: Option<Target>,
    /// The kernel's identifier of this boot.
    pub boot_id: Option<String>,
    /// What time means in this run.
    pub clock: Clock,
    /// Its place in a blocked experiment.
    pub session: Option<SessionPlace>,
    /// Measured here, or read from somebody's text.
    pub origin: Origin,
    /// How it ended.
    pub outcome: Outcome,
    /// Of the whole run, set-up and clean-up included.
    pub usage: Usage,
    /// The figures to be shown, the deciding one first.
    pub metrics: Vec<Metric>,
    /// Why a reader should be careful.
    pub doubts: Vec<Doubt>,
    /// The timed parts, in the order they ran.
    pub phases: Vec<Phase>,
}

/// What a nanosecond of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Real time.
    Wall,
    /// Real time inside an emulated machine: ratios only.
    Emulated,
    /// Guest instructions; never time.
    Instructions,
    /// A script; only in tests.
    Scripted,
}

/// Place of a run in a blocked experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPlace {
    /// The session's name.
    pub id: Uuid,
    /// The round, from 0.
    pub block: u32,
    /// Place within the round, from 0.
    pub position: u32,
    /// The contender.
    pub arm: String,
}

/// Where a run's figures are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// By this program, on the machine named in the run.
    Measured,
    /// Read from a text.
    Imported {
        /// SHA-256 of the text, in hexadecimal.
        digest: String,
        /// The file's name as given.
        file: String,
        /// Line of the text on which the figures stand, from 1.
        line: u64,
        /// What the text says about its statistics and what could not be known.
        notes: Vec<String>,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As planned.
    Complete,
    /// Ended early; what is there was measured properly.
    Partial(String),
    /// Something broke; figures are evidence, not results.
    Failed(String),
    /// Complete, but disturbed from outside as the evidence says; never compared.
    Voided(String),
}

impl Outcome {
    /// May its figures be compared?
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete)
    }

    /// One word: `complete`, `partial`, `failed`, `voided`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial(_) => "partial",
            Self::Failed(_) => "failed",
            Self::Voided(_) => "voided",
        }
    }

    /// Why, unless complete.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Complete => None,
            Self::Partial(reason) | Self::Failed(reason) | Self::Voided(reason) => Some(reason),
        }
    }
}

/// Time and processor time of a whole run, as every thread quotes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From the first preparation to the end of the clean-up.
    pub elapsed: Option<Nanos>,
    /// User time of the program and its workers.
    pub user: Option<Nanos>,
    /// System time of the program and its workers.
    pub system: Option<Nanos>,
}

impl Usage {
    /// (user + system) / elapsed, in percent of one processor; `None` if one of them is unknown or no time passed.
    pub fn cpu_percent(&self) -> Option<f64> {
        let elapsed = self.elapsed.filter(|elapsed| elapsed.0 > 0)?;
        let busy = self.user? + self.system?;
        Some(100.0 * busy.as_secs_f64() / elapsed.as_secs_f64())
    }
}

/// A figure that can be shown of a run, and how it follows from what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `throughput`, `ops`, `fsync p99`.
    pub name: String,
    /// `MB/s`, `ops/s`, `ms`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The phase it is taken from.
    pub phase: String,
    /// Which of that phase's points.
    #[serde(default)]
    pub at: At,
    /// The ops that count; empty for all.
    pub ops: Vec<String>,
    /// How it follows.
    pub formula: Formula,
    /// What stands for the repetitions of one point.
    #[serde(default)]
    pub take: Take,
}

impl Metric {
    /// Of all ops of a phase that has one point.
    pub fn new(name: &str, unit: &str, better: Better, phase: &str, formula: Formula) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better,
            phase: phase.to_owned(),
            at: At::Only,
            ops: Vec::new(),
            formula,
            take: Take::Median,
        }
    }

    /// Of these ops only.
    #[must_use]
    pub fn of(self, ops: &[&str]) -> Self {
        Self {
            ops: ops.iter().map(|op| (*op).to_owned()).collect(),
            ..self
        }
    }
}

/// Which of a phase's points a metric is taken at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// The only one. A phase that was measured at several has no such figure.
    #[default]
    Only,
    /// This one.
    Point(Point),
    /// The one with the best figure, as AIM7's peak.
    Best,
}

/// What stands for the repetitions of one point, be they phases or stored samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// Their median; of an even number, the mean of the middle two.
    #[default]
    Median,
    /// The best of them, as lmbench takes its memory latencies. A metric that is not judged has none.
    Best,
}

/// Which direction of a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither; shown, never judged.
    Neither,
}

/// How a metric follows from a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// Ops over the phase's time, per second.
    OpsPerSecond,
    /// Ops over the phase's time, per minute, as AIM7 counts its jobs.
    OpsPerMinute,
    /// Bytes over the phase's time, in 10^6 bytes per second.
    MegabytesPerSecond,
    /// Bytes over the phase's time, in 2^20 bytes per second.
    MebibytesPerSecond,
    /// Bytes over the phase's time and the timed sync after it, in 10^6 bytes per second.
    DurableMegabytesPerSecond,
    /// Mean latency in milliseconds.
    MeanMillis,
    /// Mean latency in nanoseconds.
    MeanNanos,
    /// Mean guest instructions of an op; only on that clock, on which no other formula but `Stored` gives a figure.
    MeanInstructions,
    /// Latency that this share of ops (0 to 1) did not exceed, in milliseconds.
    QuantileMillis(f64),
    /// The phase's time in seconds.
    Seconds,
    /// The stored samples of the metric's own name that belong to no single worker.
    Stored,
}

/// A named, timed part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The name that people know.
    pub name: String,
    /// Where inside the run it was measured.
    pub point: Point,
    /// Which repetition of that point, from 1.
    pub repetition: u32,
    /// When the window opened, since the run's start.
    pub start: Nanos,
    /// Length of the window: from its opening to its close by time, or to the last worker's end. In the run's clock.
    pub elapsed: Nanos,
    /// From the workers' release to the opening of the window.
    pub warm_up: Nanos,
    /// How the workers were made; `None` for an import.
    pub spawn: Option<Spawn>,
    /// Names of the ops, in the order that [`OpCount::op`] counts them.
    pub ops: Vec<OpName>,
    /// What each worker did, by rank.
    pub workers: Vec<WorkerResult>,
    /// What happened second by second.
    pub series: Vec<Series>,
    /// Figures that are no op counts, and everything imported.
    pub samples: Vec<Sample>,
    /// The machine's raw counters when the window opened and after it closed.
    pub counters: Option<CounterPair>,
}

/// Name of a kind of operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpName {
    /// `ReadX`, `fsync`.
    pub name: String,
    /// A span of several ops (a pass, an application's burst): timed, but not added to the ops.
    pub span: bool,
    /// Which way its bytes go; `None` for an op that moves none, or both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the target.
    Read,
    /// To the target.
    Write,
}

/// Counters before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterPair {
    /// When the window opened.
    pub before: Counters,
    /// After it closed.
    pub after: Counters,
}

/// Where inside a run a phase was measured: axis to value, in a stable order.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, AxisValue>);

/// A value on an axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisValue {
    /// A number of things.
    Count(u64),
    /// A size.
    Bytes(Bytes),
    /// A word.
    Text(String),
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// How a worker came to be: it changes what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawn {
    /// A forked process with the parent's image.
    Fork,
    /// This program again, single-threaded, started afresh.
    Exec,
    /// A thread of the parent.
    Thread,
}

/// What one worker did in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerResult {
    /// From 0.
    pub rank: u32,
    /// When its part of the window began, since the phase's start.
    pub start: Nanos,
    /// When it ended, since the phase's start; the least and the greatest over the workers are first-done and last-done.
    pub end: Nanos,
    /// How it ended.
    pub state: WorkerState,
    /// One entry for each op that happened, by its index.
    pub ops: Vec<OpCount>,
    /// The op that was in flight when the window closed, and for how long then: it is in no count, and a stall would
    /// otherwise hide in it.
    pub cut: Option<CutOp>,
}

/// How a worker ended its part of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// As planned.
    Done,
    /// With an error of its own.
    Failed(String),
    /// From outside, by this signal.
    Killed(i32),
    /// The phase was stopped before it ended.
    Stopped,
}

/// An op that the close of the window cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOp {
    /// Index into [`Phase::ops`].
    pub op: u32,
    /// How long it took in all.
    pub nanos: Nanos,
}

/// Counts of one op by one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpCount {
    /// Index into [`Phase::ops`].
    pub op: u32,
    /// How many ended in the window.
    pub count: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// How many of them did not end as they should.
    pub unexpected: u64,
    /// Sum of their latencies.
    pub total: Nanos,
    /// The longest of them.
    pub max: Nanos,
    /// How their latencies are spread.
    pub histogram: Histogram,
}

/// One number as measured or as reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What it is.
    pub metric: String,
    /// Of one op only.
    pub op: Option<String>,
    /// Of one worker only.
    pub worker: Option<u32>,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// The number.
    pub value: Value,
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// A size.
    Bytes(Bytes),
    /// A duration.
    Nanos(Nanos),
    /// Guest instructions.
    Instructions(u64),
    /// A share, a factor or a physical quantity whose unit the metric names; finite.
    Ratio(f64),
    /// A figure from somebody's text.
    Reported(Reported),
}

/// A figure exactly as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// The figure's own characters.
    pub text: String,
    /// Half a unit of its last digit, in the figure's unit: what rounding may have hidden.
    pub half_unit: f64,
    /// What it is of the values behind it.
    pub statistic: Statistic,
    /// How many values are behind it, where the text says.
    pub of: Option<u32>,
}

/// What a reported figure is of the values behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The only value.
    Single,
    /// Their arithmetic mean.
    Mean,
    /// Their median.
    Median,
    /// Their sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The text does not say.
    Unknown,
}

/// Why a reader should be careful with a run. Each explains itself, and says what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Whole seconds in which nothing ended.
    Stalled {
        /// The phase.
        phase: String,
        /// How many seconds.
        seconds: u32,
    },
    /// Seconds in which the kernel slowed writers down because too much was dirty.
    Throttled {
        /// The phase.
        phase: String,
        /// How many seconds.
        seconds: u32,
    },
    /// The window was too short for what it should show.
    TooShort {
        /// The phase.
        phase: String,
        /// How long it was.
        elapsed: Nanos,
    },
    /// Some clients got much less than others.
    Unfair {
        /// The phase.
        phase: String,
        /// Jain's index: 1 is fair, 1/n is one client alone.
        jain: f64,
    },
    /// Most of the work never reached the device.
    CacheMostly {
        /// The phase.
        phase: String,
        /// Bytes asked for.
        logical: Bytes,
        /// Bytes that went to or came from the device.
        device: Bytes,
    },
    /// What the device did cannot be known.
    DeviceUnknown {
        /// Why.
        why: String,
    },
    /// Ops ended otherwise than the workload expected.
    Unexpected {
        /// The phase.
        phase: String,
        /// How many.
        count: u64,
        /// The first of them, in words.
        first: String,
    },
    /// Another program or the hypervisor took processor time.
    Interference {
        /// What was seen.
        evidence: String,
    },
    /// A fact or counter could not be read.
    Unreadable {
        /// What, and why.
        what: String,
    },
    /// Lines of the workload's input that were not understood or were changed in meaning.
    Input {
        /// Which, and what was done.
        what: String,
    },
    /// The store lies on the device that is measured.
    StoreOnTarget,
    /// Something else worth a reader's care.
    Note {
        /// In words.
        text: String,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled { phase, seconds } => write!(
                f,
                "{phase}: nothing ended in {seconds} whole seconds; the mean hides them, look at the series"
            ),
            Self::Throttled { phase, seconds } => write!(
                f,
                "{phase}: writers were slowed down in {seconds} seconds: more was dirty than vm.dirty_* let pass freely"
            ),
            Self::TooShort { phase, elapsed } => {
                write!(f, "{phase}: only {elapsed} long; lengthen it")
            }
            Self::Unfair { phase, jain } => write!(
                f,
                "{phase}: clients were served unequally (Jain index {jain:.2}); compare per client"
            ),
            Self::CacheMostly {
                phase,
                logical,
                device,
            } => write!(
                f,
                "{phase}: {device} of {logical} reached the device; this is a figure of memory"
            ),
            Self::DeviceUnknown { why } => write!(f, "device bytes unknown: {why}"),
            Self::Unexpected {
                phase,
                count,
                first,
            } => write!(f, "{phase}: {count} ops ended unexpectedly, first: {first}"),
            Self::Interference { evidence } => write!(f, "disturbed from outside: {evidence}"),
            Self::Unreadable { what } => write!(f, "not recorded: {what}"),
            Self::Input { what } => write!(f, "input: {what}"),
            Self::StoreOnTarget => {
                f.write_str("the store lies on the measured device; put it elsewhere with --db")
            }
            Self::Note { text } => f.write_str(text),
        }
    }
}
