//! One run: what it found, how, on what, and what to doubt.

use kernmark_model::derive::SYNC_PHASE;
use kernmark_model::ledger::{DeviceBytes, Ledger};
use kernmark_model::machine::summary;
use kernmark_model::run::{
    Clock, Doubt, Metric, Origin, Phase, Point, Reported, Run, Spawn, Statistic, Value, WorkerState,
};
use kernmark_model::units::Bytes;

use crate::Form;
use crate::number::{count, counted, duration, figure, mean_duration, percent};
use crate::seconds::seconds_text;
use crate::table::{Column, Table};
use crate::text::{bullets, definitions, heading, paragraph};
use crate::words;

/// Runs with more phases than this show them as a table, not each with its ops.
const MOST_DETAILED_PHASES: usize = 6;
/// So many workers that failed are named.
const MOST_FAILED_WORKERS: usize = 5;

/// Everything about a run that a mail should hold: a headline, the figures, where the bytes went, ops, seconds,
/// fairness, doubts.
pub fn run_text(run: &Run, form: Form) -> String {
    let mut out = heading(&words::headline(run), form);
    let mut part = |text: String| {
        if !text.is_empty() {
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
            out += &text;
        }
    };
    part(definitions(&facts(run), form));
    part(metrics(run, form));
    part(curves(run, form));
    let detailed: Vec<usize> = (0..run.phases.len())
        .filter(|index| has_detail(&run.phases[*index]))
        .collect();
    if detailed.len() <= MOST_DETAILED_PHASES {
        for index in detailed {
            part(phase_text(run, index, form));
        }
    } else {
        part(phases(run, form));
    }
    part(samples(run, form));
    part(doubts(run, form));
    out
}

/// The run's name, its work, where it ran and what it cost.
fn facts(run: &Run) -> Vec<(String, String)> {
    let plan = &run.plan;
    let mut id = vec![run.uuid.to_string()];
    id.extend(run.started.clone());
    id.push(run.outcome.word().to_owned());
    id.extend(
        plan.label
            .as_ref()
            .map(|label| format!("label \"{label}\"")),
    );
    if plan.repetitions > 1 {
        id.push(format!("{} of {}", plan.repetition, plan.repetitions));
    }
    let mut facts = vec![("run".to_owned(), id.join(", "))];
    let params: Vec<String> = (plan.params.0.iter())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut work = vec![plan.selector()];
    work.extend(params);
    facts.push(("work".to_owned(), work.join(" ")));
    if let Some(place) = &run.session {
        let text = format!(
            "{}, block {}, arm \"{}\"",
            place.id,
            place.block + 1,
            place.arm
        );
        facts.push(("session".to_owned(), text));
    }
    let machine = summary(&run.machine, run.target.as_ref());
    if !machine.is_empty() {
        facts.push(("machine".to_owned(), machine));
    }
    facts.extend(plan.on.clone().map(|on| ("on".to_owned(), on)));
    if let Origin::Imported {
        file, line, notes, ..
    } = &run.origin
    {
        let mut origin = vec![format!("imported from {file}, line {line}")];
        origin.extend(notes.iter().cloned());
        facts.push(("origin".to_owned(), origin.join("; ")));
    }
    match run.clock {
        Clock::Wall => {}
        Clock::Emulated => facts.push((
            "clock".to_owned(),
            "of an emulated machine: only ratios mean anything".to_owned(),
        )),
        Clock::Instructions => facts.push((
            "clock".to_owned(),
            "guest instructions, not time".to_owned(),
        )),
        Clock::Scripted => facts.push(("clock".to_owned(), "a script's".to_owned())),
    }
    facts.extend(usage(run).map(|usage| ("whole run".to_owned(), usage)));
    facts
}

fn usage(run: &Run) -> Option<String> {
    let usage = &run.usage;
    let mut parts = Vec::new();
    for (name, time) in [
        ("elapsed", usage.elapsed),
        ("user", usage.user),
        ("system", usage.system),
    ] {
        parts.extend(time.map(|time| format!("{name} {time}")));
    }
    parts.extend(
        usage
            .cpu_percent()
            .map(|percent| format!("{percent:.0} % CPU")),
    );
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn metrics(run: &Run, form: Form) -> String {
    let mut table = Table::new(&[
        ("metric", Column::Words),
        ("value", Column::Number),
        ("unit", Column::Words),
        ("", Column::Mark),
        ("of", Column::Words),
    ]);
    for metric in &run.metrics {
        let value = run.figure(metric);
        // A metric that says nothing is told of only where something should have been measured.
        if value.is_none() && run.phases.is_empty() {
            continue;
        }
        table.row(vec![
            metric.name.clone(),
            as_reported(run, metric).unwrap_or_else(|| crate::number::figure_or_unknown(value)),
            metric.unit.clone(),
            words::direction(metric.better).to_owned(),
            of_what(run, metric),
        ]);
    }
    if table.is_empty() {
        String::new()
    } else {
        table.print(form)
    }
}

/// An imported figure keeps its own digits.
fn as_reported(run: &Run, metric: &Metric) -> Option<String> {
    match run.stored_values(metric).as_slice() {
        [Value::Reported(reported)] => Some(reported.text.clone()),
        _ => None,
    }
}

/// Phase, point and statistic, where a metric's name does not say them.
fn of_what(run: &Run, metric: &Metric) -> String {
    let mut parts = vec![metric.phase.clone()];
    if let kernmark_model::run::At::Point(point) = &metric.at {
        parts.push(point_words(point));
    }
    if let kernmark_model::run::At::Best = metric.at {
        parts.push("best point".to_owned());
    }
    if let [Value::Reported(reported)] = run.stored_values(metric).as_slice() {
        parts.extend(statistic(reported));
    }
    parts.join(", ")
}

fn statistic(reported: &Reported) -> Option<String> {
    let word = match reported.statistic {
        Statistic::Single => return None,
        Statistic::Unknown => return Some("statistic not stated".to_owned()),
        Statistic::Mean => "mean",
        Statistic::Median => "median",
        Statistic::Sum => "sum",
        Statistic::Min => "least",
        Statistic::Max => "greatest",
    };
    Some(match reported.of {
        Some(of) => format!("{word} of {of}"),
        None => word.to_owned(),
    })
}

fn point_words(point: &Point) -> String {
    let axes: Vec<String> = (point.0.iter())
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    axes.join(" ")
}

/// Each metric over the points of its phase, where there are several.
fn curves(run: &Run, form: Form) -> String {
    let mut done: Vec<(&str, &str)> = Vec::new();
    let mut out = String::new();
    for metric in &run.metrics {
        let key = (metric.name.as_str(), metric.phase.as_str());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let curve = run.curve(metric);
        if curve.len() < 2 {
            continue;
        }
        let mut table = Table::new(&[("point", Column::Words), (&metric.unit, Column::Number)]);
        for (point, value) in curve {
            table.row(vec![point_words(point), figure(value)]);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out += &paragraph(
            &format!("{} of {}, by point", metric.name, metric.phase),
            form,
        );
        if form == Form::Markdown {
            out.push('\n');
        }
        out += &table.print(form);
    }
    out
}

/// Ops, seconds or workers that one may want to see.
fn has_detail(phase: &Phase) -> bool {
    phase.workers.iter().any(|worker| !worker.ops.is_empty())
        || phase.workers.iter().any(|worker| {
            matches!(
                worker.state,
                WorkerState::Failed(_) | WorkerState::Killed(_)
            )
        })
}

fn phase_text(run: &Run, index: usize, form: Form) -> String {
    let phase = &run.phases[index];
    let mut out = paragraph(&phase_head(run, phase), form);
    if form == Form::Markdown {
        out.push('\n');
    }
    out += &ops(run, phase, form);
    let mut lines = failed_workers(phase);
    lines.extend(fairness(phase));
    lines.extend(
        run.ledger(index)
            .map(|ledger| ledger_words(&ledger))
            .unwrap_or_default(),
    );
    if !lines.is_empty() {
        out.push('\n');
        out += &bullets(&lines, form);
    }
    let seconds = seconds_text(phase, form);
    if !seconds.is_empty() {
        out.push('\n');
        out += &seconds;
    }
    out
}

/// `replay: 10.0 s after 2.00 s of warm-up, 2 workers (processes)`.
fn phase_head(run: &Run, phase: &Phase) -> String {
    let mut name = phase.name.clone();
    if !phase.point.0.is_empty() {
        name = format!("{name} at {}", point_words(&phase.point));
    }
    if phase.repetition > 1 {
        name = format!("{name}, repetition {}", phase.repetition);
    }
    let mut head = format!("{name}: {}", duration(run.clock, phase.elapsed));
    if run.clock == Clock::Instructions {
        head += " instructions";
    }
    if phase.warm_up.0 > 0 {
        head += &format!(" after {} of warm-up", phase.warm_up);
    }
    head += &format!(", {}", counted(phase.workers.len(), "worker"));
    head += match phase.spawn {
        Some(Spawn::Fork) => " (forked)",
        Some(Spawn::Exec) => " (executed)",
        Some(Spawn::Thread) => " (threads)",
        None => "",
    };
    head
}

fn ops(run: &Run, phase: &Phase, form: Form) -> String {
    let mut table = Table::new(&[
        ("op", Column::Words),
        ("count", Column::Number),
        ("odd", Column::Number),
        ("mean", Column::Number),
        ("p50", Column::Number),
        ("p90", Column::Number),
        ("p99", Column::Number),
        ("p99.9", Column::Number),
        ("max", Column::Number),
    ]);
    // Spans are timed around ops: they come last, and are no ops.
    let (spans, plain): (Vec<_>, Vec<_>) = phase.ops.iter().partition(|op| op.span);
    for op in plain.into_iter().chain(spans) {
        let total = phase.total(std::slice::from_ref(&op.name));
        if total.count == 0 && total.max.0 == 0 {
            continue;
        }
        let quantile = |share| {
            let quantile = total.histogram.quantile(share);
            quantile.map_or_else(
                || crate::number::UNKNOWN.to_owned(),
                |nanos| duration(run.clock, nanos.min(total.max)),
            )
        };
        let mut cells = vec![
            if op.span {
                format!("({})", op.name)
            } else {
                op.name.clone()
            },
            count(total.count),
            if total.unexpected > 0 {
                count(total.unexpected)
            } else {
                String::new()
            },
            mean_duration(run.clock, total.mean_nanos()),
        ];
        cells.extend([0.5, 0.9, 0.99, 0.999].map(quantile));
        cells.push(duration(run.clock, total.max));
        table.row(cells);
    }
    if table.is_empty() {
        String::new()
    } else {
        table.print(form)
    }
}

fn failed_workers(phase: &Phase) -> Vec<String> {
    let mut lines: Vec<String> = phase
        .workers
        .iter()
        .filter_map(|worker| match &worker.state {
            WorkerState::Failed(why) => Some(format!("worker {} failed: {why}", worker.rank)),
            WorkerState::Killed(signal) => Some(format!(
                "worker {} was killed by signal {signal}",
                worker.rank
            )),
            WorkerState::Done | WorkerState::Stopped => None,
        })
        .collect();
    let more = lines.len().saturating_sub(MOST_FAILED_WORKERS);
    lines.truncate(MOST_FAILED_WORKERS);
    if more > 0 {
        lines.push(format!("and {}", counted(more, "more worker")));
    }
    lines
}

/// How equally the workers were served.
fn fairness(phase: &Phase) -> Option<String> {
    let jain = phase.fairness()?;
    let mut counts: Vec<u64> = (phase.workers.iter())
        .map(|worker| phase.worker_ops(worker))
        .collect();
    counts.sort_unstable();
    let (least, most) = (counts.first()?, counts.last()?);
    let median = counts[counts.len() / 2];
    let ends: Vec<_> = phase.workers.iter().map(|worker| worker.end).collect();
    let (first, last) = (ends.iter().min()?, ends.iter().max()?);
    Some(format!(
        "ops of a worker: least {}, median {}, most {}; Jain index {jain:.3}; first done {first}, last done {last}",
        count(*least),
        count(median),
        count(*most),
    ))
}

/// Where the bytes came from and went to.
fn ledger_words(ledger: &Ledger) -> Vec<String> {
    let mut lines = Vec::new();
    let ways = match (ledger.read, ledger.written) {
        (Some(read), Some(written)) => format!(" (read {}, written {})", size(read), size(written)),
        _ => String::new(),
    };
    let logical = format!("ops moved {}{ways}", size(ledger.logical));
    let label = ledger
        .label
        .map(|label| format!("{}: ", label.word()))
        .unwrap_or_default();
    lines.push(match &ledger.device {
        DeviceBytes::Known { read, written } => {
            let share = ledger
                .cache_share()
                .map(|share| format!("; {} % page cache", percent(share)));
            format!(
                "{label}{logical}; the device read {} and wrote {}{}",
                size(*read),
                size(*written),
                share.unwrap_or_default()
            )
        }
        DeviceBytes::Unknown { why } => format!("{label}{logical}; device bytes unknown: {why}"),
    });
    let mut rates: Vec<String> = Vec::new();
    rates.extend(
        ledger
            .rate
            .map(|rate| format!("{} MB/s up to the last call", figure(rate))),
    );
    rates.extend(
        ledger
            .device_rate
            .map(|rate| format!("{} MB/s at the device", figure(rate))),
    );
    if let (Some(rate), Some(sync)) = (ledger.durable_rate, ledger.sync) {
        rates.push(format!(
            "{} MB/s durable, after a sync of {sync}",
            figure(rate)
        ));
    }
    rates.extend(
        ledger
            .still_dirty
            .map(|dirty| format!("{} still dirty at the end", size(dirty))),
    );
    if !rates.is_empty() {
        lines.push(rates.join(", "));
    }
    if let Some(share) = ledger.foreign_share.filter(|share| *share >= 0.01) {
        lines.push(format!(
            "{} % of the device's traffic was not our tasks' own: others, the journal, or dirty pages from before",
            percent(share)
        ));
    }
    lines.extend(ledger.notes.iter().cloned());
    lines
}

fn size(bytes: Bytes) -> String {
    bytes.to_string()
}

/// All phases in a table, for runs that have many.
fn phases(run: &Run, form: Form) -> String {
    let mut table = Table::new(&[
        ("phase", Column::Words),
        ("point", Column::Words),
        ("rep", Column::Number),
        ("elapsed", Column::Number),
        ("workers", Column::Number),
        ("ops", Column::Number),
        ("mean", Column::Number),
        ("max", Column::Number),
    ]);
    for phase in run.phases.iter().filter(|phase| phase.name != SYNC_PHASE) {
        let total = phase.total(&[]);
        table.row(vec![
            phase.name.clone(),
            point_words(&phase.point),
            if phase.repetition > 1 {
                phase.repetition.to_string()
            } else {
                String::new()
            },
            duration(run.clock, phase.elapsed),
            phase.workers.len().to_string(),
            count(total.count),
            mean_duration(run.clock, total.mean_nanos()),
            duration(run.clock, total.max),
        ]);
    }
    table.print(form)
}

/// Stored figures that no metric of the run shows.
fn samples(run: &Run, form: Form) -> String {
    let mut table = Table::new(&[
        ("figure", Column::Words),
        ("of", Column::Words),
        ("value", Column::Words),
        ("", Column::Words),
    ]);
    for phase in &run.phases {
        for sample in &phase.samples {
            let shown = run.metrics.iter().any(|metric| {
                metric.name == sample.metric
                    && metric.phase == phase.name
                    && sample.worker.is_none()
            });
            if shown {
                continue;
            }
            let mut of = vec![phase.name.clone()];
            if !phase.point.0.is_empty() {
                of.push(point_words(&phase.point));
            }
            of.extend(sample.op.clone());
            of.extend(sample.worker.map(|rank| format!("worker {rank}")));
            let (value, statistic) = match &sample.value {
                Value::Count(number) => (count(*number), None),
                Value::Instructions(number) => (format!("{} instructions", count(*number)), None),
                Value::Bytes(bytes) => (size(*bytes), None),
                Value::Nanos(nanos) => (duration(run.clock, *nanos), None),
                Value::Ratio(value) => (figure(*value), None),
                Value::Reported(reported) => (reported.text.clone(), statistic(reported)),
            };
            table.row(vec![
                sample.metric.clone(),
                of.join(", "),
                value,
                statistic.unwrap_or_default(),
            ]);
        }
    }
    if table.is_empty() {
        String::new()
    } else {
        table.print(form)
    }
}

/// Every doubt in its own words; those that the ledgers give are added where the run does not carry them.
fn doubts(run: &Run, form: Form) -> String {
    let mut words: Vec<String> = run.doubts.iter().map(Doubt::to_string).collect();
    for doubt in run.ledgers().iter().filter_map(Ledger::doubt) {
        let text = doubt.to_string();
        if !words.contains(&text) {
            words.push(text);
        }
    }
    if words.is_empty() {
        return String::new();
    }
    let mut head = paragraph("doubts:", form);
    if form == Form::Markdown {
        head.push('\n');
    }
    head + &bullets(&words, form)
}
