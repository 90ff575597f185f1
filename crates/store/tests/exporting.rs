//! What leaves the store: JSON that comes back, CSV that spreadsheets read, SQL that sqlite3 reads.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use kernmark_model::fixtures;
use kernmark_model::run::Run;
use kernmark_store::export::{self, CSV_HEADER};
use kernmark_store::{Detail, Redactor, Selection, Store, StoreError};
use kernmark_sys::testing::program;
use rusqlite::Connection;

mod common;

type Export = fn(&Store, &Selection, bool, &mut dyn Write) -> Result<(), StoreError>;

fn text(store: &Store, export: Export, conditions: &[&str], redact: bool) -> String {
    let conditions = conditions
        .iter()
        .map(|text| text.parse().expect("a condition"));
    let selection = Selection::of(conditions.collect());
    let mut out = Vec::new();
    export(store, &selection, redact, &mut out).expect("an export");
    String::from_utf8(out).expect("text")
}

fn read_back(json: &str) -> Result<Vec<Run>, StoreError> {
    export::read_json(json.as_bytes()).collect()
}

/// A run that names a host, a user and a disk.
fn personal() -> Run {
    let mut run = fixtures::lat_mem_rd_table();
    run.plan.on = Some("/home/anna/scratch".into());
    run.plan.label = Some("on /dev/disk/by-id/ata-WDC_1234".into());
    run
}

#[test]
fn json_brings_every_run_back_to_the_last_bit() {
    let (_folder, store) = common::full();
    let json = text(&store, export::json, &[], false);
    assert!(export::recognises_json(&json[..200]));
    assert_eq!(json.lines().count(), 1 + fixtures::all().len());
    assert_eq!(
        json.lines().next(),
        Some(r#"{"format":"kernmark-runs","version":1,"redacted":false}"#)
    );
    assert_eq!(read_back(&json).unwrap(), fixtures::all());

    // And from there into another store, where they are the same runs.
    let folder = tempfile::tempdir().unwrap();
    let mut other = Store::open(&folder.path().join("other.db")).unwrap();
    let inserted = other
        .insert_runs(export::read_json(json.as_bytes()))
        .unwrap();
    assert_eq!(inserted.new, fixtures::all().len());
    assert_eq!(text(&other, export::json, &[], false), json);
}

#[test]
fn a_selection_is_exported_alone() {
    let (_folder, store) = common::full();
    let json = text(&store, export::json, &["tool=aim7"], false);
    assert_eq!(
        read_back(&json).unwrap(),
        [fixtures::adaptive_aim7_series()]
    );
}

#[test]
fn json_that_is_no_export_is_refused_with_its_line() {
    let (_folder, store) = common::full();
    let json = text(&store, export::json, &["tool=aim7"], false);
    let (head, run) = json.split_once('\n').unwrap();
    for (text, message) in [
        (
            format!("{head}\n\n{run}{}\n{run}", &run[..99]),
            "line 4: not a run",
        ),
        (run.to_owned(), "line 1: not the head"),
        ("[]".to_owned(), "line 1: not the head"),
        (
            head.replace("\"version\":1", "\"version\":2"),
            "line 1: an export of version 2",
        ),
        (
            head.replace("kernmark-runs", "songs"),
            "line 1: an export of \"songs\"",
        ),
    ] {
        let error = read_back(&text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
        assert!(
            !export::recognises_json(&text)
                || message.contains("line 4")
                || message.contains("version")
        );
    }
    // After an error nothing more comes.
    let read = export::read_json("[]\n[]\n[]".as_bytes());
    assert_eq!(read.count(), 1);
}

#[test]
fn csv_has_a_row_for_each_run_metric_point_and_op() {
    let (_folder, store) = common::full();
    let csv = text(
        &store,
        export::csv,
        &["tool=dbench", "outcome=voided"],
        false,
    );
    let lead = "019b7ca9-a010-7000-8000-00000000000a,2026-01-02T03:04:10Z,dbench,dbench,6.12.117,\
                clients=2 loadfile=client.txt seconds=10s,,,wall,measured,voided,\
                steal took 4.1 % of the run's time; at most 1 % is allowed,\
                019b7ca9-dd5c-7000-8000-000000005e55,1,1,6.12.117,replay,";
    let doubt =
        "disturbed from outside: steal took 4.1 % of the run's time; at most 1 % is allowed";
    let rows = [
        ",,throughput,MB/s,higher,511.1808",
        ",WriteX,throughput,MB/s,higher,511.1808",
        ",Flush,throughput,MB/s,higher,0",
        ",,Flush p99,ms,lower,4.01408",
        ",,durable throughput,MB/s,higher,486.83885714285714",
        ",WriteX,durable throughput,MB/s,higher,486.83885714285714",
        ",Flush,durable throughput,MB/s,higher,0",
    ];
    let mut lines = csv.split("\r\n");
    assert_eq!(lines.next(), Some(CSV_HEADER.join(",").as_str()));
    let session = csv
        .split(',')
        .find(|field| field.ends_with("5e55"))
        .unwrap();
    let lead = lead.replace("019b7ca9-dd5c-7000-8000-000000005e55", session);
    for row in rows {
        assert_eq!(
            lines.next(),
            Some(format!("{lead}{row},,,,{doubt}").as_str())
        );
    }
    assert_eq!(lines.collect::<Vec<_>>(), [""]);
}

#[test]
fn csv_gives_an_imported_figure_as_it_was_printed() {
    let (_folder, store) = common::full();
    let csv = text(&store, export::csv, &["origin=imported"], false);
    let ends: Vec<&str> = csv
        .split("\r\n")
        .skip(1)
        .filter_map(|line| {
            line.split_once(",imported,complete,,,,,,")
                .map(|(_, end)| end)
        })
        .collect();
    assert_eq!(
        ends,
        [
            "pipe,,,bandwidth,MB/s,higher,52,52.0,mean,25,",
            "l1,,,load latency,ns,lower,4.25,4.25,mean,25,",
            "l2,,,load latency,ns,lower,229.87,229.87,mean,25,",
            "stat,,,rate,/s,higher,,+++++,mean,25,",
            "Sequential Reads,threads=8,,rate,MB/s,higher,15.71,15.71,mean,3,",
            "Sequential Reads,threads=8,,average latency,ms,lower,,5.896,sum,3,",
        ]
    );
}

#[test]
fn csv_gives_a_series_point_by_point() {
    let (_folder, store) = common::full();
    let csv = text(&store, export::csv, &["tool=aim7"], false);
    let levels: Vec<(&str, &str)> = csv
        .split("\r\n")
        .filter(|line| line.contains(",,jobs,jobs/min"))
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[17], fields[22])
        })
        .collect();
    let expected = [
        ("tasks=1", "535"),
        ("tasks=2", "583.6"),
        ("tasks=3", "600"),
        ("tasks=5", "611.4"),
        ("tasks=8", "597.9"),
    ];
    assert_eq!(levels.len(), expected.len(), "{csv}");
    for (level, (point, figure)) in levels.iter().zip(expected) {
        assert!(
            level.0 == point && level.1.starts_with(figure),
            "{level:?} {point} {figure}"
        );
    }
}

#[test]
fn csv_of_awkward_text_stays_one_table() {
    let (_folder, store) = common::full();
    let csv = text(&store, export::csv, &[], false);
    // A reader that knows only RFC 4180.
    let mut fields = vec![1];
    let mut quoted = false;
    for c in csv.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => *fields.last_mut().unwrap() += 1,
            '\n' if !quoted => fields.push(1),
            _ => {}
        }
    }
    assert_eq!(fields.pop(), Some(1));
    assert!(
        fields.iter().all(|count| *count == CSV_HEADER.len()),
        "{fields:?}"
    );
}

/// Every row of every table, in an order that does not depend on row numbers.
fn rows(connection: &Connection) -> Vec<String> {
    let mut out = Vec::new();
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
        .expect("a schema");
    let tables = tables
        .query_map([], |row| row.get::<_, String>(0))
        .expect("tables");
    for table in tables.map(|name| name.expect("a name")) {
        let mut select = connection
            .prepare(&format!("SELECT * FROM {table}"))
            .expect("a table");
        let columns = select.column_count();
        let mut rows = select.query([]).expect("rows");
        let mut lines = Vec::new();
        while let Some(row) = rows.next().expect("a row") {
            let values: Vec<String> = (0..columns)
                .map(|column| format!("{:?}", row.get_ref(column).expect("a value")))
                .collect();
            lines.push(format!("{table}: {}", values.join(", ")));
        }
        lines.sort();
        out.extend(lines);
    }
    for pragma in ["application_id", "user_version"] {
        let value: i64 = connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .expect("a pragma");
        out.push(format!("{pragma}: {value}"));
    }
    out
}

#[test]
fn sql_makes_an_equal_database() {
    let (folder, mut store) = common::full();
    store
        .begin_plan("quick", &[fixtures::corners().plan])
        .unwrap();
    let sql = text(&store, export::sql, &[], false);
    let path = folder.path().join("copy.db");
    let copy = Connection::open(&path).unwrap();
    copy.execute_batch(&sql).unwrap();
    let original = Connection::open(store.path()).unwrap();
    assert_eq!(rows(&copy), rows(&original));
    drop(copy);

    // It is a store again.
    let copy = Store::open(&path).unwrap();
    assert_eq!(
        copy.load(&Selection::default(), Detail::Full).unwrap(),
        fixtures::all()
    );
    assert_eq!(copy.unfinished().unwrap(), store.unfinished().unwrap());
}

#[test]
fn sql_goes_through_the_sqlite3_program() {
    kernmark_sys::skip_unless!(program("sqlite3").is_some(), "the package sqlite3");
    let (folder, store) = common::full();
    let sql = text(&store, export::sql, &[], false);
    let path = folder.path().join("copy.db");
    let mut sqlite3 = Command::new("sqlite3")
        .args(["-bail", "-batch"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = sqlite3.stdin.take().unwrap();
    input.write_all(sql.as_bytes()).unwrap();
    drop(input);
    let output = sqlite3.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let copy = Connection::open(Path::new(&path)).unwrap();
    let original = Connection::open(store.path()).unwrap();
    assert_eq!(rows(&copy), rows(&original));
}

#[test]
fn sql_of_a_selection_holds_nothing_else() {
    let (folder, mut store) = common::full();
    store
        .begin_plan("quick", &[fixtures::corners().plan])
        .unwrap();
    let sql = text(&store, export::sql, &["tool=aim7"], false);
    let path = folder.path().join("part.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    let part = Store::open(&path).unwrap();
    let runs = part.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(runs, [fixtures::adaptive_aim7_series()]);
    assert_eq!(part.unfinished().unwrap(), []);
}

#[test]
fn no_export_tells_names_when_it_must_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    store.insert_run(&personal()).unwrap();
    for (export, name) in [
        (export::json as Export, "json"),
        (export::csv, "csv"),
        (export::sql, "sql"),
    ] {
        let open = text(&store, export, &[], false);
        assert!(open.contains("1234"), "{name}: {open}");
        let redacted = text(&store, export, &[], true);
        for secret in ["anna", "1234"] {
            assert!(
                !redacted.contains(secret),
                "{name} tells {secret}: {redacted}"
            );
        }
        assert!(
            redacted.contains("/dev/disk/by-id/device-1"),
            "{name}: {redacted}"
        );
    }
    // What was exported is the run as the redactor leaves it, and the store keeps the names.
    let redacted = text(&store, export::json, &[], true);
    assert!(redacted.starts_with(r#"{"format":"kernmark-runs","version":1,"redacted":true}"#));
    assert_eq!(
        read_back(&redacted).unwrap(),
        [Redactor::default().run(personal())]
    );
    assert_eq!(store.run(&personal().uuid).unwrap(), personal());
}

#[test]
fn an_export_that_cannot_be_written_says_so() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (_folder, store) = common::full();
    for export in [export::json as Export, export::csv, export::sql] {
        let error = export(&store, &Selection::default(), false, &mut Full).unwrap_err();
        assert!(
            matches!(&error, StoreError::Export(cause) if cause.kind() == io::ErrorKind::StorageFull),
            "{error:?}"
        );
    }
}
