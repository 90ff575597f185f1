//! What the engine tells the world while it works.
//!
//! Events are owned, numbered and versioned; the store, the progress line, a personality's live text and the JSON
//! stream all read the same ones.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::run::{Doubt, Phase, Point, Run};
use crate::units::{Bytes, Nanos};

/// Version of the events' written form.
pub const EVENT_VERSION: u32 = 1;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// [`EVENT_VERSION`].
    pub version: u32,
    /// Counts up by one from 0 within a program's life: a gap is a lost event.
    pub number: u64,
    /// The run it belongs to.
    pub run: Uuid,
    /// Since the run's start, on its clock.
    pub at: Nanos,
    /// What happened.
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventBody {
    /// A run begins: all that is known of it before the first phase. Its outcome is `Partial` until `RunFinished`.
    RunStarted {
        /// The run, without phases.
        run: Box<Run>,
    },
    /// A text that the original prints or a person wants to see while waiting.
    Note {
        /// The text, one line.
        text: String,
    },
    /// A phase's workers were made and are being released.
    PhaseStarted {
        /// Its name.
        phase: String,
        /// Its point.
        point: Point,
        /// How many workers.
        workers: u32,
        /// Planned length of the window, where time ends it.
        length: Option<Nanos>,
    },
    /// A second of a phase went by.
    Tick(Tick),
    /// A phase ended, and its results are final.
    PhaseFinished {
        /// The results.
        phase: Box<Phase>,
    },
    /// Something a reader must know of.
    Doubted {
        /// What.
        doubt: Doubt,
    },
    /// The run ended; nothing of it is left on the machine. Its phases were sent before and are not repeated here.
    RunFinished {
        /// The run, without phases.
        run: Box<Run>,
    },
}

/// State of a phase at the end of a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// The phase's name.
    pub phase: String,
    /// The window is not open yet.
    pub warm_up: bool,
    /// Since the window opened; in warm-up, since the workers' release.
    pub elapsed: Nanos,
    /// Length of this interval.
    pub interval: Nanos,
    /// Workers that have not ended yet.
    pub running: u32,
    /// Workers in all.
    pub workers: u32,
    /// Workers that have moved a byte since the window opened; in warm-up, since the workers' release.
    pub active: u32,
    /// Ops that ended since the window opened.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Ops that ended in this interval.
    pub interval_ops: u64,
    /// Bytes they moved.
    pub interval_bytes: Bytes,
    /// Ops since the workers' release, warm-up included.
    pub ops_in_all: u64,
    /// Longest op that ended in this interval or is in flight now.
    pub longest: Nanos,
    /// Dirty bytes of the machine.
    pub dirty: Option<Bytes>,
}

/// A receiver of events could not take one; the run ends as failed.
#[derive(Debug, Error)]
#[error("cannot record what was measured: {0}")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// A receiver of events: the only way in which the engine speaks.
pub trait Sink {
    /// Takes one event. An error ends the run as failed.
    fn event(&mut self, event: &Event) -> Result<(), SinkError>;
}
