use std::path::Path;

use super::*;
use crate::dbench::loadfile::parse;

/// Where Debian's package `dbench` puts the loadfile; the figures of the table are published for
/// this file.
const INSTALLED: &str = "/usr/share/dbench/client.txt";

/// One row of the table of tolerances that a standard mix must keep.
struct Row {
    quantity: String,
    got: f64,
    least: f64,
    most: f64,
}

/// Holds a mix against the standard file's figures, within the tolerances that a generated file is
/// allowed.
pub(crate) fn assert_standard(mix: &Mix, name: &str) {
    for Row {
        quantity,
        got,
        least,
        most,
    } in standard_rows(mix)
    {
        eprintln!("{name}: {quantity}: {got:.3}, allowed {least:.3} to {most:.3}");
        assert!(
            (least..=most).contains(&got),
            "{name}: {quantity} is {got:.3}, not in {least:.3} to {most:.3}"
        );
    }
    let first = mix
        .unexpected
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert_eq!(mix.unexpected_count, 0, "{name}: {first}");
}

fn standard_rows(mix: &Mix) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut within = |quantity: &str, got: f64, target: f64, tolerance: f64| {
        let (least, most) = (target - tolerance, target + tolerance);
        rows.push(Row {
            quantity: quantity.to_owned(),
            got,
            least,
            most,
        });
    };
    let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
    let ops = mix.ops();

    for (code, count) in STANDARD_COUNTS {
        let got = percent(mix.count(code), ops);
        let target = percent(count, STANDARD_LINES);
        let tolerance = if target > 2.0 { 0.5 } else { target * 0.2 };
        within(code.loadfile_name(), got, target, tolerance);
    }
    let steady = mix.steady_bytes_per_op().unwrap();
    within(
        "bytes per op after the set-up",
        steady,
        5_350.0,
        5_350.0 * 0.03,
    );
    within(
        "read share of the bytes",
        mix.read_byte_share().unwrap() * 100.0,
        59.2,
        1.5,
    );
    let (reads, writes) = (&mix.read_sizes, &mix.write_sizes);
    within(
        "reads of 4 KiB",
        reads.share_in(4_096..=4_096).unwrap() * 100.0,
        67.0,
        1.5,
    );
    within(
        "reads of 60 KiB",
        reads.share_in(61_440..=61_440).unwrap() * 100.0,
        13.4,
        1.5,
    );
    within(
        "writes of 64 KiB",
        writes.share_in(65_536..=65_536).unwrap() * 100.0,
        32.0,
        1.5,
    );
    within("peak bytes", mix.peak_bytes as f64, 24.0e6, 24.0e6 * 0.03);
    within("peak files", mix.peak_files as f64, 85.0, 10.0);
    within("peak open handles", mix.peak_handles as f64, 23.0, 3.0);
    let iterations = mix.iterations.unwrap();
    within("iterations", iterations.count as f64, 129.0, 0.0);
    within(
        "lines of the shortest iteration",
        iterations.least_lines as f64,
        3_550.0,
        150.0,
    );
    within(
        "lines of the longest iteration",
        iterations.most_lines as f64,
        3_550.0,
        150.0,
    );
    for (percent, target) in [(50, 74_834.0), (75, 260_096.0), (95, 327_680.0)] {
        let got = mix.close_sizes.percentile(percent).unwrap() as f64;
        within(
            &format!("file size at close, p{percent}"),
            got,
            target,
            target * 0.15,
        );
    }
    let empty = mix.unlink_sizes.share_in(0..=0).unwrap() * 100.0;
    within("empty files of those unlinked", empty, 50.0, 5.0);
    let opens = mix.count(OpCode::NtCreateX);
    within(
        "opens of a file that is there",
        percent(mix.opens.existing, opens),
        53.2,
        1.5,
    );
    within(
        "opens that fail",
        percent(mix.opens.failed, opens),
        26.5,
        1.5,
    );
    within(
        "opens of a new file",
        percent(mix.opens.new, opens),
        20.3,
        1.5,
    );
    let queries = mix.count(OpCode::QueryPath);
    within(
        "path queries that find nothing",
        percent(mix.queries.missing, queries),
        34.0,
        2.0,
    );
    let finds = mix.count(OpCode::Find);
    within(
        "searches that find nothing",
        percent(mix.finds.unmatched, finds),
        51.6,
        2.0,
    );
    let (at, count) = (&mix.positions, writes.count());
    within(
        "one-byte writes past the end",
        percent(at.hole, count),
        18.8,
        1.0,
    );
    within(
        "writes at the end or across it",
        percent(at.at_end + at.crossing, count),
        29.5,
        3.0,
    );
    within(
        "writes inside the file",
        percent(at.overwrite, count),
        51.7,
        3.0,
    );
    within(
        "sequential reads",
        percent(mix.sequential_reads, reads.count()),
        50.0,
        5.0,
    );
    within(
        "entries of a searched directory",
        mix.finds.entries.mean().unwrap(),
        9.0,
        1.0,
    );
    within(
        "bytes that the set-up leaves",
        mix.setup_bytes as f64,
        20.0 * 1_048_576.0,
        0.0,
    );
    within(
        "fsync per 1,000 ops",
        mix.flushes_per_thousand().unwrap(),
        12.1,
        1.0,
    );
    within(
        "deepest path",
        mix.path_depths.max().unwrap() as f64,
        6.0,
        0.0,
    );
    within(
        "mean path length",
        mix.path_lengths.mean().unwrap(),
        39.0,
        3.0,
    );
    rows
}

const STANDARD_LINES: u64 = 458_344;

const STANDARD_COUNTS: [(OpCode, u64); 18] = [
    (OpCode::NtCreateX, 79_230),
    (OpCode::Close, 58_200),
    (OpCode::Rename, 3_355),
    (OpCode::Unlink, 16_000),
    (OpCode::Deltree, 2),
    (OpCode::Rmdir, 0),
    (OpCode::Mkdir, 1),
    (OpCode::QueryPath, 71_814),
    (OpCode::QueryFile, 12_585),
    (OpCode::QueryFs, 13_168),
    (OpCode::SetFile, 6_454),
    (OpCode::Find, 27_765),
    (OpCode::WriteX, 39_502),
    (OpCode::ReadX, 124_199),
    (OpCode::LockX, 258),
    (OpCode::UnlockX, 258),
    (OpCode::Flush, 5_553),
    (OpCode::Sleep, 0),
];

#[test]
fn the_file_that_comes_with_dbench_has_its_published_figures() {
    kernmark_sys::skip_unless!(Path::new(INSTALLED).is_file(), "the package dbench");
    let text = std::fs::read(INSTALLED).unwrap();
    let loadfile = parse(&text).unwrap();
    let mix = Mix::of(&loadfile);
    eprintln!("{mix}");

    assert_eq!(loadfile.warnings, []);
    assert_eq!(loadfile.lines, STANDARD_LINES);
    for (code, count) in STANDARD_COUNTS {
        assert_eq!(mix.count(code), count, "{}", code.loadfile_name());
    }
    assert_eq!(mix.read_sizes.sum(), 1_472_088_767);
    assert_eq!(mix.write_sizes.sum(), 1_015_974_170);
    assert_eq!(
        (mix.read_sizes.distinct(), mix.write_sizes.distinct()),
        (67, 59)
    );
    assert_eq!((mix.peak_files, mix.peak_bytes), (85, 23_965_486));
    assert_eq!(
        (mix.peak_handles, loadfile.slots, mix.largest_directory),
        (23, 23, 27)
    );
    assert_eq!(mix.distinct_paths, 198);
    let opens = Opens {
        existing: 42_132,
        failed: 21_030,
        new: 16_057,
        directories: 11,
    };
    assert_eq!(mix.opens, opens);
    let queries = Queries {
        file: 46_598,
        directory: 831,
        missing: 24_385,
    };
    assert_eq!(mix.queries, queries);
    assert_eq!(
        (mix.finds.unmatched, mix.finds.entries.max()),
        (14_328, Some(24))
    );
    let positions = Positions {
        hole: 7_424,
        beyond: 0,
        at_end: 5_400,
        crossing: 6_251,
        overwrite: 20_427,
    };
    assert_eq!(mix.positions, positions);
    assert_eq!(
        (mix.setup_bytes, mix.path_lengths.max()),
        (20 << 20, Some(51))
    );
    assert_eq!(mix.read_runs.count(), 32_597);
    let at_close = [10, 25, 50, 75, 90, 95, 99].map(|percent| mix.close_sizes.percentile(percent));
    let published = [0, 2_048, 74_834, 260_096, 260_096, 327_680, 1_867_776];
    assert_eq!(at_close, published.map(Some));
    let line_of_setup_end = loadfile.op_lines[loadfile.setup_end];
    assert!(
        (595..=610).contains(&line_of_setup_end),
        "the set-up ends before {line_of_setup_end}"
    );
    assert_standard(&mix, "the file that comes with dbench");
}

fn mix_of(text: &str) -> Mix {
    Mix::of(&parse(text.as_bytes()).unwrap())
}

#[test]
fn tells_the_operations_that_a_filesystem_would_answer_otherwise() {
    let mix = mix_of(
        r#"Mkdir "\d" NT_STATUS_OK
NTCreateX "\d\f" 0x40 0x2 1 NT_STATUS_OK
WriteX 1 0 100 100 NT_STATUS_OK
ReadX 1 50 100 100 NT_STATUS_OK
Rmdir "\d" NT_STATUS_OK
Unlink "\d\g" 0x6 NT_STATUS_OK
QUERY_PATH_INFORMATION "\d\f" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\d\gone" 0x40 0x1 2 NT_STATUS_OK
Close 2 NT_STATUS_OK
Close 3 NT_STATUS_OK
FIND_FIRST "\d\*" 260 1366 0 NT_STATUS_NO_SUCH_FILE
Close 1 NT_STATUS_OK
"#,
    );
    let told: Vec<String> = mix.unexpected.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 4: ReadX should move 100 bytes and moves 50",
            "line 5: Rmdir should succeed and fails",
            "line 6: Unlink should succeed and fails",
            "line 7: QUERY_PATH_INFORMATION should fail and succeeds",
            "line 8: NTCreateX should succeed and fails",
            "line 9: Close uses a handle whose open failed",
            "line 10: Close uses handle 3, which is not open",
            "line 11: FIND_FIRST should fail and succeeds",
        ]
    );
    assert_eq!(mix.unexpected_count, 8);
}

#[test]
fn follows_files_through_renames_and_after_their_unlink() {
    let mix = mix_of(
        r#"NTCreateX "\a" 0x40 0x2 1 NT_STATUS_OK
WriteX 1 0 10 10 NT_STATUS_OK
NTCreateX "\b" 0x40 0x2 2 NT_STATUS_OK
WriteX 2 0 1000 1000 NT_STATUS_OK
Close 2 NT_STATUS_OK
Rename "\b" "\a" NT_STATUS_OK
ReadX 1 0 10 10 NT_STATUS_OK
WriteX 1 10 5000 5000 NT_STATUS_OK
Close 1 NT_STATUS_OK
QUERY_PATH_INFORMATION "\b" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\a" 0x40 0x1 3 NT_STATUS_OK
ReadX 3 0 1000 1000 NT_STATUS_OK
Unlink "\a" 0x6 NT_STATUS_OK
Close 3 NT_STATUS_OK
"#,
    );
    assert_eq!(mix.unexpected, []);
    assert_eq!((mix.peak_files, mix.peak_bytes), (2, 1_010));
    assert_eq!(mix.close_sizes.max(), Some(5_010));
    assert_eq!(mix.unlink_sizes.max(), Some(1_000));
    assert_eq!(
        mix.handles,
        HandleLives {
            idle: 0,
            read: 1,
            written: 1,
            both: 1
        }
    );
}

#[test]
fn deltree_removes_the_files_and_leaves_the_directories() {
    let mix = mix_of(
        r#"Deltree "\top" NT_STATUS_OK
NTCreateX "\top" 0x1 0x2 1 NT_STATUS_OK
NTCreateX "\top\in" 0x1 0x2 2 NT_STATUS_OK
NTCreateX "\top\in\f" 0x40 0x2 3 NT_STATUS_OK
Deltree "\top" NT_STATUS_OK
QUERY_PATH_INFORMATION "\top\in\f" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\top\in" 1004 NT_STATUS_OK
Rmdir "\top" NT_STATUS_DIRECTORY_NOT_EMPTY
Rmdir "\top\in" NT_STATUS_OK
Rename "\top" "\top\below" NT_STATUS_ACCESS_DENIED
Rmdir "\top" NT_STATUS_OK
"#,
    );
    assert_eq!(mix.unexpected, []);
    assert_eq!((mix.opens.directories, mix.opens.new), (2, 1));
}

#[test]
fn percentiles_and_shares_of_a_distribution() {
    let mut sizes = Distribution::default();
    assert_eq!(
        (sizes.percentile(50), sizes.mean(), sizes.max()),
        (None, None, None)
    );
    sizes.extend([0, 0, 10, 30]);
    assert_eq!(
        [25, 50, 51, 75, 100].map(|percent| sizes.percentile(percent)),
        [0, 0, 10, 10, 30].map(Some)
    );
    assert_eq!(
        (sizes.share_in(0..=0), sizes.sum_share_in(11..=30)),
        (Some(0.5), Some(0.75))
    );
    assert_eq!(
        (sizes.count(), sizes.sum(), sizes.mean()),
        (4, 40, Some(10.0))
    );
}

#[test]
fn a_file_without_repetition_has_no_iterations() {
    let mix = mix_of("NTCreateX \"\\a\" 0x40 0x2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n");
    assert_eq!(mix.iterations, None);
    assert!(mix.to_string().contains("iterations"), "{mix}");
}
