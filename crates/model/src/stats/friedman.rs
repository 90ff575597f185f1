//! Friedman's test: do any of several contenders differ, judged by their ranks within blocks?

use super::ranks::{doubled_mid_ranks, tie_correction};
use super::tails::chi_squared_above;

/// What Friedman's test saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Friedman {
    /// Mean rank of each contender over the blocks, 1 for the smallest value of every block.
    pub mean_ranks: Vec<f64>,
    /// Friedman's statistic, corrected for ties (JASA 32, 1937; Conover, Practical Nonparametric Statistics).
    pub statistic: f64,
    /// Its p from chi-squared with k - 1 degrees: an approximation, on the careful side for few blocks.
    pub p: f64,
}

/// Tests contenders, each a slice of one value a block. `None` below two contenders or two blocks, or if the numbers
/// of blocks differ.
pub fn friedman_test(contenders: &[&[f64]]) -> Option<Friedman> {
    let k = contenders.len();
    let blocks = contenders.first()?.len();
    if k < 2 || blocks < 2 || contenders.iter().any(|values| values.len() != blocks) {
        return None;
    }
    let mut doubled_sums = vec![0; k];
    let mut ties = 0.0;
    for block in 0..blocks {
        let values: Vec<f64> = contenders.iter().map(|values| values[block]).collect();
        let ranks = doubled_mid_ranks(&values);
        ties += tie_correction(&ranks);
        for (sum, rank) in doubled_sums.iter_mut().zip(ranks) {
            *sum += rank;
        }
    }
    let (kf, bf) = (k as f64, blocks as f64);
    let mean_ranks: Vec<f64> = doubled_sums
        .iter()
        .map(|&sum| sum as f64 / (2.0 * bf))
        .collect();
    let spread: f64 = mean_ranks
        .iter()
        .map(|rank| (rank - (kf + 1.0) / 2.0).powi(2))
        .sum();
    let possible = kf * (kf + 1.0) - ties / (bf * (kf - 1.0));
    // All tied in every block: nothing differs, and nothing could have.
    let statistic = if possible > 0.0 {
        12.0 * bf * spread / possible
    } else {
        0.0
    };
    Some(Friedman {
        mean_ranks,
        statistic,
        p: chi_squared_above(statistic, kf - 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_figures_of_a_published_example() {
        // Rounding first base, three methods, 22 players: Hollander and Wolfe, Nonparametric Statistical Methods
        // (1973), table 7.1. R's friedman.test prints 11.143 and p = 0.003805 for it.
        let round_out = [
            5.40, 5.85, 5.20, 5.55, 5.90, 5.45, 5.40, 5.45, 5.25, 5.85, 5.25, 5.65, 5.60, 5.05,
            5.50, 5.45, 5.55, 5.45, 5.50, 5.65, 5.70, 6.30,
        ];
        let narrow = [
            5.50, 5.70, 5.60, 5.50, 5.85, 5.55, 5.40, 5.50, 5.15, 5.80, 5.20, 5.55, 5.35, 5.00,
            5.50, 5.55, 5.55, 5.50, 5.45, 5.60, 5.65, 6.30,
        ];
        let wide = [
            5.55, 5.75, 5.50, 5.40, 5.70, 5.60, 5.35, 5.35, 5.00, 5.70, 5.10, 5.45, 5.45, 4.95,
            5.40, 5.50, 5.35, 5.55, 5.25, 5.40, 5.55, 6.25,
        ];
        let test = friedman_test(&[&round_out, &narrow, &wide]).unwrap();
        assert!((test.statistic - 11.143).abs() < 5e-4, "{test:?}");
        assert!((test.p - 0.003_805).abs() < 5e-7, "{test:?}");
    }

    #[test]
    fn identical_contenders_do_not_differ() {
        let test = friedman_test(&[&[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.0]]).unwrap();
        assert_eq!((test.statistic, test.p), (0.0, 1.0));
        assert_eq!(test.mean_ranks, [2.0; 3]);
    }

    #[test]
    fn needs_two_contenders_and_two_whole_blocks() {
        assert_eq!(friedman_test(&[]), None);
        assert_eq!(friedman_test(&[&[1.0, 2.0]]), None);
        assert_eq!(friedman_test(&[&[1.0], &[2.0]]), None);
        assert_eq!(friedman_test(&[&[1.0, 2.0], &[2.0]]), None);
    }
}
