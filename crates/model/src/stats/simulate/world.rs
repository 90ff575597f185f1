//! The worlds that sessions are drawn from.

use std::f64::consts::LN_10;

use crate::stats::random::Random;

/// What moves a run's logarithm besides the contender. Deviations are standard deviations on the log scale: 0.01 is
/// about 1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// What the table calls it.
    pub name: &'static str,
    /// What a boot fixes for the run after it: layout in memory and on disk, placement of interrupts.
    pub boot_deviation: f64,
    /// What changes from run to run beyond that.
    pub run_deviation: f64,
    /// Share of runs that something slows down.
    pub slow_runs: f64,
    /// How far one step during the session moves all runs after it: its size is normal, its time uniform.
    pub step_deviation: f64,
    /// How far a straight drift moves runs from the first to the last of the session: its size is normal.
    pub drift_deviation: f64,
}

/// How much a slowed run loses on average, on the log scale, exponentially distributed: 0.1 is about 10 %.
pub const SLOW_RUN_LOSS: f64 = 0.1;

/// Values a run gives for the rule that looks inside one run: one a second for a minute.
pub const INNER_SAMPLES: usize = 60;

/// Deviation of those values around the run's own level: 5 %.
pub const INNER_DEVIATION: f64 = 0.05;

const TYPICAL: World = World {
    name: "typical",
    boot_deviation: 0.01,
    run_deviation: 0.02,
    slow_runs: 0.05,
    step_deviation: 0.0,
    drift_deviation: 0.0,
};

/// The four worlds, mildest first: quiet, typical, typical with a drift, typical with a step.
pub const WORLDS: [World; 4] = [
    World {
        name: "quiet",
        boot_deviation: 0.005,
        run_deviation: 0.01,
        slow_runs: 0.0,
        ..TYPICAL
    },
    TYPICAL,
    World {
        name: "drift",
        drift_deviation: 0.04,
        ..TYPICAL
    },
    World {
        name: "step",
        step_deviation: 0.06,
        ..TYPICAL
    },
];

/// One session in a world: what its runs share, and the source of what they do not.
pub(crate) struct Session<'a> {
    world: &'a World,
    pub(crate) random: Random,
    step: f64,
    step_time: f64,
    drift: f64,
}

impl<'a> Session<'a> {
    pub(crate) fn new(world: &'a World, mut random: Random) -> Self {
        let step = world.step_deviation * random.normal();
        let step_time = random.uniform();
        let drift = world.drift_deviation * random.normal();
        Self {
            world,
            random,
            step,
            step_time,
            drift,
        }
    }

    /// The log throughput of one run of a contender whose true level is `effect`, made at `time` (0 at the first run of the
    /// session, 1 at the last), after a boot of its own.
    pub(crate) fn run(&mut self, time: f64, effect: f64) -> f64 {
        let world = self.world;
        let boot = world.boot_deviation * self.random.normal();
        let noise = world.run_deviation * self.random.normal();
        let slowed = self.random.uniform() < world.slow_runs;
        let loss = if slowed {
            SLOW_RUN_LOSS * self.random.exponential()
        } else {
            0.0
        };
        let stepped = if time >= self.step_time {
            self.step
        } else {
            0.0
        };
        let drifted = self.drift * (time - 0.5);
        // A level of about 10 keeps throughputs looking like throughputs; it cancels in every rule.
        LN_10 + effect + boot + noise - loss + stepped + drifted
    }

    /// The per-second log values inside one such run.
    pub(crate) fn inside_run(&mut self, time: f64, effect: f64) -> Vec<f64> {
        let level = self.run(time, effect);
        (0..INNER_SAMPLES)
            .map(|_| level + INNER_DEVIATION * self.random.normal())
            .collect()
    }
}
