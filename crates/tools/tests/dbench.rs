//! dbench 4.0 against its acceptance cases. What needs a trace of the program is tested with the command line.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod support;

use std::cell::Cell;
use std::rc::Rc;

use kernmark_engine::runner::{Manner, RunError};
use kernmark_engine::script::{Answer, Rule, Script};
use kernmark_model::event::EventBody;
use kernmark_model::run::{Doubt, Outcome, WorkerState};
use kernmark_model::units::{Bytes, Nanos};
use support::{Bench, Heard, plan};

/// Open, one 64 KiB write, close.
const ONE_WRITE: &str = "\
Mkdir \"\\clients\" NT_STATUS_OK
NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK
WriteX 7 0 65536 65536 NT_STATUS_OK
Close 7 NT_STATUS_OK
";

/// Nothing but names.
const METADATA: &str = "\
Mkdir \"\\clients\" NT_STATUS_OK
Mkdir \"\\clients\\client1\" NT_STATUS_OK
QUERY_PATH_INFORMATION \"\\clients\\client1\" 1004 NT_STATUS_OK
";

fn with(text: &str) -> (Bench, String) {
    let bench = Bench::new();
    let path = bench.file("load", text);
    let path = path.to_str().unwrap().to_owned();
    (bench, path)
}

#[test]
fn case_01_no_number_of_processes_is_answered_with_help() {
    let (code, out, _) = Bench::new().personality("dbench", "");
    assert!(
        out.starts_with("dbench version 4.00 - Copyright Andrew Tridgell 1999-2004\n\n"),
        "{out}"
    );
    assert!(out.contains("You need to specify NPROCS"), "{out}");
    assert_ne!(code, 0);
}

/// Matches `pattern`, in which `0` stands for digits, `.0` for a fraction and `~` for blanks.
fn looks_like(line: &str, pattern: &str) -> bool {
    let mut rest = line;
    for piece in pattern.chars() {
        let eaten = match piece {
            '0' => rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
            '~' => rest.find(|c: char| c != ' ').unwrap_or(rest.len()),
            literal if rest.starts_with(literal) => literal.len_utf8(),
            _ => 0,
        };
        if eaten == 0 {
            return false;
        }
        rest = &rest[eaten..];
    }
    rest.is_empty()
}

#[test]
fn case_02_the_text_of_a_run_is_the_original_s() {
    let (bench, load) = with(ONE_WRITE);
    let data = bench.data();
    let (code, out, err) =
        bench.personality("dbench", &format!("-t 2 -c {load} -D {} 2", data.display()));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[2],
        format!("Running for 2 seconds with load '{load}' and minimum warmup 0 secs")
    );
    let execute: Vec<&&str> = lines
        .iter()
        .filter(|line| line.contains("execute"))
        .collect();
    assert_eq!(execute.len(), 2, "{out}");
    for line in execute {
        assert!(
            looks_like(line, "~2~0~0.0 MB/sec  execute~0 sec  latency 0.0 ms"),
            "{line}"
        );
    }
    let last = lines.last().unwrap();
    let numbers = last
        .strip_prefix("Throughput ")
        .and_then(|rest| rest.split_once(" MB/sec  2 clients  2 procs  max_latency="));
    let (throughput, latency) = numbers.unwrap_or_else(|| panic!("{last}"));
    assert!(throughput.parse::<f64>().unwrap() > 0.0, "{last}");
    assert!(looks_like(latency, "0.0 ms"), "{last}");
    assert!(out.contains("\n Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n NTCreateX "), "{out}");
    assert_eq!(bench.left(), Vec::<String>::new());
}

#[test]
fn case_03_sync_options_stand_in_the_last_line() {
    let (bench, load) = with(ONE_WRITE);
    let (_, out, _) = bench.personality(
        "dbench",
        &format!("-s -S -t 1 -c {load} -D {} 1", bench.data().display()),
    );
    let last = out.lines().last().unwrap();
    assert!(
        last.contains(" MB/sec (sync open) (sync dirs)  1 clients  1 procs  max_latency="),
        "{last}"
    );
}

#[test]
fn case_04_bytes_are_those_of_the_writes_and_nothing_else() {
    let flush_and_query = ONE_WRITE.replace(
        "Close 7",
        "Flush 7 NT_STATUS_OK\nQUERY_FILE_INFORMATION 7 258 NT_STATUS_OK\nClose 7",
    );
    let (bench, load) = with(&flush_and_query);
    let (_, heard) = bench.run(&format!("dbench clients=2 passes=50 loadfile={load}"));
    let execute = heard.phase("execute");
    let total = execute.total(&[]);
    assert_eq!(total.bytes, Bytes(2 * 50 * 65_536));
    assert_eq!(execute.total(&["WriteX".into()]).count, 100);
    assert_eq!(execute.total(&["pass".into()]).count, 100);
    // A failing fsync or stat adds no bytes.
    let script = Script {
        rules: vec![
            Rule::every("fsync", 1_000).returns(Answer::Errno(5)),
            Rule::every("fstat", 1_000).returns(Answer::Errno(5)),
        ],
        otherwise_nanos: 1_000,
    };
    let mut heard = Heard::default();
    let text = format!("dbench passes=10 on-error=continue loadfile={load}");
    bench.run_with(&text, Some(script), &mut heard).unwrap();
    let total = heard.phase("execute").total(&[]);
    assert_eq!(total.bytes, Bytes(10 * 65_536));
    assert_eq!(total.unexpected, 20, "the failures are counted as such");
    let first = heard
        .finished()
        .doubts
        .iter()
        .find_map(|doubt| match doubt {
            Doubt::Unexpected {
                count: 20, first, ..
            } => Some(first.as_str()),
            _ => None,
        });
    assert!(
        first.is_some_and(|first| first.contains("Flush: Input/output error")),
        "{first:?}"
    );
}

#[test]
fn case_09_a_handle_used_before_its_open_ends_the_run() {
    let (bench, load) = with("Mkdir \"\\clients\" NT_STATUS_OK\nReadX 33 0 10 10 NT_STATUS_OK\n");
    let (end, heard) = bench.run(&format!(
        "dbench clients=3 seconds=60 warmup=0 loadfile={load}"
    ));
    let Outcome::Failed(why) = &end.outcome else {
        panic!("{:?}", end.outcome)
    };
    assert!(
        why.contains("loadfile line 2") && why.contains("handle 33 was not found"),
        "{why}"
    );
    assert!(!heard.finished().outcome.is_complete());
    assert!(
        heard.phase("execute").elapsed < Nanos::secs(30),
        "the others were stopped"
    );
    assert_eq!(bench.left(), Vec::<String>::new());
    let (code, out, err) = bench.personality(
        "dbench",
        &format!("-t 9 -c {load} -D {} 2", bench.data().display()),
    );
    assert!(
        code == 1 && out.contains("(2) ERROR: handle 33 was not found"),
        "{out}{err}"
    );
    assert!(err.contains("Child failed with status 1"), "{err}");
}

/// Children of this process, by /proc.
fn children() -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks.map(|task| {
        std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default()
    });
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn case_10_a_killed_client_fails_the_run() {
    let (bench, load) = with(ONE_WRITE);
    let killed = Rc::new(Cell::new(false));
    let mut heard = Heard {
        on_event: Some(Box::new({
            let killed = Rc::clone(&killed);
            move |event| {
                if matches!(event.body, EventBody::Tick(_)) && !killed.replace(true) {
                    kernmark_sys::process::kill(children()[0], kernmark_sys::signal::KILL);
                }
            }
        })),
        ..Heard::default()
    };
    let end = bench
        .run_with(
            &format!("dbench clients=2 seconds=60 warmup=0 loadfile={load}"),
            None,
            &mut heard,
        )
        .unwrap();
    assert!(killed.get());
    assert!(
        matches!(&end.outcome, Outcome::Failed(why) if why.contains("killed by signal 9")),
        "{:?}",
        end.outcome
    );
    let execute = heard.phase("execute");
    assert!(
        execute
            .workers
            .iter()
            .any(|worker| worker.state == WorkerState::Killed(9))
    );
    assert!(
        execute.total(&[]).count > 0,
        "what was counted until then is kept"
    );
    assert_eq!((bench.left(), children()), (Vec::new(), Vec::new()));
}

#[test]
fn case_11_a_loadfile_without_io_ends_by_itself() {
    let (bench, load) = with(METADATA);
    let (code, out, _) = bench.personality(
        "dbench",
        &format!("-t 2 -c {load} -D {} 1", bench.data().display()),
    );
    assert!(code == 0 && out.contains("Throughput 0 MB/sec"), "{out}");
    let (_, heard) = bench.run(&format!("dbench seconds=2 warmup=0 loadfile={load}"));
    let execute = heard.phase("execute");
    let total = execute.total(&[]);
    assert!(total.count > 0 && total.bytes == Bytes(0));
    assert!(execute.elapsed >= Nanos::secs(2));
}

#[test]
fn case_12_one_second_is_not_nothing() {
    let (bench, load) = with(ONE_WRITE);
    let (_, out, _) = bench.personality(
        "dbench",
        &format!("-t 1 -c {load} -D {} 1", bench.data().display()),
    );
    let throughput = out.lines().last().unwrap().split(' ').nth(1).unwrap();
    assert!(throughput.parse::<f64>().unwrap() > 0.0, "{out}");
    // The window is closed by the clock, not by whoever comes first.
    let mut heard = Heard::default();
    let script = Script {
        rules: Vec::new(),
        otherwise_nanos: 300_000,
    };
    bench
        .run_with(
            &format!("dbench seconds=1 warmup=0 loadfile={load}"),
            Some(script),
            &mut heard,
        )
        .unwrap();
    assert_eq!(heard.phase("execute").elapsed, Nanos::secs(1));
}

#[test]
fn case_13_nothing_stays_unless_asked_for() {
    let (bench, load) = with(ONE_WRITE);
    let args = format!("-t 1 -c {load} -D {} 2", bench.data().display());
    bench.personality("dbench", &args);
    assert_eq!(bench.left(), Vec::<String>::new());
    bench.personality("dbench", &format!("--skip-cleanup {args}"));
    assert_eq!(bench.left(), ["clients"]);
    let client = bench.data().join("clients/client0");
    assert!(client.join("a").is_file() && bench.data().join("clients/client1").is_dir());
    // Files are there now, and they may be somebody's.
    let (code, _, err) = bench.personality("dbench", &args);
    assert!(code == 1 && err.contains("holds files"), "{err}");
    assert!(client.join("a").is_file());
}

#[test]
fn case_14_clients_are_paced_each() {
    let (bench, load) = with(ONE_WRITE);
    let script = Script {
        rules: Vec::new(),
        otherwise_nanos: 10_000,
    };
    let mut heard = Heard::default();
    let text = format!("dbench clients=2 seconds=20 warmup=0 rate=5 loadfile={load}");
    bench.run_with(&text, Some(script), &mut heard).unwrap();
    let execute = heard.phase("execute");
    let rate = execute.total(&[]).bytes.as_mb() / execute.elapsed.as_secs_f64();
    assert!((9.5..=10.5).contains(&rate), "{rate} MB/s");
}

#[test]
fn case_14_time_stamps_hold_in_each_pass() {
    let stamped = "\
0.5 Mkdir \"\\clients\" NT_STATUS_OK
1.0 Mkdir \"\\clients\\client1\" NT_STATUS_OK
1.2 QUERY_FS_INFORMATION 1 NT_STATUS_OK
";
    let (bench, load) = with(stamped);
    let script = Script {
        rules: Vec::new(),
        otherwise_nanos: 1_000,
    };
    let mut heard = Heard::default();
    bench
        .run_with(
            &format!("dbench passes=3 loadfile={load}"),
            Some(script),
            &mut heard,
        )
        .unwrap();
    let execute = heard.phase("execute");
    let passes = execute.total(&["pass".into()]);
    assert_eq!(passes.count, 3);
    // The last op of a pass starts 1.2 s after the pass did, and takes a microsecond.
    assert_eq!(passes.max, Nanos(1_200_001_000));
    assert_eq!(passes.total, Nanos(3 * 1_200_001_000));
    let counts: Vec<u64> = heard
        .ticks()
        .iter()
        .filter(|tick| tick.phase == "execute")
        .map(|tick| tick.ops)
        .collect();
    assert_eq!(counts, [1, 4, 7, 9], "by seconds 1, 2, 3 and the end");
}

#[test]
fn case_20_a_second_run_in_one_directory_names_the_lock() {
    let (bench, load) = with(ONE_WRITE);
    let refused = Rc::new(Cell::new(None));
    let inner = Rc::clone(&refused);
    let text = format!("dbench passes=1 loadfile={load}");
    let second = plan(&text, Some(&bench.data()));
    let mut runner = bench.runner();
    let mut heard = Heard {
        on_event: Some(Box::new(move |event| {
            if matches!(event.body, EventBody::RunStarted { .. }) {
                let result = runner.run(
                    &second,
                    Manner::default(),
                    &mut std::io::empty(),
                    &mut Heard::default(),
                );
                inner.set(Some(result.unwrap_err()));
            }
        })),
        ..Heard::default()
    };
    let end = bench.run_with(&text, None, &mut heard).unwrap();
    assert_eq!(end.outcome, Outcome::Complete, "the first is not disturbed");
    let Some(RunError::Place(error)) = refused.take() else {
        panic!("not refused")
    };
    assert!(error.to_string().contains(".kernmark.lock"), "{error}");
    assert_eq!(bench.left(), Vec::<String>::new());
}

#[test]
fn a_stalled_fsync_is_seen_and_flagged() {
    let (bench, load) = with(&ONE_WRITE.replace("Close 7", "Flush 7 NT_STATUS_OK\nClose 7"));
    // The fifth fsync takes four seconds; no time passes in this test.
    let script = Script {
        rules: vec![Rule::every("fsync", 4_000_000_000).calls(5, 5)],
        otherwise_nanos: 50_000_000,
    };
    let mut heard = Heard::default();
    let text = format!("dbench seconds=20 warmup=0 loadfile={load}");
    bench.run_with(&text, Some(script), &mut heard).unwrap();
    let execute = heard.phase("execute");
    assert_eq!(execute.total(&["Flush".into()]).max, Nanos::secs(4));
    let stalled = heard
        .finished()
        .doubts
        .iter()
        .find_map(|doubt| match doubt {
            Doubt::Stalled { seconds, .. } => Some(*seconds),
            _ => None,
        });
    assert_eq!(stalled, Some(3));
    let longest = heard.ticks().iter().map(|tick| tick.longest).max();
    assert_eq!(
        longest,
        Some(Nanos::secs(4)),
        "an op in flight shows in the seconds that it lasts"
    );
}

#[test]
fn a_full_disk_is_a_failure_that_names_itself_and_leaves_nothing() {
    let (bench, load) = with(ONE_WRITE);
    let mut heard = Heard::default();
    let script = Script {
        rules: vec![
            Rule::every("pwrite", 1_000)
                .calls(300, u64::MAX)
                .returns(Answer::Errno(28)),
        ],
        otherwise_nanos: 1_000_000,
    };
    let text = format!("dbench seconds=5 warmup=0 loadfile={load}");
    let end = bench.run_with(&text, Some(script), &mut heard).unwrap();
    assert!(
        matches!(&end.outcome, Outcome::Failed(why) if why.contains("WriteX") && why.contains("No space left on device")),
        "{:?}",
        end.outcome
    );
    let total = heard.phase("execute").total(&[]);
    assert_eq!(total.unexpected, 1);
    assert!(
        total.bytes > Bytes::mib(15),
        "what went well is kept: {total:?}"
    );
}

#[test]
fn clients_of_one_process_go_in_lock_step() {
    let (bench, load) = with(ONE_WRITE);
    let (end, heard) = bench.run(&format!(
        "dbench clients=6 clients-per-process=3 passes=2 loadfile={load}"
    ));
    assert_eq!(end.outcome, Outcome::Complete);
    let execute = heard.phase("execute");
    assert_eq!(execute.workers.len(), 2);
    assert_eq!(execute.total(&["WriteX".into()]).count, 12);
    assert!(matches!(
        bench.run_with(
            &format!("dbench clients=5 clients-per-process=3 loadfile={load}"),
            None,
            &mut Heard::default()
        ),
        Err(RunError::Make { .. })
    ));
}

/// Private_Dirty of a process, in KiB.
fn private_dirty(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Private_Dirty:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[test]
fn a_thousand_clients_start_run_and_leave_within_half_a_mebibyte_each() {
    // 64 KiB of files a client.
    let load = ONE_WRITE.replace(
        "Close 7",
        "ReadX 7 0 65536 65536 NT_STATUS_OK\nFlush 7 NT_STATUS_OK\nClose 7",
    );
    let (bench, load) = with(&load);
    let largest = Rc::new(Cell::new(None));
    let seen = Rc::clone(&largest);
    let mut heard = Heard {
        on_event: Some(Box::new(move |event| {
            if let EventBody::Tick(tick) = &event.body
                && tick.phase == "execute"
                && seen.get().is_none()
            {
                seen.set(children().into_iter().filter_map(private_dirty).max());
            }
        })),
        ..Heard::default()
    };
    let text = format!("dbench clients=1000 seconds=2 warmup=0 loadfile={load}");
    let end = bench.run_with(&text, None, &mut heard).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert_eq!(heard.phase("execute").workers.len(), 1000);
    let largest = largest.get().expect("a tick came");
    assert!(largest <= 512, "{largest} KiB of private memory");
    assert_eq!((bench.left(), children()), (Vec::new(), Vec::new()));
}

#[test]
fn an_empty_name_is_not_the_present_directory() {
    let run = plan("dbench passes=1", Some(std::path::Path::new("")));
    let refused = Bench::new().runner().run(
        &run,
        Manner::default(),
        &mut std::io::empty(),
        &mut Heard::default(),
    );
    assert!(matches!(refused, Err(RunError::Place(_))), "{refused:?}");
}
