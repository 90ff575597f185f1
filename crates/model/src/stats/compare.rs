//! Two contenders: the comparison everything else is built on.

use super::hodges_lehmann::{PairDifferences, WalshAverages};
use super::rank_sum::{self, chance_greater, rank_sum_test};
use super::scale::{Arm, Direction, InputError, Scale, differences, same_blocks};
use super::signed_rank::{self, signed_rank_test};
use super::verdict::{Comparison, Design, Interval, Rule, Shortage, decide};

/// Compares two arms whose i-th values come from the same block, as a ratio.
pub fn compare_blocked(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, InputError> {
    blocked(
        Scale::Ratio,
        baseline,
        contender,
        Arm::Contender(0),
        direction,
        rule,
    )
    .map(|(comparison, _)| comparison)
}

/// Compares two arms by block where values are counts that may rightly be zero, as a difference in their own unit.
/// The margin of the rule is a number of counts.
pub fn compare_blocked_counts(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, InputError> {
    blocked(
        Scale::Difference,
        baseline,
        contender,
        Arm::Contender(0),
        direction,
        rule,
    )
    .map(|(comparison, _)| comparison)
}

/// Compares runs that were not made in blocks, as a ratio; the result says that drift was not controlled.
pub fn compare_unblocked(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, InputError> {
    unblocked(Scale::Ratio, baseline, contender, direction, rule)
}

/// Compares counts that were not made in blocks, as [`compare_blocked_counts`] does for blocks.
pub fn compare_unblocked_counts(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, InputError> {
    unblocked(Scale::Difference, baseline, contender, direction, rule)
}

/// The paired comparison, as printed and on the inner scale.
pub(crate) fn blocked(
    scale: Scale,
    baseline: &[f64],
    contender: &[f64],
    arm: Arm,
    direction: Direction,
    rule: &Rule,
) -> Result<(Comparison, Shift), InputError> {
    let from = scale.transform(baseline, Arm::Baseline, direction)?;
    let to = scale.transform(contender, arm, direction)?;
    same_blocks(from.len(), to.len(), arm)?;
    let differences = differences(&from, &to);
    let walsh = WalshAverages::new(&differences);
    let test = signed_rank_test(&differences);
    let rank = signed_rank::interval_rank(differences.len(), rule.adjusted_level());
    let shift = Shift {
        design: Design::Blocked,
        runs: (from.len(), to.len()),
        estimate: walsh.median().expect(NOT_EMPTY),
        interval: match from.len() {
            1 => Err(Shortage::NoSpreadGiven),
            _ => ends(rank, walsh.count(), |k| walsh.smallest(k)).ok_or_else(|| {
                Shortage::TooFewRuns {
                    needed: rule.minimum_blocks(),
                }
            }),
        },
        p: test.p,
        chance_better: chance_greater(&from, &to).expect(NOT_EMPTY),
        zeros: test.zeros,
        tied: test.tied,
    };
    Ok((shift.report(scale, direction, rule), shift))
}

fn unblocked(
    scale: Scale,
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, InputError> {
    let from = scale.transform(baseline, Arm::Baseline, direction)?;
    let to = scale.transform(contender, Arm::Contender(0), direction)?;
    let pairs = PairDifferences::new(&from, &to);
    let test = rank_sum_test(&from, &to);
    let level = rule.adjusted_level();
    let rank = rank_sum::interval_rank(from.len(), to.len(), level);
    let shift = Shift {
        design: Design::Unblocked,
        runs: (from.len(), to.len()),
        estimate: pairs.median().expect(NOT_EMPTY),
        interval: match (from.len(), to.len()) {
            (1, 1) => Err(Shortage::NoSpreadGiven),
            _ => ends(rank, pairs.count(), |k| pairs.smallest(k)).ok_or_else(|| {
                Shortage::TooFewRuns {
                    needed: rank_sum::minimum_runs(level),
                }
            }),
        },
        p: test.p,
        chance_better: test.u / pairs.count() as f64,
        zeros: 0,
        tied: test.tied,
    };
    Ok(shift.report(scale, direction, rule))
}

const NOT_EMPTY: &str = "an arm without values was refused";

/// The k-th smallest and k-th largest of `count` pairs; `None` if k is 0.
fn ends(k: usize, count: usize, smallest: impl Fn(usize) -> Option<f64>) -> Option<(f64, f64)> {
    Some((smallest(k)?, smallest(count + 1 - k)?))
}

/// What the pairs say, on the inner scale: zero is no change, plus is better.
pub(crate) struct Shift {
    design: Design,
    runs: (usize, usize),
    pub(crate) estimate: f64,
    pub(crate) interval: Result<(f64, f64), Shortage>,
    p: f64,
    chance_better: f64,
    zeros: usize,
    tied: bool,
}

impl Shift {
    fn report(&self, scale: Scale, direction: Direction, rule: &Rule) -> Comparison {
        let p = (self.interval != Err(Shortage::NoSpreadGiven)).then_some(self.p);
        let interval = self.interval.map(|(lower, upper)| {
            let ends = [lower, upper].map(|end| scale.restore(end, direction));
            Interval {
                lower: ends[0].min(ends[1]),
                upper: ends[0].max(ends[1]),
            }
        });
        Comparison {
            scale,
            design: self.design,
            runs: self.runs,
            estimate: scale.restore(self.estimate, direction),
            interval,
            level: rule.adjusted_level(),
            p,
            adjusted_p: p.map(|p| (p * rule.family() as f64).min(1.0)),
            chance_better: self.chance_better,
            zeros: self.zeros,
            tied: self.tied,
            verdict: decide(
                self.estimate,
                self.interval,
                rule.inner_margin(scale),
                self.runs.0.min(self.runs.1),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
