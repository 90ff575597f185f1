//! What needs more than one process: a writer that is killed, several at once, a child that executes something else.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kernmark_model::event::{EVENT_VERSION, Event, EventBody, Sink};
use kernmark_model::fixtures;
use kernmark_model::run::{Outcome, Run};
use kernmark_model::units::Nanos;
use rusqlite::Connection;
use uuid::Uuid;

use crate::{Detail, Selection, Store, open};

/// How many phases each written run has.
const PHASES: usize = 4;

/// The run that writers write, under a name of its own.
fn written() -> Run {
    let mut run = fixtures::blocked_session_with_a_void().remove(0);
    run.uuid = Uuid::now_v7();
    let phase = run.phases[0].clone();
    run.phases = (1..)
        .map(|repetition| {
            let mut phase = phase.clone();
            phase.repetition = repetition;
            phase
        })
        .take(PHASES)
        .collect();
    run
}

/// Sends a run's events to the store; `acknowledged` hears of each that was taken.
fn send(store: &mut Store, run: &Run, mut acknowledged: impl FnMut(&str)) {
    let mut number = 0;
    let mut event = |body| {
        store
            .event(&Event {
                version: EVENT_VERSION,
                number,
                run: run.uuid,
                at: Nanos(number),
                body,
            })
            .unwrap();
        number += 1;
    };
    let head = Box::new(Run {
        phases: Vec::new(),
        ..run.clone()
    });
    event(EventBody::RunStarted { run: head.clone() });
    acknowledged("begun");
    for phase in &run.phases {
        let phase = Box::new(phase.clone());
        event(EventBody::PhaseFinished { phase });
        acknowledged("phase");
    }
    event(EventBody::RunFinished { run: head });
    acknowledged("finished");
}

/// This program again, running only the child of that name, which reads its orders from standard input.
fn child(name: &str, orders: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .arg(format!("tests::{name}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipe is closed here: the orders are whole.
    let mut input = child.stdin.take().unwrap();
    input.write_all(orders.as_bytes()).unwrap();
    child
}

fn orders() -> Vec<String> {
    std::io::stdin()
        .lock()
        .lines()
        .map(Result::unwrap)
        .collect()
}

#[test]
#[ignore = "a child that others start and kill: it writes runs for ever"]
fn child_that_writes_for_ever() {
    let [path, filesystem] = &orders()[..] else {
        panic!("a path and a filesystem are wanted");
    };
    let mut store = open::writable(Path::new(path), Some(filesystem)).unwrap();
    println!();
    loop {
        let run = written();
        send(&mut store, &run, |what| println!("{what} {}", run.uuid));
    }
}

#[test]
#[ignore = "a child that others start: it writes a few runs"]
fn child_that_writes_five_runs() {
    let [path] = &orders()[..] else {
        panic!("a path is wanted");
    };
    let mut store = Store::open(Path::new(path)).unwrap();
    for _ in 0..5 {
        send(&mut store, &written(), |_| {});
    }
}

/// Kills the writer after `acknowledgements` and `spins` turns of an empty loop, which put the moment anywhere between
/// two of them; returns all acknowledgements that had come by then.
fn kill_after(child: &mut Child, acknowledgements: usize, spins: u64) -> Vec<(String, Uuid)> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut heard = Vec::new();
    let mut hear = |line: &str| {
        if let Some((what, name)) = line.split_once(' ')
            && let Ok(name) = Uuid::parse_str(name)
        {
            heard.push((what.to_owned(), name));
        }
        heard.len()
    };
    while hear(&lines.next().unwrap().unwrap()) < acknowledgements {}
    for spin in 0..spins {
        std::hint::black_box(spin);
    }
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    lines.for_each(|line| {
        hear(&line.unwrap());
    });
    heard
}

fn survives_kills(filesystem: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let template = written();
    let mut finished_before = 0;
    for round in 0..12_u64 {
        let mut writer = child(
            "child_that_writes_for_ever",
            &format!("{}\n{filesystem}\n", path.display()),
        );
        let acknowledgements = 1 + usize::try_from(round * 5 % 13).unwrap();
        let heard = kill_after(&mut writer, acknowledgements, round * round * 40_000);

        let integrity: String = Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(integrity, "ok");
        let store = open::writable(&path, Some(filesystem)).unwrap();
        let mut names: Vec<Uuid> = heard.iter().map(|(_, name)| *name).collect();
        names.dedup();
        for name in &names {
            let of = |what: &str| heard.iter().filter(|(w, n)| w == what && n == name).count();
            let run = store.run(name).unwrap();
            let phases = run.phases.len();
            // One more may have been stored before its acknowledgement could be sent.
            assert!(
                (of("phase")..=of("phase") + 1).contains(&phases),
                "{phases} phases stored, {} acknowledged",
                of("phase")
            );
            assert_eq!(run.phases, template.phases[..phases]);
            match &run.outcome {
                Outcome::Complete => assert_eq!(phases, PHASES),
                Outcome::Partial(why) => {
                    assert_eq!(of("finished"), 0);
                    assert_eq!(why, "interrupted: the program ended before the run did");
                }
                other => panic!("{other:?}"),
            }
        }
        let complete = "outcome=complete".parse().unwrap();
        let complete = store.runs(&Selection::of(vec![complete])).unwrap().len();
        let finished = heard.iter().filter(|(what, _)| what == "finished").count();
        assert!(complete >= finished_before + finished);
        finished_before += finished;
    }
    assert!(finished_before > 0);
}

#[test]
fn a_killed_writer_leaves_every_acknowledged_phase_in_a_write_ahead_log() {
    survives_kills("ext4");
}

#[test]
fn a_killed_writer_leaves_every_acknowledged_phase_beside_a_rollback_journal() {
    survives_kills("nfs4");
}

#[test]
fn several_writers_make_the_store_at_once_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/store.db");
    let orders = format!("{}\n", path.display());
    let writers: Vec<Child> = (0..4)
        .map(|_| child("child_that_writes_five_runs", &orders))
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let store = Store::open_read_only(&path).unwrap();
    let runs = store.load(&Selection::default(), Detail::Full).unwrap();
    assert_eq!(runs.len(), 20);
    for run in runs {
        assert_eq!(run.outcome, Outcome::Complete);
        assert_eq!(run.phases.len(), PHASES);
    }
}

#[test]
fn a_program_that_a_child_executes_does_not_get_the_descriptors() {
    const CLOSED_ON_EXEC: u32 = 0o2_000_000;
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    store.insert_run(&fixtures::lat_mem_rd_table()).unwrap();
    let mut checked = Vec::new();
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let entry = entry.unwrap();
        let Ok(file) = fs::read_link(entry.path()) else {
            continue; // the folder's own descriptor
        };
        if !file.starts_with(folder.path()) {
            continue;
        }
        let info = Path::new("/proc/self/fdinfo").join(entry.file_name());
        let info = fs::read_to_string(info).unwrap();
        let flags = info
            .lines()
            .find_map(|line| line.strip_prefix("flags:"))
            .unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        assert_eq!(flags & CLOSED_ON_EXEC, CLOSED_ON_EXEC, "{}", file.display());
        checked.push(file);
    }
    // The database, its log and its shared memory.
    assert_eq!(checked.len(), 3, "{checked:?}");
}

#[test]
fn a_store_that_another_process_holds_is_busy_and_not_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    store
        .connection
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store
        .insert_run(&fixtures::corners())
        .unwrap_err()
        .to_string();
    assert!(error.contains("locked by another process"), "{error}");
    // Readers are let in.
    assert_eq!(store.runs(&Selection::default()).unwrap(), []);
    other.execute_batch("COMMIT").unwrap();
    assert!(store.insert_run(&fixtures::corners()).unwrap());
}
