//! Many contenders: each against the baseline, or all against all.

use super::adjust::holm;
use super::compare::blocked;
use super::describe::median;
use super::friedman::{Friedman, friedman_test};
use super::letters::compact_letters;
use super::scale::{Arm, Direction, InputError, Scale, differences, same_blocks};
use super::signed_rank::signed_rank_test;
use super::verdict::{Comparison, Rule, Shortage, Verdict, decide_inside};

/// Compares each contender with the baseline by block, one error level over all of them.
///
/// "Different" is decided by the exact p after Holm; intervals are at the level shared out evenly, which is somewhat
/// wider, so that they hold together. The family of the rule is set to the number of contenders.
pub fn compare_with_baseline(
    baseline: &[f64],
    contenders: &[&[f64]],
    direction: Direction,
    rule: &Rule,
) -> Result<Vec<Comparison>, InputError> {
    let rule = rule.with_family(contenders.len());
    let judged = contenders
        .iter()
        .enumerate()
        .map(|(index, contender)| {
            let arm = Arm::Contender(index);
            blocked(Scale::Ratio, baseline, contender, arm, direction, &rule)
        })
        .collect::<Result<Vec<_>, _>>()?;
    // One value an arm has no p, and then no arm has.
    let p: Option<Vec<f64>> = judged.iter().map(|(comparison, _)| comparison.p).collect();
    let Some(p) = p else {
        return Ok(judged
            .into_iter()
            .map(|(comparison, _)| comparison)
            .collect());
    };
    let comparisons = judged
        .into_iter()
        .zip(holm(&p))
        .map(|((comparison, shift), adjusted_p)| {
            let verdict = match shift.interval {
                Err(shortage) => shortage.into(),
                Ok(_) if adjusted_p <= rule.level() && shift.estimate != 0.0 => {
                    Verdict::Different {
                        better: shift.estimate > 0.0,
                    }
                }
                Ok(ends) => {
                    let margin = rule.inner_margin(Scale::Ratio);
                    decide_inside(shift.estimate, ends, margin, baseline.len())
                }
            };
            Comparison {
                adjusted_p: Some(adjusted_p),
                verdict,
                ..comparison
            }
        });
    Ok(comparisons.collect())
}

/// Two rows of a ranking, compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The two contenders, by their places in the call.
    pub contenders: (usize, usize),
    /// Exact two-sided signed-rank p of this pair alone.
    pub p: f64,
    /// p after Holm over all pairs.
    pub adjusted_p: f64,
    /// Whether they are told apart at the level of the rule.
    pub different: bool,
}

/// Contenders in order, and which of them are told apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Places in the call, best first, by median; equal ones stay in the order of the call.
    pub order: Vec<usize>,
    /// Whether anything differs at all; rank 1 is the worst of a block. `None` below two contenders or two blocks.
    /// The letters do not wait for it: Holm over the pairs already bounds their error.
    pub friedman: Option<Friedman>,
    /// Every pair; empty where there are too few blocks for letters.
    pub pairs: Vec<Pair>,
    /// The letters of each contender, by place in the call, or why there are none.
    pub letters: Result<Vec<String>, Shortage>,
}

/// Ranks contenders over blocks and gives rows that are not told apart a letter in common.
///
/// The family of the rule is set to the number of pairs.
pub fn rank_contenders(
    contenders: &[&[f64]],
    direction: Direction,
    rule: &Rule,
) -> Result<Ranking, InputError> {
    let k = contenders.len();
    let rule = rule.with_family(k * k.saturating_sub(1) / 2);
    let scaled = contenders
        .iter()
        .enumerate()
        .map(|(index, values)| {
            let arm = Arm::Contender(index);
            same_blocks(contenders[0].len(), values.len(), arm)?;
            Scale::Ratio.transform(values, arm, direction)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let medians: Vec<f64> = scaled
        .iter()
        .map(|values| median(values).expect("an arm without values was refused"))
        .collect();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| medians[b].total_cmp(&medians[a]));
    let friedman = friedman_test(&scaled.iter().map(Vec::as_slice).collect::<Vec<_>>());

    let blocks = scaled.first().map_or(0, Vec::len);
    let shortage = match blocks {
        1 => Some(Shortage::NoSpreadGiven),
        _ if blocks < rule.minimum_blocks() => Some(Shortage::TooFewRuns {
            needed: rule.minimum_blocks(),
        }),
        _ => None,
    };
    if let Some(shortage) = shortage {
        return Ok(Ranking {
            order,
            friedman,
            pairs: Vec::new(),
            letters: Err(shortage),
        });
    }
    let pairs = all_pairs(&scaled, rule.level());
    let mut place = vec![0; k];
    for (row, &contender) in order.iter().enumerate() {
        place[contender] = row;
    }
    let different: Vec<(usize, usize)> = pairs
        .iter()
        .filter(|pair| pair.different)
        .map(|pair| (place[pair.contenders.0], place[pair.contenders.1]))
        .collect();
    let by_row = compact_letters(k, &different);
    let letters = place.iter().map(|&row| by_row[row].clone()).collect();
    Ok(Ranking {
        order,
        friedman,
        pairs,
        letters: Ok(letters),
    })
}

fn all_pairs(scaled: &[Vec<f64>], level: f64) -> Vec<Pair> {
    let pairs: Vec<(usize, usize)> = (0..scaled.len())
        .flat_map(|one| (one + 1..scaled.len()).map(move |other| (one, other)))
        .collect();
    let p: Vec<f64> = pairs
        .iter()
        .map(|&(one, other)| signed_rank_test(&differences(&scaled[one], &scaled[other])).p)
        .collect();
    let adjusted = holm(&p);
    pairs
        .into_iter()
        .zip(p.into_iter().zip(adjusted))
        .map(|(contenders, (p, adjusted_p))| Pair {
            contenders,
            p,
            adjusted_p,
            different: adjusted_p <= level,
        })
        .collect()
}

#[cfg(test)]
mod tests;
