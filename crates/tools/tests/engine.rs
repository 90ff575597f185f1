//! The engine, driven by the null tool: counts, windows, series, ends.

use std::path::Path;

use kernmark_engine::journal::Journal;
use kernmark_engine::plan::resolve;
use kernmark_engine::runner::{Manner, RunEnd, Runner};
use kernmark_engine::script::{Rule, Script};
use kernmark_model::event::{Event, EventBody, Sink, SinkError, Tick};
use kernmark_model::plan::{PLAN_VERSION, Plan, Program, RunPlan, Step};
use kernmark_model::run::{Outcome, Phase, Run};
use kernmark_model::series::SeriesKind;
use kernmark_model::units::Nanos;
use kernmark_tools::ALL;

/// Keeps everything that was told.
#[derive(Default)]
struct Heard {
    events: Vec<Event>,
}

impl Sink for Heard {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        self.events.push(event.clone());
        Ok(())
    }
}

impl Heard {
    fn phases(&self) -> Vec<&Phase> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::PhaseFinished { phase } => Some(&**phase),
                _ => None,
            })
            .collect()
    }

    fn ticks(&self) -> Vec<&Tick> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Tick(tick) => Some(tick),
                _ => None,
            })
            .collect()
    }

    fn finished(&self) -> &Run {
        match &self.events.last().unwrap().body {
            EventBody::RunFinished { run } => run,
            other => panic!("the last event is {other:?}"),
        }
    }
}

fn plan(text: &str) -> RunPlan {
    let mut words = text.split(' ');
    let tool = words.next().unwrap().to_owned();
    let params = words.map(|word| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), vec![value.to_owned()])
    });
    let step = Step {
        tool,
        params: params.collect(),
        on: None,
        label: None,
        repeat: 1,
        cache: Default::default(),
        destroy: None,
    };
    let plan = Plan {
        version: PLAN_VERSION,
        name: "test".into(),
        seed: Some(1),
        steps: vec![step],
    };
    resolve(&plan, ALL, &Program::default(), 0)
        .unwrap()
        .remove(0)
}

fn run(text: &str, script: Option<Script>) -> (RunEnd, Heard) {
    let folder = tempfile::tempdir().unwrap();
    let mut heard = Heard::default();
    let mut runner = Runner {
        tools: ALL,
        program: Program::default(),
        cwd: Path::new("/").to_owned(),
        journal: Journal::open(folder.path()).unwrap(),
        recorder: None,
        script,
        events: 0,
    };
    let end = runner
        .run(
            &plan(text),
            Manner::default(),
            &mut std::io::empty(),
            &mut heard,
        )
        .unwrap();
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
