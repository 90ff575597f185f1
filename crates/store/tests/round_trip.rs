//! What is stored is what was measured: whole runs, runs as they happen, lists, selections, plans.

use kernmark_model::event::{EVENT_VERSION, Event, EventBody, Sink, Tick};
use kernmark_model::fixtures;
use kernmark_model::histogram::Histogram;
use kernmark_model::run::{Doubt, Outcome, Run};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_store::{Detail, Inserted, PlannedState, Selection, Store, StoreError};
use tempfile::TempDir;
use uuid::Uuid;

/// A store in a folder of its own, which is removed with the first value.
fn empty() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&folder.path().join("store.db")).expect("a new store");
    (folder, store)
}

/// A store of all fixtures.
fn full() -> (TempDir, Store) {
    let (folder, mut store) = empty();
    let runs = fixtures::all().into_iter().map(Ok);
    store.insert_runs(runs).expect("fixtures can be stored");
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
    let (folder, store) = full();
    drop(store);
    let store = Store::open_read_only(&folder.path().join("store.db")).unwrap();
    let all = store.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(all, fixtures::all());
}

#[test]
fn the_same_run_is_stored_once() {
    let (_folder, mut store) = full();
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
    let (_other_folder, theirs) = full();
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
fn figures_follow_from_less_than_the_whole() {
    let (_folder, store) = full();
    let runs = store.load(&Selection::default(), Detail::Figures).unwrap();
    for (read, run) in runs.iter().zip(fixtures::all()) {
        for metric in &run.metrics {
            assert_eq!(
                read.figure(metric),
                run.figure(metric),
                "{} {}",
                run.plan.tool,
                metric.name
            );
            assert_eq!(read.curve(metric), run.curve(metric));
        }
        assert!(
            read.phases
                .iter()
                .all(|phase| phase.series.is_empty() && phase.counters.is_none())
        );
    }
    // AIM7 shows no quantile, dbench does.
    assert_eq!(
        runs[1].phases[0].workers[0].ops[0].histogram,
        Histogram::default()
    );
    assert_ne!(
        runs[5].phases[0].workers[0].ops[0].histogram,
        Histogram::default()
    );
    let heads = store.load(&Selection::default(), Detail::Head).unwrap();
    assert!(heads.iter().all(|run| run.phases.is_empty()));
}

#[test]
fn runs_are_listed_by_time() {
    let (_folder, store) = full();
    let heads = store.runs(&Selection::default()).unwrap();
    let names: Vec<Uuid> = heads.iter().map(|head| head.uuid).collect();
    assert_eq!(
        names,
        fixtures::all()
            .iter()
            .map(|run| run.uuid)
            .collect::<Vec<_>>()
    );

    let (table, import, void) = (&heads[0], &heads[2], &heads[9]);
    assert_eq!(table.selector, "lmbench:lat_mem_rd");
    assert_eq!(table.params.bytes("size"), Ok(Bytes::mib(64)));
    assert_eq!((table.imported, import.imported), (false, true));
    assert_eq!(import.label.as_deref(), Some("2.5.66-mm1"));
    assert_eq!((void.outcome.word(), void.doubts), ("voided", 1));
    assert_eq!(void.elapsed, Some(Nanos::millis(12_500)));
    assert_eq!(void.on.as_deref(), Some("/mnt/test"));
    let place = void.session.clone().unwrap();
    assert_eq!(
        (place.block, place.position, place.arm.as_str()),
        (1, 1, "6.12.117")
    );

    let session = Selection {
        session: Some(place.id),
        ..Selection::default()
    };
    assert_eq!(store.runs(&session).unwrap().len(), 7);
    let newest = Selection {
        newest: Some(2),
        session: Some(place.id),
        ..Selection::default()
    };
    let newest: Vec<Uuid> = store
        .runs(&newest)
        .unwrap()
        .iter()
        .map(|head| head.uuid)
        .collect();
    assert_eq!(newest, names[10..12]);
    let two = Selection {
        runs: vec![names[3], names[1]],
        ..Selection::default()
    };
    assert_eq!(store.runs(&two).unwrap().len(), 2);
}

#[test]
fn runs_are_selected_by_any_fact() {
    let (_folder, store) = full();
    let count = |conditions: &[&str]| selected(&store, conditions).unwrap().len();
    assert_eq!(count(&["tool=dbench"]), 7);
    assert_eq!(count(&["tool=dbench", "outcome=complete"]), 6);
    assert_eq!(count(&["tool=dbench,aim7"]), 8);
    assert_eq!(count(&["tool=*bench"]), 11);
    assert_eq!(count(&["tool!=*bench"]), 2);
    assert_eq!(count(&["param.clients=2"]), 7);
    assert_eq!(count(&["clients=1..4"]), 7);
    assert_eq!(count(&["seconds=10s"]), 7);
    assert_eq!(count(&["arm=null"]), 2);
    assert_eq!(count(&["arm="]), 6);
    assert_eq!(count(&["arm!="]), 7);
    assert_eq!(count(&["arm!=null", "tool=dbench"]), 5);
    assert_eq!(count(&["origin=imported"]), 2);
    assert_eq!(count(&["clock=instructions"]), 1);
    // Only the star stands for something.
    assert_eq!(count(&["tool=dbenc?", "tool=*"]), 0);
    assert_eq!(count(&["tool=[d]*"]), 0);

    let error = selected(&store, &["kernal=6.1"]).unwrap_err().to_string();
    assert!(
        error.contains("no stored run has a fact \"kernal\""),
        "{error}"
    );
    // In a store without runs nothing can be mistyped.
    let (_folder, nothing) = empty();
    assert_eq!(
        selected(&nothing, &["kernal=6.1"]).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn facts_are_listed_with_how_many_runs_have_them() {
    let (_folder, store) = full();
    let keys = store.fact_keys().unwrap();
    for key in ["tool", "arm", "param.clients", "session"] {
        assert!(keys.iter().any(|known| known == key), "{keys:?}");
    }
    let arms = store.fact_values("arm").unwrap();
    let arms: Vec<(&str, u64)> = arms
        .iter()
        .map(|(arm, runs)| (arm.as_str(), *runs))
        .collect();
    assert_eq!(arms, [("6.1.0-50", 2), ("6.12.117", 3), ("null", 2)]);
    assert_eq!(store.fact_values("colour").unwrap(), []);
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() {
    let (_folder, store) = full();
    let name = fixtures::corners().uuid;
    let text = name.to_string();
    assert_eq!(store.find(&text).unwrap(), name);
    assert_eq!(store.find(&text[..13]).unwrap(), name);
    assert_eq!(
        store
            .find(&text.replace('-', "")[..12].to_uppercase())
            .unwrap(),
        name
    );

    let error = store.find(&text[..8]).unwrap_err().to_string();
    assert!(error.contains("more than 10 runs"), "{error}");
    let error = store.find(&text[..10]).unwrap_err().to_string();
    for run in fixtures::all() {
        let named = error.contains(&run.uuid.to_string());
        assert_eq!(
            named,
            run.uuid.to_string().starts_with(&text[..10]),
            "{error}"
        );
    }
    for nothing in ["", "zebra", "ffff", "' OR 1=1 --", "%", &format!("{text}0")] {
        let error = store.find(nothing).unwrap_err().to_string();
        assert!(error.contains("no run in the store is called"), "{error}");
    }
    let unknown = Uuid::nil();
    assert!(
        store
            .run(&unknown)
            .unwrap_err()
            .to_string()
            .contains(&unknown.to_string())
    );
}

#[test]
fn a_text_that_was_imported_is_known_again() {
    let (_folder, store) = full();
    let kernmark_model::run::Origin::Imported { digest, .. } =
        fixtures::imported_mean_of_25().origin
    else {
        panic!("an import is imported");
    };
    assert_eq!(store.imported(&digest).unwrap().len(), 2);
    assert!(store.imported("00").unwrap().is_empty());
}

#[test]
fn deleting_a_run_leaves_nothing_of_it_and_all_of_the_others() {
    let (folder, mut store) = full();
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
    let (folder, store) = full();
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
