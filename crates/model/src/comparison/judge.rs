//! From the rows of a work to its tables: figures, changes against the baseline, verdicts, notes.

use std::collections::BTreeSet;

use super::blocks::Blocks;
use super::figures::{figure, known, metrics_of, reported, scale};
use super::note::Note;
use super::sorting::{self, RowRuns, WorkRuns, listed};
use super::{
    COMPARISON_VERSION, Change, Comparison, ComparisonError, Design, Interval, MetricName, Metrics,
    Question, Row, Scale, Verdict, title,
};
use crate::run::Better;
use crate::stats::adjust::benjamini_hochberg;
use crate::stats::describe::describe;
use crate::stats::outlier::flag_outliers;
use crate::stats::trend::mann_kendall;
use crate::stats::{self, Direction, InputError, Rule, looks};

/// Share of false hints among those that a screen shows.
const SCREEN_SHARE: f64 = 0.05;
/// More voided runs than this share make a session suspect.
const MOST_VOIDS: f64 = 0.20;
/// A drift of the null arm is told below this p.
const DRIFT_LEVEL: f64 = 0.05;
/// Nobody reads the letters of more rows, and their pairs grow with the square.
const MOST_LETTERED: usize = 40;

/// Refuses names of metrics that no work has.
pub(super) fn check_metrics(
    works: &[WorkRuns<'_>],
    metrics: &Metrics,
) -> Result<(), ComparisonError> {
    let Metrics::Named(names) = metrics else {
        return Ok(());
    };
    let known: BTreeSet<String> = works
        .iter()
        .flat_map(|work| metrics_of(work).into_iter().map(|metric| metric.name))
        .collect();
    match names.iter().find(|name| !known.contains(*name)) {
        None => Ok(()),
        Some(name) => Err(ComparisonError::UnknownMetric {
            metric: name.clone(),
            known: listed(&known),
        }),
    }
}

/// The tables of one work.
pub(super) fn judge(work: &WorkRuns<'_>, question: &Question) -> Vec<Comparison> {
    let all = metrics_of(work);
    let Some(primary) = all.first().cloned() else {
        return Vec::new();
    };
    let chosen: Vec<MetricName> = match &question.metrics {
        Metrics::Primary => vec![primary.clone()],
        Metrics::All => all,
        Metrics::Named(names) => names
            .iter()
            .flat_map(|name| all.iter().filter(move |metric| metric.name == *name))
            .cloned()
            .collect(),
    };
    let mut tables: Vec<Comparison> = chosen
        .into_iter()
        .map(|metric| {
            let screen = metric != primary;
            Table::new(work, metric, question).finish(screen, question)
        })
        .collect();
    correct_screen(&mut tables);
    tables
}

/// Corrects the hints of all secondary tables for how many there were.
fn correct_screen(tables: &mut [Comparison]) {
    let mut changes: Vec<(&mut Change, &mut Verdict)> = tables
        .iter_mut()
        .filter(|table| table.screen)
        .flat_map(|table| &mut table.rows)
        .filter_map(|row| {
            let change = row.change.as_mut().filter(|change| change.p.is_some())?;
            Some((change, &mut row.verdict))
        })
        .collect();
    let p: Vec<f64> = changes.iter().filter_map(|(change, _)| change.p).collect();
    for ((change, verdict), adjusted) in changes.iter_mut().zip(benjamini_hochberg(&p)) {
        change.adjusted_p = Some(adjusted);
        if adjusted > SCREEN_SHARE && matches!(verdict, Verdict::Better | Verdict::Worse) {
            **verdict = Verdict::Inconclusive { needed: None };
        }
    }
}

/// A table in the making; rows are in the order of the work's.
struct Table<'work, 'run> {
    work: &'work WorkRuns<'run>,
    metric: MetricName,
    direction: Option<Direction>,
    scale: Scale,
    figures: Vec<Vec<Option<f64>>>,
    baseline: Option<usize>,
    design: Design,
    level: Option<f64>,
    verdicts: Vec<Verdict>,
    changes: Vec<Option<Change>>,
    letters: Vec<Option<String>>,
    notes: Vec<Note>,
}

impl<'work, 'run> Table<'work, 'run> {
    fn new(work: &'work WorkRuns<'run>, metric: MetricName, question: &Question) -> Self {
        let rows = work.rows.len();
        let figures: Vec<Vec<Option<f64>>> = work
            .rows
            .iter()
            .map(|row| row.runs.iter().map(|run| figure(run, &metric)).collect())
            .collect();
        let mut table = Self {
            work,
            direction: match metric.better {
                Better::Higher => Some(Direction::HigherIsBetter),
                Better::Lower => Some(Direction::LowerIsBetter),
                Better::Neither => None,
            },
            scale: scale(work, &metric, &figures),
            metric,
            figures,
            baseline: sorting::baseline(work, question.baseline.as_deref()),
            design: Design::Unblocked,
            level: None,
            verdicts: vec![Verdict::NotJudged; rows],
            changes: vec![None; rows],
            letters: vec![None; rows],
            notes: Vec::new(),
        };
        table.note_runs(question);
        let good = table.good_rows();
        match (work.work.session, table.direction) {
            (Some(_), direction) => table.blocked(&good, direction, question.margin),
            (None, Some(direction)) => table.unblocked(&good, direction, question.margin),
            (None, None) => {}
        }
        table
    }

    /// What is to be said whatever the figures are.
    fn note_runs(&mut self, question: &Question) {
        let work = self.work;
        for left in &work.left_out {
            self.notes.push(Note::LeftOut {
                row: left.row.clone(),
                outcome: left.outcome.to_owned(),
                count: left.count,
                reason: left.reason.clone(),
            });
        }
        match work.work.clock.as_str() {
            "emulated" => self.notes.push(Note::Emulated),
            "instructions" => self.notes.push(Note::Instructions),
            _ => {}
        }
        if !work.swept.is_empty() {
            self.notes.push(Note::WorkDiffers {
                params: work.swept.clone(),
            });
        }
        if work.rows.len() == 1 {
            self.notes.push(Note::OneRow);
        } else if let (None, Some(baseline)) = (self.baseline, &question.baseline) {
            self.notes.push(Note::NoBaseline {
                baseline: baseline.clone(),
            });
        }
        for row in &work.rows {
            let statistics = reported(row, &self.metric);
            if !statistics.is_empty() {
                self.notes.push(Note::Reported {
                    row: title(&row.names),
                    statistics,
                });
            }
        }
        if work.machine_unknown > 0 {
            self.notes.push(Note::MachineUnknown {
                runs: work.machine_unknown,
            });
        }
    }

    /// The rows without a figure that cannot be compared; the others get their verdict here.
    fn good_rows(&mut self) -> Vec<usize> {
        let mut good = Vec::new();
        for (row, runs) in self.work.rows.iter().enumerate() {
            let bad = runs
                .runs
                .iter()
                .zip(&self.figures[row])
                .find_map(|(run, figure)| Some((run.uuid, self.fault(*figure)?)));
            match bad {
                None => good.push(row),
                Some((run, what)) => {
                    self.notes.push(Note::BadValue {
                        row: title(&runs.names),
                        run,
                        what: what.clone(),
                    });
                    self.verdicts[row] = Verdict::NotCompared {
                        why: format!("a run {what}"),
                    };
                }
            }
        }
        good
    }

    /// Why a figure cannot be compared.
    fn fault(&self, figure: Option<f64>) -> Option<String> {
        let MetricName { name, unit, .. } = &self.metric;
        match figure {
            None => Some(format!("has no {name}")),
            Some(value) if !value.is_finite() => Some(format!("has an endless {name}")),
            Some(value) if self.scale == Scale::Ratio && value <= 0.0 => {
                Some(format!("has a {name} of {value} {unit}"))
            }
            Some(_) => None,
        }
    }

    /// Whether there is something to hold against `good` rows; else every row gets the verdict that says why not.
    fn comparable(&mut self, good: &[usize]) -> Option<(usize, Vec<usize>)> {
        let why = match self.baseline {
            None => "there is no baseline",
            Some(baseline) if !good.contains(&baseline) => "the baseline has no figure",
            Some(baseline) => {
                self.verdicts[baseline] = Verdict::Baseline;
                let contenders = good.iter().copied().filter(|row| *row != baseline);
                return Some((baseline, contenders.collect()));
            }
        };
        for row in good {
            self.verdicts[*row] = Verdict::NotCompared {
                why: why.to_owned(),
            };
        }
        None
    }

    fn margin(&self, margin: f64) -> f64 {
        match self.scale {
            Scale::Ratio => margin,
            // A share means nothing for counts; only no difference at all is none.
            Scale::Difference => 0.0,
        }
    }

    fn unblocked(&mut self, good: &[usize], direction: Direction, margin: f64) {
        let Some((baseline, contenders)) = self.comparable(good) else {
            return;
        };
        let Ok(rule) = Rule::fixed().with_margin(self.margin(margin)) else {
            return;
        };
        let rule = rule.with_family(contenders.len());
        self.level = (!contenders.is_empty()).then(|| rule.adjusted_level());
        let from = known(&self.figures[baseline]);
        for row in contenders {
            let to = known(&self.figures[row]);
            let result = match self.scale {
                Scale::Ratio => stats::compare_unblocked(&from, &to, direction, &rule),
                Scale::Difference => stats::compare_unblocked_counts(&from, &to, direction, &rule),
            };
            self.take(row, result.map(|comparison| (comparison, None, false)));
        }
    }

    fn blocked(&mut self, good: &[usize], direction: Option<Direction>, margin: f64) {
        let blocks = Blocks::of(self.work, &self.figures, good, self.scale);
        self.design = Design::Blocked {
            blocks: blocks.count,
        };
        if blocks.incomplete > 0 {
            self.notes.push(Note::IncompleteBlocks {
                count: blocks.incomplete,
            });
        }
        if blocks.several {
            self.notes.push(Note::SeveralInBlock);
        }
        self.note_voids();
        let Some(direction) = direction else {
            return;
        };
        let Some((baseline, contenders)) = self.comparable(good) else {
            return;
        };
        if contenders.is_empty() || blocks.count == 0 {
            for row in contenders {
                self.verdicts[row] = Verdict::NotCompared {
                    why: "no block has a run of every row".to_owned(),
                };
            }
            return;
        }
        let Ok(rule) = Rule::planned().with_margin(self.margin(margin)) else {
            return;
        };
        self.level = Some(rule.with_family(contenders.len()).adjusted_level());
        let from = &blocks.values[&baseline];
        let to: Vec<&[f64]> = contenders
            .iter()
            .map(|row| blocks.values[row].as_slice())
            .collect();
        match self.scale {
            Scale::Ratio => {
                let verdicts = stats::compare_with_baseline_at_looks(from, &to, direction, &rule);
                let each: Vec<Judged> = match verdicts {
                    Ok(verdicts) => verdicts
                        .into_iter()
                        .map(|at| Ok((at.comparison, at.look, at.stopped_early)))
                        .collect(),
                    Err(error) => contenders.iter().map(|_| Err(error)).collect(),
                };
                for (row, judged) in contenders.iter().zip(each) {
                    self.take(*row, judged);
                }
                self.letters(good, &blocks, direction, rule);
                self.null_arm(&blocks, baseline, direction, rule);
            }
            Scale::Difference => {
                let rule = rule.with_family(contenders.len());
                let look = last_look(rule, blocks.count);
                let used = look.unwrap_or(blocks.count);
                for (row, to) in contenders.iter().zip(to) {
                    let judged =
                        stats::compare_blocked_counts(&from[..used], &to[..used], direction, &rule);
                    self.take(*row, judged.map(|comparison| (comparison, look, false)));
                    if look.is_none() && self.verdicts[*row] != Verdict::NoSpreadGiven {
                        let minimum = rule.minimum_blocks();
                        self.verdicts[*row] = Verdict::TooFewRuns {
                            needed: looks::next(blocks.count, minimum).unwrap_or(minimum),
                        };
                    }
                }
            }
        }
        let used = self
            .changes
            .iter()
            .flatten()
            .filter_map(|change| change.blocks);
        if let Some(look) = used.max().filter(|look| *look < blocks.count) {
            self.notes.push(Note::BlocksAfterLook {
                look,
                blocks: blocks.count,
            });
        }
        if self
            .changes
            .iter()
            .flatten()
            .any(|change| change.stopped_early)
        {
            self.notes.push(Note::StoppedEarly);
        }
    }

    /// Enters what the statistics say of a row.
    fn take(&mut self, row: usize, judged: Judged) {
        let (comparison, look, stopped_early) = match judged {
            Ok(judged) => judged,
            Err(error) => {
                self.verdicts[row] = Verdict::NotCompared {
                    why: error.to_string(),
                };
                return;
            }
        };
        let blocked = comparison.design == stats::Design::Blocked;
        self.verdicts[row] = match comparison.verdict {
            stats::Verdict::NoSpreadGiven => Verdict::NoSpreadGiven,
            stats::Verdict::TooFewRuns { needed } => Verdict::TooFewRuns { needed },
            _ if !blocked => Verdict::DriftNotControlled,
            stats::Verdict::Different { better: true } => Verdict::Better,
            stats::Verdict::Different { better: false } => Verdict::Worse,
            stats::Verdict::Equivalent => Verdict::Equivalent,
            stats::Verdict::Inconclusive { needed } => Verdict::Inconclusive { needed },
        };
        self.changes[row] = Some(Change {
            estimate: comparison.estimate,
            interval: interval(&comparison),
            chance_better: comparison.chance_better,
            p: comparison.p,
            adjusted_p: comparison.adjusted_p,
            blocks: blocked.then_some(look.unwrap_or(comparison.runs.0)),
            stopped_early,
        });
    }

    fn letters(&mut self, good: &[usize], blocks: &Blocks, direction: Direction, rule: Rule) {
        if !(3..=MOST_LETTERED).contains(&good.len()) {
            return;
        }
        let rule = rule.with_family(good.len() * (good.len() - 1) / 2);
        let Some(look) = last_look(rule, blocks.count) else {
            let minimum = rule.minimum_blocks();
            self.notes.push(Note::NoLetters {
                needed: looks::next(blocks.count, minimum).unwrap_or(minimum),
            });
            return;
        };
        let values: Vec<&[f64]> = good.iter().map(|row| &blocks.values[row][..look]).collect();
        let ranking = stats::rank_contenders(&values, direction, &rule);
        if let Ok(Ok(letters)) = ranking.map(|ranking| ranking.letters) {
            for (row, letters) in good.iter().zip(letters) {
                self.letters[*row] = Some(letters);
            }
        }
    }

    /// Holds the session's second copy of the baseline against the baseline.
    fn null_arm(&mut self, blocks: &Blocks, baseline: usize, direction: Direction, rule: Rule) {
        let copied = self.work.null_row().unwrap_or(baseline);
        let Some(copied) = blocks.values.get(&copied) else {
            return;
        };
        let mut pairs = (Vec::new(), Vec::new());
        for run in &self.work.null_arm {
            let block = run.session.as_ref().map(|place| place.block);
            let place = block.and_then(|block| blocks.names.iter().position(|b| *b == block));
            let (Some(place), Some(value)) = (place, figure(run, &self.metric)) else {
                continue;
            };
            pairs.0.push(copied[place]);
            pairs.1.push(value);
        }
        let Ok(null) = stats::compare_at_looks(&pairs.0, &pairs.1, direction, &rule) else {
            return;
        };
        let verdict = match null.comparison.verdict {
            stats::Verdict::Different { better: true } => Verdict::Better,
            stats::Verdict::Different { better: false } => Verdict::Worse,
            stats::Verdict::Equivalent => Verdict::Equivalent,
            stats::Verdict::Inconclusive { needed } => Verdict::Inconclusive { needed },
            stats::Verdict::TooFewRuns { needed } => Verdict::TooFewRuns { needed },
            stats::Verdict::NoSpreadGiven => Verdict::NoSpreadGiven,
        };
        if matches!(verdict, Verdict::Better | Verdict::Worse) {
            self.notes.push(Note::Suspect {
                why: "its null arm, a second copy of the baseline, was called different".to_owned(),
            });
        }
        self.notes.push(Note::NullArm {
            estimate: null.comparison.estimate,
            interval: interval(&null.comparison),
            verdict,
        });
        if let Some(trend) = mann_kendall(&pairs.1).filter(|trend| trend.p < DRIFT_LEVEL) {
            self.notes.push(Note::Drift {
                tau: trend.tau,
                p: trend.p,
            });
        }
    }

    fn note_voids(&mut self) {
        let voided: usize = self
            .work
            .left_out
            .iter()
            .filter(|left| left.outcome == "voided")
            .map(|left| left.count)
            .sum();
        let complete: usize = self.work.rows.iter().map(|row| row.runs.len()).sum();
        let all = complete + self.work.null_arm.len() + voided;
        #[expect(clippy::cast_precision_loss, reason = "a share of runs")]
        if voided as f64 > MOST_VOIDS * all as f64 {
            self.notes.push(Note::Suspect {
                why: format!("{voided} of its {all} runs were voided"),
            });
        }
    }

    fn finish(mut self, screen: bool, question: &Question) -> Comparison {
        self.note_outliers();
        let mut order: Vec<usize> = (0..self.work.rows.len()).collect();
        let rank = |row: &usize| {
            let ranked = !matches!(self.verdicts[*row], Verdict::NotCompared { .. });
            let centre = describe(&known(&self.figures[*row])).map(|summary| summary.median);
            let worst_first = match self.direction {
                Some(Direction::HigherIsBetter) => centre.map(|centre| -centre),
                Some(Direction::LowerIsBetter) => centre,
                None => None,
            };
            (!ranked, centre.is_none(), worst_first.unwrap_or(0.0))
        };
        order.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        });
        let rows = order.iter().map(|row| self.row(*row)).collect();
        Comparison {
            version: COMPARISON_VERSION,
            work: self.work.work.clone(),
            screen,
            by: question.by.clone(),
            design: self.design,
            scale: self.scale,
            level: self.level,
            margin: self.margin(question.margin),
            baseline: self
                .baseline
                .and_then(|baseline| order.iter().position(|row| *row == baseline)),
            rows,
            same: self.work.differences.same(),
            also_different: self.work.differences.list(&question.by),
            metric: self.metric,
            notes: self.notes,
        }
    }

    fn row(&self, row: usize) -> Row {
        let RowRuns { names, runs } = &self.work.rows[row];
        let summary = describe(&known(&self.figures[row]));
        Row {
            names: names.clone(),
            runs: runs.iter().map(|run| run.uuid).collect(),
            values: self.figures[row].clone(),
            median: summary.map(|summary| summary.median),
            mean: summary.map(|summary| summary.mean),
            minimum: summary.map(|summary| summary.minimum),
            maximum: summary.map(|summary| summary.maximum),
            reported: reported(&self.work.rows[row], &self.metric),
            change: self.changes[row],
            verdict: self.verdicts[row].clone(),
            letters: self.letters[row].clone(),
        }
    }

    fn note_outliers(&mut self) {
        for (row, runs) in self.work.rows.iter().enumerate() {
            if matches!(self.verdicts[row], Verdict::NotCompared { .. }) {
                continue;
            }
            let values = known(&self.figures[row]);
            let on_scale: Vec<f64> = match self.scale {
                Scale::Ratio => values.iter().map(|value| value.ln()).collect(),
                Scale::Difference => values.clone(),
            };
            let Some(summary) = describe(&values) else {
                continue;
            };
            for index in flag_outliers(&on_scale) {
                self.notes.push(Note::Outlier {
                    row: title(&runs.names),
                    run: runs.runs[index].uuid,
                    value: values[index],
                    median: summary.median,
                });
            }
        }
    }
}

/// A comparison, the look that it was taken at, and whether an early look decided.
type Judged = Result<(stats::Comparison, Option<usize>, bool), InputError>;

fn interval(comparison: &stats::Comparison) -> Option<Interval> {
    comparison.interval.ok().map(|interval| Interval {
        lower: interval.lower,
        upper: interval.upper,
    })
}

/// The last look that so many blocks reach under the rule.
fn last_look(rule: Rule, blocks: usize) -> Option<usize> {
    looks::usable(rule.minimum_blocks())
        .take_while(|look| *look <= blocks)
        .last()
}
