//! The words of a verdict, and the rule that it was reached by.

use std::fmt;

use super::looks::PLANNED_LEVEL;
use super::scale::{InputError, Scale};
use super::signed_rank;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval leaves out "no change".
    Different {
        /// Whether the contender is the better one.
        better: bool,
    },
    /// The whole interval lies inside the margin: any difference is too small to matter.
    Equivalent,
    /// Neither was shown.
    Inconclusive {
        /// About how many blocks (or runs a side) would decide, if estimate and spread stay as they are.
        /// `None` if no number would.
        needed: Option<usize>,
    },
    /// Not even the clearest outcome could have been called different.
    TooFewRuns {
        /// How many blocks (or runs a side) are needed at least.
        needed: usize,
    },
    /// One number a side: nothing says how far it would move if measured again.
    NoSpreadGiven,
}

impl Verdict {
    /// Whether there is nothing left to find out at this plan.
    pub fn is_decided(self) -> bool {
        matches!(self, Verdict::Different { .. } | Verdict::Equivalent)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Different { better: true } => write!(f, "different: better"),
            Verdict::Different { better: false } => write!(f, "different: worse"),
            Verdict::Equivalent => write!(f, "equivalent"),
            Verdict::Inconclusive {
                needed: Some(needed),
            } => {
                write!(f, "inconclusive: about {needed} needed")
            }
            Verdict::Inconclusive { needed: None } => write!(f, "inconclusive"),
            Verdict::TooFewRuns { needed } => write!(f, "too few runs: {needed} needed"),
            Verdict::NoSpreadGiven => write!(f, "no spread given"),
        }
    }
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// One number a side.
    NoSpreadGiven,
    /// The level cannot be reached with so few.
    TooFewRuns {
        /// How many blocks (or runs a side) reach it.
        needed: usize,
    },
}

impl From<Shortage> for Verdict {
    fn from(shortage: Shortage) -> Self {
        match shortage {
            Shortage::NoSpreadGiven => Verdict::NoSpreadGiven,
            Shortage::TooFewRuns { needed } => Verdict::TooFewRuns { needed },
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Verdict::from(*self).fmt(f)
    }
}

/// Whether something slow in the background could pass for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Every arm once in each block: drift meets all alike.
    Blocked,
    /// Runs made at other times than those they are compared with.
    Unblocked,
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Design::Blocked => "blocked",
            Design::Unblocked => "unblocked: drift not controlled",
        })
    }
}

/// Where the true value lies, at the level of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end, included.
    pub lower: f64,
    /// Upper end, included.
    pub upper: f64,
}

/// How sure a comparison must be, and how small is too small to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    level: f64,
    family: usize,
    margin: f64,
}

impl Rule {
    /// At one of the planned looks: level 0.0158, margin 2 %, a family of one.
    pub const fn planned() -> Self {
        Self {
            level: PLANNED_LEVEL,
            family: 1,
            margin: 0.02,
        }
    }

    /// At one look fixed beforehand, or over runs that are already there: level 0.05, margin 2 %, a family of one.
    pub const fn fixed() -> Self {
        Self {
            level: 0.05,
            family: 1,
            margin: 0.02,
        }
    }

    /// The same rule at another two-sided error level, between 0 and 1.
    pub fn with_level(self, level: f64) -> Result<Self, InputError> {
        if level > 0.0 && level < 1.0 {
            Ok(Self { level, ..self })
        } else {
            Err(InputError::Level(level))
        }
    }

    /// The same rule where `family` comparisons share the error; none counts as one.
    #[must_use]
    pub fn with_family(self, family: usize) -> Self {
        Self {
            family: family.max(1),
            ..self
        }
    }

    /// The same rule with another margin. For rates and times a share: 0.02 takes ratios between 1/1.02 and 1.02 as
    /// equivalent. For counts, a number of them.
    pub fn with_margin(self, margin: f64) -> Result<Self, InputError> {
        if margin.is_finite() && margin >= 0.0 {
            Ok(Self { margin, ..self })
        } else {
            Err(InputError::Margin(margin))
        }
    }

    /// The two-sided error level of the family.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// How many comparisons share the level.
    pub fn family(&self) -> usize {
        self.family
    }

    /// The level of one comparison: that of the family shared out evenly.
    pub fn adjusted_level(&self) -> f64 {
        self.level / self.family as f64
    }

    /// The margin, as given.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// The fewest blocks that can reach a verdict under this rule: ceil(log2(2 family / level)).
    pub fn minimum_blocks(&self) -> usize {
        signed_rank::minimum_blocks(self.adjusted_level())
    }

    /// The margin on the inner scale, where no change is zero.
    pub(crate) fn inner_margin(&self, scale: Scale) -> f64 {
        match scale {
            Scale::Ratio => self.margin.ln_1p(),
            Scale::Difference => self.margin,
        }
    }
}

/// One contender against one baseline: everything a report prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Whether `estimate` and `interval` are ratios or differences.
    pub scale: Scale,
    /// Whether the runs were made in blocks.
    pub design: Design,
    /// Runs of the baseline and of the contender; in a blocked comparison both are the number of blocks.
    pub runs: (usize, usize),
    /// Hodges-Lehmann estimate: a ratio, above 1 where the contender is better, or a difference in the count's unit,
    /// contender minus baseline.
    pub estimate: f64,
    /// Where the truth lies, or why that cannot be said.
    pub interval: Result<Interval, Shortage>,
    /// The error level of `interval` (0.0158: a 98.42 % interval).
    pub level: f64,
    /// Exact two-sided p of this comparison alone; `None` where no spread is given.
    pub p: Option<f64>,
    /// p after adjustment for its family.
    pub adjusted_p: Option<f64>,
    /// The chance that a run of the contender beats a run of the baseline: U / (n m), ties half.
    pub chance_better: f64,
    /// Blocks without any difference; they keep their rank and lose their vote (Pratt). 0 when unblocked.
    pub zeros: usize,
    /// Whether ties took mid-ranks.
    pub tied: bool,
    /// What it comes to.
    pub verdict: Verdict,
}

/// More blocks than this is the same as never.
const NEVER: f64 = 1e6;

/// The verdict that an interval gives, all on the inner scale, where zero is no change and plus is better.
pub(crate) fn decide(
    estimate: f64,
    interval: Result<(f64, f64), Shortage>,
    margin: f64,
    runs: usize,
) -> Verdict {
    let (lower, upper) = match interval {
        Ok(ends) => ends,
        Err(shortage) => return shortage.into(),
    };
    if lower > 0.0 || upper < 0.0 {
        return Verdict::Different {
            better: lower > 0.0,
        };
    }
    decide_inside(estimate, (lower, upper), margin, runs)
}

/// The verdict once "different" is ruled out.
pub(crate) fn decide_inside(
    estimate: f64,
    (lower, upper): (f64, f64),
    margin: f64,
    runs: usize,
) -> Verdict {
    let identical = lower == 0.0 && upper == 0.0;
    if identical || (-margin < lower && upper < margin) {
        return Verdict::Equivalent;
    }
    // The half width shrinks with the root of the runs: it must come below the estimate's distance from zero to show
    // a difference, or below its distance from the margin to show there is none. The nearer goal counts.
    let half = (upper - lower) / 2.0;
    let goal = estimate.abs().max(margin - estimate.abs());
    let needed = (runs as f64 * (half / goal).powi(2))
        .ceil()
        .max(runs as f64 + 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 1 to a million"
    )]
    let needed = (needed <= NEVER).then_some(needed as usize);
    Verdict::Inconclusive { needed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_read_as_words() {
        let words: Vec<String> = [
            Verdict::Different { better: true },
            Verdict::Different { better: false },
            Verdict::Equivalent,
            Verdict::Inconclusive { needed: Some(42) },
            Verdict::Inconclusive { needed: None },
            Verdict::TooFewRuns { needed: 11 },
            Verdict::NoSpreadGiven,
        ]
        .iter()
        .map(ToString::to_string)
        .collect();
        assert_eq!(
            words,
            [
                "different: better",
                "different: worse",
                "equivalent",
                "inconclusive: about 42 needed",
                "inconclusive",
                "too few runs: 11 needed",
                "no spread given",
            ]
        );
        assert_eq!(
            Design::Unblocked.to_string(),
            "unblocked: drift not controlled"
        );
        assert_eq!(
            Shortage::TooFewRuns { needed: 7 }.to_string(),
            "too few runs: 7 needed"
        );
    }

    #[test]
    fn rules_refuse_what_is_no_level_or_margin() {
        for level in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Rule::fixed().with_level(level).is_err(), "{level}");
        }
        for margin in [-0.01, f64::INFINITY, f64::NAN] {
            assert!(Rule::fixed().with_margin(margin).is_err(), "{margin}");
        }
        assert_eq!(Rule::fixed().with_family(0).family(), 1);
    }

    #[test]
    fn the_numbers_needed_follow_the_nearer_goal() {
        // Half width 3 at 10 runs. An estimate of 2 must shrink it to 2: 10 (3/2)² = 22.5.
        let verdict = decide(2.0, Ok((-1.0, 5.0)), 2.5, 10);
        assert_eq!(verdict, Verdict::Inconclusive { needed: Some(23) });
        // No difference seen: it must come inside the margin of 2.5 instead: 10 (3/2.5)² = 14.4.
        let verdict = decide(0.0, Ok((-3.0, 3.0)), 2.5, 10);
        assert_eq!(verdict, Verdict::Inconclusive { needed: Some(15) });
        // No difference and no margin: no number decides.
        let verdict = decide(0.0, Ok((-3.0, 3.0)), 0.0, 10);
        assert_eq!(verdict, Verdict::Inconclusive { needed: None });
    }

    #[test]
    fn the_ends_of_the_margin_do_not_belong_to_it() {
        assert!(!decide(0.0, Ok((-1.0, 1.0)), 1.0, 9).is_decided());
        assert_eq!(decide(0.0, Ok((-0.9, 0.9)), 1.0, 9), Verdict::Equivalent);
        assert_eq!(decide(0.0, Ok((0.0, 0.0)), 0.0, 9), Verdict::Equivalent);
        // An interval that touches "no change" does not leave it out.
        assert_eq!(decide(0.5, Ok((0.0, 0.9)), 1.0, 9), Verdict::Equivalent);
    }
}
