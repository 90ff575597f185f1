//! Samples of the real program, both ways, and what happens to them on their way through mails.

use kernmark_engine::tool::FormatError;
use kernmark_model::plan::ParamValue;
use kernmark_model::run::{Doubt, Origin, Outcome, Reported, Run, Statistic, Value};
use kernmark_model::units::Nanos;

use super::*;

mod measured;
mod properties;

const TMPFS: &str = include_str!("../samples/tmpfs.txt");
const WARM_UP: &str = include_str!("../samples/warm-up.txt");
const SYNC: &str = include_str!("../samples/sync.txt");
const PER_CLIENT: &str = include_str!("../samples/per-client.txt");
const UNEXPECTED: &str = include_str!("../samples/unexpected.txt");
const FAILED: &str = include_str!("../samples/failed.txt");
const SHORT: &str = include_str!("../samples/short.txt");
const SAMPLES: [&str; 7] = [TMPFS, WARM_UP, SYNC, PER_CLIENT, UNEXPECTED, FAILED, SHORT];

fn parse(text: &str) -> Vec<Run> {
    (DBENCH_4.parse)(text).unwrap()
}

fn only(text: &str) -> Run {
    let mut runs = parse(text);
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0)
}

fn printed(runs: &[Run]) -> String {
    runs.iter()
        .map(|run| (DBENCH_4.print)(run).unwrap())
        .collect()
}

/// Line by line, so that a failure shows the lines that differ.
pub(super) fn assert_same_text(printed: &str, text: &str) {
    for (number, (ours, theirs)) in (1..).zip(printed.lines().zip(text.lines())) {
        assert_eq!(ours, theirs, "line {number}");
    }
    assert_eq!(printed, text);
}

/// The characters of the samples of that metric, with op and worker.
fn figures<'run>(run: &'run Run, phase: &str, metric: &str) -> Vec<&'run Reported> {
    (run.phase(phase).unwrap().samples.iter())
        .filter(|sample| sample.metric == metric)
        .map(|sample| match &sample.value {
            Value::Reported(reported) => reported,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn texts<'run>(run: &'run Run, phase: &str, metric: &str) -> Vec<&'run str> {
    (figures(run, phase, metric).iter())
        .map(|figure| figure.text.as_str())
        .collect()
}

fn of_op<'run>(run: &'run Run, op: &str, worker: Option<u32>) -> Vec<&'run str> {
    (run.phase("execute").unwrap().samples.iter())
        .filter(|sample| sample.op.as_deref() == Some(op) && sample.worker == worker)
        .map(|sample| match &sample.value {
            Value::Reported(reported) => reported.text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn every_sample_prints_back_the_same() {
    for sample in SAMPLES {
        let (source, text) = sample.split_once('\n').unwrap();
        assert!(source.starts_with("# dbench 4.00"), "{source}");
        assert_same_text(&printed(&parse(sample)), text);
    }
}

#[test]
fn figures_are_kept_as_printed() {
    let run = only(TMPFS);
    assert_eq!(run.outcome, Outcome::Complete);
    assert_eq!(run.doubts, []);
    assert_eq!(run.plan.selector(), "dbench");
    assert_eq!(run.plan.program.version, "dbench 4.00");
    let params: Vec<String> = (run.plan.params.0.iter())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        params,
        [
            "clients=2",
            "loadfile=/usr/share/dbench/client.txt",
            "processes=2",
            "seconds=3s",
            "sync=no",
            "sync-dir=no",
            "warmup=0s",
        ]
    );
    let [throughput, latency] = run.metrics.as_slice() else {
        panic!("{:?}", run.metrics)
    };
    assert_eq!(run.figure(throughput), Some(691.779));
    assert_eq!(run.figure(latency), Some(24.138));

    assert_eq!(
        figures(&run, "execute", "throughput"),
        [&Reported {
            text: "691.779".to_owned(),
            half_unit: 0.0005,
            statistic: Statistic::Single,
            of: None,
        }]
    );
    assert_eq!(texts(&run, "execute", "lines"), ["67787", "126773"]);
    assert_eq!(
        texts(&run, "execute", "throughput so far"),
        ["753.18", "691.78"]
    );
    assert_eq!(texts(&run, "execute", "latency"), ["24.138", "18.231"]);
    assert_eq!(texts(&run, "cleanup", "clients"), ["2", "0"]);
    assert_eq!(run.phase("execute").unwrap().elapsed, Nanos::secs(2));
    assert_eq!(of_op(&run, "NTCreateX", None), ["60508", "0.025", "40.559"]);
    assert_eq!(of_op(&run, "Flush", None), ["4248", "0.000", "0.004"]);
    let mean = figures(&run, "execute", "AvgLat")[0];
    assert_eq!(
        (mean.half_unit, mean.statistic, mean.of),
        (0.0005, Statistic::Mean, Some(60_508))
    );
}

#[test]
fn warm_up_is_told_from_what_counts() {
    let run = only(WARM_UP);
    let names: Vec<&str> = run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["launch", "warm-up", "execute", "cleanup"]);
    assert_eq!(
        texts(&run, "warm-up", "throughput so far"),
        ["1248.16", "1224.07"]
    );
    assert_eq!(texts(&run, "execute", "seconds").len(), 15);
    assert_eq!(run.figure(&run.metrics[0]), Some(377.955));
}

#[test]
fn sync_flags_are_read_from_the_result() {
    let run = only(SYNC);
    assert_eq!(run.plan.params.flag("sync"), Ok(true));
    assert_eq!(run.plan.params.flag("sync-dir"), Ok(true));
    assert_eq!(run.figure(&run.metrics[0]), Some(15.5956));
    // The longest op of the table took longer than any wait that a tick showed.
    assert_eq!(run.figure(&run.metrics[1]), Some(35.971));
    assert_eq!(of_op(&run, "Unlink", None), ["326", "7.648", "75.964"]);
}

#[test]
fn a_client_that_did_nothing_has_a_mean_of_no_number() {
    let run = only(PER_CLIENT);
    assert_eq!(of_op(&run, "ReadX", None), ["27000", "0.001", "4.044"]);
    assert_eq!(of_op(&run, "ReadX", Some(0)), ["27000", "0.001", "4.044"]);
    assert_eq!(of_op(&run, "ReadX", Some(1)), ["0", "-nan", "0.000"]);
    assert_eq!(texts(&run, "execute", "bytes"), ["111247360", "65536"]);
}

#[test]
fn messages_make_doubts() {
    let run = only(UNEXPECTED);
    assert_eq!(run.outcome, Outcome::Complete);
    assert_eq!(
        run.doubts,
        [
            Doubt::Unexpected {
                phase: "execute".to_owned(),
                count: 18,
                first: "[4] open /dev/shm/db/clients/client0/b failed for handle 8 (No such file or directory)"
                    .to_owned(),
            },
            Doubt::Input {
                what: "9 messages on loadfile lines that were skipped, first: [8] Unknown operation Frobnicate in pid 2467"
                    .to_owned(),
            },
        ]
    );
    assert_eq!(run.plan.params.count("clients"), Ok(2));
    assert_eq!(run.plan.params.count("processes"), Ok(1));
}

#[test]
fn a_run_whose_client_failed_has_no_figure_to_compare() {
    let run = only(FAILED);
    assert_eq!(
        run.outcome,
        Outcome::Failed("the text says: Child failed with status 1".to_owned())
    );
    assert_eq!(run.metrics, []);
    assert_eq!(
        texts(&run, "execute", "throughput so far"),
        ["0.07", "0.03"]
    );
}

#[test]
fn zero_is_doubted() {
    let runs = parse(SHORT);
    let [second, none] = runs.as_slice() else {
        panic!("{runs:?}")
    };
    assert_eq!(second.outcome, Outcome::Complete);
    assert!(matches!(&second.doubts[..], [Doubt::Note { text }] if text.contains("two seconds")));
    assert_eq!(
        none.outcome,
        Outcome::Failed("it had no clients".to_owned())
    );
    assert_ne!(second.uuid, none.uuid);
    let line = |run: &Run| match &run.origin {
        Origin::Imported { line, digest, .. } => (*line, digest.len()),
        Origin::Measured => panic!("measured"),
    };
    assert_eq!((line(second), line(none)), ((20, 64), (24, 64)));
}

/// The run without what depends on the text around it.
fn bare(mut run: Run) -> Run {
    run.uuid = uuid::Uuid::nil();
    if let Origin::Imported { digest, line, .. } = &mut run.origin {
        digest.clear();
        *line = 0;
    }
    run
}

fn bare_runs(text: &str) -> Vec<Run> {
    parse(text).into_iter().map(bare).collect()
}

#[test]
fn a_mail_does_not_change_what_is_read() {
    let squeezed = |line: &str| {
        line.split(' ')
            .filter(|word| !word.is_empty())
            .fold(String::new(), |line, word| {
                if line.is_empty() {
                    word.to_owned()
                } else {
                    line + " " + word
                }
            })
    };
    // As mail programs break lines: at the last blank before the limit.
    let wrapped = |line: &str| match line.get(..76).and_then(|start| start.rfind(' ')) {
        Some(at) if !line.starts_with(['[', '(']) => {
            format!("{}\n{}", &line[..at], &line[at + 1..])
        }
        _ => line.to_owned(),
    };
    for sample in SAMPLES {
        let there = bare_runs(sample);
        let lines = || sample.lines();
        for (how, mail) in [
            (
                "CRLF",
                lines()
                    .map(|line| line.to_owned() + "\r\n")
                    .collect::<String>(),
            ),
            (
                "quoted",
                lines().map(|line| format!("> > {line}\n")).collect(),
            ),
            (
                "squeezed",
                lines().map(|line| squeezed(line) + "\n").collect(),
            ),
            (
                "quoted and squeezed",
                lines()
                    .map(|line| format!(">> {}\n", squeezed(line)))
                    .collect(),
            ),
            (
                "wrapped",
                lines().map(|line| wrapped(line) + "\n").collect(),
            ),
            (
                "spaced out",
                lines().map(|line| line.to_owned() + "\n\n").collect(),
            ),
        ] {
            assert_eq!(bare_runs(&mail), there, "{how}:\n{mail}");
        }
        let around =
            format!("Hi,\n[1] is what failed: 3 of 4 1.0 2.0\n{sample}\nand then\n-- \nX\n");
        assert_eq!(bare_runs(&around), there);
    }
}

#[test]
fn several_results_in_one_text_are_several_runs() {
    let text: String = SAMPLES.concat();
    let runs = parse(&text);
    assert_eq!(runs.len(), 8);
    let all: Vec<Run> = SAMPLES
        .iter()
        .flat_map(|sample| bare_runs(sample))
        .collect();
    assert_eq!(bare_runs(&text), all);
    // As people copy them: the last lines alone.
    let grep: String = (text.lines().filter(|line| line.starts_with("Throughput")))
        .map(|line| line.to_owned() + "\n")
        .collect();
    assert_eq!(printed(&parse(&grep)), grep);
    assert_eq!(parse(&grep).len(), 7);
}

#[test]
fn a_text_that_breaks_off_is_partial() {
    let end = TMPFS.find("   2  cleanup").unwrap();
    let cut = &TMPFS[..end];
    let run = only(cut);
    assert!(matches!(run.outcome, Outcome::Partial(_)));
    assert_eq!(run.metrics, []);
    assert_eq!(
        run.plan.params.0.get("clients"),
        Some(&ParamValue::Count(2))
    );
    assert_eq!(run.plan.params.0.get("sync"), None);
    assert_same_text(&printed(&[run]), cut.split_once('\n').unwrap().1);

    let table = &TMPFS[TMPFS.find(" Operation").unwrap()..TMPFS.find("Throughput").unwrap()];
    let run = only(table);
    assert!(matches!(run.outcome, Outcome::Partial(_)));
    assert_eq!(of_op(&run, "Mkdir", None), ["2", "0.033", "0.040"]);

    let launch = &TMPFS[..TMPFS.find("   2     67787").unwrap()];
    assert_eq!(parse(launch), []);
    // The next banner ends it.
    assert_eq!(parse(&format!("{cut}{WARM_UP}")).len(), 2);
}

#[test]
fn a_row_that_cannot_be_read_is_told() {
    let text = TMPFS.replace("12138     0.027", "12l38     0.027");
    let run = only(&text);
    assert_eq!(of_op(&run, "Unlink", None), Vec::<&str>::new());
    assert_eq!(of_op(&run, "Flush", None), ["4248", "0.000", "0.004"]);
    assert_eq!(
        run.doubts,
        [Doubt::Input {
            what: "1 lines of the table could not be read and are left out, first: line 18"
                .to_owned()
        }]
    );
}

#[test]
fn a_damaged_result_is_refused_with_its_line() {
    for damaged in [
        "Throughput 6x1.779 MB/sec  2 clients  2 procs  max_latency=24.138 ms",
        "Throughput 691.779 MB/sec (sync open)  2 clients  2 procs  max_lat",
        "Throughput 691.779 MB/sec  2 clients  many procs  max_latency=24.138 ms",
    ] {
        let error = parse_text(&format!("first\n\n{damaged}\nlast\n")).unwrap_err();
        assert!(
            matches!(error, FormatError::Line { line: 3, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("mend the line"), "{error}");
    }
    // No result of any dbench.
    assert_eq!(parse("Throughput rose to 5 MB/sec with 2 clients\n"), []);
    assert_eq!(parse("Throughput 5 MB/sec for 2 clients\n"), []);
}

#[test]
fn a_result_without_a_number_is_failed() {
    let run = only("Throughput -nan MB/sec  2 clients  2 procs  max_latency=0.000 ms\n");
    assert_eq!(
        run.outcome,
        Outcome::Failed("its throughput is -nan".to_owned())
    );
}

#[test]
fn other_generations_are_left_to_their_own_formats() {
    let old = "dbench version 3.04 - Copyright Andrew Tridgell 1999-2004\n\n\
               Running for 5 seconds with load 'client.txt' and minimum warmup 1 secs\n\
               2 clients started\n   \
               2     12345   123.45 MB/sec  execute   1 sec   \n\
               Throughput 123.456 MB/sec 2 procs\n";
    assert_eq!(parse(old), []);
    let result = "Throughput 691.779 MB/sec  2 clients  2 procs  max_latency=24.138 ms\n";
    let run = only(&format!("{old}{result}"));
    assert_eq!(printed(&[run]), result);
}

#[test]
fn the_wider_table_is_read() {
    let text = "\n Operation                Count    AvgLat    MaxLat\n \
                --------------------------------------------------\n \
                Deltree                    16     1.250     4.100\n \
                QUERY_PATH_INFORMATION  71814     0.012     2.345\n\n\
                Throughput 10.5 MB/sec  1 clients  1 procs  max_latency=4.100 ms\n";
    let run = only(text);
    assert_eq!(
        of_op(&run, "QUERY_PATH_INFORMATION", None),
        ["71814", "0.012", "2.345"]
    );
    assert_eq!(bare(only(&printed(std::slice::from_ref(&run)))), bare(run));
}

#[test]
fn what_lacks_dbench_s_figures_is_not_printed() {
    let mut run = only(TMPFS);
    run.phases.clear();
    assert_eq!(
        (DBENCH_4.print)(&run),
        Err(FormatError::Lacks("figures of dbench 4.00"))
    );
    let mut run = only(TMPFS);
    run.plan.params.0.remove("clients");
    assert_eq!((DBENCH_4.print)(&run), Err(FormatError::Lacks("clients")));
    let mut run = only(TMPFS);
    (run.phases.iter_mut()).for_each(|phase| phase.samples.retain(|s| s.metric != "seconds"));
    assert_eq!((DBENCH_4.print)(&run), Err(FormatError::Lacks("seconds")));
}

#[test]
fn lines_of_megabytes_are_read() {
    let long = "x".repeat(2 << 20);
    let load = format!("Running for 5 seconds with load '{long}' and minimum warmup 1 secs\n");
    let result = "Throughput 1.5 MB/sec  1 clients  1 procs  max_latency=2.000 ms\n";
    assert_eq!(
        only(&format!("{load}{result}"))
            .plan
            .params
            .text("loadfile"),
        Ok(long.clone())
    );
    for noise in [
        long.clone(),
        ">".repeat(2 << 20),
        " 1".repeat(1 << 20),
        format!("Running for 5 seconds with load '{long}"),
        format!("[1] {long}"),
        format!("Throughput {long} MB/sec"),
    ] {
        let run = only(&format!("{noise}\n{result}"));
        assert_eq!(run.figure(&run.metrics[0]), Some(1.5));
    }
}
