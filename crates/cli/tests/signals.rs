//! What ends a run early: signals, kills, workers that die. What was measured stays, and nothing else does.

mod support;

use std::os::unix::fs::DirBuilderExt;

use kernmark_sys::signal;
use serde_json::Value;
use support::{World, entries, eventually, name, outcome};

#[test]
fn an_interrupt_ends_the_plan_and_keeps_what_was_measured() {
    for (signal, code, said) in [
        (signal::INT, 130, "interrupted by SIGINT"),
        (signal::TERM, 143, "interrupted by SIGTERM"),
    ] {
        let world = World::new();
        let mut live = world.listen(&["run", "null", "seconds=60", "--repeat", "2"]);
        live.until("phase_started");
        let workers = live.workers();
        assert_eq!(workers.len(), 1);
        live.signal(signal);
        let finished = live.until("run_finished");
        let (ended, told) = live.end();
        assert_eq!(ended, Some(code), "{told}");
        assert!(told.contains("2 of 2 runs of null are not done"), "{told}");
        assert_eq!(
            outcome(&finished["run"]["outcome"]),
            ("partial".into(), said.into())
        );
        assert_eq!(world.outcomes(), [("partial".into(), said.into())]);
        assert_eq!(name(workers[0]), None);
        assert_eq!(entries(&world.undo()), [""; 0]);
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_workers() {
    let world = World::new();
    let mut live = world.listen(&["run", "null", "seconds=60", "busy=10m", "workers=2"]);
    live.until("phase_started");
    let workers = live.workers();
    live.signal(signal::INT);
    // The window is closed with a last look at it; only then is the second signal another one.
    live.until("tick");
    live.signal(signal::INT);
    let (ended, told) = live.end();
    assert_eq!(ended, Some(130), "{told}");
    assert_eq!(world.outcomes()[0].0, "partial");
    assert!(workers.iter().all(|worker| name(*worker).is_none()));
}

#[test]
fn an_interrupted_plan_goes_on_where_it_stopped() {
    let world = World::new();
    let plan = world.work().join("three.toml");
    let steps = ["10ms", "60s", "20ms"].map(|length| {
        format!("[[step]]\ntool = \"null\"\nlabel = \"{length}\"\nparams.seconds = \"{length}\"\n")
    });
    std::fs::write(&plan, steps.concat()).unwrap();
    let mut live = world.listen(&["run", "three.toml"]);
    live.until("run_finished");
    live.until("phase_started");
    live.signal(signal::INT);
    assert_eq!(live.end().0, Some(130));
    let mut live = world.listen(&["resume"]);
    assert_eq!(live.until("run_started")["run"]["plan"]["label"], "60s");
    live.until("phase_started");
    live.signal(signal::TERM);
    assert_eq!(live.end().0, Some(143));
    let left = world.told(&["resume", "ffff"], 2);
    assert!(left.contains("three, 2 of 3 runs not done"), "{left}");
    // Neither of the two fits, but the estimate of the first is what stops it.
    let nothing = world.done(&["resume", "--budget", "1s", "--json"]);
    assert_eq!(nothing, "");
    let labels: Vec<Value> = world
        .json(&["runs", "--json"])
        .iter()
        .map(|run| run["label"].clone())
        .collect();
    assert_eq!(labels, ["10ms", "60s", "60s"]);
}

#[test]
fn a_killed_program_leaves_its_finished_runs_and_nothing_else() {
    let world = World::new();
    let plan = world.work().join("two.toml");
    std::fs::write(
        &plan,
        "[[step]]\ntool = \"null\"\nparams.seconds = \"10ms\"\n\
         [[step]]\ntool = \"dbench\"\nparams = { seconds = 60, warmup = 0, iterations = 1 }\n",
    )
    .unwrap();
    let mut live = world.listen(&["run", "two.toml"]);
    live.until("run_finished");
    live.until("phase_started");
    let workers = live.workers();
    assert_eq!(workers.len(), 1);
    let scratch = entries(&world.work());
    assert!(
        scratch.iter().any(|name| name.starts_with("kernmark-")),
        "{scratch:?}"
    );
    live.signal(signal::KILL);
    let (ended, _) = live.end();
    assert_eq!(ended, None);
    eventually("the worker is gone", || name(workers[0]).is_none());
    eventually("the scratch folder is gone", || {
        entries(&world.work()) == ["two.toml"]
    });
    eventually("the journal is done", || {
        entries(&world.undo())
            .iter()
            .all(|name| !name.ends_with(".journal"))
    });
    let outcomes = world.outcomes();
    assert_eq!(outcomes[0], ("complete".into(), String::new()));
    assert_eq!(outcomes[1].0, "partial");
    assert_eq!(outcomes.len(), 2);
}

#[test]
fn a_worker_that_dies_fails_the_run_and_is_named() {
    for spawn in ["spawn=fork", "spawn=exec"] {
        let world = World::new();
        let mut live = world.listen(&["run", "null", "seconds=60", "workers=3", spawn]);
        live.until("phase_started");
        let workers = live.workers();
        assert_eq!(workers.len(), 3);
        kernmark_sys::process::kill(workers[1], signal::KILL);
        let (ended, told) = live.end();
        assert_eq!(ended, Some(1), "{told}");
        assert!(told.contains("killed by signal 9"), "{told}");
        let (word, why) = world.outcomes().remove(0);
        assert_eq!(word, "failed");
        assert!(why.contains("killed by signal 9"), "{why}");
        assert!(workers.iter().all(|worker| name(*worker).is_none()));
    }
}

#[test]
fn a_plan_is_made_by_one_process_at_a_time() {
    let world = World::new();
    let mut live = world.listen(&["run", "null", "seconds=60"]);
    live.until("phase_started");
    let refused = world.told(&["resume"], 3);
    assert!(refused.contains("another process"), "{refused}");
    live.signal(signal::INT);
    assert_eq!(live.end().0, Some(130));
}

#[test]
fn what_is_to_be_ignored_is_ignored() {
    // As `nohup` starts a program: SIGHUP without effect.
    let world = World::new();
    let words = "trap '' HUP; exec \"$0\" run null seconds=60 --json";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", words]).arg(support::program());
    let mut live = world.listen_to(command);
    live.until("phase_started");
    live.signal(signal::HUP);
    live.until("tick");
    live.signal(signal::TERM);
    assert_eq!(live.end().0, Some(143));
}

#[test]
fn what_an_earlier_program_left_is_undone_and_told() {
    let world = World::new();
    let left = world.work().join("kernmark-left");
    std::fs::create_dir_all(left.join("deep")).unwrap();
    world.done(&["run", "null", "seconds=0", "ops=1"]);
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(world.undo())
        .unwrap();
    let journal = serde_json::json!({"do": {"remove_tree": {"path": left}}});
    std::fs::write(world.undo().join("x.journal"), format!("{journal}\n")).unwrap();
    let told = world.told(&["run", "null", "seconds=0", "ops=1", "-q"], 0);
    assert!(
        told.contains("an earlier run was killed; removed the folder"),
        "{told}"
    );
    assert!(!left.exists() && !world.undo().exists());
}

#[test]
fn a_plan_is_resumed_where_it_was_begun() {
    let world = World::new();
    world.done(&[
        "run",
        "dbench",
        "passes=1",
        "iterations=1",
        "warmup=0",
        "--repeat",
        "2",
        "--budget",
        "1ns",
    ]);
    let mut command = world.std_command(&["resume", "--json"]);
    command.current_dir("/");
    let mut live = world.listen_to(command);
    let started = live.until("run_started");
    let on = started["run"]["plan"]["on"].as_str().unwrap();
    assert_eq!(std::path::Path::new(on), world.work());
    assert_eq!(live.end().0, Some(0));
}
