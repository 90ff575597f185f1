//! Verdicts and runs as sentences.
//!
//! "Faster" and "slower" are said of blocked sessions only. Of anything else a sentence gives the ratio, its interval
//! where there is one, and why that is all.

use kernmark_model::comparison::{Change, Comparison, Design, Row, Scale, Verdict};
use kernmark_model::counters::delta;
use kernmark_model::disturbance::disturbances;
use kernmark_model::ledger::{DeviceBytes, Label, Ledger};
use kernmark_model::machine;
use kernmark_model::run::{Better, Clock, Doubt, Metric, Origin, Run};
use kernmark_model::stats::steady::SteadyState;

use crate::number::{counted, figure, percent, ratio};
use crate::seconds;

/// Parameters that say how many worked at once, most telling first.
const COUNTED: &[&str] = &[
    "clients",
    "workers",
    "threads",
    "tasks",
    "processes",
    "procs",
];

/// The work of a table in a few words: `dbench, 8 clients, ext4`.
pub fn work(comparison: &Comparison) -> String {
    let params = &comparison.work.params;
    let filesystem = comparison.same.get("filesystem").map(String::as_str);
    let count = COUNTED
        .iter()
        .find_map(|name| Some((*name, params.get(*name)?.clone())));
    few_words(&comparison.work.selector, count, filesystem)
}

/// The work of a run in a few words.
pub fn work_of(run: &Run) -> String {
    let count = COUNTED
        .iter()
        .find_map(|name| Some((*name, run.plan.params.0.get(*name)?.to_string())));
    let filesystem = (run.target.as_ref()).and_then(|target| target.filesystem.kind.as_deref());
    few_words(&run.plan.selector(), count, filesystem)
}

fn few_words(selector: &str, count: Option<(&str, String)>, filesystem: Option<&str>) -> String {
    let count = count.map(
        |(name, count)| match (count.as_str(), name.strip_suffix('s')) {
            ("1", Some("processe")) => "1 process".to_owned(),
            ("1", Some(one)) => format!("1 {one}"),
            (many, _) => format!("{many} {name}"),
        },
    );
    let words = [
        Some(selector.to_owned()),
        count,
        filesystem.map(str::to_owned),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What a row comes to against its baseline, as a sentence without a full stop; `None` for the baseline itself.
pub fn verdict(comparison: &Comparison, row: &Row) -> Option<String> {
    let baseline = comparison
        .baseline
        .and_then(|place| comparison.rows.get(place));
    let base = baseline.map(Row::title).unwrap_or_default();
    let title = row.title();
    let on = work(comparison);
    let change = row.change.as_ref();
    let blocks = change.and_then(|change| change.blocks);
    let in_blocks = blocks.map_or_else(String::new, |blocks| {
        format!(", {}", counted(blocks, "block"))
    });
    let amount = |change: &Change| amount(comparison, change);
    Some(match (&row.verdict, change) {
        (Verdict::Baseline, _) => return None,
        (Verdict::Better | Verdict::Worse, Some(change)) => {
            let better = row.verdict == Verdict::Better;
            format!(
                "{title} is {} {base} on {on}: {}{in_blocks}",
                difference(comparison, change, better),
                interval(comparison, change, better)
            )
        }
        (Verdict::Equivalent, Some(change)) => {
            let margin = match comparison.scale {
                Scale::Ratio => format!("less than {} % apart", percent(comparison.margin)),
                Scale::Difference => "no difference".to_owned(),
            };
            format!(
                "{title} and {base} are equivalent on {on} ({margin}): {}{in_blocks}",
                amount(change)
            )
        }
        (Verdict::Inconclusive { needed }, Some(change)) => {
            let needed = needed.map_or_else(String::new, |needed| {
                format!("; about {needed} blocks would tell")
            });
            format!(
                "{title} and {base} are not told apart on {on}: {}{in_blocks}{needed}",
                amount(change)
            )
        }
        (Verdict::TooFewRuns { needed }, Some(change)) => {
            let (have, what) = match (comparison.design, blocks) {
                (Design::Blocked { .. }, Some(blocks)) => (counted(blocks, "block"), "blocks"),
                _ => {
                    let base = baseline.map_or(0, Row::count);
                    (
                        format!("{base} and {} runs", row.count()),
                        "runs on each side",
                    )
                }
            };
            format!(
                "{title}: {}; too few runs: {have}, {needed} {what} are needed{}",
                amount(change),
                unblocked(comparison)
            )
        }
        (Verdict::NoSpreadGiven, Some(change)) => format!(
            "{title}: {}; no spread given: one number on each side{}",
            amount(change),
            unblocked(comparison)
        ),
        (Verdict::DriftNotControlled, Some(change)) => {
            format!("{title}: {}{}", amount(change), unblocked(comparison))
        }
        (verdict, _) => format!("{title}: {verdict}"),
    })
}

fn unblocked(comparison: &Comparison) -> &'static str {
    match comparison.design {
        Design::Blocked { .. } => "",
        Design::Unblocked => ", unblocked: drift not controlled",
    }
}

/// `1.019 x 6.1.0-50 (1.012 to 1.026)`.
fn amount(comparison: &Comparison, change: &Change) -> String {
    let base = comparison
        .baseline
        .and_then(|place| comparison.rows.get(place))
        .map(Row::title)
        .unwrap_or_default();
    let (estimate, ends) = match comparison.scale {
        Scale::Ratio => (
            format!("{} x {base}", ratio(change.estimate)),
            change
                .interval
                .map(|ends| format!(" ({} to {})", ratio(ends.lower), ratio(ends.upper))),
        ),
        Scale::Difference => (
            format!(
                "{} {} against {base}",
                signed(change.estimate),
                comparison.metric.unit
            ),
            change
                .interval
                .map(|ends| format!(" ({} to {})", signed(ends.lower), signed(ends.upper))),
        ),
    };
    format!("{estimate}{}", ends.unwrap_or_default())
}

/// `1.9 % faster than`.
fn difference(comparison: &Comparison, change: &Change, better: bool) -> String {
    let word = judgement(&comparison.metric.unit, better);
    match comparison.scale {
        Scale::Ratio if change.estimate >= 2.0 => {
            format!("{} times as good as", figure(change.estimate))
        }
        Scale::Ratio => format!("{} % {word} than", percent((change.estimate - 1.0).abs())),
        Scale::Difference => format!(
            "{word} by {} {} than",
            figure(change.estimate.abs()),
            comparison.metric.unit
        ),
    }
}

/// `interval 1.2 to 2.6 %`, in the words of [`difference`].
fn interval(comparison: &Comparison, change: &Change, better: bool) -> String {
    let Some(ends) = change.interval else {
        return "no interval".to_owned();
    };
    match comparison.scale {
        Scale::Ratio if change.estimate >= 2.0 => {
            format!("interval {} to {}", figure(ends.lower), figure(ends.upper))
        }
        Scale::Ratio => {
            let sign = if better { 1.0 } else { -1.0 };
            let mut shares = [ends.lower, ends.upper].map(|end| sign * (end - 1.0));
            shares.sort_by(f64::total_cmp);
            format!(
                "interval {} to {} %",
                percent(shares[0]),
                percent(shares[1])
            )
        }
        Scale::Difference => {
            format!("interval {} to {}", signed(ends.lower), signed(ends.upper))
        }
    }
}

fn signed(value: f64) -> String {
    let plus = if value > 0.0 { "+" } else { "" };
    format!("{plus}{}", figure(value))
}

/// `faster` and `slower` of speeds, `better` and `worse` of everything else.
pub(crate) fn judgement(unit: &str, better: bool) -> &'static str {
    match (is_speed(unit), better) {
        (true, true) => "faster",
        (true, false) => "slower",
        (false, true) => "better",
        (false, false) => "worse",
    }
}

/// Rates and times: of these one says faster and slower.
fn is_speed(unit: &str) -> bool {
    unit.contains('/') || matches!(unit, "ns" | "us" | "ms" | "s")
}

/// `more is better`.
pub(crate) const fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
        Better::Neither => "neither direction is better",
    }
}

/// A run in one sentence: what it did, its deciding figure, what of it reached the device, and whether it can be
/// trusted.
pub fn headline(run: &Run) -> String {
    let mut parts = vec![work_of(run)];
    if let Some(reason) = run.outcome.reason() {
        parts.push(format!("{}: {reason}", run.outcome.word().to_uppercase()));
    }
    let primary = run.primary();
    match primary.map(|metric| (metric, run.figure(metric))) {
        Some((metric, Some(value))) => parts.push(format!("{} {}", figure(value), metric.unit)),
        Some((metric, None)) => parts.push(format!("no {}", metric.name)),
        None => {}
    }
    let ledger = primary.and_then(|metric| ledger_of(run, metric));
    if let Some(ledger) = &ledger {
        parts.extend(where_from(ledger));
    }
    let target = run.target.as_ref();
    let scheduler = machine::select(&run.machine, target, "scheduler");
    parts.extend(scheduler.map(|scheduler| format!("scheduler {scheduler}")));
    if let Origin::Imported { .. } = run.origin {
        parts.push("imported".to_owned());
    } else {
        parts.extend(primary.and_then(|metric| steadiness(run, metric, ledger.as_ref())));
        parts.push(interference(run));
    }
    parts.join(", ")
}

fn ledger_of(run: &Run, metric: &Metric) -> Option<Ledger> {
    let index = run
        .phases
        .iter()
        .position(|phase| phase.name == metric.phase)?;
    run.ledger(index)
}

fn where_from(ledger: &Ledger) -> Vec<String> {
    let mut parts = Vec::new();
    match (&ledger.device, ledger.cache_share()) {
        (DeviceBytes::Known { read, written }, Some(cache)) => {
            parts.push(format!("{} % page cache", percent(cache)));
            let verb = match (read.0 > 0, written.0 > 0) {
                (true, false) => "came from the disk",
                (true, true) => "went to and from the disk",
                (false, _) => "reached the disk",
            };
            let rate = ledger
                .device_rate
                .map(|rate| format!("{} MB/s {verb}", figure(rate)));
            parts.extend(rate);
        }
        (DeviceBytes::Unknown { why }, _) => parts.push(match ledger.label {
            Some(Label::Ram) => format!("RAM ({why})"),
            _ => format!("device bytes unknown ({why})"),
        }),
        _ => {}
    }
    let durable = ledger.durable_rate;
    parts.extend(durable.map(|rate| format!("durable rate {} MB/s", figure(rate))));
    parts
}

fn steadiness(run: &Run, metric: &Metric, ledger: Option<&Ledger>) -> Option<String> {
    let phase = run.phases.iter().find(|phase| phase.name == metric.phase)?;
    let state = seconds::steady(phase, ledger.and_then(|ledger| ledger.label))?;
    Some(match state {
        SteadyState::Steady { .. } => "steady".to_owned(),
        SteadyState::TooShort { needed } => {
            format!("too short to tell whether steady ({needed} s needed)")
        }
        SteadyState::Lengthen => "not steady: lengthen".to_owned(),
        SteadyState::Wandering { range, .. } => {
            format!("not steady: windows {} % apart", percent(range))
        }
    })
}

/// Whether something from outside disturbed the run, as far as it was watched.
fn interference(run: &Run) -> String {
    let told = (run.doubts.iter()).any(|doubt| matches!(doubt, Doubt::Interference { .. }));
    let pairs = || {
        run.phases
            .iter()
            .filter_map(|phase| phase.counters.as_ref())
    };
    let seen =
        pairs().any(|pair| !disturbances(&delta(&pair.before, &pair.after), None).is_empty());
    if told || seen {
        "disturbed from outside".to_owned()
    } else if pairs().any(|pair| pair.before.cpu.is_some()) {
        // Whose processor time it was is not stored with a phase, so a busy neighbour would not show.
        "no disturbance counted (other programs' CPU time is not)".to_owned()
    } else if run.clock == Clock::Instructions {
        "instructions, not time".to_owned()
    } else {
        "interference not watched".to_owned()
    }
}
