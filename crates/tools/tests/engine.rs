//! The engine, driven by the null tool: counts, windows, series, ends.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod support;

use kernmark_engine::runner::RunEnd;
use kernmark_engine::script::{Rule, Script};
use kernmark_model::run::Outcome;
use kernmark_model::series::SeriesKind;
use kernmark_model::units::Nanos;
use support::{Bench, Heard};

fn run(text: &str, script: Option<Script>) -> (RunEnd, Heard) {
    let mut heard = Heard::default();
    let end = Bench::new().run_with(text, script, &mut heard).unwrap();
    (end, heard)
}

#[test]
fn every_op_is_counted_once_whichever_way_workers_are_made() {
    for spawn in ["fork", "thread"] {
        let (end, heard) = run(
            &format!("null workers=3 seconds=0 ops=1000 bytes=10 spawn={spawn}"),
            None,
        );
        assert_eq!(end.outcome, Outcome::Complete, "{spawn}");
        let phase = heard.phases()[0].clone();
        let total = phase.total(&[]);
        assert_eq!(
            (total.count, total.bytes.0, total.unexpected),
            (3000, 30_000, 0),
            "{spawn}"
        );
        assert_eq!(total.histogram.count(), 3000, "{spawn}");
        assert_eq!(phase.workers.len(), 3);
        assert!(
            phase
                .workers
                .iter()
                .all(|worker| worker.end <= phase.elapsed)
        );
        assert!(total.max <= phase.elapsed && total.total >= total.max);
        let counted: u64 = phase
            .series
            .iter()
            .filter(|series| {
                series.kind == SeriesKind::Count && series.op.is_none() && series.worker.is_none()
            })
            .flat_map(|series| &series.values)
            .sum();
        assert_eq!(counted, 3000, "{spawn}: the series adds up to the counts");
        assert_eq!(
            heard
                .events
                .iter()
                .map(|event| event.number)
                .collect::<Vec<_>>(),
            (0..heard.events.len() as u64).collect::<Vec<_>>()
        );
    }
}

#[test]
fn on_a_scripted_clock_time_is_exact() {
    let (end, heard) = run(
        "null workers=2 seconds=3 busy=10ms",
        Some(Script::default()),
    );
    assert_eq!(end.outcome, Outcome::Complete);
    let phase = heard.phases()[0];
    assert_eq!(phase.elapsed, Nanos::secs(3));
    // The op that ends exactly as the window closes is no longer in it.
    assert_eq!(phase.total(&[]).count, 2 * 299);
    let ticks: Vec<_> = heard
        .ticks()
        .iter()
        .map(|tick| (tick.elapsed, tick.interval_ops, tick.longest))
        .collect();
    assert_eq!(
        ticks,
        [
            (Nanos::secs(1), 198, Nanos::millis(10)),
            (Nanos::secs(2), 200, Nanos::millis(10)),
            (Nanos::secs(3), 200, Nanos::millis(10)),
        ]
    );
    assert_eq!(phase.fairness(), Some(1.0));
}

#[test]
fn warm_up_is_not_counted() {
    let (_, heard) = run(
        "null seconds=2 warmup=5 busy=100ms",
        Some(Script::default()),
    );
    let phase = heard.phases()[0];
    assert_eq!(
        (phase.warm_up, phase.elapsed),
        (Nanos::secs(5), Nanos::secs(2))
    );
    assert_eq!(phase.total(&[]).count, 20);
    assert_eq!(
        heard.ticks().iter().filter(|tick| tick.warm_up).count(),
        4,
        "the fifth second opens the window instead"
    );
    assert_eq!(
        heard.finished().figure(&heard.finished().metrics[0]),
        None,
        "a finished run is told without its phases"
    );
}

#[test]
fn a_scripted_run_is_the_same_every_time() {
    let told = |_| {
        let (_, heard) = run(
            "null workers=5 seconds=4 warmup=1500ms busy=7ms",
            Some(Script::default()),
        );
        (
            heard.phases().into_iter().cloned().collect::<Vec<_>>(),
            heard.ticks().into_iter().cloned().collect::<Vec<_>>(),
        )
    };
    let first = told(());
    for _ in 0..3 {
        assert_eq!(told(()), first);
    }
}

#[test]
fn a_slow_call_takes_no_time_to_test() {
    let script = Script {
        rules: vec![Rule::every("fsync", 1_000_000_000)],
        otherwise_nanos: 0,
    };
    assert_eq!(
        serde_json::from_str::<Script>(&serde_json::to_string(&script).unwrap()).unwrap(),
        script
    );
}
