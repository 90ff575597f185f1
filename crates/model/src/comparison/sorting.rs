//! Which runs did the same work, and which row of it each belongs to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::differing::Differences;
use super::{ComparisonError, NULL_ARM, Question, Work, title};
use crate::facts;
use crate::plan::Cache;
use crate::run::Run;

/// Rows by these would put different work, or what is no property of a subject, side by side.
const WORK_KEYS: &[&str] = &["tool", "workload", "clock", "session", "outcome"];

/// How many keys a message lists.
const KEYS_IN_MESSAGE: usize = 12;

/// All runs of one work.
pub(super) struct WorkRuns<'run> {
    pub(super) work: Work,
    /// The parameters that make rows, so that the rows differ in their work on purpose.
    pub(super) swept: Vec<String>,
    /// In the order of their first runs.
    pub(super) rows: Vec<RowRuns<'run>>,
    /// Runs of the session's null arm, by time.
    pub(super) null_arm: Vec<&'run Run>,
    /// The values that the null arm's runs have for the facts that make the rows.
    null_names: Vec<Option<String>>,
    pub(super) left_out: Vec<LeftOut>,
    /// Complete runs whose machine is not recorded.
    pub(super) machine_unknown: usize,
    pub(super) differences: Differences,
}

/// The complete runs of one row, by time.
pub(super) struct RowRuns<'run> {
    pub(super) names: Vec<Option<String>>,
    pub(super) runs: Vec<&'run Run>,
}

/// Runs of a row that are not complete.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeftOut {
    pub(super) row: String,
    pub(super) outcome: &'static str,
    pub(super) count: usize,
    pub(super) reason: String,
}

pub(super) fn sort<'run>(
    runs: &'run [Run],
    question: &Question,
) -> Result<Vec<WorkRuns<'run>>, ComparisonError> {
    if runs.is_empty() {
        return Err(ComparisonError::NoRuns);
    }
    if question.by.is_empty() {
        return Err(ComparisonError::NoKeys);
    }
    if let Some(key) = question
        .by
        .iter()
        .find(|key| WORK_KEYS.contains(&key.as_str()))
    {
        return Err(ComparisonError::DifferentWork { key: key.clone() });
    }
    let mut in_order: Vec<&Run> = runs.iter().collect();
    in_order.sort_by_key(|run| run.uuid); // version 7: by time
    let mut works: Vec<WorkRuns<'run>> = Vec::new();
    let mut places: HashMap<Work, usize> = HashMap::new();
    let mut rows: HashMap<(usize, Vec<Option<String>>), usize> = HashMap::new();
    let mut seen = vec![false; question.by.len()];
    let mut known: BTreeSet<String> = BTreeSet::new();
    for run in in_order {
        let facts = facts::of(run);
        let found: Vec<Option<(String, String)>> =
            question.by.iter().map(|key| find(&facts, key)).collect();
        for (seen, found) in seen.iter_mut().zip(&found) {
            *seen |= found.is_some();
        }
        if !seen.iter().all(|seen| *seen) {
            known.extend(facts.iter().map(|(key, _)| key.clone()));
        }
        let swept: Vec<String> = found
            .iter()
            .flatten()
            .filter_map(|(key, _)| key.strip_prefix("param.").map(str::to_owned))
            .collect();
        let names: Vec<Option<String>> = found
            .into_iter()
            .map(|found| found.map(|(_, value)| value))
            .collect();
        let work = work_of(run, &swept, &facts);
        let place = *places.entry(work.clone()).or_insert_with(|| {
            works.push(WorkRuns {
                work,
                swept: swept.clone(),
                rows: Vec::new(),
                null_arm: Vec::new(),
                null_names: Vec::new(),
                left_out: Vec::new(),
                machine_unknown: 0,
                differences: Differences::default(),
            });
            works.len() - 1
        });
        let work = &mut works[place];
        if !run.outcome.is_complete() {
            work.leave_out(run, &names);
            continue;
        }
        if run
            .session
            .as_ref()
            .is_some_and(|place| place.arm == NULL_ARM)
        {
            work.null_arm.push(run);
            work.null_names = names;
            continue;
        }
        let row = *rows.entry((place, names.clone())).or_insert_with(|| {
            work.rows.push(RowRuns {
                names,
                runs: Vec::new(),
            });
            work.rows.len() - 1
        });
        work.rows[row].runs.push(run);
        work.machine_unknown += usize::from(run.machine.kernel.release.is_none());
        work.differences.see(row, &facts);
    }
    if let Some(unseen) = seen.iter().position(|seen| !seen) {
        return Err(ComparisonError::UnknownKey {
            key: question.by[unseen].clone(),
            known: listed(&known),
        });
    }
    works.retain(|work| !work.rows.is_empty());
    if works.is_empty() {
        return Err(ComparisonError::NoneComplete(runs.len()));
    }
    Ok(works)
}

impl WorkRuns<'_> {
    /// The row that the null arm is a second copy of, where the rows' facts tell.
    pub(super) fn null_row(&self) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| row.names == self.null_names)
    }

    fn leave_out(&mut self, run: &Run, names: &[Option<String>]) {
        let (row, outcome) = (title(names), run.outcome.word());
        let same = |left: &&mut LeftOut| left.row == row && left.outcome == outcome;
        if let Some(left) = self.left_out.iter_mut().find(same) {
            left.count += 1;
            return;
        }
        let reason = run.outcome.reason().unwrap_or_default().to_owned();
        self.left_out.push(LeftOut {
            row,
            outcome,
            count: 1,
            reason,
        });
    }
}

/// Refuses a baseline that no work has; a work without it is answered with rows that stand alone.
pub(super) fn check_baseline(
    works: &[WorkRuns<'_>],
    baseline: Option<&str>,
) -> Result<(), ComparisonError> {
    let Some(baseline) = baseline else {
        return Ok(());
    };
    let mut rows = BTreeSet::new();
    let mut ambiguous = BTreeSet::new();
    for work in works {
        match matching(work, baseline).as_slice() {
            [_] => return Ok(()),
            [] => {}
            several => ambiguous.extend(several.iter().map(|row| title(&work.rows[*row].names))),
        }
        rows.extend(work.rows.iter().map(|row| title(&row.names)));
    }
    let baseline = baseline.to_owned();
    Err(if ambiguous.is_empty() {
        ComparisonError::UnknownBaseline {
            baseline,
            rows: listed(&rows),
        }
    } else {
        ComparisonError::AmbiguousBaseline {
            baseline,
            rows: listed(&ambiguous),
        }
    })
}

/// The row that the others are held against: by default the one that the session copied as its null arm, else the first.
pub(super) fn baseline(work: &WorkRuns<'_>, asked: Option<&str>) -> Option<usize> {
    match asked {
        Some(asked) => match matching(work, asked).as_slice() {
            [only] => Some(*only),
            _ => None,
        },
        // Rows are in the order of their first runs.
        None => work
            .null_row()
            .or_else(|| (!work.rows.is_empty()).then_some(0)),
    }
}

/// The row of exactly that title, else those whose titles begin so.
fn matching(work: &WorkRuns<'_>, asked: &str) -> Vec<usize> {
    let titles: Vec<String> = work.rows.iter().map(|row| title(&row.names)).collect();
    let rows = |fits: &dyn Fn(&String) -> bool| -> Vec<usize> {
        (0..titles.len())
            .filter(|row| fits(&titles[*row]))
            .collect()
    };
    match rows(&|title| title == asked) {
        exact if !exact.is_empty() => exact,
        _ => rows(&|title| title.starts_with(asked)),
    }
}

/// The fact of that key, or the parameter of that name; several values are joined by `+`.
fn find(facts: &[(String, String)], key: &str) -> Option<(String, String)> {
    let param = format!("param.{key}");
    [key, &param].into_iter().find_map(|candidate| {
        let mut values = facts
            .iter()
            .filter(|(known, _)| known == candidate)
            .map(|(_, value)| value.as_str());
        let first = values.next()?.to_owned();
        let joined = values.fold(first, |joined, value| format!("{joined}+{value}"));
        Some((candidate.to_owned(), joined))
    })
}

fn work_of(run: &Run, swept: &[String], facts: &[(String, String)]) -> Work {
    let params: BTreeMap<String, String> = run
        .plan
        .params
        .0
        .iter()
        .filter(|(name, _)| !swept.contains(name))
        .map(|(name, value)| (name.clone(), value.to_string()))
        .collect();
    let cache = match run.plan.cache {
        Cache::Unchanged => "unchanged",
        Cache::Cold => "cold",
        Cache::Warm => "warm",
    };
    let clock = facts.iter().find(|(key, _)| key == "clock");
    Work {
        selector: run.plan.selector(),
        params,
        cache: cache.to_owned(),
        clock: clock.map_or_else(String::new, |(_, value)| value.clone()),
        session: run.session.as_ref().map(|place| place.id),
    }
}

/// A list for a message, cut where it would fill the screen.
pub(super) fn listed(words: &BTreeSet<String>) -> String {
    let mut list: Vec<&str> = words
        .iter()
        // Short words are what people mean; dotted paths come after them.
        .filter(|word| !word.contains('.'))
        .chain(words.iter().filter(|word| word.contains('.')))
        .map(String::as_str)
        .collect();
    let more = list.len().saturating_sub(KEYS_IN_MESSAGE);
    list.truncate(KEYS_IN_MESSAGE);
    let list = list.join(", ");
    if more > 0 {
        format!("{list} and {more} more")
    } else {
        list
    }
}
