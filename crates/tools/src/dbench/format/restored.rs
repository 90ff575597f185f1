//! The text that a run was read from, made from the samples that [`imported`](super::imported) lists.

use std::collections::BTreeMap;

use kernmark_engine::tool::FormatError;
use kernmark_model::plan::Params;
use kernmark_model::run::{Reported, Run, Value};

use super::imported::{PROGRAM, WARM_UP};
use super::lines::{Cleanup, ClientResult, Row, Running, Stage, Throughput, Tick};
use super::text::{Progress, Report};
use super::{CLEANUP, EXECUTE};

/// What the text said that the run was read from.
pub(super) fn report(run: &Run) -> Result<Report, FormatError> {
    let params = &run.plan.params;
    let mut report = Report {
        version: run
            .plan
            .program
            .version
            .strip_prefix(PROGRAM)
            .map(str::to_owned),
        running: running(params),
        ..Report::default()
    };
    let mut progress: BTreeMap<u32, (&str, BTreeMap<&str, String>)> = BTreeMap::new();
    let mut result = BTreeMap::new();
    for phase in &run.phases {
        for sample in &phase.samples {
            let Value::Reported(Reported { text, .. }) = &sample.value else {
                continue;
            };
            let metric = sample.metric.as_str();
            match (&sample.op, sample.worker, metric) {
                (Some(op), worker, _) => {
                    let rows = match worker {
                        None => &mut report.rows,
                        Some(_) => match report.clients.last_mut() {
                            Some(client) => &mut client.rows,
                            None => continue,
                        },
                    };
                    put(rows, op, metric, text);
                }
                (None, Some(client), "lines") => report.clients.push(ClientResult {
                    client,
                    lines: text.clone(),
                    bytes: String::new(),
                    rows: Vec::new(),
                }),
                (None, Some(_), "bytes") => {
                    if let Some(client) = report.clients.last_mut() {
                        client.bytes.clone_from(text);
                    }
                }
                (None, None, "throughput" | "max latency") => {
                    result.insert(metric, text.clone());
                }
                (None, None, _) => {
                    let (_, line) = progress
                        .entry(sample.repetition)
                        .or_insert_with(|| (&phase.name, BTreeMap::new()));
                    line.insert(metric, text.clone());
                }
                (None, Some(_), _) => {}
            }
        }
    }
    for (stage, mut figures) in progress.into_values() {
        report.progress.extend(progress_line(stage, &mut figures)?);
    }
    if !result.is_empty() {
        report.result = Some(throughput(params, result)?);
    }
    if report.result.is_none() && report.rows.is_empty() && report.progress.is_empty() {
        return Err(FormatError::Lacks("figures of dbench 4.00"));
    }
    Ok(report)
}

fn running(params: &Params) -> Option<Running> {
    Some(Running {
        seconds: params.duration("seconds").ok()?.0 / 1_000_000_000,
        load: params.text("loadfile").ok()?,
        warmup: params.duration("warmup").ok()?.0 / 1_000_000_000,
    })
}

/// Adds a figure to the last row, or begins the next one.
fn put(rows: &mut Vec<Row>, op: &str, metric: &str, text: &str) {
    if metric == "Count" {
        rows.push(Row {
            op: op.to_owned(),
            count: text.to_owned(),
            mean: String::new(),
            max: String::new(),
        });
    } else if let Some(row) = rows.last_mut() {
        match metric {
            "AvgLat" => text.clone_into(&mut row.mean),
            "MaxLat" => text.clone_into(&mut row.max),
            _ => {}
        }
    }
}

fn progress_line(
    stage: &str,
    figures: &mut BTreeMap<&str, String>,
) -> Result<Option<Progress>, FormatError> {
    if let Some(line) = figures.remove("line") {
        return Ok(Some(Progress::Line(line)));
    }
    let mut figure = |name: &'static str| figures.remove(name).ok_or(FormatError::Lacks(name));
    let stage = match stage {
        WARM_UP => Stage::Warmup,
        EXECUTE => Stage::Execute,
        CLEANUP => {
            return Ok(Some(Progress::Cleanup(Cleanup {
                clients: figure("clients")?,
                seconds: figure("seconds")?,
            })));
        }
        _ => return Ok(None),
    };
    Ok(Some(Progress::Tick(Tick {
        stage,
        clients: figure("clients")?,
        lines: figure("lines")?,
        throughput: figure("throughput so far")?,
        seconds: figure("seconds")?,
        latency: figure("latency")?,
    })))
}

fn throughput(
    params: &Params,
    mut figures: BTreeMap<&str, String>,
) -> Result<Throughput, FormatError> {
    let mut figure = |name: &'static str| figures.remove(name).ok_or(FormatError::Lacks(name));
    let count = |name: &'static str| params.count(name).map_err(|_| FormatError::Lacks(name));
    Ok(Throughput {
        throughput: figure("throughput")?,
        sync: params.flag("sync").unwrap_or(false),
        sync_dir: params.flag("sync-dir").unwrap_or(false),
        clients: count("clients")?,
        processes: count("processes")?,
        max_latency: figure("max latency")?,
    })
}
