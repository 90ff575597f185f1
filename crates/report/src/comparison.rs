//! Ranked tables, the best row first, and under each what may be said of it.

use kernmark_model::comparison::{Comparison, Design, Differing, Row, Scale, Verdict};

use crate::Form;
use crate::number::{UNKNOWN, counted, figure, figure_or_unknown, ratio};
use crate::table::{Column, Table};
use crate::text::{bullets, heading, paragraph};
use crate::words;

/// So many other differences are named; the rest is counted.
const MOST_DIFFERENCES: usize = 8;
/// So many of their values are shown.
const MOST_VALUES: usize = 3;
/// So many verdicts are put into sentences; the table has all of them.
const MOST_SENTENCES: usize = 12;
/// So many notes of one comparison are shown.
const MOST_NOTES: usize = 20;

/// Tables of several works or metrics, one after the other.
pub fn comparisons_text(comparisons: &[Comparison], form: Form) -> String {
    let texts: Vec<String> = comparisons
        .iter()
        .map(|comparison| comparison_text(comparison, form))
        .collect();
    texts.join("\n\n")
}

/// A ranked table, its verdicts as sentences, and what a reader must know.
pub fn comparison_text(comparison: &Comparison, form: Form) -> String {
    let metric = &comparison.metric;
    let mut out = heading(
        &format!(
            "{}: {} in {}, {}{}",
            words::work(comparison),
            metric.name,
            metric.unit,
            words::direction(metric.better),
            if comparison.screen { ", a screen" } else { "" },
        ),
        form,
    );
    out += &paragraph(&design(comparison), form);
    let params = &comparison.work.params;
    let mut work: Vec<String> = params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if comparison.work.cache != "unchanged" {
        work.push(format!("cache {}", comparison.work.cache));
    }
    if !work.is_empty() {
        out += &paragraph(&format!("work: {}", work.join(" ")), form);
    }
    let mut same: Vec<String> = comparison
        .same
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    same.retain(|fact| !fact.starts_with("memory ") && !fact.starts_with("cmdline "));
    if !same.is_empty() {
        out += &paragraph(&format!("all on: {}", same.join(", ")), form);
    }
    out.push('\n');
    out += &table(comparison, form);
    let sentences: Vec<String> = comparison
        .rows
        .iter()
        .filter_map(|row| words::verdict(comparison, row))
        .collect();
    out += &shown(sentences, MOST_SENTENCES, "row", form);
    if !comparison.also_different.is_empty() {
        out.push('\n');
        out += &paragraph(&also_different(&comparison.also_different), form);
    }
    if comparison.screen {
        let text = "a screen: this is not the deciding metric; what stands out is a hint, corrected for how many were looked at (5 % of hints may be false)";
        out += &format!("\n{}", paragraph(text, form));
    }
    let notes = comparison.notes.iter().map(ToString::to_string).collect();
    out + &shown(notes, MOST_NOTES, "note", form)
}

/// The first of `items` as a list below a blank line, and how many more there are.
fn shown(mut items: Vec<String>, most: usize, what: &str, form: Form) -> String {
    if items.is_empty() {
        return String::new();
    }
    let more = items.len().saturating_sub(most);
    items.truncate(most);
    if more > 0 {
        items.push(format!("and {}", counted(more, &format!("more {what}"))));
    }
    format!("\n{}", bullets(&items, form))
}

fn design(comparison: &Comparison) -> String {
    let mut parts = vec![format!("rows by {}", comparison.by.join(", "))];
    if let Some(baseline) = comparison
        .baseline
        .and_then(|place| comparison.rows.get(place))
    {
        parts.push(format!("held against {}", baseline.title()));
    }
    parts.push(match comparison.design {
        Design::Blocked { blocks } => format!("{} of one session", counted(blocks, "block")),
        Design::Unblocked => "unblocked: drift not controlled".to_owned(),
    });
    if let Some(level) = comparison.level {
        let sure = 100.0 * (1.0 - level);
        let sure = format!("{sure:.2}");
        let sure = sure.trim_end_matches('0').trim_end_matches('.');
        parts.push(format!("{sure} % intervals"));
    }
    parts.join("; ")
}

fn table(comparison: &Comparison, form: Form) -> String {
    let (change, blank) = match comparison.scale {
        Scale::Ratio => ("ratio", "1"),
        Scale::Difference => ("change", "0"),
    };
    let blocked = matches!(comparison.design, Design::Blocked { .. });
    let title = comparison.by.join(", ");
    let mut table = Table::new(&[
        ("", Column::Number),
        (&title, Column::Words),
        ("n", Column::Number),
        ("median", Column::Number),
        ("range", Column::Number),
        (change, Column::Number),
        ("interval", Column::Number),
        ("P", Column::Number),
        ("", Column::Mark),
        ("verdict", Column::Words),
    ]);
    let mut place = 0;
    for row in &comparison.rows {
        let ranked = row.median.is_some() && !matches!(row.verdict, Verdict::NotCompared { .. });
        place += usize::from(ranked);
        let baseline = row.verdict == Verdict::Baseline;
        let estimate = row
            .change
            .map(|change| on_scale(comparison.scale, change.estimate));
        table.row(vec![
            if ranked {
                place.to_string()
            } else {
                String::new()
            },
            row.title(),
            row.count().to_string(),
            figure_or_unknown(row.median),
            // A verdict is worth more than a range, and both do not fit.
            if blocked { String::new() } else { range(row) },
            match estimate {
                Some(estimate) => estimate,
                None if baseline => blank.to_owned(),
                None => String::new(),
            },
            interval(comparison, row),
            row.change
                .map(|change| format!("{:.2}", change.chance_better))
                .unwrap_or_default(),
            row.letters.clone().unwrap_or_default(),
            short(comparison, &row.verdict).to_owned(),
        ]);
    }
    table.print(form)
}

fn on_scale(scale: Scale, value: f64) -> String {
    match scale {
        Scale::Ratio => ratio(value),
        Scale::Difference => figure(value),
    }
}

fn range(row: &Row) -> String {
    match (row.count(), row.minimum, row.maximum) {
        (2.., Some(minimum), Some(maximum)) => {
            format!("{} to {}", figure(minimum), figure(maximum))
        }
        _ => String::new(),
    }
}

fn interval(comparison: &Comparison, row: &Row) -> String {
    match (&row.verdict, row.change.and_then(|change| change.interval)) {
        (_, Some(ends)) => format!(
            "{} to {}",
            on_scale(comparison.scale, ends.lower),
            on_scale(comparison.scale, ends.upper)
        ),
        (Verdict::TooFewRuns { .. }, None) => "too few runs".to_owned(),
        (Verdict::NoSpreadGiven, None) => "no spread given".to_owned(),
        _ if row.change.is_some() => UNKNOWN.to_owned(),
        _ => String::new(),
    }
}

/// The verdict in a word or two; what the interval's column or the heading says already is not said again.
fn short(comparison: &Comparison, verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Baseline => "baseline",
        Verdict::Better => words::judgement(&comparison.metric.unit, true),
        Verdict::Worse => words::judgement(&comparison.metric.unit, false),
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive { .. } => "inconclusive",
        Verdict::TooFewRuns { .. } | Verdict::NoSpreadGiven | Verdict::DriftNotControlled => "",
        Verdict::NotJudged => "",
        Verdict::NotCompared { .. } => "not compared",
    }
}

fn also_different(list: &[Differing]) -> String {
    let mut named: Vec<String> = list
        .iter()
        .take(MOST_DIFFERENCES)
        .map(|fact| {
            let mut values: Vec<&str> = fact
                .values
                .iter()
                .take(MOST_VALUES)
                .map(String::as_str)
                .collect();
            if fact.values.len() > MOST_VALUES {
                values.push("…");
            }
            let within = if fact.within_rows {
                "; also within a row"
            } else {
                ""
            };
            format!("{} ({}{within})", short_key(&fact.key), values.join(", "))
        })
        .collect();
    let more = list.len().saturating_sub(MOST_DIFFERENCES);
    if more > 0 {
        named.push(format!("and {}", counted(more, "more fact")));
    }
    format!("also different: {}", named.join(", "))
}

/// A kernel's configuration option by its own name; other keys as they are.
fn short_key(key: &str) -> &str {
    key.strip_prefix("machine.kernel.config.options.")
        .unwrap_or(key)
}
