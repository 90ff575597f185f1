//! Runs of ours, printed as dbench 4.00 would print them.

use std::collections::BTreeMap;

use kernmark_engine::tool::FormatError;
use kernmark_model::histogram::Histogram;
use kernmark_model::plan::{ParamValue, Params};
use kernmark_model::run::{
    CutOp, OpCount, OpName, Origin, Outcome, Phase, Run, WorkerResult, WorkerState,
};
use kernmark_model::series::{Series, SeriesKind};
use kernmark_model::units::{Bytes, Nanos};

use super::super::*;
use super::{assert_same_text, only};

const NAMES: [&str; 5] = ["pass", "Flush", "NTCreateX", "WriteX", "Frobnicate"];

fn worker(rank: u32, end: Nanos, ops: &[(u32, u64, u64, Nanos, Nanos)]) -> WorkerResult {
    WorkerResult {
        rank,
        start: Nanos(0),
        end,
        state: WorkerState::Done,
        ops: (ops.iter())
            .map(|&(op, count, bytes, total, max)| OpCount {
                op,
                count,
                bytes: Bytes(bytes),
                unexpected: 0,
                total,
                max,
                histogram: Histogram::default(),
            })
            .collect(),
        cut: None,
    }
}

fn phase(name: &str, elapsed: Nanos, workers: Vec<WorkerResult>) -> Phase {
    let ops = (NAMES.iter())
        .map(|name| OpName {
            name: (*name).to_owned(),
            span: *name == "pass",
            direction: None,
        })
        .collect();
    // Any phase will do to begin with.
    let blank = only("Throughput 1 MB/sec  1 clients  1 procs  max_latency=1.000 ms\n").phases;
    Phase {
        name: name.to_owned(),
        start: Nanos::millis(1_400),
        elapsed,
        warm_up: Nanos::secs(1),
        ops,
        workers,
        samples: Vec::new(),
        ..blank[0].clone()
    }
}

fn series(kind: SeriesKind, values: &[u64]) -> Series {
    Series {
        kind,
        op: None,
        worker: None,
        values: values.to_vec(),
    }
}

/// Two clients, five seconds: 250 MB in 2,000 opens and writes.
fn run() -> Run {
    let mut run = only("Throughput 1 MB/sec  1 clients  1 procs  max_latency=1.000 ms\n");
    run.origin = Origin::Measured;
    run.plan.params = Params(
        [
            ("clients", ParamValue::Count(2)),
            ("clients-per-process", ParamValue::Count(1)),
            ("seconds", ParamValue::Duration(Nanos::secs(5))),
            ("warmup", ParamValue::Duration(Nanos::secs(1))),
            ("loadfile", ParamValue::Text("office".to_owned())),
            ("sync", ParamValue::Flag(false)),
            ("sync-dir", ParamValue::Flag(false)),
            ("per-client-results", ParamValue::Flag(true)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
    );
    let ms = Nanos::millis;
    let mut execute = phase(
        "execute",
        ms(5_000),
        vec![
            worker(
                0,
                ms(5_000),
                &[
                    (0, 3, 0, ms(4_900), ms(2_000)),
                    (2, 1_000, 0, ms(500), ms(4)),
                    (3, 1_000, 200_000_000, ms(2_000), ms(30)),
                ],
            ),
            worker(
                1,
                ms(5_000),
                &[
                    (2, 1_000, 0, ms(700), ms(6)),
                    (3, 1_000, 50_000_000, ms(3_000), ms(20)),
                    (4, 1, 0, ms(1), ms(1)),
                ],
            ),
        ],
    );
    execute.workers[1].cut = Some(CutOp {
        op: 3,
        nanos: ms(45),
    });
    execute.series = vec![
        series(
            SeriesKind::Time,
            &[
                1_000_000_000,
                2_000_000_000,
                3_000_100_000,
                4_000_000_000,
                5_000_000_000,
            ],
        ),
        series(SeriesKind::Count, &[1_000, 1_000, 0, 1_000, 1_001]),
        series(
            SeriesKind::Bytes,
            &[80_000_000, 40_000_000, 0, 40_000_000, 90_000_000],
        ),
        series(
            SeriesKind::LongestNanos,
            &[4_000_000, 30_000_000, 1_000_000_000, 1_500_000, 45_000_000],
        ),
    ];
    let cleanup = phase(
        "cleanup",
        ms(1_500),
        vec![
            worker(0, ms(900), &[(3, 1, 1_000, ms(1), ms(1))]),
            worker(1, ms(1_500), &[]),
        ],
    );
    run.phases = vec![execute, cleanup];
    run
}

const PRINTED: &str = "\
dbench version 4.00 - Copyright Andrew Tridgell 1999-2004

Running for 5 seconds with load 'office' and minimum warmup 1 secs
2 of 2 processes prepared for launch   0 sec
releasing clients
   2       500    80.00 MB/sec  execute   1 sec  latency 4.000 ms
   2      1000    60.00 MB/sec  execute   2 sec  latency 30.000 ms
   2      1000    40.00 MB/sec  execute   3 sec  latency 1000.000 ms
   2      1500    40.00 MB/sec  execute   4 sec  latency 1.500 ms
   2  cleanup   5 sec
   1  cleanup   6 sec
   0  cleanup   6 sec

 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX       2000     0.600     6.000
 WriteX          2000     2.500    30.000
 Frobnicate         1     1.000     1.000

Per client results:
Client 0 did 2000 lines and 200000000 bytes
 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX       1000     0.500     4.000
 WriteX          1000     2.000    30.000
 Frobnicate         0      -nan     0.000

Client 1 did 2001 lines and 50000000 bytes
 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX       1000     0.700     6.000
 WriteX          1000     3.000    20.000
 Frobnicate         1     1.000     1.000

Throughput 50 MB/sec  2 clients  2 procs  max_latency=45.000 ms
";

#[test]
fn a_measured_run_prints_as_dbench_would() {
    let run = run();
    let text = (DBENCH_4.print)(&run).unwrap();
    assert_same_text(&text, PRINTED);
    let table = PRINTED.find("\n Operation").unwrap();
    assert_same_text(&ending(&run).unwrap(), &PRINTED[table..]);
}

#[test]
fn what_a_measured_run_prints_is_read() {
    let read = only(PRINTED);
    let ours = run();
    assert_eq!(read.outcome, Outcome::Complete);
    assert_eq!(read.figure(&read.metrics[0]), Some(50.0));
    for name in [
        "clients", "seconds", "warmup", "loadfile", "sync", "sync-dir",
    ] {
        assert_eq!(
            read.plan.params.0.get(name),
            ours.plan.params.0.get(name),
            "{name}"
        );
    }
    assert_same_text(&(DBENCH_4.print)(&read).unwrap(), PRINTED);
}

/// Takes a line apart from its start.
struct Eat<'line>(&'line str);

impl Eat<'_> {
    fn text(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// How many characters of that kind come next.
    fn run(&mut self, of: fn(&char) -> bool) -> usize {
        let length = self.0.chars().take_while(of).count();
        self.0 = &self.0[length..];
        length
    }

    fn blanks(&mut self) -> bool {
        self.run(|c| *c == ' ') > 0
    }

    fn digits(&mut self) -> usize {
        self.run(char::is_ascii_digit)
    }

    /// Digits, a point, and that many decimals.
    fn decimal(&mut self, decimals: usize) -> bool {
        self.digits() > 0 && self.text(".") && self.digits() == decimals
    }
}

/// `^ {3}2 +\d+ +\d+\.\d\d MB/sec  execute +\d+ sec  latency \d+\.\d{3} ms$`
fn is_execute_line_of_two(line: &str) -> bool {
    let mut line = Eat(line);
    line.text("   2")
        && line.blanks()
        && line.digits() > 0
        && line.blanks()
        && line.decimal(2)
        && line.text(" MB/sec  execute")
        && line.blanks()
        && line.digits() > 0
        && line.text(" sec  latency ")
        && line.decimal(3)
        && line.0 == " ms"
}

/// `^Throughput \S+ MB/sec  2 clients  2 procs  max_latency=\d+\.\d{3} ms$`, with `flags` after `MB/sec`.
fn is_result_of_two(line: &str, flags: &str) -> bool {
    let mut line = Eat(line);
    line.text("Throughput ")
        && line.run(|c| !c.is_whitespace()) > 0
        && line.text(" MB/sec")
        && line.text(flags)
        && line.text("  2 clients  2 procs  max_latency=")
        && line.decimal(3)
        && line.0 == " ms"
}

#[test]
fn lines_have_the_shape_that_scripts_look_for() {
    // The checker itself, on the original's output.
    for sample in [super::TMPFS, super::SYNC] {
        for line in sample.lines().filter(|line| line.contains("execute ")) {
            assert!(is_execute_line_of_two(line), "{line}");
        }
    }
    assert!(is_result_of_two(super::TMPFS.lines().last().unwrap(), ""));

    let mut run = run();
    let text = (DBENCH_4.print)(&run).unwrap();
    let running = "Running for 5 seconds with load 'office' and minimum warmup 1 secs";
    assert!(text.lines().any(|line| line == running), "{text}");
    let execute: Vec<&str> = (text.lines())
        .filter(|line| line.contains("execute "))
        .collect();
    assert_eq!(execute.len(), 4);
    for line in execute {
        assert!(is_execute_line_of_two(line), "{line}");
    }
    let last = text.lines().last().unwrap();
    assert!(is_result_of_two(last, ""), "{last}");

    for flag in ["sync", "sync-dir"] {
        (run.plan.params.0).insert(flag.to_owned(), ParamValue::Flag(true));
    }
    let text = (DBENCH_4.print)(&run).unwrap();
    let last = text.lines().last().unwrap();
    assert!(is_result_of_two(last, " (sync open) (sync dirs)"), "{last}");
    assert!(is_result_of_two(
        super::SYNC.lines().last().unwrap(),
        " (sync open) (sync dirs)"
    ));
}

#[test]
fn lines_are_made_one_by_one_as_they_are_printed_live() {
    for (ours, theirs) in [
        (
            banner(),
            "dbench version 4.00 - Copyright Andrew Tridgell 1999-2004",
        ),
        (
            running_line(600, "client.txt", 120),
            "Running for 600 seconds with load 'client.txt' and minimum warmup 120 secs",
        ),
        (
            prepared_line(1, 12, 0.3),
            "1 of 12 processes prepared for launch   0 sec",
        ),
        (
            tick_line(Stage::Execute, 2, 231_370, 575.274, 4.0003, 5.0481),
            "   2    231370   575.27 MB/sec  execute   4 sec  latency 5.048 ms",
        ),
        (
            tick_line(Stage::Warmup, 2, 150, 19.229, 2.1, 277.02),
            "   2       150    19.23 MB/sec  warmup   2 sec  latency 277.020 ms",
        ),
        (cleanup_line(1, 5.2), "   1  cleanup   5 sec"),
        (
            table(&[Row::new(
                "NTCreateX",
                99_932,
                Nanos::millis(1_399),
                Nanos(8_354_000),
            )]),
            " Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n \
             NTCreateX      99932     0.014     8.354",
        ),
        (
            throughput_line(ThroughputLine {
                mb_per_sec: 1_234_567.0,
                sync: false,
                sync_dir: true,
                clients: 96,
                processes: 48,
                max_latency_ms: 0.0,
            }),
            "Throughput 1.23457e+06 MB/sec (sync dirs)  96 clients  48 procs  max_latency=0.000 ms",
        ),
    ] {
        assert_eq!(ours, theirs);
    }
}

#[test]
fn clients_that_share_a_process_are_counted() {
    let mut run = run();
    let params: &mut BTreeMap<_, _> = &mut run.plan.params.0;
    params.insert("clients".to_owned(), ParamValue::Count(8));
    params.insert("clients-per-process".to_owned(), ParamValue::Count(4));
    let text = (DBENCH_4.print)(&run).unwrap();
    assert!(text.contains("2 of 2 processes prepared"), "{text}");
    assert!(text.contains("\n   4  cleanup   6 sec\n"), "{text}");
    assert!(!text.contains("Per client"), "{text}");
    assert!(text.contains("  8 clients  2 procs  "), "{text}");
}

#[test]
fn a_run_that_broke_has_no_result_line() {
    let mut run = run();
    let ticks = PRINTED.find("\n Operation").unwrap();
    run.outcome = Outcome::Partial("stopped".to_owned());
    assert_same_text(&(DBENCH_4.print)(&run).unwrap(), &PRINTED[..ticks]);
    run.outcome = Outcome::Failed("client 1: no space".to_owned());
    assert_same_text(
        &(DBENCH_4.print)(&run).unwrap(),
        &format!("{}Child failed with status 1\n", &PRINTED[..ticks]),
    );
}

#[test]
fn what_the_text_needs_is_asked_for() {
    let mut none = run();
    none.phases[0].elapsed = Nanos(0);
    assert_eq!(
        (DBENCH_4.print)(&none),
        Err(FormatError::Lacks("time in its phase \"execute\""))
    );
    let mut none = run();
    none.phases.remove(0);
    assert_eq!(
        (DBENCH_4.print)(&none),
        Err(FormatError::Lacks("phase \"execute\""))
    );
    let mut none = run();
    none.plan.params.0.remove("clients");
    assert_eq!(
        (DBENCH_4.print)(&none),
        Err(FormatError::Lacks("number of clients"))
    );
}
