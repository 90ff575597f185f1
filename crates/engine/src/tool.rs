//! What a benchmark is: a value that says everything about itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;

use kernmark_model::plan::{MissingParam, ParamKind, Params};
use kernmark_model::run::{Metric, OpName, Phase, Point, Run, Spawn};
use kernmark_model::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::runner::Runner;
use crate::worker::Worker;

/// A benchmark that people know, entered as one line in `tools::ALL`.
#[derive(Debug)]
pub struct Tool {
    /// The name that people know.
    pub name: &'static str,
    /// Its page: what it measures, how, in which unit, and what it cannot tell. The first line is its summary.
    pub doc: &'static str,
    /// Its workloads, the main one first.
    pub workloads: &'static [WorkloadSpec],
    /// The texts that the original prints, read and written.
    pub formats: &'static [Format],
    /// The original's programs, dropped in.
    pub personalities: &'static [Personality],
}

impl Tool {
    /// The page's first line.
    pub fn summary(&self) -> &'static str {
        self.doc
            .lines()
            .map(|line| line.trim_start_matches('#').trim())
            .find(|line| !line.is_empty())
            .unwrap_or("")
    }
}

/// A workload of a tool and its parameters.
#[derive(Debug)]
pub struct WorkloadSpec {
    /// Its name; the tool's own for the main one.
    pub name: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// What it cannot do without.
    pub needs: &'static [Need],
    /// What is shown of a run, the deciding figure first.
    pub metrics: fn() -> Vec<Metric>,
    /// Makes it, ready to run; reads what its parameters name, but changes nothing.
    pub make: fn(&Params, &mut Making<'_>) -> Made,
}

/// A parameter: command line, plan files, help and completion follow from it.
#[derive(Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParamKind,
    /// The value when none is given, as it would be typed.
    pub default: &'static str,
    /// What it means, with its unit.
    pub about: &'static str,
}

/// What a workload cannot do without; checked before anything starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A directory in which it may make files.
    Directory,
    /// A block device to read.
    Device,
    /// The superuser.
    Root,
}

/// What `make` may use.
pub struct Making<'a> {
    /// Standard input, for parameters that name it as `-`.
    pub stdin: &'a mut dyn Read,
    /// Takes remarks about the input that a reader of the result must know.
    pub remarks: &'a mut Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
}

/// What [`WorkloadSpec::make`] returns.
pub type Made = Result<Box<dyn Workload>, MakeError>;

/// A workload could not be made.
#[derive(Debug, Error)]
pub enum MakeError {
    /// The tool's parameter list and its code disagree.
    #[error(transparent)]
    Param(#[from] MissingParam),
    /// A parameter's value makes no sense together with another, or names something unusable.
    #[error("{0}")]
    Value(String),
    /// A file that a parameter names.
    #[error("cannot read {path}: {cause}")]
    Input {
        /// The file.
        path: String,
        /// What is wrong with it.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Work with its parameters fixed.
pub trait Workload: Send + Sync {
    /// Kinds of operation, indexed as [`Worker::timed`] counts them; the same for every phase.
    fn ops(&self) -> Vec<OpName>;

    /// How its workers are made.
    fn spawn(&self) -> Spawn;

    /// The next stage: workers that live together through some phases. `None` when all is done. `done` holds the phases
    /// so far, so that the next load may follow from the last.
    fn next_stage(&mut self, done: &[Phase]) -> Option<Stage>;

    /// What it will take of the target at its peak, all workers together.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Entries directly under the target that it makes when it runs in place, under the original's name.
    fn in_place_entries(&self) -> &'static [&'static str] {
        &[]
    }

    /// One worker's life: set up, then a part for each [`Worker::next_phase`]. Runs in the worker.
    fn work(&self, worker: &mut Worker<'_>) -> Result<(), WorkError>;

    /// Figures of a phase that are no op counts, from what its workers did. Runs in the parent.
    fn samples(&self, _phase: &mut Phase) {}
}

/// Room on the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes of files alive at once.
    pub bytes: Bytes,
    /// Files and directories alive at once.
    pub files: u64,
    /// Memory of the workers, shared memory not counted.
    pub memory: Bytes,
}

/// Workers that live together through some phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// How many.
    pub workers: u32,
    /// Their phases in order.
    pub phases: Vec<PhaseSpec>,
}

/// A phase to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseSpec {
    /// The name that people know.
    pub name: String,
    /// Where inside the run it measures.
    pub point: Point,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Who does it.
    pub actor: Actor,
    /// What ends it.
    pub stop: Stop,
    /// Least time from the workers' release to the opening of the window.
    pub warm_up: Nanos,
    /// The window opens no sooner than every worker has called [`Worker::warm`].
    pub until_warm: bool,
}

impl PhaseSpec {
    /// By the workers, until they are done.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            point: Point::default(),
            repetition: 1,
            actor: Actor::Workers,
            stop: Stop::WhenDone,
            warm_up: Nanos(0),
            until_warm: false,
        }
    }

    /// A timed sync of the target by the parent, the workers waiting: what is dirty becomes durable.
    pub fn sync() -> Self {
        Self {
            actor: Actor::Sync,
            ..Self::new(kernmark_model::derive::SYNC_PHASE)
        }
    }
}

/// Who does a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Actor {
    /// All workers.
    Workers,
    /// The parent: syncfs on the target.
    Sync,
}

/// What ends a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// Each worker's own end.
    WhenDone,
    /// This much time after the window opened.
    After(Nanos),
}

/// A worker could not go on. What was counted so far is kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WorkError(pub String);

/// A text that an original prints, both ways.
#[derive(Debug)]
pub struct Format {
    /// `dbench-4.0`.
    pub name: &'static str,
    /// Every result in the text; an empty list where there is none. The text is untrusted.
    pub parse: fn(&str) -> Result<Vec<Run>, FormatError>,
    /// The original's text for a run.
    pub print: fn(&Run) -> Result<String, FormatError>,
}

/// A text is not what it seemed, or a run has not what the text needs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A line that begins like the format and goes on otherwise.
    #[error("line {line}: {what}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// The run lacks something that the text shows.
    #[error("this run has no {0}, which the format shows")]
    Lacks(&'static str),
}

/// A program of the original, dropped in: its flags, its output, its exit codes.
#[derive(Debug)]
pub struct Personality {
    /// Names it is called by.
    pub names: &'static [&'static str],
    /// What kind of program it is.
    pub kind: PersonalityKind,
    /// One line for lists.
    pub about: &'static str,
    /// Runs it and returns its exit code.
    pub main: fn(&mut Invocation<'_>, &mut Runner<'_>) -> u8,
}

/// What kind of program a personality is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonalityKind {
    /// It measures.
    Run,
    /// It turns a text into another.
    Filter,
    /// It serves until it is stopped.
    Server,
}

/// How a personality was called. It uses nothing of the process but this.
pub struct Invocation<'a> {
    /// Arguments, the program's name left out.
    pub args: Vec<OsString>,
    /// Environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
}
