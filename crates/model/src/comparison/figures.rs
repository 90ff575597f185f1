//! The figures of a table: which metrics there are, what each run says, and on which scale they are compared.

use super::sorting::{RowRuns, WorkRuns};
use super::{MetricName, Scale};
use crate::run::{Metric, Reported, Run, Statistic, Value};

/// The metrics of the runs, the deciding one of the first run first.
pub(super) fn metrics_of(work: &WorkRuns<'_>) -> Vec<MetricName> {
    let mut names: Vec<MetricName> = Vec::new();
    let runs = work.rows.iter().flat_map(|row| &row.runs);
    for metric in runs.flat_map(|run| &run.metrics) {
        let name = name_of(metric);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn name_of(metric: &Metric) -> MetricName {
    MetricName {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better,
    }
}

fn find<'run>(run: &'run Run, name: &MetricName) -> Option<&'run Metric> {
    run.metrics.iter().find(|metric| name_of(metric) == *name)
}

/// The run's figure of that metric.
pub(super) fn figure(run: &Run, name: &MetricName) -> Option<f64> {
    find(run, name).and_then(|metric| run.figure(metric))
}

/// The figures there are.
pub(super) fn known(figures: &[Option<f64>]) -> Vec<f64> {
    figures.iter().copied().flatten().collect()
}

/// Counts of which one is zero are compared as differences; everything else as ratios.
pub(super) fn scale(
    work: &WorkRuns<'_>,
    metric: &MetricName,
    figures: &[Vec<Option<f64>>],
) -> Scale {
    let zero = figures.iter().flatten().any(|figure| *figure == Some(0.0));
    let counts = || {
        work.rows.iter().flat_map(|row| &row.runs).all(|run| {
            let values = find(run, metric).map(|metric| run.stored_values(metric));
            values.is_some_and(|values| {
                !values.is_empty() && values.iter().all(|value| matches!(value, Value::Count(_)))
            })
        })
    };
    if zero && counts() {
        Scale::Difference
    } else {
        Scale::Ratio
    }
}

/// What a row's imported figures are of the values behind them, each once.
pub(super) fn reported(row: &RowRuns<'_>, name: &MetricName) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for run in &row.runs {
        let values = find(run, name).map(|metric| run.stored_values(metric));
        for value in values.into_iter().flatten() {
            if let Value::Reported(reported) = value {
                let word = statistic(reported);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
    }
    words
}

fn statistic(reported: &Reported) -> String {
    let word = match reported.statistic {
        Statistic::Single => return "one value".to_owned(),
        Statistic::Unknown => return "the text does not say of how many values".to_owned(),
        Statistic::Mean => "mean",
        Statistic::Median => "median",
        Statistic::Sum => "sum",
        Statistic::Min => "least",
        Statistic::Max => "greatest",
    };
    match reported.of {
        Some(of) => format!("{word} of {of}"),
        None => format!("{word} of an unknown number of values"),
    }
}
