//! Wilcoxon's signed-rank test, exactly: the test of paired blocks.

use super::ranks::{any_tied, doubled_mid_ranks};
use super::tails::{normal_below, normal_quantile};

/// Up to this many differences the distribution is counted out; beyond, the normal limit is closer than any use of it.
pub const EXACT_UP_TO: usize = 100;

/// What the test saw and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences; mid-ranks make halves possible.
    pub rank_sum_plus: f64,
    /// Sum of the ranks of the negative differences.
    pub rank_sum_minus: f64,
    /// Differences of exactly zero: ranked with the rest, then left out (Pratt, JASA 54, 1959).
    pub zeros: usize,
    /// Whether absolute differences were equal and took mid-ranks.
    pub tied: bool,
    /// Two-sided p: the chance, if signs were coin tosses, of rank sums at least this uneven. 1 without differences.
    pub p: f64,
    /// Whether p was counted out over all signs rather than approximated.
    pub exact: bool,
}

/// Tests whether differences are centred on zero.
pub fn signed_rank_test(differences: &[f64]) -> SignedRank {
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranks = doubled_mid_ranks(&sizes);
    let (mut plus, mut minus, mut kept) = (0, 0, Vec::with_capacity(ranks.len()));
    for (&difference, &rank) in differences.iter().zip(&ranks) {
        if difference > 0.0 {
            plus += rank;
        } else if difference < 0.0 {
            minus += rank;
        } else {
            continue;
        }
        kept.push(rank);
    }
    let smaller = plus.min(minus);
    let exact = kept.len() <= EXACT_UP_TO;
    let below = if exact {
        at_most(&null_distribution(&kept), smaller)
    } else {
        // In doubled ranks: mean is half their sum, variance a quarter of the sum of squares; steps are of 1 or 2.
        let mean = kept.iter().sum::<usize>() as f64 / 2.0;
        let variance = kept.iter().map(|&rank| (rank as f64).powi(2)).sum::<f64>() / 4.0;
        normal_below((smaller as f64 + 1.0 - mean) / variance.sqrt())
    };
    SignedRank {
        rank_sum_plus: plus as f64 / 2.0,
        rank_sum_minus: minus as f64 / 2.0,
        zeros: differences.len() - kept.len(),
        tied: any_tied(&kept),
        p: (2.0 * below).min(1.0),
        exact,
    }
}

/// How many of the smallest Walsh averages of n differences lie outside a two-sided interval at `level`, plus one:
/// the interval runs from the k-th smallest to the k-th largest. 0 if even the widest interval is too sure.
///
/// That is the number of values w with P(W <= w) <= level / 2 under the untied distribution, which ties only make
/// more cautious (Noether, JASA 62, 1967).
pub fn interval_rank(n: usize, level: f64) -> usize {
    if n > EXACT_UP_TO {
        let n = n as f64;
        let mean = n * (n + 1.0) / 4.0;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        return rank_from_normal(mean, deviation, level);
    }
    let ranks: Vec<usize> = (1..=n).collect();
    values_within(&null_distribution(&ranks), level / 2.0)
}

/// The fewest blocks from which a difference can be shown at all: the smallest n with 2 / 2ⁿ <= level.
pub fn minimum_blocks(level: f64) -> usize {
    let mut blocks = 0;
    let mut surest = 2.0;
    while surest > level {
        blocks += 1;
        surest /= 2.0;
    }
    blocks
}

/// P(W = w) for w = 0, 1, …: every rank enters the sum with probability one half (the subset-sum recursion).
///
/// Halving is exact in binary, so up to 52 ranks these are the true fractions.
fn null_distribution(ranks: &[usize]) -> Vec<f64> {
    let mut probability = vec![0.0; ranks.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    let mut highest = 0;
    for &rank in ranks {
        highest += rank;
        for sum in (0..=highest).rev() {
            let taken = if sum >= rank {
                probability[sum - rank]
            } else {
                0.0
            };
            probability[sum] = (probability[sum] + taken) / 2.0;
        }
    }
    probability
}

fn at_most(probability: &[f64], value: usize) -> f64 {
    probability.iter().take(value + 1).sum()
}

/// How many of the lowest values have a cumulative probability of at most `bound`.
pub(crate) fn values_within(probability: &[f64], bound: f64) -> usize {
    let mut below = 0.0;
    probability
        .iter()
        .take_while(|&&at| {
            below += at;
            below <= bound
        })
        .count()
}

/// The same count where the statistic is as good as normal, with the correction for whole values.
pub(crate) fn rank_from_normal(mean: f64, deviation: f64, level: f64) -> usize {
    let highest = (mean - 0.5 + normal_quantile(level / 2.0) * deviation).floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and below the n² that was counted to get here"
    )]
    if highest < 0.0 {
        0
    } else {
        highest as usize + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every assignment of signs, one by one.
    fn p_by_enumeration(differences: &[f64]) -> f64 {
        let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let ranks = doubled_mid_ranks(&sizes);
        let kept: Vec<(usize, bool)> = differences
            .iter()
            .zip(ranks)
            .filter(|(d, _)| **d != 0.0)
            .map(|(d, rank)| (rank, *d > 0.0))
            .collect();
        let total: usize = kept.iter().map(|(rank, _)| rank).sum();
        let plus: usize = kept
            .iter()
            .filter(|(_, up)| *up)
            .map(|(rank, _)| rank)
            .sum();
        let smaller = plus.min(total - plus);
        let all = 1_usize << kept.len();
        let as_uneven = (0..all)
            .filter(|signs| {
                let plus: usize = kept
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| (signs >> i) & 1 == 1)
                    .map(|(_, (rank, _))| rank)
                    .sum();
                plus.min(total - plus) <= smaller
            })
            .count();
        as_uneven as f64 / all as f64
    }

    #[test]
    fn zeros_keep_their_ranks_and_lose_their_vote() {
        // Pratt: |d| = 0, 0, 1, 2, 3 take ranks 1.5, 1.5, 3, 4, 5; the zeros' ranks are then dropped.
        let test = signed_rank_test(&[0.0, 1.0, 0.0, -2.0, 3.0]);
        assert_eq!(
            (test.rank_sum_plus, test.rank_sum_minus, test.zeros),
            (8.0, 4.0, 2)
        );
        assert_eq!(test.p, 0.75);
    }

    #[test]
    fn without_a_difference_nothing_is_shown() {
        let test = signed_rank_test(&[0.0; 9]);
        assert_eq!((test.p, test.zeros), (1.0, 9));
        assert_eq!(signed_rank_test(&[]).p, 1.0);
        assert_eq!(interval_rank(0, 0.05), 0);
    }

    #[test]
    fn the_normal_limit_joins_the_exact_distribution() {
        let exact = interval_rank(EXACT_UP_TO, 0.05);
        let n = EXACT_UP_TO as f64;
        let normal = rank_from_normal(
            n * (n + 1.0) / 4.0,
            (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
            0.05,
        );
        assert!(exact.abs_diff(normal) <= 3, "{exact} against {normal}");
        let differences: Vec<f64> = (0..101)
            .map(|i| f64::from((i * 37) % 101) - 40.0 + 0.25)
            .collect();
        let test = signed_rank_test(&differences);
        let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let null = null_distribution(&doubled_mid_ranks(&sizes));
        let smaller = test.rank_sum_plus.min(test.rank_sum_minus);
        let counted: f64 = null
            .iter()
            .enumerate()
            .filter(|(doubled, _)| *doubled as f64 <= 2.0 * smaller)
            .map(|(_, probability)| 2.0 * probability)
            .sum();
        assert!(
            !test.exact && (test.p - counted).abs() < 1e-3,
            "{test:?} against {counted}"
        );
    }

    #[test]
    fn the_minimum_is_where_the_interval_begins_to_exist() {
        for level in [0.05, 0.0158, 0.01, 0.0158 / 9.0, 0.0158 / 45.0] {
            let minimum = minimum_blocks(level);
            assert_eq!(interval_rank(minimum - 1, level), 0);
            assert!(interval_rank(minimum, level) > 0);
        }
    }

    proptest! {
        #[test]
        fn p_counts_every_assignment_of_signs(values in prop::collection::vec(-4_i32..5, 1..11)) {
            let differences: Vec<f64> = values.into_iter().map(f64::from).collect();
            prop_assert_eq!(signed_rank_test(&differences).p, p_by_enumeration(&differences));
        }

        #[test]
        fn p_does_not_depend_on_scale_or_side(values in prop::collection::vec(-1e3_f64..1e3, 1..40)) {
            let turned: Vec<f64> = values.iter().map(|d| -4.0 * d).collect();
            let (one, other) = (signed_rank_test(&values), signed_rank_test(&turned));
            prop_assert_eq!(one.p, other.p);
            prop_assert_eq!(one.rank_sum_plus, other.rank_sum_minus);
        }
    }
}
