//! What is stored is what was measured: whole runs, runs as they happen, lists, selections, plans.

use kernmark_model::event::{EVENT_VERSION, Event, EventBody, Sink, Tick};
use kernmark_model::fixtures;
use kernmark_model::run::{Doubt, Outcome, Run};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_store::{Detail, Inserted, PlannedState, Selection, Store, StoreError};
use tempfile::TempDir;
use uuid::Uuid;

mod common;

/// A store in a folder of its own, which is removed with the first value.
fn empty() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&folder.path().join("store.db")).expect("a new store");
    (folder, store)
}

fn selected(store: &Store, conditions: &[&str]) -> Result<Vec<String>, StoreError> {
    let conditions = conditions
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let runs = store.runs(&Selection::of(conditions))?;
    Ok(runs.into_iter().map(|run| run.selector).collect())
}

fn event(run: Uuid, body: EventBody) -> Event {
    Event {
        version: EVENT_VERSION,
        number: 0,
        run,
        at: Nanos(0),
        body,
    }
}

#[test]
fn every_fixture_comes_back_to_the_last_bit() {
    let (_folder, mut store) = empty();
    for run in fixtures::all() {
        assert!(store.insert_run(&run).unwrap());
        assert_eq!(store.run(&run.uuid).unwrap(), run);
    }
    let all = store.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(all, fixtures::all());
}

#[test]
fn every_fixture_comes_back_after_the_store_was_closed() {
    let (folder, store) = common::full();
    drop(store);
    let store = Store::open_read_only(&folder.path().join("store.db")).unwrap();
    let all = store.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(all, fixtures::all());
}

#[test]
fn the_same_run_is_stored_once() {
    let (_folder, mut store) = common::full();
    assert!(!store.insert_run(&fixtures::corners()).unwrap());
    let again = store
        .insert_runs(fixtures::all().into_iter().map(Ok))
        .unwrap();
    let known = fixtures::all().len();
    assert_eq!(again, Inserted { new: 0, known });
    assert_eq!(store.runs(&Selection::default()).unwrap().len(), known);
}

#[test]
fn an_import_that_breaks_off_stores_nothing() {
    let (_folder, mut store) = empty();
    let broken = StoreError::Format {
        line: 3,
        why: "cut short".into(),
    };
    let runs = [Ok(fixtures::lat_mem_rd_table()), Err(broken)];
    let error = store.insert_runs(runs).unwrap_err();
    assert_eq!(error.to_string(), "line 3: cut short");
    assert_eq!(store.runs(&Selection::default()).unwrap(), []);
}

#[test]
fn stores_are_merged() {
    let (_folder, mut ours) = empty();
    let (_other_folder, theirs) = common::full();
    ours.insert_run(&fixtures::guest_in_instructions()).unwrap();
    let merged = ours.merge(&theirs).unwrap();
    assert_eq!((merged.new, merged.known), (fixtures::all().len() - 1, 1));
    assert_eq!(
        ours.load(&Selection::default(), Detail::Full).unwrap(),
        fixtures::all()
    );
}

#[test]
fn a_run_is_there_from_its_beginning_and_grows_by_phases() {
    let (_folder, mut store) = empty();
    let run = fixtures::blocked_session_with_a_void().remove(4);
    let name = run.uuid;
    let head = || {
        Box::new(Run {
            phases: vec![],
            doubts: vec![],
            ..run.clone()
        })
    };
    let note = Doubt::Note {
        text: "the clock was set".into(),
    };

    store
        .event(&event(name, EventBody::RunStarted { run: head() }))
        .unwrap();
    let begun = store.run(&name).unwrap();
    let interrupted = "interrupted: the program ended before the run did";
    assert_eq!(begun.outcome, Outcome::Partial(interrupted.into()));
    assert_eq!(selected(&store, &["outcome=partial"]).unwrap(), ["dbench"]);

    let tick = Tick {
        phase: "replay".into(),
        warm_up: false,
        elapsed: Nanos::secs(1),
        interval: Nanos::secs(1),
        running: 2,
        workers: 2,
        active: 2,
        ops: 9,
        bytes: Bytes(9),
        interval_ops: 9,
        interval_bytes: Bytes(9),
        ops_in_all: 9,
        longest: Nanos(9),
        dirty: None,
    };
    store.event(&event(name, EventBody::Tick(tick))).unwrap();
    assert_eq!(store.run(&name).unwrap(), begun);

    for (stored, phase) in (1..).zip(&run.phases) {
        let phase = Box::new(phase.clone());
        store
            .event(&event(name, EventBody::PhaseFinished { phase }))
            .unwrap();
        assert_eq!(store.run(&name).unwrap().phases, run.phases[..stored]);
    }
    let doubted = EventBody::Doubted {
        doubt: note.clone(),
    };
    store.event(&event(name, doubted)).unwrap();
    assert_eq!(
        store.run(&name).unwrap().doubts,
        std::slice::from_ref(&note)
    );

    // The end brings its own doubts, and those from before stay.
    let end = Box::new(Run {
        doubts: run.doubts.clone(),
        ..*head()
    });
    store
        .event(&event(name, EventBody::RunFinished { run: end }))
        .unwrap();
    let mut doubts = vec![note];
    doubts.extend(run.doubts.clone());
    assert_eq!(store.run(&name).unwrap(), Run { doubts, ..run });
    assert_eq!(selected(&store, &["outcome=voided"]).unwrap(), ["dbench"]);
    assert_eq!(
        selected(&store, &["outcome=partial"]).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn events_out_of_place_are_refused() {
    let (_folder, mut store) = empty();
    let run = fixtures::guest_in_instructions();
    let phase = || EventBody::PhaseFinished {
        phase: Box::new(run.phases[0].clone()),
    };
    let error = store
        .event(&event(run.uuid, phase()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no run in the store is called"), "{error}");

    let begin = || EventBody::RunStarted {
        run: Box::new(run.clone()),
    };
    store.event(&event(run.uuid, begin())).unwrap();
    let error = store
        .event(&event(run.uuid, begin()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be begun again"), "{error}");
    assert_eq!(store.run(&run.uuid).unwrap().phases, []);
}

#[test]
fn a_run_that_contradicts_itself_is_refused_whole() {
    let (_folder, mut store) = empty();
    let mut run = fixtures::adaptive_aim7_series();
    run.phases[4].workers[3].rank = 2;
    let error = store.insert_run(&run).unwrap_err().to_string();
    assert!(error.contains("its parts contradict each other"), "{error}");
    assert!(error.contains("worker.rank"), "{error}");
    assert_eq!(store.runs(&Selection::default()).unwrap(), []);

    let mut run = fixtures::lat_mem_rd_table();
    run.phases[0].samples[0].value = kernmark_model::run::Value::Ratio(f64::INFINITY);
    let error = store.insert_run(&run).unwrap_err().to_string();
    assert!(
        error.contains("load latency") && error.contains("no number"),
        "{error}"
    );
}

#[test]
fn deleting_a_run_leaves_nothing_of_it_and_all_of_the_others() {
    let (folder, mut store) = common::full();
    let gone: Vec<Uuid> = fixtures::all().iter().map(|run| run.uuid).skip(1).collect();
    let unknown = Uuid::nil();
    let names: Vec<Uuid> = gone.iter().copied().chain([unknown]).collect();
    assert_eq!(store.delete(&names).unwrap(), gone.len());
    let left = store.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(left, [fixtures::lat_mem_rd_table()]);

    assert_eq!(store.delete(&[left[0].uuid]).unwrap(), 1);
    let path = folder.path().join("store.db");
    let raw = rusqlite::Connection::open(path).unwrap();
    for table in [
        "run",
        "record",
        "run_fact",
        "record_fact",
        "phase",
        "op",
        "worker",
        "op_count",
        "series",
        "sample",
    ] {
        let rows: i64 = raw
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

#[test]
fn runs_on_one_machine_share_its_record() {
    let (folder, store) = common::full();
    drop(store);
    let raw = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
    let records: Vec<(String, i64)> = raw
        .prepare("SELECT kind, count(*) FROM record GROUP BY kind ORDER BY kind")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(
        records,
        [("machine".to_owned(), 1), ("target".to_owned(), 1)]
    );
}

#[test]
fn a_plan_is_resumed_where_it_stopped() {
    let (folder, mut store) = empty();
    let plans: Vec<_> = fixtures::all()
        .into_iter()
        .take(3)
        .map(|run| run.plan)
        .collect();
    let plan = store.begin_plan("quick", &plans).unwrap();
    let run = Uuid::now_v7();
    store.mark_started(plan, 0, run).unwrap();
    store.mark_finished(plan, 0).unwrap();
    store.mark_started(plan, 1, run).unwrap();
    drop(store); // as by a kill

    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let unfinished = store.unfinished().unwrap();
    assert_eq!(unfinished.len(), 1);
    assert_eq!(
        (unfinished[0].uuid, unfinished[0].name.as_str()),
        (plan, "quick")
    );
    let runs = &unfinished[0].runs;
    let states: Vec<_> = runs
        .iter()
        .map(|run| (run.position, run.state, run.run))
        .collect();
    assert_eq!(
        states,
        [
            (0, PlannedState::Done, Some(run)),
            (1, PlannedState::Running, Some(run)),
            (2, PlannedState::Pending, None),
        ]
    );
    assert_eq!(
        runs.iter().map(|run| run.plan.clone()).collect::<Vec<_>>(),
        plans
    );

    for position in [1, 2] {
        store.mark_started(plan, position, Uuid::now_v7()).unwrap();
        store.mark_finished(plan, position).unwrap();
    }
    assert_eq!(store.unfinished().unwrap(), []);
    let error = store.mark_finished(plan, 3).unwrap_err().to_string();
    assert!(error.contains("no run 3 of plan"), "{error}");

    let other = store.begin_plan("smoke", &plans).unwrap();
    assert!(store.forget_plan(other).unwrap());
    assert!(!store.forget_plan(other).unwrap());
    assert_eq!(store.unfinished().unwrap(), []);
}

#[test]
fn a_hundred_thousand_ops_are_read_in_one_go() {
    let (_folder, mut store) = empty();
    let template = fixtures::adaptive_aim7_series();
    let runs = (0..50).map(|_| {
        let mut run = template.clone();
        run.uuid = Uuid::now_v7();
        let level = run.phases.pop().expect("the level of 8 tasks");
        let worker = &level.workers[0];
        run.phases = vec![kernmark_model::run::Phase {
            ops: (0..100)
                .map(|op| kernmark_model::run::OpName {
                    name: format!("job {op}"),
                    ..kernmark_model::run::OpName::default()
                })
                .collect(),
            workers: (0..20)
                .map(|rank| kernmark_model::run::WorkerResult {
                    rank,
                    ops: (0..100)
                        .map(|op| kernmark_model::run::OpCount {
                            op,
                            ..worker.ops[1].clone()
                        })
                        .collect(),
                    ..worker.clone()
                })
                .collect(),
            ..level
        }];
        Ok(run)
    });
    assert_eq!(store.insert_runs(runs).unwrap().new, 50);
    let mut counts = 0;
    let mut jobs = 0;
    store
        .each(&Selection::default(), Detail::Figures, |run| {
            counts += run.phases[0]
                .workers
                .iter()
                .map(|worker| worker.ops.len())
                .sum::<usize>();
            jobs += run.phases[0].total(&[]).count;
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!((counts, jobs), (100_000, 10_000_000));
}
