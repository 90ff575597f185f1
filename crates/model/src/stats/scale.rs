//! The scale of a comparison, and the check of what enters it.

use std::fmt;

use crate::run::Better;

/// Which way a metric gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Rates: more is better.
    HigherIsBetter,
    /// Times, and counts of what goes wrong: less is better.
    LowerIsBetter,
}

impl Direction {
    /// The direction that a metric is judged by; `None` if it is shown but never judged.
    pub fn of(better: Better) -> Option<Self> {
        match better {
            Better::Higher => Some(Self::HigherIsBetter),
            Better::Lower => Some(Self::LowerIsBetter),
            Better::Neither => None,
        }
    }
}

/// Whose values are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The one that the others are compared with.
    Baseline,
    /// A contender, by its place in the call, from zero.
    Contender(usize),
}

impl fmt::Display for Arm {
    /// Counts contenders from one, as people do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arm::Baseline => write!(f, "the baseline"),
            Arm::Contender(index) => write!(f, "contender {}", index + 1),
        }
    }
}

/// Why values cannot be compared. `index` counts from zero; the message counts from one.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// A rate or time of zero or less has no logarithm, and no run has one.
    #[error("value {} of {arm} is {value}: a rate or time must be above zero", .index + 1)]
    NotPositive {
        /// Whose value.
        arm: Arm,
        /// Which of them.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// A count below zero.
    #[error("value {} of {arm} is {value}: a count cannot be below zero", .index + 1)]
    NegativeCount {
        /// Whose value.
        arm: Arm,
        /// Which of them.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// Not a number: the run has no value for this metric.
    #[error("value {} of {arm} is missing", .index + 1)]
    Missing {
        /// Whose value.
        arm: Arm,
        /// Which of them.
        index: usize,
    },
    /// Infinite: a division by nothing, not a measurement.
    #[error("value {} of {arm} is infinite", .index + 1)]
    Infinite {
        /// Whose value.
        arm: Arm,
        /// Which of them.
        index: usize,
    },
    /// No values at all.
    #[error("{arm} has no values")]
    Empty {
        /// Whose values.
        arm: Arm,
    },
    /// A block needs every arm once.
    #[error("{arm} has {found} values in {expected} blocks: a block needs every arm once")]
    BlocksDiffer {
        /// Whose values.
        arm: Arm,
        /// How many it has.
        found: usize,
        /// How many the others have.
        expected: usize,
    },
    /// A significance level outside 0 to 1.
    #[error("a significance level must lie between 0 and 1, not {0}")]
    Level(f64),
    /// A margin below zero, or no number.
    #[error("a margin must be a number, zero or above, not {0}")]
    Margin(f64),
}

/// What kind of number is compared, and so on which scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Rates and times, compared as contender over baseline; above 1 is better, for times too.
    Ratio,
    /// Counts that may rightly be zero, compared as contender minus baseline, in the count's unit.
    Difference,
}

impl Scale {
    /// Checks values and puts them where plus is better: ln(rate), -ln(time), count or -count.
    pub(crate) fn transform(
        self,
        values: &[f64],
        arm: Arm,
        direction: Direction,
    ) -> Result<Vec<f64>, InputError> {
        if values.is_empty() {
            return Err(InputError::Empty { arm });
        }
        let sign = match direction {
            Direction::HigherIsBetter => 1.0,
            Direction::LowerIsBetter => -1.0,
        };
        values
            .iter()
            .enumerate()
            .map(|(index, &value)| {
                if value.is_nan() {
                    return Err(InputError::Missing { arm, index });
                }
                match self {
                    Scale::Ratio if value <= 0.0 => {
                        Err(InputError::NotPositive { arm, index, value })
                    }
                    Scale::Difference if value < 0.0 => {
                        Err(InputError::NegativeCount { arm, index, value })
                    }
                    _ if value.is_infinite() => Err(InputError::Infinite { arm, index }),
                    Scale::Ratio => Ok(sign * value.ln()),
                    Scale::Difference => Ok(sign * value),
                }
            })
            .collect()
    }

    /// Brings a shift back from the inner scale to what is printed.
    pub(crate) fn restore(self, shift: f64, direction: Direction) -> f64 {
        match (self, direction) {
            (Scale::Ratio, _) => shift.exp(),
            (Scale::Difference, Direction::HigherIsBetter) => shift,
            // Subtracting from zero rather than negating: no difference is 0, not -0.
            (Scale::Difference, Direction::LowerIsBetter) => 0.0 - shift,
        }
    }
}

/// Checks that two arms came in the same blocks.
pub(crate) fn same_blocks(expected: usize, found: usize, arm: Arm) -> Result<(), InputError> {
    if found == expected {
        Ok(())
    } else {
        Err(InputError::BlocksDiffer {
            arm,
            found,
            expected,
        })
    }
}

/// The block differences of two arms on the log scale, plus where the contender is better: what the bootstrap over
/// workloads and the noise floor of a series are computed from.
pub fn log_ratios(
    baseline: &[f64],
    contender: &[f64],
    direction: Direction,
) -> Result<Vec<f64>, InputError> {
    let from = Scale::Ratio.transform(baseline, Arm::Baseline, direction)?;
    let to = Scale::Ratio.transform(contender, Arm::Contender(0), direction)?;
    same_blocks(from.len(), to.len(), Arm::Contender(0))?;
    Ok(differences(&from, &to))
}

pub(crate) fn differences(from: &[f64], to: &[f64]) -> Vec<f64> {
    from.iter().zip(to).map(|(from, to)| to - from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_without_a_direction_is_not_judged() {
        assert_eq!(
            Direction::of(Better::Higher),
            Some(Direction::HigherIsBetter)
        );
        assert_eq!(Direction::of(Better::Lower), Some(Direction::LowerIsBetter));
        assert_eq!(Direction::of(Better::Neither), None);
    }

    #[test]
    fn log_ratios_are_plus_where_the_contender_is_better() {
        let faster = log_ratios(&[2.0, 4.0], &[1.0, 2.0], Direction::LowerIsBetter).unwrap();
        assert_eq!(faster, [2.0_f64.ln(); 2]);
        assert_eq!(
            log_ratios(&[2.0, 4.0], &[1.0], Direction::LowerIsBetter),
            Err(InputError::BlocksDiffer {
                arm: Arm::Contender(0),
                found: 1,
                expected: 2
            })
        );
    }
}
