//! Drift over a session: the Mann-Kendall test on a series, such as the null arm block by block.

use super::describe::median;
use super::ranks::{any_tied, doubled_mid_ranks, tie_correction};
use super::tails::normal_below;

/// Up to this many untied values the distribution is counted out.
const EXACT_UP_TO: usize = 60;

/// What the series does over its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Pairs that rise less pairs that fall, over all pairs: from -1 to 1.
    pub tau: f64,
    /// Median of the slopes between all pairs, in the values' unit per step (Sen, JASA 63, 1968).
    pub slope: f64,
    /// Two-sided p of no trend; exact without ties up to 60 values.
    pub p: f64,
}

/// Tests for a trend (Mann, Econometrica 13, 1945; Kendall, Rank Correlation Methods). `None` below three values, where
/// no trend could be told.
pub fn mann_kendall(series: &[f64]) -> Option<Trend> {
    let n = series.len();
    if n < 3 {
        return None;
    }
    let (mut rising, mut falling) = (0_usize, 0_usize);
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for i in 0..n {
        for j in i + 1..n {
            let rise = series[j] - series[i];
            rising += usize::from(rise > 0.0);
            falling += usize::from(rise < 0.0);
            slopes.push(rise / (j - i) as f64);
        }
    }
    let ranks = doubled_mid_ranks(series);
    let p = if n <= EXACT_UP_TO && !any_tied(&ranks) {
        (2.0 * at_most_inversions(n, rising.min(falling))).min(1.0)
    } else {
        let nf = n as f64;
        let untied = nf * (nf - 1.0) * (2.0 * nf + 5.0);
        let tied: f64 = tie_terms(&ranks);
        let variance = (untied - tied) / 18.0;
        let away = (rising.abs_diff(falling) as f64 - 1.0).max(0.0);
        if variance > 0.0 {
            2.0 * normal_below(-away / variance.sqrt())
        } else {
            1.0
        }
    };
    Some(Trend {
        tau: (rising as f64 - falling as f64) / slopes.len() as f64,
        slope: median(&slopes)?,
        p,
    })
}

/// Sum of t (t - 1) (2 t + 5) over groups of t equal values, from t³ - t: 2 (t³ - t) + 3 t (t - 1).
fn tie_terms(ranks: &[usize]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let pairs: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|group| group.len() as f64 * (group.len() as f64 - 1.0))
        .sum();
    2.0 * tie_correction(ranks) + 3.0 * pairs
}

/// The chance that a random order of n values has at most `limit` falling pairs: each further value adds 0 to i - 1 of
/// them with equal chance.
fn at_most_inversions(n: usize, limit: usize) -> f64 {
    let mut probability = vec![1.0];
    for i in 2..=n {
        let mut next = vec![0.0; probability.len() + i - 1];
        for (inversions, p) in probability.iter().enumerate() {
            for added in 0..i {
                next[inversions + added] += p / i as f64;
            }
        }
        probability = next;
    }
    probability.iter().take(limit + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_equals_the_published_table_of_kendall() {
        // Kendall, Rank Correlation Methods (1970), appendix table 1: P(S >= 4) = 0.242 and P(S >= 8) = 0.042 for
        // n = 5, P(S >= 16) = 0.031 for n = 8.
        for (n, falling, table) in [(5, 3, 0.242), (5, 1, 0.042), (8, 6, 0.031)] {
            assert!(
                (at_most_inversions(n, falling) - table).abs() < 5e-4,
                "n = {n}"
            );
        }
    }

    #[test]
    fn a_steady_rise_is_found_with_its_slope() {
        let trend = mann_kendall(&[1.0, 3.0, 5.0, 7.0, 9.0, 11.0]).unwrap();
        assert_eq!((trend.tau, trend.slope), (1.0, 2.0));
        assert!((trend.p - 2.0 / 720.0).abs() < 1e-12);
    }

    #[test]
    fn ties_and_constants_are_no_trend() {
        let flat = mann_kendall(&[4.0; 8]).unwrap();
        assert_eq!((flat.tau, flat.slope, flat.p), (0.0, 0.0, 1.0));
        let tied = mann_kendall(&[1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0, 1.0]).unwrap();
        assert!(tied.p > 0.5);
        assert_eq!(mann_kendall(&[1.0, 2.0]), None);
    }

    #[test]
    fn the_tied_variance_is_kendalls() {
        // Groups of 3 and 2 in 5 values: 3·2·11 + 2·1·9.
        assert_eq!(
            tie_terms(&doubled_mid_ranks(&[1.0, 1.0, 1.0, 2.0, 2.0])),
            66.0 + 18.0
        );
    }
}
