//! How often each decision rule is wrong: the simulation that the method was chosen by.
//!
//! Sessions are drawn from the worlds of [`world`], whose every parameter is a constant there, and judged by the rules
//! of [`rules`]. No parameter was fitted to an outcome. What must hold is said by [`Simulation::shortfalls`]; the other
//! cells are for information.

pub mod rules;
pub mod world;

use std::fmt;

use super::random::Random;
use rules::DecisionRule;
use world::{Session, WORLDS, World};

/// The true change in the sessions that power is counted over: the contender is 3 % slower.
pub const TRUE_RATIO: f64 = 0.97;

/// Sessions a cell that `selftest statistics` draws: a standard error of at most 0.8 points.
pub const TRIALS: usize = 4000;

/// Outcomes of one rule in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Sessions of equal contenders that were called different.
    pub false_positives: usize,
    /// Sessions with the true change that were called different in its direction.
    pub finds: usize,
}

/// One rule in all worlds, in the order of [`WORLDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: DecisionRule,
    /// Its outcomes, one a world.
    pub cells: [Cell; WORLDS.len()],
}

/// The whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The seed that gives it again.
    pub seed: u64,
    /// Sessions drawn for each number.
    pub trials: usize,
    /// One row a rule.
    pub rows: Vec<Row>,
}

/// Draws `trials` sessions for each rule, world and truth. Every session has its own stream under `seed`, so a rule's
/// numbers do not depend on the other rules.
pub fn simulate(seed: u64, trials: usize) -> Simulation {
    let rows = DecisionRule::ALL
        .into_iter()
        .map(|rule| Row {
            rule,
            cells: WORLDS
                .each_ref()
                .map(|world| cell(rule, world, seed, trials)),
        })
        .collect();
    Simulation { seed, trials, rows }
}

fn cell(rule: DecisionRule, world: &World, seed: u64, trials: usize) -> Cell {
    let called = |effect: f64, wanted: &dyn Fn(bool) -> bool| {
        (0..trials)
            .filter(|&trial| {
                let mut session = Session::new(world, Random::stream(seed, trial as u64));
                rule.judge(&mut session, effect).is_some_and(wanted)
            })
            .count()
    };
    Cell {
        false_positives: called(0.0, &|_| true),
        finds: called(TRUE_RATIO.ln(), &|better| !better),
    }
}

impl Simulation {
    /// A count of sessions in percent of those drawn; 0 of none.
    pub fn percent(&self, sessions: usize) -> f64 {
        100.0 * sessions as f64 / self.trials.max(1) as f64
    }

    /// What the table had to show and does not, in words; empty if all is well.
    ///
    /// This method: at most 6 % false positives and at least 90 % power in every world. One contender after the
    /// other: more than 12 % false positives under a step, whatever the test. Samples inside one run: more than 40 %
    /// in the typical world and under a step.
    pub fn shortfalls(&self) -> Vec<String> {
        let mut shortfalls = Vec::new();
        for row in &self.rows {
            for (world, cell) in WORLDS.iter().zip(&row.cells) {
                let wrong = self.percent(cell.false_positives);
                let power = self.percent(cell.finds);
                let mut require = |holds: bool, what: &str| {
                    if !holds {
                        shortfalls.push(format!(
                            "{} in the {} world: {wrong:.1} % false positives, {power:.1} % power, but {what}",
                            row.rule, world.name
                        ));
                    }
                };
                if row.rule == DecisionRule::ThisMethod {
                    require(wrong <= 6.0, "at most 6 % false positives are allowed");
                    require(power >= 90.0, "at least 90 % power is needed");
                } else if row.rule.is_one_after_the_other() && world.step_deviation > 0.0 {
                    require(wrong > 12.0, "a step should fool it in more than 12 %");
                } else if row.rule == DecisionRule::SamplesInsideOneRun && world.slow_runs > 0.0 {
                    require(wrong > 40.0, "runs should fool it in more than 40 %");
                }
            }
        }
        shortfalls
    }
}

impl fmt::Display for Simulation {
    /// The table as text: a line a rule, false positives and power in percent for each world.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .rows
            .iter()
            .map(|row| row.rule.to_string().len())
            .max()
            .unwrap_or(0);
        write!(f, "{:width$}", "false positives / power, %")?;
        for world in &WORLDS {
            write!(f, "  {:>11}", world.name)?;
        }
        writeln!(f)?;
        for row in &self.rows {
            write!(f, "{:width$}", row.rule.to_string())?;
            for cell in &row.cells {
                let (wrong, power) = (self.percent(cell.false_positives), self.percent(cell.finds));
                write!(f, "  {wrong:>4.1} / {power:>4.1}")?;
            }
            writeln!(f)?;
        }
        write!(f, "{} sessions a number, seed {}", self.trials, self.seed)
    }
}

#[cfg(test)]
mod tests;
