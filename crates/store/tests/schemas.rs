//! One small store of every released schema is opened for ever.

use std::fs;
use std::path::PathBuf;

use kernmark_model::fixtures;
use kernmark_model::run::{At, Outcome, Run};
use kernmark_store::{Detail, Selection, Store, StoreError, export};
use rusqlite::Connection;

/// How many runs are in the store of schema 1.
const KEPT_RUNS: usize = 9;

fn kept(schema: u32) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    PathBuf::from(folder).join(format!("schema-{schema}.db"))
}

/// A copy that may be changed.
fn copy_of(schema: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store.db");
    fs::copy(kept(schema), &path).expect("a kept store");
    (folder, path)
}

fn figures(run: &Run) -> Vec<(&str, Option<f64>)> {
    let tenth = |figure: f64| (figure * 10.0).round() / 10.0;
    run.metrics
        .iter()
        .map(|metric| (metric.name.as_str(), run.figure(metric).map(tenth)))
        .collect()
}

#[test]
fn schema_1_says_what_it_said() {
    let (_folder, path) = copy_of(1);
    let mut store = Store::open(&path).unwrap();
    let runs = store.load(&Selection::default(), Detail::Full).unwrap();
    let said = runs
        .iter()
        .map(|run| (run.plan.selector(), run.outcome.word(), figures(run)))
        .collect::<Vec<_>>();
    let dbench = |throughput, durable| {
        vec![
            ("throughput", Some(throughput)),
            ("Flush p99", Some(4.0)),
            ("durable throughput", Some(durable)),
        ]
    };
    let expected = [
        (
            "lmbench:lat_mem_rd",
            "complete",
            vec![("load latency", Some(96.3))],
        ),
        (
            "aim7:custom",
            "complete",
            vec![("jobs", Some(611.4)), ("jobs", Some(597.9))],
        ),
        (
            "lmbench:summary",
            "complete",
            vec![
                ("bandwidth", Some(52.0)),
                ("load latency", Some(4.3)),
                ("load latency", Some(229.9)),
                ("rate", None),
            ],
        ),
        (
            "tiobench:classic",
            "complete",
            vec![("rate", Some(15.7)), ("average latency", None)],
        ),
        (
            "lmbench:lat_fs",
            "complete",
            vec![
                ("getppid", Some(337.0)),
                ("create", Some(24_484.0)),
                ("rate", None),
                ("time", None),
            ],
        ),
        ("dbench", "complete", dbench(707.8, 674.1)),
        ("dbench", "voided", dbench(511.2, 486.8)),
        ("dbench", "complete", dbench(705.2, 671.6)),
        ("null", "failed", vec![]),
    ];
    let expected = expected.map(|(tool, outcome, figures)| (tool.to_owned(), outcome, figures));
    assert_eq!(said, expected);

    let void = &runs[6];
    let replay = &void.phases[0];
    assert_eq!(replay.series[1].values, [3900; 10]);
    assert!(replay.counters.is_some() && void.target.is_some());
    assert_eq!(
        replay.workers[1].cut.map(|cut| cut.nanos.0),
        Some(7_000_000)
    );
    assert_eq!(
        runs[0].metrics[0].at,
        At::Point(runs[0].phases[7].point.clone())
    );

    let plans = store.unfinished().unwrap();
    assert_eq!(
        (plans.len(), plans[0].name.as_str(), plans[0].runs.len()),
        (1, "quick", 2)
    );
    // And it takes new ones.
    let mut run = fixtures::lat_mem_rd_table();
    run.uuid = uuid::Uuid::now_v7();
    run.outcome = Outcome::Partial("tested".into());
    assert!(store.insert_run(&run).unwrap());
    assert_eq!(store.run(&run.uuid).unwrap(), run);
}

#[test]
fn the_present_schema_is_read_without_a_change() {
    let (_folder, path) = copy_of(1);
    let before = fs::read(&path).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.runs(&Selection::default()).unwrap().len(), KEPT_RUNS);
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// What is in a store by the schema's own text.
fn schema(connection: &Connection) -> Vec<String> {
    connection
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .expect("a schema")
}

#[test]
fn a_released_migration_was_not_edited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    Store::open(&path).unwrap();
    let (_kept, kept) = copy_of(1);
    Store::open(&kept).unwrap();
    let [new, kept] = [path, kept].map(|path| schema(&Connection::open(path).unwrap()));
    assert_eq!(new, kept);
}

#[test]
fn facts_of_an_earlier_program_are_derived_anew() {
    let (_folder, path) = copy_of(1);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "UPDATE setting SET value = '0'; DELETE FROM run_fact WHERE key = 'tool';
         UPDATE run_fact SET value = 'stale'",
    )
    .unwrap();
    drop(raw);
    let store = Store::open(&path).unwrap();
    let tool = "tool=dbench".parse().unwrap();
    assert_eq!(store.runs(&Selection::of(vec![tool])).unwrap().len(), 3);
    assert!(
        store
            .fact_values("outcome")
            .unwrap()
            .iter()
            .all(|(value, _)| value != "stale")
    );
}

#[test]
#[ignore = "a chore: writes the store of the present schema that is kept; for a schema that is not released yet"]
fn keep_the_present_schema() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    // Of the session one arm is enough, so that the file stays small.
    let runs = fixtures::all().into_iter().filter(|run| {
        let place = run.session.as_ref();
        place.is_none_or(|place| place.arm == "6.12.117")
    });
    store.insert_runs(runs.map(Ok::<Run, StoreError>)).unwrap();
    let plans: Vec<_> = fixtures::all()
        .into_iter()
        .take(2)
        .map(|run| run.plan)
        .collect();
    store.begin_plan("quick", &plans).unwrap();
    let mut sql = Vec::new();
    export::sql(&store, &Selection::default(), false, &mut sql).unwrap();

    let path = kept(1);
    let _ = fs::remove_file(&path);
    let small = Connection::open(&path).unwrap();
    // Small pages keep the repository small.
    small.execute_batch("PRAGMA page_size = 512").unwrap();
    small
        .execute_batch(&String::from_utf8(sql).unwrap())
        .unwrap();
    small.execute_batch("VACUUM").unwrap();
    drop(small);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size < 60_000, "{size} bytes");
}
