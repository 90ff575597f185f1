//! From stored runs to ranked rows: which runs did the same work, which row each belongs to, and what may be said of
//! the rows against their baseline.
//!
//! Pure: the caller selects the runs and shows the answer. Nothing is called better or worse here unless the runs were
//! made in blocks of one session; everything else is a ratio with its interval and the words
//! `unblocked: drift not controlled`.

mod blocks;
mod differing;
mod figures;
mod judge;
mod note;
mod sorting;

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;
use uuid::Uuid;

use crate::run::{Better, Run};
use crate::stats;

pub use differing::Differing;
pub use note::Note;

/// Version of the answer's written form.
pub const COMPARISON_VERSION: u32 = 1;

/// The arm of a session that is a second copy of its baseline: what is found there is error.
pub const NULL_ARM: &str = "null";

/// What is asked of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The facts ([`crate::facts::of`]) whose values make the rows: `kernel`, or `kernel` and `filesystem`. `param.` may
    /// be left out where no fact has the bare name.
    pub by: Vec<String>,
    /// The row that the others are held against: its title, or the beginning of only one title. `None` for the one that
    /// the session's null arm copies, else for the row whose first run was made first.
    pub baseline: Option<String>,
    /// Which metrics.
    pub metrics: Metrics,
    /// Differences that are surely smaller than this share are called equivalent; 0.02 is 2 %.
    pub margin: f64,
}

impl Question {
    /// Rows by these facts, the deciding metric only, a margin of 2 %.
    pub fn by(keys: &[&str]) -> Self {
        Self {
            by: keys.iter().map(|key| (*key).to_owned()).collect(),
            baseline: None,
            metrics: Metrics::Primary,
            margin: stats::Rule::fixed().margin(),
        }
    }
}

/// Which metrics are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Metrics {
    /// The one that decides.
    #[default]
    Primary,
    /// All of them, the deciding one first; the others are a screen.
    All,
    /// These, in this order; all but the deciding one are a screen.
    Named(Vec<String>),
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ComparisonError {
    /// Nothing to compare.
    #[error("no run was selected; see what there is with `kernmark runs`")]
    NoRuns,
    /// All runs failed, were voided or are partial.
    #[error("none of the {0} selected runs is complete; only complete runs are compared")]
    NoneComplete(usize),
    /// No facts to make rows by.
    #[error("name the facts that make the rows, for example --by kernel")]
    NoKeys,
    /// No run has this fact.
    #[error("no selected run has a fact \"{key}\"; some that they have: {known}")]
    UnknownKey {
        /// As asked for.
        key: String,
        /// Keys there are, as a list for people.
        known: String,
    },
    /// Rows that differ in this do work that is not comparable.
    #[error(
        "rows by \"{key}\" would compare different work; select one with --where {key}=VALUE and make rows by something else"
    )]
    DifferentWork {
        /// As asked for.
        key: String,
    },
    /// No row is called so.
    #[error("no row is called \"{baseline}\"; the rows are: {rows}")]
    UnknownBaseline {
        /// As asked for.
        baseline: String,
        /// The rows' titles, as a list for people.
        rows: String,
    },
    /// More than one row begins so.
    #[error("\"{baseline}\" may mean several rows: {rows}")]
    AmbiguousBaseline {
        /// As asked for.
        baseline: String,
        /// The rows' titles, as a list for people.
        rows: String,
    },
    /// No run has this metric.
    #[error("no selected run has a metric \"{metric}\"; there is: {known}")]
    UnknownMetric {
        /// As asked for.
        metric: String,
        /// The metrics there are, as a list for people.
        known: String,
    },
    /// A margin below zero or no number.
    #[error("the margin must be a share of zero or more, such as 0.02, not {0}")]
    Margin(f64),
}

/// Runs of the same work, by one metric: a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_VERSION`].
    pub version: u32,
    /// What all of them did.
    pub work: Work,
    /// By what they are judged.
    pub metric: MetricName,
    /// Not the deciding metric of this work: what is found is a hint, corrected for how many hints were looked for.
    pub screen: bool,
    /// The facts that make the rows.
    pub by: Vec<String>,
    /// How the runs were made.
    pub design: Design,
    /// Whether the rows' changes are ratios or differences.
    pub scale: Scale,
    /// Two-sided error level of each interval: 0.05 for 95 %. `None` where no two rows are compared.
    pub level: Option<f64>,
    /// Differences that are surely smaller than this are called equivalent: a share, or on the scale of differences a
    /// number.
    pub margin: f64,
    /// Which row the others are held against.
    pub baseline: Option<usize>,
    /// Best first; rows that are not ranked come last.
    pub rows: Vec<Row>,
    /// The short facts ([`crate::machine::SHORT_NAMES`], the label) that all runs have alike.
    pub same: BTreeMap<String, String>,
    /// Facts beside `by` in which the runs are known to differ: each could be the reason as well.
    pub also_different: Vec<Differing>,
    /// What a reader must know.
    pub notes: Vec<Note>,
}

/// Work with its parameters fixed. Runs are compared only if all of this is equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Work {
    /// `dbench`, or `lmbench:lat_pipe`.
    pub selector: String,
    /// Every parameter as it is typed, those that make the rows left out.
    pub params: BTreeMap<String, String>,
    /// What was done to the page cache first: `unchanged`, `cold` or `warm`.
    pub cache: String,
    /// What time means: `wall`, `emulated`, `instructions`.
    pub clock: String,
    /// The blocked session in which the runs were made: sessions are not mixed, each has its own end.
    pub session: Option<Uuid>,
}

/// A metric, as rows are headed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetricName {
    /// `throughput`.
    pub name: String,
    /// `MB/s`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
}

/// How the runs of a table were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// In shuffled blocks, so that slow changes of the machine meet all rows alike.
    Blocked {
        /// Blocks in which every compared row has its run.
        blocks: usize,
    },
    /// At other times: what changed in between cannot be told from the rows' difference.
    Unblocked,
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Row over baseline, turned so that above 1 is better.
    Ratio,
    /// Row minus baseline, in the metric's unit: for counts that may rightly be zero.
    Difference,
}

/// The runs of one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The values of the facts in `by`, in that order; `None` where a run does not say.
    pub names: Vec<Option<String>>,
    /// The runs, in the order they were made.
    pub runs: Vec<Uuid>,
    /// Their figures, one a run; missing where a run has none.
    pub values: Vec<Option<f64>>,
    /// The middle of the figures there are; the row's estimate.
    pub median: Option<f64>,
    /// Their arithmetic mean.
    pub mean: Option<f64>,
    /// The least.
    pub minimum: Option<f64>,
    /// The greatest.
    pub maximum: Option<f64>,
    /// What imported figures are of the values behind them: `mean of 25`.
    pub reported: Vec<String>,
    /// The change against the baseline; `None` for the baseline and for rows that cannot be compared.
    pub change: Option<Change>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Rows with a letter in common are not told apart; `None` where there are too few blocks for that.
    pub letters: Option<String>,
}

impl Row {
    /// What the row is called: its values, `(not recorded)` where one is not known.
    pub fn title(&self) -> String {
        title(&self.names)
    }

    /// How many figures it has.
    pub fn count(&self) -> usize {
        self.values.iter().flatten().count()
    }
}

fn title(names: &[Option<String>]) -> String {
    let words: Vec<&str> = names
        .iter()
        .map(|name| name.as_deref().unwrap_or("(not recorded)"))
        .collect();
    words.join(", ")
}

/// A row against its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Hodges-Lehmann estimate on the table's scale.
    pub estimate: f64,
    /// Where the truth lies at the table's level; `None` if there are too few runs to say.
    pub interval: Option<Interval>,
    /// The chance that a run of the row beats one of the baseline.
    pub chance_better: f64,
    /// Exact two-sided p; `None` where no spread is given.
    pub p: Option<f64>,
    /// p after adjustment for the other rows; on a screen, for the other rows and metrics.
    pub adjusted_p: Option<f64>,
    /// Blocks that took part: those up to the look that decided.
    pub blocks: Option<usize>,
    /// A look before the last decided, so that the estimate leans outward.
    pub stopped_early: bool,
}

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, included.
    pub lower: f64,
    /// Upper end, included.
    pub upper: f64,
}

/// What a row comes to against its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is the baseline.
    Baseline,
    /// Shown to be better, in blocks.
    Better,
    /// Shown to be worse, in blocks.
    Worse,
    /// Shown, in blocks, to differ by less than the margin.
    Equivalent,
    /// Neither was shown.
    Inconclusive {
        /// About how many blocks would decide; `None` if no number would.
        needed: Option<usize>,
    },
    /// Not even the clearest outcome could have been called different.
    TooFewRuns {
        /// Blocks, or runs on each side, that are needed at least.
        needed: usize,
    },
    /// One number on each side: nothing says how far it would move if measured again.
    NoSpreadGiven,
    /// There is an interval, but the runs were not made in blocks.
    DriftNotControlled,
    /// The metric has no good direction.
    NotJudged,
    /// It cannot be compared.
    NotCompared {
        /// Why.
        why: String,
    },
}

/// Compares `runs` as asked: a table for each work and metric, in the order in which the works were first done.
///
/// Runs that are not complete are left out and said so. A table of only one row is still an answer: it shows what there
/// is and that nothing stands against it.
pub fn compare(runs: &[Run], question: &Question) -> Result<Vec<Comparison>, ComparisonError> {
    if !(question.margin.is_finite() && question.margin >= 0.0) {
        return Err(ComparisonError::Margin(question.margin));
    }
    let works = sorting::sort(runs, question)?;
    judge::check_metrics(&works, &question.metrics)?;
    sorting::check_baseline(&works, question.baseline.as_deref())?;
    Ok(works
        .iter()
        .flat_map(|work| judge::judge(work, question))
        .collect())
}

#[cfg(test)]
mod tests;
