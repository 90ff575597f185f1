//! A list of runs.

use std::collections::HashSet;

use kernmark_model::run::Run;
use uuid::Uuid;

use crate::Form;
use crate::number::{counted, figure};
use crate::table::{Column, Table};
use crate::text::{bullets, paragraph};
use crate::words;

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    /// Its name.
    pub uuid: Uuid,
    /// Wall clock at the start, RFC 3339.
    pub started: Option<String>,
    /// What it did: `dbench, 8 clients, ext4`.
    pub work: String,
    /// Its label.
    pub label: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The deciding figure and its unit.
    pub figure: Option<(f64, String)>,
    /// `complete`, `partial`, `failed` or `voided`.
    pub outcome: String,
    /// How many doubts it carries.
    pub doubts: usize,
}

impl RunLine {
    /// Of a run with what its figures follow from.
    pub fn of(run: &Run) -> Self {
        let figure = run.primary().and_then(|metric| {
            let figure = run.figure(metric)?;
            Some((figure, metric.unit.clone()))
        });
        Self {
            uuid: run.uuid,
            started: run.started.clone(),
            work: words::work_of(run),
            label: run.plan.label.clone(),
            kernel: run.machine.kernel.release.clone(),
            figure,
            outcome: run.outcome.word().to_owned(),
            doubts: run.doubts.len(),
        }
    }
}

/// Runs in the order given, a line each, by names just long enough to tell them apart.
pub fn runs_text(runs: &[RunLine], form: Form) -> String {
    let mut table = Table::new(&[
        ("run", Column::Mark),
        ("started", Column::Mark),
        ("work", Column::Words),
        ("label", Column::Words),
        ("kernel", Column::Words),
        ("result", Column::Number),
        ("unit", Column::Words),
        ("", Column::Mark),
    ]);
    let length = distinct_length(runs);
    for run in runs {
        let name = run.uuid.to_string();
        let (value, unit) = match &run.figure {
            Some((value, unit)) => (figure(*value), unit.clone()),
            None => (String::new(), String::new()),
        };
        let remark = match (run.outcome.as_str(), run.doubts) {
            ("complete", 0) => String::new(),
            ("complete", doubts) => counted(doubts, "doubt"),
            (outcome, _) => outcome.to_owned(),
        };
        table.row(vec![
            name[..length.min(name.len())].to_owned(),
            run.started.as_deref().map(minute).unwrap_or_default(),
            run.work.clone(),
            run.label.clone().unwrap_or_default(),
            run.kernel.clone().unwrap_or_default(),
            value,
            unit,
            remark,
        ]);
    }
    if table.is_empty() {
        return "no runs\n".to_owned();
    }
    table.print(form)
}

/// A run in its headline and its doubts.
pub fn run_in_short(run: &Run, form: Form) -> String {
    let doubts: Vec<String> = run.doubts.iter().map(ToString::to_string).collect();
    paragraph(&words::headline(run), form) + &bullets(&doubts, form)
}

/// The fewest characters, at least 13 (time to the millisecond), that name each run alone.
fn distinct_length(runs: &[RunLine]) -> usize {
    let names: HashSet<String> = runs.iter().map(|run| run.uuid.to_string()).collect();
    (13..36)
        .find(|length| {
            let mut starts = HashSet::new();
            names.iter().all(|name| starts.insert(&name[..*length]))
        })
        .unwrap_or(36)
}

/// `2026-11-30T20:34:00Z` as `2026-11-30 20:34`; anything else as far as a column reaches.
fn minute(started: &str) -> String {
    started
        .chars()
        .take(16)
        .map(|c| if c == 'T' { ' ' } else { c })
        .collect()
}
