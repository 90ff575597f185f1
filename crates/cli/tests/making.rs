//! Runs that are made: what is stored and told of them.

mod support;

use std::fs;

use serde_json::Value;
use support::{World, entries};

fn body<'e>(events: &'e [Value], kind: &str) -> &'e Value {
    events
        .iter()
        .find_map(|event| event["body"].get(kind))
        .unwrap_or_else(|| panic!("no {kind} in {events:?}"))
}

#[test]
fn the_event_stream_is_numbered_versioned_and_whole() {
    let world = World::new();
    let events = world.json(&[
        "run",
        "null",
        "seconds=0",
        "ops=10",
        "--repeat",
        "2",
        "--json",
    ]);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(
            (&event["version"], &event["number"]),
            (&1.into(), &number.into())
        );
    }
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| {
            event["body"]
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .as_str()
        })
        .filter(|kind| *kind != "tick")
        .collect();
    let one = [
        "run_started",
        "phase_started",
        "phase_finished",
        "run_finished",
    ];
    assert_eq!(kinds, [one, one].concat());
    assert_eq!(body(&events, "run_finished")["run"]["outcome"], "complete");
}

#[test]
fn workers_that_are_this_program_again_do_their_work() {
    let world = World::new();
    let events = world.json(&[
        "run",
        "null",
        "spawn=exec",
        "workers=4",
        "seconds=0",
        "ops=10",
        "--json",
    ]);
    let phase = &body(&events, "phase_finished")["phase"];
    assert_eq!(phase["spawn"], "exec");
    let workers = phase["workers"].as_array().unwrap();
    let counts: Vec<&Value> = workers
        .iter()
        .map(|worker| &worker["ops"][0]["count"])
        .collect();
    assert_eq!(counts, [10; 4]);
}

#[test]
fn the_program_has_one_thread_when_it_forks() {
    let world = World::new();
    let mut live = world.listen(&["run", "null", "seconds=60"]);
    live.until("run_started");
    let tasks = format!("/proc/{}/task", live.pid());
    assert_eq!(entries(tasks.as_ref()), [live.pid().to_string()]);
    live.until("phase_started");
    assert_eq!(entries(tasks.as_ref()), [live.pid().to_string()]);
    live.signal(kernmark_sys::signal::INT);
    live.end();
}

#[test]
fn a_sweep_and_its_repetitions_are_stored_with_their_label() {
    let world = World::new();
    world.done(&[
        "run",
        "workers=1,2",
        "null",
        "seconds=0",
        "ops=1",
        "--label",
        "x y",
        "--repeat",
        "2",
        "--quiet",
    ]);
    let runs = world.json(&["runs", "--json"]);
    let told: Vec<String> = runs
        .iter()
        .map(|run| {
            format!(
                "{} {} {}",
                run["selector"], run["params"]["workers"]["count"], run["label"]
            )
        })
        .collect();
    let each = ["\"null\" 1 \"x y\"", "\"null\" 2 \"x y\""];
    assert_eq!(told, [each, each].concat());
    let two = world.json(&["runs", "--json", "--where", "workers=2"]);
    assert_eq!(two.len(), 2);
}

#[test]
fn a_run_is_made_again_as_it_was() {
    let world = World::new();
    world.done(&[
        "run",
        "null",
        "seconds=0",
        "ops=3",
        "bytes=65537",
        "--label",
        "first",
        "-q",
    ]);
    let first = world.json(&["runs", "--json"]).remove(0);
    let name = first["uuid"].as_str().unwrap();
    let events = world.json(&["run", "--like", name, "--label", "second", "--json"]);
    let again = &body(&events, "run_started")["run"];
    assert_eq!(again["plan"]["params"], first["params"]);
    assert_eq!(again["plan"]["label"], "second");
    assert_ne!(again["uuid"], first["uuid"]);
}

#[test]
fn what_would_end_after_the_budget_is_left_out_and_resumed() {
    let world = World::new();
    let run = [
        "run",
        "null",
        "seconds=10ms",
        "--repeat",
        "3",
        "--budget",
        "1ns",
    ];
    let left = world.told(&run, 0);
    assert!(left.contains("3 of 3 runs are left out"), "{left}");
    assert_eq!(world.json(&["runs", "--json"]).len(), 0);
    world.done(&["resume", "--budget", "10m"]);
    assert_eq!(world.json(&["runs", "--json"]).len(), 3);
    world.command(&["resume"]).assert().code(2);
}

#[test]
fn a_plan_that_is_not_wanted_is_forgotten() {
    let world = World::new();
    world.done(&["run", "null", "seconds=10ms", "--budget", "1ns"]);
    let refused = world.told(&["resume", "--forget"], 2);
    assert!(refused.contains("PLAN"));
    let all = world.told(&["resume", "x"], 2);
    let plan = all
        .lines()
        .last()
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    world.done(&["resume", "--forget", plan]);
    let none = world.told(&["resume"], 2);
    assert!(none.contains("nothing to resume"));
}

#[test]
fn a_scratch_folder_is_made_and_removed_and_the_store_on_its_device_is_told() {
    let world = World::new();
    let events = world.json(&[
        "run",
        "dbench",
        "passes=1",
        "iterations=1",
        "warmup=0",
        "--on",
        ".",
        "--json",
    ]);
    assert_eq!(body(&events, "run_finished")["run"]["outcome"], "complete");
    let doubts = &body(&events, "run_started")["run"]["doubts"];
    assert!(
        doubts
            .as_array()
            .unwrap()
            .contains(&"store_on_target".into()),
        "{doubts}"
    );
    assert_eq!(entries(&world.work()), [""; 0]);
    let stored = world.json(&["show", "--json", events[0]["run"].as_str().unwrap()]);
    let told = stored[1]["doubts"].as_array().unwrap();
    assert_eq!(
        told.iter()
            .filter(|doubt| *doubt == "store_on_target")
            .count(),
        1
    );
}

#[test]
fn one_input_serves_every_run_of_a_sweep() {
    let world = World::new();
    let load = "Mkdir \"\\clients\" NT_STATUS_OK\nMkdir \"\\clients\\client1\" NT_STATUS_OK\n";
    let output = world
        .command(&[
            "run",
            "dbench",
            "loadfile=-",
            "passes=1",
            "warmup=0",
            "clients=1,2",
            "-q",
        ])
        .write_stdin(load)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(world.json(&["runs", "--json"]).len(), 2);
}

#[test]
fn runs_are_exported_and_removed() {
    let world = World::new();
    world.done(&["run", "null", "seconds=0", "ops=1", "--repeat", "2", "-q"]);
    let csv = world.done(&["export", "--format", "csv"]);
    assert!(csv.starts_with("uuid,"), "{csv}");
    let json = world.json(&["export", "--format", "json", "--redact"]);
    assert_eq!(json.len(), 3);
    assert_eq!(json[0]["redacted"], true);
    let sql = world.done(&["export", "--format", "sql"]);
    assert!(sql.contains("TABLE run"), "{sql}");
    world.command(&["runs", "--delete"]).assert().code(2);
    let name = json[1]["uuid"].as_str().unwrap();
    world.done(&["runs", "--delete", name]);
    assert_eq!(world.json(&["runs", "--json"]).len(), 1);
    world.done(&["runs", "--delete", "--where", "tool=null"]);
    assert_eq!(world.json(&["runs", "--json"]).len(), 0);
}

#[test]
fn two_runs_on_one_machine_differ_in_nothing() {
    let world = World::new();
    world.done(&["run", "null", "seconds=0", "ops=1", "--repeat", "2", "-q"]);
    let runs = world.json(&["runs", "--json"]);
    let [first, second] = [0, 1].map(|index: usize| runs[index]["uuid"].as_str().unwrap());
    let text = world.done(&["machine", "diff", first, second]);
    assert!(text.contains("differ in no fact"), "{text}");
    assert_eq!(
        world
            .json(&["machine", "diff", first, second, "--json"])
            .len(),
        0
    );
}

#[test]
fn a_store_that_is_named_is_used_and_made() {
    let world = World::new();
    world.done(&[
        "run",
        "null",
        "seconds=0",
        "ops=1",
        "-q",
        "--db",
        "here/my.db",
    ]);
    assert_eq!(entries(&world.work().join("here")), ["my.db"]);
    assert!(!world.store().exists());
    let mut by_environment = world.command(&["runs", "--json"]);
    let output = by_environment
        .env("KERNMARK_DB", "here/my.db")
        .output()
        .unwrap();
    assert_eq!(
        support::lines(&String::from_utf8(output.stdout).unwrap()).len(),
        1
    );
}

#[test]
fn links_are_made_for_the_originals_and_nothing_is_overwritten() {
    let world = World::new();
    let bin = world.work().join("bin");
    fs::create_dir(&bin).unwrap();
    let tools = world.json(&["list", "--json"]);
    let mut names: Vec<&str> = tools
        .iter()
        .flat_map(|tool| tool["personalities"].as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    names.sort_unstable();
    world.done(&["link", "bin"]);
    assert_eq!(entries(&bin), names);
    world.done(&["link", "bin"]);
    if let Some(name) = names.first() {
        fs::remove_file(bin.join(name)).unwrap();
        fs::write(bin.join(name), "somebody's").unwrap();
        let refused = world.told(&["link", "bin"], 3);
        assert!(refused.contains("left alone"));
        assert_eq!(fs::read_to_string(bin.join(name)).unwrap(), "somebody's");
    }
}

#[test]
fn stored_runs_are_compared_and_nothing_is_claimed_without_blocks() {
    let world = World::new();
    for busy in ["1us", "2us"] {
        let (busy, label) = (format!("busy={busy}"), format!("label {busy}"));
        let words = [
            "run",
            "null",
            "seconds=20ms",
            &busy,
            "--label",
            &label,
            "--repeat",
            "2",
            "-q",
        ];
        world.done(&words);
    }
    let text = world.done(&["compare", "--by", "busy"]);
    assert!(text.contains("unblocked: drift not controlled"), "{text}");
    let tables = world.json(&["compare", "--by", "label,busy", "--metric", "all", "--json"]);
    assert!(
        tables.iter().all(|table| table["version"] == 1),
        "{tables:?}"
    );
    assert_eq!(tables[0]["rows"].as_array().unwrap().len(), 2);
    // Unblocked runs are no verdict, either way.
    world.told(&["compare", "--by", "label", "--fail-if", "worse"], 5);
    for words in [
        &["compare", "--by", "colour"][..],
        &["compare", "--by", "busy", "--baseline", "9"],
        &["compare", "--by", "busy", "--metric", "beauty"],
        &["compare", "--by", "busy", "--margin", "nan"],
        &["compare", "--by", "busy", "--margin", "-1"],
        &["compare", "--by", "busy", "--where", "tool=dbench"],
        &["compare"],
    ] {
        let (code, told) = world.refused(words);
        assert_eq!(code, 2, "{told}");
    }
}

#[test]
fn an_original_is_called_by_its_name_and_stores_only_where_told() {
    let world = World::new();
    fs::create_dir(world.work().join("bin")).unwrap();
    world.done(&["link", "bin"]);
    let load = world.work().join("load.txt");
    let text =
        "0.0 Mkdir \"\\clients\" NT_STATUS_OK\n0.0 Deltree \"\\clients\\client1\" NT_STATUS_OK\n";
    fs::write(&load, text).unwrap();
    let words = ["-t", "1", "-c", "load.txt", "1"];
    let linked = |db: &str| {
        let mut command = std::process::Command::new(world.work().join("bin/dbench"));
        command.args(words).current_dir(world.work()).env_clear();
        if !db.is_empty() {
            command.env("KERNMARK_DB", db);
        }
        assert_cmd::Command::from_std(command)
    };
    // No home, no store: an original needs neither.
    let output = linked("").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with("dbench version 4.00"), "{told}");
    assert!(
        told.contains("Throughput "),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(entries(&world.work()), ["bin", "load.txt"]);
    linked("mine.db").assert().code(0);
    let as_words = [&["--db", "mine.db", "as", "dbench"][..], &words].concat();
    world.done(&as_words);
    assert_eq!(world.json(&["runs", "--json", "--db", "mine.db"]).len(), 2);
    // Its own codes and its own help.
    world.told(&["as", "dbench", "-t", "x", "1"], 1);
    let help = world.done(&["as", "dbench", "--help"]);
    assert!(help.contains("NPROCS"), "{help}");
}

#[test]
fn a_stored_run_is_shown_as_the_original_prints_it() {
    let world = World::new();
    let run = [
        "run",
        "dbench",
        "passes=1",
        "iterations=1",
        "warmup=0",
        "-q",
    ];
    let text = world.done(&run);
    assert!(text.contains("doubts:"), "{text}");
    let name = world.json(&["runs", "--json"])[0]["uuid"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = world.done(&["show", &name, "--as", "dbench-4.0"]);
    assert!(shown.contains("Throughput "), "{shown}");
    let (code, told) = world.refused(&["show", &name, "--as", "bonnie"]);
    assert_eq!(code, 2);
    assert!(told.contains("dbench has dbench-4.0"), "{told}");
}
