//! What a reader of a comparison must know, each in its own words.

use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use super::{Interval, Verdict};

/// Something a reader of a comparison must know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// Runs that are not complete.
    LeftOut {
        /// The row they would belong to.
        row: String,
        /// `partial`, `failed` or `voided`.
        outcome: String,
        /// How many.
        count: usize,
        /// Why, of the first of them.
        reason: String,
    },
    /// The baseline has no run of this work.
    NoBaseline {
        /// As asked for.
        baseline: String,
    },
    /// There is only one row.
    OneRow,
    /// The rows do not do the same work, on purpose.
    WorkDiffers {
        /// The parameters that make the rows.
        params: Vec<String>,
    },
    /// A figure that cannot be compared.
    BadValue {
        /// Its row.
        row: String,
        /// Its run.
        run: Uuid,
        /// What is wrong with it.
        what: String,
    },
    /// Imported figures.
    Reported {
        /// Their row.
        row: String,
        /// What they are of the values behind them.
        statistics: Vec<String>,
    },
    /// Runs that do not say where they ran.
    MachineUnknown {
        /// How many.
        runs: usize,
    },
    /// Blocks in which a row has no run.
    IncompleteBlocks {
        /// How many of them were left out.
        count: usize,
    },
    /// Several runs of a row in one block.
    SeveralInBlock,
    /// The baseline against its second copy.
    NullArm {
        /// Estimate on the table's scale.
        estimate: f64,
        /// Its interval.
        interval: Option<Interval>,
        /// What it came to; anything but equivalent or inconclusive is an alarm.
        verdict: Verdict,
    },
    /// The null arm changed over the blocks.
    Drift {
        /// Pairs of blocks that rise less pairs that fall, over all pairs.
        tau: f64,
        /// Two-sided p of no trend.
        p: f64,
    },
    /// The session cannot be trusted.
    Suspect {
        /// Why.
        why: String,
    },
    /// A run that stands apart from its row. It counts all the same.
    Outlier {
        /// Its row.
        row: String,
        /// Its run.
        run: Uuid,
        /// Its figure.
        value: f64,
        /// The row's median.
        median: f64,
    },
    /// A look before the last one decided.
    StoppedEarly,
    /// Blocks were made after the look that speaks.
    BlocksAfterLook {
        /// The look.
        look: usize,
        /// All blocks.
        blocks: usize,
    },
    /// Letters would need more blocks.
    NoLetters {
        /// How many.
        needed: usize,
    },
    /// Time of an emulated machine.
    Emulated,
    /// Instructions, not time.
    Instructions,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut {
                row,
                outcome,
                count,
                reason,
            } => {
                write!(
                    f,
                    "left out: {} of {row}",
                    counted(*count, &format!("{outcome} run"))
                )?;
                match (reason.as_str(), count) {
                    ("", _) => Ok(()),
                    (reason, 1) => write!(f, " ({reason})"),
                    (reason, _) => write!(f, " (first: {reason})"),
                }
            }
            Self::NoBaseline { baseline } => write!(
                f,
                "nothing is compared: no one row of this work is called \"{baseline}\""
            ),
            Self::OneRow => f.write_str("nothing is compared: there is only one row"),
            Self::WorkDiffers { params } => write!(
                f,
                "the rows differ in the work itself: {}",
                params.join(", ")
            ),
            Self::BadValue { row, run, what } => {
                write!(f, "{row} is not compared: run {run} {what}")
            }
            Self::Reported { row, statistics } => {
                write!(f, "{row}: as reported, {}", statistics.join("; "))
            }
            Self::MachineUnknown { runs } => write!(
                f,
                "{} do not say where they ran: what else differs cannot be known",
                counted(*runs, "run")
            ),
            Self::IncompleteBlocks { count } => write!(
                f,
                "{} left out: not every row has its run in it",
                counted(*count, "block")
            ),
            Self::SeveralInBlock => f.write_str(
                "a row has several runs in a block: their geometric mean is the block's figure",
            ),
            Self::NullArm {
                estimate,
                interval,
                verdict,
            } => {
                write!(
                    f,
                    "null arm: the baseline against itself gives {estimate:.4}"
                )?;
                if let Some(interval) = interval {
                    write!(f, " ({:.4} to {:.4})", interval.lower, interval.upper)?;
                }
                write!(f, ", {verdict}")
            }
            Self::Drift { tau, p } => write!(
                f,
                "the null arm drifted over the blocks (Mann-Kendall tau {tau:.2}, p {p:.3}); blocks absorb it"
            ),
            Self::Suspect { why } => write!(f, "this session is suspect: {why}"),
            Self::Outlier {
                row,
                run,
                value,
                median,
            } => write!(
                f,
                "{row}: run {run} stands apart ({value:.4} where the median is {median:.4}); it is not dropped, look at it"
            ),
            Self::StoppedEarly => {
                f.write_str("a look before the last one decided: such estimates lean outward")
            }
            Self::BlocksAfterLook { look, blocks } => write!(
                f,
                "judged at the look of {look} blocks; {blocks} were made, the others wait for the next look"
            ),
            Self::NoLetters { needed } => write!(
                f,
                "no letters: {needed} blocks are needed to tell all rows apart from each other"
            ),
            Self::Emulated => f.write_str("emulated machine: only ratios mean anything"),
            Self::Instructions => f.write_str(
                "guest instructions, not time: no cache, no TLB and no device is in them",
            ),
        }
    }
}

/// `1 run`, `3 runs`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baseline => f.write_str("baseline"),
            Self::Better => f.write_str("better"),
            Self::Worse => f.write_str("worse"),
            Self::Equivalent => f.write_str("equivalent"),
            Self::Inconclusive {
                needed: Some(needed),
            } => write!(f, "inconclusive: about {needed} blocks needed"),
            Self::Inconclusive { needed: None } => f.write_str("inconclusive"),
            Self::TooFewRuns { needed } => write!(f, "too few runs: {needed} needed"),
            Self::NoSpreadGiven => f.write_str("no spread given"),
            Self::DriftNotControlled => f.write_str("unblocked: drift not controlled"),
            Self::NotJudged => f.write_str("not judged: no direction is better"),
            Self::NotCompared { why } => write!(f, "not compared: {why}"),
        }
    }
}
