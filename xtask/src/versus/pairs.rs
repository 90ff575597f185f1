//! Pairs in alternating order, and what they come to.

use std::fmt;

use anyhow::{Context, Result};
use kernmark_model::stats::{Direction, Interval, Rule, compare_blocked};
use serde::Serialize;

/// Whose run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Ours,
    Original,
}

/// One run of each side, made one after the other.
#[derive(Serialize)]
pub(super) struct Pair<T> {
    /// Which side ran first.
    first: Side,
    pub(super) ours: T,
    pub(super) original: T,
}

/// Runs so many pairs; the sides take turns in going first, so that what drifts meets both alike.
pub(super) fn alternate<T>(
    pairs: usize,
    mut run: impl FnMut(Side) -> Result<T>,
) -> Result<Vec<Pair<T>>> {
    (0..pairs)
        .map(|index| {
            Ok(if index % 2 == 0 {
                let ours = run(Side::Ours)?;
                Pair {
                    first: Side::Ours,
                    ours,
                    original: run(Side::Original)?,
                }
            } else {
                let original = run(Side::Original)?;
                Pair {
                    first: Side::Original,
                    ours: run(Side::Ours)?,
                    original,
                }
            })
        })
        .collect()
}

/// Ours over the original's, for one figure of every pair.
#[derive(Debug, Serialize)]
pub(super) struct Ratio {
    /// Hodges-Lehmann estimate on the log scale.
    pub(super) estimate: f64,
    /// Exact signed-rank interval at 95 %; `None` with fewer pairs than it takes (6).
    pub(super) interval: Option<(f64, f64)>,
}

impl Ratio {
    /// Of the figure that `read` takes from a run. It must be above zero.
    pub(super) fn of<T>(pairs: &[Pair<T>], read: impl Fn(&T) -> f64) -> Result<Self> {
        let original: Vec<f64> = pairs.iter().map(|pair| read(&pair.original)).collect();
        let ours: Vec<f64> = pairs.iter().map(|pair| read(&pair.ours)).collect();
        let rule = Rule::fixed();
        let comparison = compare_blocked(&original, &ours, Direction::HigherIsBetter, &rule)
            .context("comparing the pairs")?;
        Ok(Self {
            estimate: comparison.estimate,
            interval: comparison
                .interval
                .ok()
                .map(|Interval { lower, upper }| (lower, upper)),
        })
    }

    /// The rule of `docs/versus.md`, for a figure of which more is better.
    pub(super) fn verdict(&self) -> Verdict {
        match self.interval {
            None => Verdict::TooFew,
            Some((lower, _)) if lower > 1.0 => Verdict::Ahead,
            Some((_, upper)) if upper >= 1.0 && self.estimate >= 0.97 => Verdict::Passes,
            Some(_) => Verdict::Behind,
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.estimate)?;
        match self.interval {
            Some((lower, upper)) => write!(f, " [{lower:.3}, {upper:.3}]"),
            None => write!(f, " [no interval]"),
        }
    }
}

/// What a ratio comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Ahead,
    Passes,
    Behind,
    TooFew,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Ahead => "ahead",
            Verdict::Passes => "passes",
            Verdict::Behind => "behind",
            Verdict::TooFew => "too few pairs",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[f64]) -> Vec<Pair<f64>> {
        ratios
            .iter()
            .map(|ratio| Pair {
                first: Side::Ours,
                ours: 100.0 * ratio,
                original: 100.0,
            })
            .collect()
    }

    fn verdict(ratios: &[f64]) -> Verdict {
        Ratio::of(&pairs(ratios), |rate| *rate).unwrap().verdict()
    }

    #[test]
    fn the_sides_take_turns_and_keep_their_figures() {
        let mut order = Vec::new();
        let pairs = alternate(3, |side| {
            order.push(side);
            Ok(side)
        })
        .unwrap();
        use Side::{Original, Ours};
        assert_eq!(order, [Ours, Original, Original, Ours, Ours, Original]);
        assert!(
            pairs
                .iter()
                .all(|pair| pair.ours == Ours && pair.original == Original)
        );
        let first: Vec<Side> = pairs.iter().map(|pair| pair.first).collect();
        assert_eq!(first, [Ours, Original, Ours]);
    }

    #[test]
    fn verdicts_follow_the_rule() {
        assert_eq!(
            verdict(&[1.2, 1.3, 1.25, 1.4, 1.1, 1.2, 1.3, 1.2]),
            Verdict::Ahead
        );
        assert_eq!(
            verdict(&[0.98, 1.01, 0.97, 1.0, 0.99, 1.02, 0.98, 0.99]),
            Verdict::Passes
        );
        assert_eq!(
            verdict(&[0.9, 0.8, 0.85, 0.9, 0.7, 0.9, 0.8, 0.9]),
            Verdict::Behind
        );
        // The interval reaches 1, and the estimate is below 0.97: so unsteady a figure shows nothing good.
        assert_eq!(
            verdict(&[0.7, 1.3, 0.8, 0.9, 1.0, 0.7, 1.1, 0.8]),
            Verdict::Behind
        );
        assert_eq!(verdict(&[1.2, 1.3]), Verdict::TooFew);
    }
}
