//! The decision rules under test: those found in existing suites, and ours.

use std::fmt;

use super::world::Session;
use crate::stats::describe::{mean, standard_deviation};
use crate::stats::rank_sum::rank_sum_test;
use crate::stats::signed_rank::signed_rank_test;
use crate::stats::tails::student_two_sided;
use crate::stats::{Direction, Rule, Verdict, compare_at_looks, looks};

/// A way to say that two contenders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionRule {
    /// Three runs of one, then three of the other: means more than 2 % apart, and neither side's deviation above 3.5 %,
    /// beyond which the result is thrown out as noisy.
    DifferenceAboveLimit,
    /// Four runs of one, then four of the other: each mean lies outside the range that the other's runs span, as one
    /// reads bars with whiskers from minimum to maximum. (Asking that the ranges have nothing in common is stricter: it
    /// errs in under 3 % of calm sessions, in 12 % under a step, and finds the true change in a quarter.)
    MeansOutsideRanges,
    /// Five runs of one, then five of the other: Welch's t-test at 5 %.
    Welch,
    /// One run each: Welch's t-test at 5 % on the values of each second.
    SamplesInsideOneRun,
    /// Ten runs of one, then ten of the other: exact rank-sum test at 5 %.
    RankSum,
    /// Blocks up to 30, tested after every one from the sixth on: stop as soon as the exact signed-rank p is below 5 %.
    StopWhenSignificant,
    /// Twenty blocks: exact signed-rank test at 5 %, once.
    PairedBlocks,
    /// Blocks up to 30, judged at the planned looks only, with a margin of 2 %.
    ThisMethod,
}

const LEVEL: f64 = 0.05;
const DIFFERENCE_LIMIT: f64 = 0.02;
const DEVIATION_LIMIT: f64 = 0.035;
/// The first number of blocks from which 5 % can be reached.
const FIRST_PEEK: usize = 6;
const LAST_BLOCK: usize = looks::PLANNED[looks::PLANNED.len() - 1];

impl DecisionRule {
    /// All rules, ours last.
    pub const ALL: [Self; 8] = [
        Self::DifferenceAboveLimit,
        Self::MeansOutsideRanges,
        Self::Welch,
        Self::SamplesInsideOneRun,
        Self::RankSum,
        Self::StopWhenSignificant,
        Self::PairedBlocks,
        Self::ThisMethod,
    ];

    /// Whether all runs of the baseline come before all runs of the contender, several of each.
    pub fn is_one_after_the_other(self) -> bool {
        matches!(
            self,
            Self::DifferenceAboveLimit | Self::MeansOutsideRanges | Self::Welch | Self::RankSum
        )
    }

    /// Runs the session and decides: `Some(better)` if the contender is called different.
    pub(crate) fn judge(self, session: &mut Session<'_>, effect: f64) -> Option<bool> {
        match self {
            Self::DifferenceAboveLimit => {
                let (a, b) = one_after_the_other(session, effect, 3);
                let difference = mean(&b)? - mean(&a)?;
                let calm = standard_deviation(&a)?.max(standard_deviation(&b)?) <= DEVIATION_LIMIT;
                (calm && difference.abs() > DIFFERENCE_LIMIT).then_some(difference > 0.0)
            }
            Self::MeansOutsideRanges => {
                let (a, b) = one_after_the_other(session, effect, 4);
                let (a_mean, b_mean) = (mean(&a)?, mean(&b)?);
                let below = |value: f64, values: &[f64]| values.iter().all(|&other| value < other);
                let above = |value: f64, values: &[f64]| values.iter().all(|&other| value > other);
                let better = above(b_mean, &a) && below(a_mean, &b);
                let worse = below(b_mean, &a) && above(a_mean, &b);
                (better || worse).then_some(better)
            }
            Self::Welch => {
                let (a, b) = one_after_the_other(session, effect, 5);
                welch(&a, &b)
            }
            Self::SamplesInsideOneRun => {
                let a = session.inside_run(0.0, 0.0);
                let b = session.inside_run(1.0, effect);
                welch(&a, &b)
            }
            Self::RankSum => {
                let (a, b) = one_after_the_other(session, effect, 10);
                let test = rank_sum_test(&a, &b);
                (test.p <= LEVEL).then_some(test.u > (a.len() * b.len()) as f64 / 2.0)
            }
            Self::StopWhenSignificant => {
                let (a, b) = blocks(session, effect, LAST_BLOCK);
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                (FIRST_PEEK..=LAST_BLOCK).find_map(|n| signed_rank(&differences[..n]))
            }
            Self::PairedBlocks => {
                let (a, b) = blocks(session, effect, 20);
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                signed_rank(&differences)
            }
            Self::ThisMethod => {
                let (a, b) = blocks(session, effect, LAST_BLOCK);
                let rates = |logs: Vec<f64>| logs.into_iter().map(f64::exp).collect::<Vec<_>>();
                let (a, b) = (rates(a), rates(b));
                let verdict =
                    compare_at_looks(&a, &b, Direction::HigherIsBetter, &Rule::planned()).ok()?;
                match verdict.comparison.verdict {
                    Verdict::Different { better } => Some(better),
                    _ => None,
                }
            }
        }
    }
}

impl fmt::Display for DecisionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DifferenceAboveLimit => "difference > 2 %, SD <= 3.5 %, 3 runs, A then B",
            Self::MeansOutsideRanges => "means outside each other's range, 4 runs, A then B",
            Self::Welch => "Welch t, 5 runs, A then B",
            Self::SamplesInsideOneRun => "spread inside one run only",
            Self::RankSum => "rank-sum, 10 runs, A then B",
            Self::StopWhenSignificant => "stop as soon as p < 5 %, blocks, up to 30",
            Self::PairedBlocks => "paired blocks, signed-rank, 20 blocks",
            Self::ThisMethod => "this method",
        })
    }
}

/// `runs` of the baseline, then as many of the contender, evenly over the session.
fn one_after_the_other(
    session: &mut Session<'_>,
    effect: f64,
    runs: usize,
) -> (Vec<f64>, Vec<f64>) {
    let time = |slot: usize| slot as f64 / (2 * runs - 1) as f64;
    let a = (0..runs).map(|slot| session.run(time(slot), 0.0)).collect();
    let b = (runs..2 * runs)
        .map(|slot| session.run(time(slot), effect))
        .collect();
    (a, b)
}

/// Blocks of both, the order within each by coin, evenly over the session.
fn blocks(session: &mut Session<'_>, effect: f64, blocks: usize) -> (Vec<f64>, Vec<f64>) {
    let time = |slot: usize| slot as f64 / (2 * blocks - 1) as f64;
    let (mut a, mut b) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
    for block in 0..blocks {
        let contender_first = session.random.below(2) == 0;
        let (first, second) = (time(2 * block), time(2 * block + 1));
        if contender_first {
            b.push(session.run(first, effect));
            a.push(session.run(second, 0.0));
        } else {
            a.push(session.run(first, 0.0));
            b.push(session.run(second, effect));
        }
    }
    (a, b)
}

fn signed_rank(differences: &[f64]) -> Option<bool> {
    let test = signed_rank_test(differences);
    (test.p <= LEVEL).then_some(test.rank_sum_plus > test.rank_sum_minus)
}

/// Welch's t-test (Biometrika 34, 1947).
fn welch(a: &[f64], b: &[f64]) -> Option<bool> {
    let error = |values: &[f64]| Some(standard_deviation(values)?.powi(2) / values.len() as f64);
    let (first, second) = (error(a)?, error(b)?);
    let t = (mean(b)? - mean(a)?) / (first + second).sqrt();
    let freedom = (first + second).powi(2)
        / (first.powi(2) / (a.len() - 1) as f64 + second.powi(2) / (b.len() - 1) as f64);
    (student_two_sided(t, freedom) <= LEVEL).then_some(t > 0.0)
}
