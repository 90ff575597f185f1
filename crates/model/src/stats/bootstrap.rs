//! One figure over many workloads: the geometric mean of their ratios, with a bootstrap over blocks.

use super::describe::mean;
use super::random::Random;
use super::scale::{Arm, InputError, same_blocks};
use super::signed_rank::minimum_blocks;
use super::verdict::{Interval, Rule, Shortage};

/// Resamples drawn; one less than a round number, so that 2000 times a percent or two is a whole rank.
pub const RESAMPLES: usize = 1999;

/// The geometric mean of the workloads' ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricMean {
    /// Above 1 where the contender is better on the whole.
    pub ratio: f64,
    /// Percentile interval over resampled blocks at the level of the rule, or why there is none.
    pub interval: Result<Interval, Shortage>,
}

/// Means the Hodges-Lehmann ratios of workloads that ran in the same blocks.
///
/// `workloads` holds the block differences of each ([`super::scale::log_ratios`]). Whole blocks are drawn again, all
/// workloads of a block together, so what they share in a block stays shared (Efron and Tibshirani, An Introduction to
/// the Bootstrap, 1993). With fewer blocks than a single verdict needs there is no interval; with few more it is
/// somewhat too narrow, as percentile intervals are.
///
/// Errors name workloads as contenders. Without workloads the answer is `Empty`.
pub fn geometric_mean_ratio(
    workloads: &[&[f64]],
    rule: &Rule,
    seed: u64,
) -> Result<GeometricMean, InputError> {
    let blocks = workloads.first().map_or(0, |differences| differences.len());
    for (index, differences) in workloads.iter().enumerate() {
        let arm = Arm::Contender(index);
        same_blocks(blocks, differences.len(), arm)?;
        if let Some(index) = differences
            .iter()
            .position(|difference| !difference.is_finite())
        {
            return Err(InputError::Missing { arm, index });
        }
    }
    let sorted: Vec<SortedWalsh> = workloads
        .iter()
        .map(|differences| SortedWalsh::new(differences))
        .collect();
    let statistic = |drawn: &[usize]| {
        let shifts: Option<Vec<f64>> = sorted.iter().map(|walsh| walsh.median(drawn)).collect();
        shifts.and_then(|shifts| mean(&shifts)).map(f64::exp)
    };
    let ratio = statistic(&vec![1; blocks]).ok_or(InputError::Empty {
        arm: Arm::Contender(0),
    })?;
    let needed = minimum_blocks(rule.level());
    let interval = match blocks {
        1 => Err(Shortage::NoSpreadGiven),
        _ if blocks < needed => Err(Shortage::TooFewRuns { needed }),
        _ => Ok(percentile_interval(blocks, rule.level(), seed, statistic)),
    };
    Ok(GeometricMean { ratio, interval })
}

fn percentile_interval(
    blocks: usize,
    level: f64,
    seed: u64,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Interval {
    let mut random = Random::new(seed);
    let mut drawn = vec![0; blocks];
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            drawn.fill(0);
            for _ in 0..blocks {
                drawn[random.below(blocks)] += 1;
            }
            statistic(&drawn)
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a level between 0 and 1 of two thousand"
    )]
    let outside = (level / 2.0 * (RESAMPLES + 1) as f64).floor() as usize;
    let outside = outside.max(1);
    Interval {
        lower: resampled[outside - 1],
        upper: resampled[RESAMPLES - outside],
    }
}

/// Walsh averages in order, so that the median of any resample is one pass of adding weights.
struct SortedWalsh {
    /// Value and the two blocks it is the mean of.
    averages: Vec<(f64, usize, usize)>,
}

impl SortedWalsh {
    fn new(differences: &[f64]) -> Self {
        let n = differences.len();
        let mut averages: Vec<(f64, usize, usize)> = (0..n)
            .flat_map(|i| (i..n).map(move |j| ((differences[i] + differences[j]) / 2.0, i, j)))
            .collect();
        averages.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { averages }
    }

    /// The Hodges-Lehmann estimate of the sample that has each block `drawn` times; `None` if it is empty.
    fn median(&self, drawn: &[usize]) -> Option<f64> {
        let size: usize = drawn.iter().sum();
        let count = size * (size + 1) / 2;
        let (lower_place, upper_place) = (count.div_ceil(2), count / 2 + 1);
        let mut passed = 0;
        let mut lower = None;
        for &(value, i, j) in &self.averages {
            passed += if i == j {
                drawn[i] * (drawn[i] + 1) / 2
            } else {
                drawn[i] * drawn[j]
            };
            if passed >= lower_place && lower.is_none() {
                lower = Some(value);
            }
            if passed >= upper_place {
                return lower.map(|lower| (lower + value) / 2.0);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::hodges_lehmann::WalshAverages;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_workloads_that_cancel_leave_nothing() {
        let up = [0.02; 12];
        let down = [-0.02; 12];
        let mean = geometric_mean_ratio(&[&up, &down], &Rule::fixed(), 1).unwrap();
        assert_eq!(mean.ratio, 1.0);
        assert_eq!(
            mean.interval,
            Ok(Interval {
                lower: 1.0,
                upper: 1.0
            })
        );
    }

    #[test]
    fn the_interval_holds_the_truth_about_as_often_as_it_says() {
        // 400 sessions of 20 blocks and 3 workloads; 5 % should miss. A percentile interval of 20 misses a little more.
        let mut random = Random::new(99);
        let mut missed = 0;
        for seed in 0..400 {
            let workloads: Vec<Vec<f64>> = (0..3)
                .map(|_| (0..20).map(|_| 0.01 + 0.03 * random.normal()).collect())
                .collect();
            let slices: Vec<&[f64]> = workloads.iter().map(Vec::as_slice).collect();
            let mean = geometric_mean_ratio(&slices, &Rule::fixed(), seed).unwrap();
            let interval = mean.interval.unwrap();
            missed += u32::from(!(interval.lower..=interval.upper).contains(&0.01_f64.exp()));
        }
        assert!((8..=44).contains(&missed), "{missed} of 400 missed");
    }

    #[test]
    fn too_few_blocks_give_a_mean_without_an_interval() {
        let mean = geometric_mean_ratio(&[&[0.1; 5]], &Rule::fixed(), 1).unwrap();
        assert_eq!(mean.interval, Err(Shortage::TooFewRuns { needed: 6 }));
        let mean = geometric_mean_ratio(&[&[0.1]], &Rule::fixed(), 1).unwrap();
        assert_eq!(mean.interval, Err(Shortage::NoSpreadGiven));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        assert_eq!(
            geometric_mean_ratio(&[], &Rule::fixed(), 1),
            Err(InputError::Empty {
                arm: Arm::Contender(0)
            })
        );
        assert_eq!(
            geometric_mean_ratio(&[&[], &[]], &Rule::fixed(), 1),
            Err(InputError::Empty {
                arm: Arm::Contender(0)
            })
        );
        assert_eq!(
            geometric_mean_ratio(&[&[0.1, 0.2], &[0.1, f64::NAN]], &Rule::fixed(), 1),
            Err(InputError::Missing {
                arm: Arm::Contender(1),
                index: 1
            })
        );
        assert_eq!(
            geometric_mean_ratio(&[&[0.1, 0.2], &[0.1]], &Rule::fixed(), 1),
            Err(InputError::BlocksDiffer {
                arm: Arm::Contender(1),
                found: 1,
                expected: 2
            })
        );
    }

    proptest! {
        #[test]
        fn the_weighted_median_is_that_of_the_drawn_blocks(
            values in prop::collection::vec((-3_i32..4, 0_usize..3), 1..8),
        ) {
            let differences: Vec<f64> = values.iter().map(|(value, _)| f64::from(*value)).collect();
            let drawn: Vec<usize> = values.iter().map(|(_, times)| *times).collect();
            let sample: Vec<f64> = differences
                .iter()
                .zip(&drawn)
                .flat_map(|(value, times)| std::iter::repeat_n(*value, *times))
                .collect();
            let expected = WalshAverages::new(&sample).median();
            prop_assert_eq!(SortedWalsh::new(&differences).median(&drawn), expected);
        }
    }
}
