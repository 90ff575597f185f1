//! What cannot be done is said in one message, with the code that fits, and leaves nothing behind.

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use support::{World, entries};

#[test]
fn absurd_values_are_refused_before_anything_is_made() {
    let world = World::new();
    let huge = "99999999999999999999999999";
    for words in [
        &["run", "null", "--repeat", "0"][..],
        &["run", "null", "--repeat", "-1"],
        &["run", "null", "--repeat", huge],
        &["run", "null", "--repeat", "4294967295"],
        &["run", "null", "--budget", "0"],
        &["run", "null", "--budget", "-5m"],
        &["run", "null", "--budget", huge],
        &["run", "null", "--budget", "10 parsecs"],
        &["run", "null", "--cache", "hot"],
        &["run", "null", "workers=0"],
        &["run", "null", "workers=-1"],
        &["run", "null", "workers=1.5"],
        &["run", "null", &format!("workers={huge}")],
        &["run", "null", "workers=1..18446744073709551615"],
        &["run", "null", "workers=1..4096", "ops=1..4096"],
        &["run", "null", "seconds=nan"],
        &["run", "null", "seconds=-1"],
        &["run", "null", &format!("seconds={huge}h")],
        &["run", "null", "seconds=0", "ops=0"],
        &["run", "null", "bytes=1e9"],
        &["run", "null", "busy="],
        &["run", "null", "spawn=\"open"],
        &["run", "null", "colour=red"],
        &["run", "--like", "nothing"],
        &["run", "null", "--like", "nothing"],
        &["run", "no-such-plan.toml"],
        &["run", "dbench", "loadfile=/nowhere"],
        &["runs", "--where", "tool"],
        &["runs", "no-such-run"],
        &["show", ""],
        &["export"],
        &["export", "--format", "xml"],
        &["list", "no-such-tool"],
        &["doc", "no-such-tool"],
        &["plan", "no-such-plan"],
        &["as", "no-such-program"],
        &["resume", "x"],
        &["machine", "diff", "x"],
        &["no-such-command"],
        &["--no-such-flag"],
    ] {
        let (code, told) = world.refused(words);
        assert_eq!(code, 2, "{words:?}: {told}");
    }
    assert!(!world.store().exists());
    assert_eq!(entries(&world.work()), [""; 0]);
}

#[test]
fn a_run_that_would_never_end_is_no_crash() {
    // 584 years: longer than the clock counts.
    let world = World::new();
    let mut live = world.listen(&[
        "run",
        "null",
        "seconds=18446744073709551615ns",
        "warmup=1ns",
    ]);
    live.until("phase_started");
    live.signal(kernmark_sys::signal::INT);
    let (code, told) = live.end();
    assert_eq!(code, Some(130), "{told}");
}

#[test]
fn without_a_home_the_message_names_the_way_out() {
    let world = World::new();
    for words in [&["run", "null"][..], &["runs"], &["resume"]] {
        let output = world.command(words).env_remove("HOME").output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("--db"), "{told}");
    }
    // What needs no store needs no home.
    world.command(&["list"]).env_remove("HOME").assert().code(0);
}

#[test]
fn a_target_that_cannot_be_used_is_a_need_that_is_not_met() {
    let world = World::new();
    fs::write(world.work().join("file"), "").unwrap();
    // Not even root makes files in /sys.
    for target in ["missing", "file", "/sys"] {
        let words = ["run", "dbench", "seconds=60", "--on", target];
        let (code, told) = world.refused(&words);
        assert_eq!(code, 3, "{told}");
        assert!(told.contains(target), "{told}");
    }
    assert_eq!(entries(&world.work()), ["file"]);
}

#[test]
fn a_need_of_the_last_step_is_told_before_the_first_begins() {
    let world = World::new();
    fs::write(
        world.work().join("x.toml"),
        "[[step]]\ntool = \"null\"\nparams.seconds = 60\n\
         [[step]]\ntool = \"dbench\"\non = \"missing\"\n",
    )
    .unwrap();
    let (code, told) = world.refused(&["run", "x.toml"]);
    assert_eq!(code, 3, "{told}");
    assert!(!world.store().exists());
}

#[test]
fn what_is_no_store_is_left_alone() {
    let world = World::new();
    let letter = world.work().join("letter");
    let text = "Dear Sir,\n".repeat(1000);
    fs::write(&letter, &text).unwrap();
    for words in [
        &["runs", "--db", "letter"][..],
        &["run", "null", "--db", "letter"],
        &["export", "--format", "csv", "--db", "letter"],
    ] {
        let (code, told) = world.refused(words);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("letter"), "{told}");
    }
    assert_eq!(fs::read_to_string(&letter).unwrap(), text);
    assert_eq!(entries(&world.work()), ["letter"]);
    let (code, told) = world.refused(&["runs", "--db", "missing.db"]);
    assert_eq!(
        (code, told.contains("there is no store at")),
        (2, true),
        "{told}"
    );
    for db in [".", "/sys/x.db", "/dev/null/x.db"] {
        let (code, told) = world.refused(&["run", "null", "--db", db]);
        assert_eq!(code, 3, "{told}");
    }
}

#[test]
fn a_reader_who_went_away_is_no_error() {
    let world = World::new();
    for (words, code) in [(&["list"][..], 0), (&["run", "null", "--json"], 141)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = world
            .std_command(words)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), told.as_str()),
            (Some(code), ""),
            "{words:?}"
        );
    }
}

#[test]
fn a_full_disk_is_told() {
    let world = World::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = world
        .std_command(&["list"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("standard output"), "{told}");
}

#[test]
fn words_that_are_no_text_are_refused() {
    let world = World::new();
    let output = world
        .command(&["run"])
        .arg(OsStr::from_bytes(b"null\xff"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn a_ticket_that_is_none_is_refused() {
    let world = World::new();
    let words = [kernmark_engine::crew::WORKER_FLAG, "{}"];
    assert_eq!(world.refused(&words).0, 1);
}

#[test]
fn a_log_filter_that_makes_no_sense_is_told() {
    let world = World::new();
    let output = world
        .command(&["list"])
        .env("KERNMARK_LOG", "kernmark=loud")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    world
        .command(&["list"])
        .env("KERNMARK_LOG", "debug")
        .assert()
        .code(0);
}
