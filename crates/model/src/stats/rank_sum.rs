//! The rank-sum test of Wilcoxon, Mann and Whitney, exactly: for runs that were not made in blocks.

use super::ranks::{any_tied, doubled_mid_ranks, tie_correction};
use super::signed_rank::{rank_from_normal, values_within};
use super::tails::normal_below;

/// Up to this many runs a side the distribution is counted out; beyond, the normal limit is closer than any use of it.
pub const EXACT_UP_TO: usize = 60;

/// What the test saw and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// Pairs in which the second sample is greater, equal ones counted half (Mann and Whitney's U).
    pub u: f64,
    /// Whether values were equal and took mid-ranks.
    pub tied: bool,
    /// Two-sided p: twice the chance of a U at least as far out on the same side, if labels were dealt at random.
    pub p: f64,
    /// Whether p was counted out over all labellings rather than approximated.
    pub exact: bool,
}

/// The chance that a value of `second` is greater than one of `first`: U / (n m), ties half. `None` if a side is empty.
pub fn chance_greater(first: &[f64], second: &[f64]) -> Option<f64> {
    let pairs = first.len() * second.len();
    (pairs > 0)
        .then(|| doubled_u(first.len(), &pooled_ranks(first, second)) as f64 / (2 * pairs) as f64)
}

fn pooled_ranks(first: &[f64], second: &[f64]) -> Vec<usize> {
    let pooled: Vec<f64> = first.iter().chain(second).copied().collect();
    doubled_mid_ranks(&pooled)
}

/// 2 U: the doubled rank sum of the second sample less the smallest it could be.
fn doubled_u(first: usize, ranks: &[usize]) -> usize {
    let second = ranks.len() - first;
    ranks[first..].iter().sum::<usize>() - second * (second + 1)
}

/// Tests whether `second` tends to be greater or smaller than `first`.
pub fn rank_sum_test(first: &[f64], second: &[f64]) -> RankSum {
    let (n, m) = (first.len(), second.len());
    let ranks = pooled_ranks(first, second);
    let tied = any_tied(&ranks);
    let doubled_u = doubled_u(n, &ranks);
    let exact = n <= EXACT_UP_TO && m <= EXACT_UP_TO;
    let p = if n == 0 || m == 0 {
        1.0
    } else if !exact {
        normal_p(n, m, doubled_u, &ranks)
    } else if tied {
        tied_p(n, m, doubled_u, ranks)
    } else {
        // Without ties U is whole and its distribution symmetric.
        let smaller = (doubled_u / 2).min(n * m - doubled_u / 2);
        2.0 * untied_distribution(n, m)
            .iter()
            .take(smaller + 1)
            .sum::<f64>()
    };
    RankSum {
        u: doubled_u as f64 / 2.0,
        tied,
        p: p.min(1.0),
        exact,
    }
}

/// The interval of the shift runs from the k-th smallest to the k-th largest of all differences: the number of values
/// u with P(U <= u) <= level / 2 under the untied distribution. 0 if even the widest interval is too sure.
pub fn interval_rank(n: usize, m: usize, level: f64) -> usize {
    if n == 0 || m == 0 {
        return 0;
    }
    if n > EXACT_UP_TO || m > EXACT_UP_TO {
        let (n, m) = (n as f64, m as f64);
        return rank_from_normal(n * m / 2.0, (n * m * (n + m + 1.0) / 12.0).sqrt(), level);
    }
    values_within(&untied_distribution(n, m), level / 2.0)
}

/// The fewest runs on each of two equal sides from which a difference can be shown: 2 / C(2n, n) <= level.
pub fn minimum_runs(level: f64) -> usize {
    let mut runs: usize = 0;
    let mut surest = 2.0;
    while surest > level {
        runs += 1;
        // C(2n, n) = C(2n - 2, n - 1) · 2 (2n - 1) / n
        let n = runs as f64;
        surest *= n / (2.0 * (2.0 * n - 1.0));
    }
    runs
}

/// P(U = u) for u = 0 … n m, without ties.
///
/// The number of labellings with U = u is a coefficient of the Gaussian binomial, the product over i of
/// (1 - q^(m+i)) / (1 - qⁱ) (Mann and Whitney 1947; David and Barton, Combinatorial Chance, 1962). The coefficients
/// of 60 against 60 stay below 2¹²⁸; in between, arithmetic modulo 2¹²⁸ is exact.
fn untied_distribution(n: usize, m: usize) -> Vec<f64> {
    let mut ways = vec![0_u128; n * m + 1];
    ways[0] = 1;
    for i in 1..=n {
        let shift = m + i;
        for u in (shift..ways.len()).rev() {
            ways[u] = ways[u].wrapping_sub(ways[u - shift]);
        }
        for u in i..ways.len() {
            ways[u] = ways[u].wrapping_add(ways[u - i]);
        }
    }
    let all = ways.iter().sum::<u128>() as f64;
    ways.into_iter().map(|count| count as f64 / all).collect()
}

/// Two-sided p with mid-ranks: counts every way to deal the pooled ranks to the two sides.
fn tied_p(n: usize, m: usize, doubled_u: usize, mut ranks: Vec<usize>) -> f64 {
    // The rank sum of the smaller side tells the same and needs the smaller table.
    let (dealt, sum) = if m <= n {
        (m, doubled_u + m * (m + 1))
    } else {
        (n, 2 * n * m - doubled_u + n * (n + 1))
    };
    ranks.sort_unstable();
    let highest: usize = ranks[ranks.len() - dealt..].iter().sum();
    let width = highest + 1;
    // ways[j * width + s]: ways to choose j of the ranks seen so far with sum s.
    let mut ways = vec![0.0_f64; (dealt + 1) * width];
    ways[0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        let fewest_useful = (dealt + seen + 1).saturating_sub(ranks.len()).max(1);
        for chosen in (fewest_useful..=dealt.min(seen + 1)).rev() {
            let (before, after) = ways.split_at_mut(chosen * width);
            let from = &before[(chosen - 1) * width..];
            for (into, ways) in after[rank..width].iter_mut().zip(from) {
                *into += ways;
            }
        }
    }
    let ways = &ways[dealt * width..];
    let all: f64 = ways.iter().sum();
    let below: f64 = ways[..=sum].iter().sum();
    let above: f64 = ways[sum..].iter().sum();
    2.0 * below.min(above) / all
}

fn normal_p(n: usize, m: usize, doubled_u: usize, ranks: &[usize]) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let ties = tie_correction(ranks) / (all * (all - 1.0));
    let deviation = (n * m / 12.0 * (all + 1.0 - ties)).sqrt();
    if deviation == 0.0 {
        return 1.0;
    }
    let away = ((doubled_u as f64 - n * m) / 2.0).abs() - 0.5;
    2.0 * normal_below(-away.max(0.0) / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every way to deal the labels, one by one.
    fn p_by_enumeration(first: &[f64], second: &[f64]) -> f64 {
        let pooled: Vec<f64> = first.iter().chain(second).copied().collect();
        let ranks = doubled_mid_ranks(&pooled);
        let seen: usize = ranks[first.len()..].iter().sum();
        let (mut all, mut below, mut above) = (0.0, 0.0, 0.0);
        for labels in 0_u32..1 << pooled.len() {
            if labels.count_ones() as usize != second.len() {
                continue;
            }
            let sum: usize = ranks
                .iter()
                .enumerate()
                .filter(|(i, _)| (labels >> i) & 1 == 1)
                .map(|(_, rank)| rank)
                .sum();
            all += 1.0;
            below += f64::from(u8::from(sum <= seen));
            above += f64::from(u8::from(sum >= seen));
        }
        (2.0 * f64::min(below, above) / all).min(1.0)
    }

    #[test]
    fn an_empty_side_shows_nothing() {
        assert_eq!(rank_sum_test(&[], &[1.0]).p, 1.0);
        assert_eq!(chance_greater(&[], &[1.0]), None);
        assert_eq!(interval_rank(0, 5, 0.05), 0);
    }

    #[test]
    fn equal_samples_beat_each_other_half_the_time() {
        let test = rank_sum_test(&[1.0, 2.0], &[2.0, 1.0]);
        assert_eq!(chance_greater(&[1.0, 2.0], &[2.0, 1.0]), Some(0.5));
        assert_eq!(chance_greater(&[1.0, 2.0], &[2.0, 3.0]), Some(0.875));
        assert_eq!(test.p, 1.0);
        let constant = rank_sum_test(&[3.0; 70], &[3.0; 70]);
        assert_eq!((constant.p, constant.exact), (1.0, false));
    }

    #[test]
    fn the_largest_counted_distribution_adds_up() {
        let distribution = untied_distribution(EXACT_UP_TO, EXACT_UP_TO);
        assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for u in 0..distribution.len() {
            assert_eq!(distribution[u], distribution[distribution.len() - 1 - u]);
        }
    }

    #[test]
    fn the_normal_limit_joins_the_exact_distribution() {
        let exact = interval_rank(60, 60, 0.05);
        let normal = rank_from_normal(1800.0, (3600.0_f64 * 121.0 / 12.0).sqrt(), 0.05);
        assert!(exact.abs_diff(normal) <= 3, "{exact} against {normal}");
        let first: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61)).collect();
        let second: Vec<f64> = (0..60).map(|i| f64::from(i * 17 % 61) + 7.5).collect();
        // The same with a tie or two in it, which takes the other way of counting.
        let tied: Vec<f64> = second.iter().map(|value| value.round()).collect();
        for second in [second, tied] {
            let exact = rank_sum_test(&first, &second);
            let ranks = pooled_ranks(&first, &second);
            let normal = normal_p(60, 60, doubled_u(60, &ranks), &ranks);
            assert!(
                exact.exact && (exact.p - normal).abs() < 1e-3,
                "{exact:?} against {normal}"
            );
        }
        let beyond = rank_sum_test(&[first, vec![-1.0]].concat(), &[99.0; 3]);
        assert!(!beyond.exact && beyond.p < 0.01);
    }

    #[test]
    fn the_minimum_is_where_the_interval_begins_to_exist() {
        for level in [0.05, 0.0158, 0.0158 / 45.0] {
            let minimum = minimum_runs(level);
            assert_eq!(interval_rank(minimum - 1, minimum - 1, level), 0);
            assert!(interval_rank(minimum, minimum, level) > 0);
        }
        assert_eq!(minimum_runs(0.05), 4);
    }

    proptest! {
        #[test]
        fn p_counts_every_dealing_of_labels(
            first in prop::collection::vec(0_i32..6, 1..6),
            second in prop::collection::vec(0_i32..6, 1..6),
        ) {
            let first: Vec<f64> = first.into_iter().map(f64::from).collect();
            let second: Vec<f64> = second.into_iter().map(f64::from).collect();
            let p = rank_sum_test(&first, &second).p;
            prop_assert!((p - p_by_enumeration(&first, &second)).abs() < 1e-12);
            prop_assert!((p - rank_sum_test(&second, &first).p).abs() < 1e-12);
        }
    }
}
