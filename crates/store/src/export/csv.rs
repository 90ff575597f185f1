//! Figures as a table for spreadsheets.

use std::collections::BTreeSet;
use std::io::{self, Write};

use kernmark_model::facts;
use kernmark_model::run::{
    At, AxisValue, Better, Metric, Origin, Phase, Point, Reported, Run, Value,
};

use crate::code::to_word;
use crate::export::each;
use crate::{Detail, Selection, Store, StoreError};

/// The columns of [`csv`]:
///
/// | column | meaning |
/// |---|---|
/// | `uuid` | the run's name |
/// | `started` | wall clock at its start, RFC 3339 in UTC |
/// | `tool`, `workload`, `label` | what ran, and the user's word for it |
/// | `params` | every parameter as it is typed, `name=value` separated by blanks |
/// | `kernel`, `filesystem` | release of the kernel, type of the target's filesystem |
/// | `clock` | `wall`, `emulated`, `instructions` or `scripted`: what a figure of time means |
/// | `origin` | `measured` or `imported` |
/// | `outcome`, `reason` | how it ended; anything but `complete` is not to be compared |
/// | `session`, `block`, `position`, `arm` | its place in a blocked experiment |
/// | `phase`, `point` | where the figure is from; the point as `axis=value` separated by blanks, sizes in bytes |
/// | `op` | the op it is of; empty for all ops of the metric together |
/// | `metric`, `unit`, `better` | what the figure is; `higher`, `lower` or `neither` |
/// | `value` | the figure; empty where the run does not say one |
/// | `reported`, `statistic`, `of` | an imported figure as it was printed, what it is, and of how many values |
/// | `doubts` | why to be careful, separated by `; ` |
pub const CSV_HEADER: &[&str] = &[
    "uuid",
    "started",
    "tool",
    "workload",
    "label",
    "params",
    "kernel",
    "filesystem",
    "clock",
    "origin",
    "outcome",
    "reason",
    "session",
    "block",
    "position",
    "arm",
    "phase",
    "point",
    "op",
    "metric",
    "unit",
    "better",
    "value",
    "reported",
    "statistic",
    "of",
    "doubts",
];

/// Writes a row for each run, metric, point and op, under [`CSV_HEADER`], quoted as RFC 4180 says.
///
/// The first row of a metric at a point is that of all its ops together; where it counts several ops, a row for each of
/// them follows.
pub fn csv(
    store: &Store,
    selection: &Selection,
    redact: bool,
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    record(out, CSV_HEADER).map_err(StoreError::Export)?;
    each(store, selection, Detail::Figures, redact, |run| {
        rows(run, out)
    })?;
    out.flush().map_err(StoreError::Export)
}

fn rows(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let lead = lead(run);
    let doubts: Vec<String> = run.doubts.iter().map(ToString::to_string).collect();
    let doubts = doubts.join("; ");
    let mut written = BTreeSet::new();
    for metric in &run.metrics {
        for phase in run.phases.iter().filter(|phase| phase.name == metric.phase) {
            let wanted = match &metric.at {
                At::Only | At::Best => true,
                At::Point(point) => phase.point == *point,
            };
            for op in ops(metric, phase).into_iter().filter(|_| wanted) {
                // Repetitions share a row, and so do a peak and the point at which it is.
                if !written.insert((&metric.name, &metric.unit, &phase.name, &phase.point, op)) {
                    continue;
                }
                let figure = Metric {
                    at: At::Point(phase.point.clone()),
                    ops: match op {
                        Some(op) => vec![op.to_owned()],
                        None => metric.ops.clone(),
                    },
                    ..metric.clone()
                };
                let value = run.figure(&figure).map(|value| value.to_string());
                let reported = reported(metric, phase);
                let tail = [
                    phase.name.clone(),
                    point(&phase.point),
                    op.unwrap_or_default().to_owned(),
                    metric.name.clone(),
                    metric.unit.clone(),
                    better(metric.better).to_owned(),
                    value.unwrap_or_default(),
                    reported.map_or(String::new(), |reported| reported.text.clone()),
                    reported
                        .and_then(|reported| to_word(&reported.statistic))
                        .unwrap_or_default(),
                    reported
                        .and_then(|reported| reported.of)
                        .map_or(String::new(), |of| of.to_string()),
                    doubts.clone(),
                ];
                let fields: Vec<&str> = lead.iter().chain(&tail).map(String::as_str).collect();
                record(out, &fields)?;
            }
        }
    }
    Ok(())
}

/// The columns up to the phase.
fn lead(run: &Run) -> [String; 16] {
    let facts = facts::of(run);
    let fact = |key: &str| {
        let found = facts.iter().find(|(known, _)| known == key);
        found.map_or(String::new(), |(_, value)| value.clone())
    };
    let params: Vec<String> = run
        .plan
        .params
        .0
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let session = run.session.as_ref();
    let origin = match run.origin {
        Origin::Measured => "measured",
        Origin::Imported { .. } => "imported",
    };
    [
        run.uuid.to_string(),
        run.started.clone().unwrap_or_default(),
        run.plan.tool.clone(),
        run.plan.workload.clone(),
        run.plan.label.clone().unwrap_or_default(),
        params.join(" "),
        fact("kernel"),
        fact("filesystem"),
        to_word(&run.clock).unwrap_or_default(),
        origin.to_owned(),
        run.outcome.word().to_owned(),
        run.outcome.reason().unwrap_or_default().to_owned(),
        session.map_or(String::new(), |place| place.id.to_string()),
        session.map_or(String::new(), |place| place.block.to_string()),
        session.map_or(String::new(), |place| place.position.to_string()),
        session.map_or(String::new(), |place| place.arm.clone()),
    ]
}

/// All ops together, then each that the metric counts, where there are several.
fn ops<'run>(metric: &'run Metric, phase: &'run Phase) -> Vec<Option<&'run str>> {
    let counted: Vec<&str> = phase
        .ops
        .iter()
        .filter(|op| {
            if metric.ops.is_empty() {
                !op.span
            } else {
                metric.ops.contains(&op.name)
            }
        })
        .map(|op| op.name.as_str())
        .collect();
    let mut ops = vec![None];
    if counted.len() > 1 {
        ops.extend(counted.into_iter().map(Some));
    }
    ops
}

/// The printed figure that a metric is taken from.
fn reported<'run>(metric: &Metric, phase: &'run Phase) -> Option<&'run Reported> {
    phase.samples.iter().find_map(|sample| match &sample.value {
        Value::Reported(reported) if sample.metric == metric.name => Some(reported),
        _ => None,
    })
}

fn point(point: &Point) -> String {
    let axes: Vec<String> = point
        .0
        .iter()
        .map(|(axis, value)| match value {
            AxisValue::Bytes(bytes) => format!("{axis}={}", bytes.0),
            AxisValue::Count(_) | AxisValue::Text(_) => format!("{axis}={value}"),
        })
        .collect();
    axes.join(" ")
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    }
}

/// A line as RFC 4180 has it: fields with a comma, a quote or a line's end are quoted, quotes in them doubled.
fn record(out: &mut dyn Write, fields: &[&str]) -> io::Result<()> {
    for (place, field) in fields.iter().enumerate() {
        if place > 0 {
            out.write_all(b",")?;
        }
        if field.contains(['"', ',', '\r', '\n']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        record(
            &mut out,
            &["plain", "", "a,b", "say \"x\"", "two\r\nlines", " blank "],
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "plain,,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\", blank \r\n"
        );
    }
}
