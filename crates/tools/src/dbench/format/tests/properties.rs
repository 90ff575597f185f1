//! What holds for every text: whatever dbench can print is read back, and nothing that is not its text does harm.

use proptest::prelude::*;

use super::super::lines::{Cleanup, ClientResult, Row, Running, Throughput, Tick};
use super::super::text::{Found, Progress, Report};
use super::super::*;
use super::{SAMPLES, bare, bare_runs, only, parse, printed};

fn figure(decimals: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        10 => (0.0..1e7_f64).prop_map(move |value| printf::fmt_f(value, decimals)),
        1 => any::<f64>()
            .prop_filter("short enough", |value| value.is_nan() || value.abs() < 1e30)
            .prop_map(move |value| printf::fmt_f(value, decimals)),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![9 => any::<u32>().prop_map(|n| n.to_string()), 1 => Just("-1".to_owned())]
}

fn row() -> impl Strategy<Value = Row> {
    let op = prop_oneof![
        Just("NTCreateX".to_owned()),
        Just("Flush".to_owned()),
        "[A-Za-z][A-Za-z0-9_]{0,30}"
    ];
    (op, number(), figure(3), figure(3)).prop_map(|(op, count, mean, max)| Row {
        op,
        count,
        mean,
        max,
    })
}

fn progress() -> impl Strategy<Value = Progress> {
    let stage = prop_oneof![Just(Stage::Warmup), Just(Stage::Execute)];
    let tick = (stage, number(), number(), figure(2), figure(0), figure(3)).prop_map(
        |(stage, clients, lines, throughput, seconds, latency)| {
            Progress::Tick(Tick {
                stage,
                clients,
                lines,
                throughput,
                seconds,
                latency,
            })
        },
    );
    let cleanup = (number(), figure(0))
        .prop_map(|(clients, seconds)| Progress::Cleanup(Cleanup { clients, seconds }));
    let line = prop_oneof![
        (any::<u16>(), any::<u16>(), 0.0..99.0).prop_map(|(prepared, processes, seconds)| {
            prepared_line(prepared.into(), processes.into(), seconds)
        }),
        Just(RELEASING_LINE.to_owned()),
        r"\[[0-9]{1,9}\] [^\r\n]*",
        r"\([0-9]{1,9}\) ERROR: [^\r\n]*",
        Just("Badly formed status at line 0".to_owned()),
    ];
    prop_oneof![3 => tick, 1 => cleanup, 1 => line.prop_map(Progress::Line)]
}

fn result() -> impl Strategy<Value = Throughput> {
    let throughput = any::<f64>().prop_map(printf::fmt_g);
    (throughput, any::<[bool; 2]>(), any::<[u64; 2]>(), figure(3)).prop_map(
        |(throughput, [sync, sync_dir], [clients, processes], max_latency)| Throughput {
            throughput,
            sync,
            sync_dir,
            clients,
            processes,
            max_latency,
        },
    )
}

prop_compose! {
    fn report()(
        version in proptest::option::of("[45]\\.[0-9]{1,3}"),
        running in proptest::option::of((any::<u32>(), "[^\r\n]*", any::<u32>())),
        mut progress in proptest::collection::vec(progress(), 0..12),
        rows in proptest::collection::vec(row(), 0..6),
        mut clients in proptest::collection::vec(
            (any::<u32>(), number(), number(), proptest::collection::vec(row(), 0..3)), 0..3),
        failed in any::<bool>(),
        result in proptest::option::of(result()),
    ) -> Report {
        let running = running.map(|(seconds, load, warmup)| Running {
            seconds: seconds.into(),
            load,
            warmup: warmup.into(),
        });
        if version.is_none() && running.is_none() {
            // Nobody would know whose messages they are.
            let first = progress.iter().position(|line| !matches!(line, Progress::Line(_)));
            progress.drain(..first.unwrap_or(progress.len()));
        }
        if failed && !progress.is_empty() {
            progress.push(Progress::Line(CHILD_FAILED_LINE.to_owned()));
        }
        if rows.is_empty() {
            clients.clear();
        }
        let clients = clients
            .into_iter()
            .map(|(client, lines, bytes, rows)| ClientResult { client, lines, bytes, rows })
            .collect();
        Report { version, running, progress, rows, clients, result }
    }
}

/// The words of which dbench's lines are made, so that lines nearly right are likely.
fn nearly() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("> ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        "[0-9]{1,3}",
        "[0-9]{1,20}\\.[0-9]{1,3}",
        "-?(nan|inf)",
        "[0-9]e[+-][0-9]{1,4}",
        prop::sample::select(
            "dbench version 4.00 - Copyright Running for seconds with load ' and minimum warmup secs of processes \
             prepared launch sec releasing clients MB/sec execute cleanup latency ms Operation Count AvgLat MaxLat \
             -------- NTCreateX Per client results: Client did lines bytes Throughput (sync open) dirs) procs \
             max_latency= [1] (2) ERROR: Child failed status"
                .split(' ')
                .collect::<Vec<_>>()
        )
        .prop_map(str::to_owned),
        "\\PC{0,5}",
    ];
    proptest::collection::vec(word, 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(report in report()) {
        let text = report.to_string();
        let digest = imported::digest(&text);
        let line = text.trim_end().lines().count() as u64;
        let found = Found { report, line, bad_rows: None };
        let run = imported::run(&found, &digest);
        if found.report.says_something() {
            prop_assert_eq!(&printed(std::slice::from_ref(&run)), &text);
            prop_assert_eq!(parse(&text), vec![run]);
        } else {
            prop_assert_eq!(parse(&text), vec![]);
        }
    }

    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        prop_assert!(parse_text(&text).is_ok());
    }

    #[test]
    fn text_that_is_nearly_right_is_read_or_refused(text in nearly()) {
        for run in parse_text(&text).unwrap_or_default() {
            let printed = printed(std::slice::from_ref(&run));
            prop_assert_eq!(bare_runs(&printed).len(), 1, "{}", printed);
        }
    }

    #[test]
    fn a_damaged_sample_is_read_or_refused(
        sample in prop::sample::select(SAMPLES.to_vec()),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        insert in "\\PC{0,4}|\n",
    ) {
        let start = at.index(sample.len());
        let end = (start + length).min(sample.len());
        prop_assume!(sample.is_char_boundary(start) && sample.is_char_boundary(end));
        let text = format!("{}{insert}{}", &sample[..start], &sample[end..]);
        for run in parse_text(&text).unwrap_or_default() {
            // Doubts about lines that were left out cannot come back.
            let mut there = bare(run.clone());
            let mut back = bare(only(&printed(&[run])));
            there.doubts.clear();
            back.doubts.clear();
            prop_assert_eq!(there, back);
        }
    }
}
