//! A blocked session, judged at its planned looks and stopped at the first that decides.

use super::compare::compare_blocked;
use super::looks;
use super::many::compare_with_baseline;
use super::scale::{Direction, InputError};
use super::verdict::{Comparison, Rule, Verdict};

/// What a session says of one contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionVerdict {
    /// The comparison at the look that decided, or at the last look reached. Blocks after it took no part. Before the
    /// first look: over all blocks, with the verdict withheld.
    pub comparison: Comparison,
    /// The look it was taken at; `None` before the first.
    pub look: Option<usize>,
    /// Whether a look before the last one decided: then the estimate leans outward, for sessions stop early on the
    /// days when the difference looks large.
    pub stopped_early: bool,
}

/// Judges two arms of a blocked session at the planned looks only.
///
/// Give all blocks made so far, in order; the session may stop once the verdict is decided, or goes on to the
/// [`looks::next`] look. Looks that the rule cannot use are skipped.
pub fn compare_at_looks(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
    rule: &Rule,
) -> Result<SessionVerdict, InputError> {
    let verdicts = judge(baseline.len(), rule.minimum_blocks(), |blocks| {
        let (baseline, contender) = (first(baseline, blocks), first(contender, blocks));
        Ok(vec![compare_blocked(baseline, contender, direction, rule)?])
    })?;
    Ok(verdicts[0])
}

/// Judges each contender of a blocked session at the planned looks only, as [`compare_with_baseline`] does at one.
///
/// A contender keeps the verdict of the first look that decides it; the session may stop once all are decided.
pub fn compare_with_baseline_at_looks(
    baseline: &[f64],
    contenders: &[&[f64]],
    direction: Direction,
    rule: &Rule,
) -> Result<Vec<SessionVerdict>, InputError> {
    let minimum = rule.with_family(contenders.len()).minimum_blocks();
    judge(baseline.len(), minimum, |blocks| {
        let contenders: Vec<&[f64]> = contenders
            .iter()
            .map(|contender| first(contender, blocks))
            .collect();
        compare_with_baseline(first(baseline, blocks), &contenders, direction, rule)
    })
}

/// An arm up to a look; all of a shorter one, which the comparison refuses.
fn first(values: &[f64], blocks: usize) -> &[f64] {
    &values[..blocks.min(values.len())]
}

fn judge(
    blocks: usize,
    minimum: usize,
    compare: impl Fn(usize) -> Result<Vec<Comparison>, InputError>,
) -> Result<Vec<SessionVerdict>, InputError> {
    // Over all blocks first: a value that cannot be is refused, even if no look comes to it. An arm may be longer than
    // the baseline, so "all" is the longest there can be.
    let mut verdicts: Vec<SessionVerdict> = compare(usize::MAX)?
        .into_iter()
        .map(|comparison| SessionVerdict {
            comparison,
            look: None,
            stopped_early: false,
        })
        .collect();
    for look in looks::usable(minimum).take_while(|&look| look <= blocks) {
        for (verdict, comparison) in verdicts.iter_mut().zip(compare(look)?) {
            if verdict.look.is_none() || !verdict.comparison.verdict.is_decided() {
                let decided = comparison.verdict.is_decided();
                let stopped_early = decided && looks::next(look, minimum).is_some();
                *verdict = SessionVerdict {
                    comparison,
                    look: Some(look),
                    stopped_early,
                };
            }
        }
        if verdicts
            .iter()
            .all(|verdict| verdict.comparison.verdict.is_decided())
        {
            break;
        }
    }
    for verdict in verdicts.iter_mut().filter(|verdict| verdict.look.is_none()) {
        if verdict.comparison.interval.is_ok() {
            // Enough blocks for an interval, but nothing is said before a look.
            let needed = looks::next(blocks, minimum).unwrap_or(minimum);
            verdict.comparison.verdict = Verdict::TooFewRuns { needed };
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Direction::HigherIsBetter;
    use crate::stats::InputError;
    use crate::stats::random::Random;

    fn rates(d: &[f64]) -> (Vec<f64>, Vec<f64>) {
        (
            vec![100.0; d.len()],
            d.iter().map(|d| 100.0 * d.exp()).collect(),
        )
    }

    #[test]
    fn looks_stop_at_the_first_that_decides_and_never_in_between() {
        let d: Vec<f64> = (0..30).map(|i| 0.05 + 0.001 * f64::from(i % 7)).collect();
        let (base, better) = rates(&d);
        let at = |n: usize| {
            compare_at_looks(&base[..n], &better[..n], HigherIsBetter, &Rule::planned()).unwrap()
        };
        assert_eq!(at(5).comparison.verdict, Verdict::TooFewRuns { needed: 7 });
        // Seven blocks could show it, but the first look is at eight.
        assert_eq!(at(7).comparison.verdict, Verdict::TooFewRuns { needed: 8 });
        assert_eq!(at(7).look, None);
        let stopped = at(30);
        assert_eq!((stopped.look, stopped.stopped_early), (Some(8), true));
        assert_eq!(stopped.comparison, at(8).comparison);
    }

    #[test]
    fn a_session_between_looks_speaks_from_the_last_one() {
        // Undecided at 8 and 12; the three blocks after 12 would decide, but are not looked at before 18.
        let mut d = vec![
            0.05, -0.04, 0.03, -0.05, 0.04, -0.03, 0.06, -0.06, 0.02, -0.02, 0.01, -0.01,
        ];
        d.extend([0.5, 0.6, 0.7]);
        let (base, contender) = rates(&d);
        let verdict = |n: usize| {
            compare_at_looks(
                &base[..n],
                &contender[..n],
                HigherIsBetter,
                &Rule::planned(),
            )
            .unwrap()
        };
        assert_eq!(verdict(15), verdict(12));
        assert!(
            matches!(verdict(15).comparison.verdict, Verdict::Inconclusive { needed: Some(n) } if n > 12)
        );
        assert!(!verdict(15).stopped_early);
    }

    #[test]
    fn each_contender_keeps_its_first_decision() {
        let mut random = Random::new(21);
        let mut arm = |level: f64, spread: f64| -> Vec<f64> {
            (0..30)
                .map(|_| level * (spread * random.normal()).exp())
                .collect()
        };
        let (baseline, far, near) = (arm(100.0, 0.001), arm(120.0, 0.001), arm(101.0, 0.2));
        let verdicts = compare_with_baseline_at_looks(
            &baseline,
            &[&far, &near],
            HigherIsBetter,
            &Rule::planned(),
        )
        .unwrap();
        // Two contenders share the level, which takes eight blocks: the first look just does.
        assert_eq!(
            (verdicts[0].look, verdicts[0].stopped_early),
            (Some(8), true)
        );
        assert_eq!(
            verdicts[0].comparison.verdict,
            Verdict::Different { better: true }
        );
        assert_eq!(
            (verdicts[1].look, verdicts[1].stopped_early),
            (Some(30), false)
        );
        assert!(matches!(
            verdicts[1].comparison.verdict,
            Verdict::Inconclusive { .. }
        ));
    }

    #[test]
    fn a_value_past_the_deciding_look_is_still_checked() {
        let (base, mut better) = rates(&[0.5; 20]);
        better[19] = -1.0;
        let error = compare_at_looks(&base, &better, HigherIsBetter, &Rule::planned());
        assert!(
            matches!(error, Err(InputError::NotPositive { index: 19, .. })),
            "{error:?}"
        );
        better.truncate(19);
        let error = compare_at_looks(&base, &better, HigherIsBetter, &Rule::planned());
        assert!(
            matches!(error, Err(InputError::BlocksDiffer { found: 19, .. })),
            "{error:?}"
        );
        let error = compare_at_looks(&better, &base, HigherIsBetter, &Rule::planned());
        assert!(
            matches!(error, Err(InputError::BlocksDiffer { found: 20, .. })),
            "{error:?}"
        );
    }
}
