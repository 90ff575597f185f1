//! The program under test, in a folder of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "the test runner says which program is meant"
)]
#![allow(
    clippy::allow_attributes,
    dead_code,
    clippy::unwrap_used,
    reason = "each file of tests uses a part of this"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The program: the one that is handed out, where the runner names it.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("KERNMARK_TEST_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_kernmark").into(), PathBuf::from)
}

/// A home of its own, and a folder to work in.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder
            .path()
            .join("home/.local/share/kernmark/kernmark.db")
    }

    pub(crate) fn undo(&self) -> PathBuf {
        self.folder
            .path()
            .join("home/.local/share/kernmark/kernmark.db-undo")
    }

    /// `kernmark` with these words, ready to be started.
    pub(crate) fn std_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(words)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.folder.path().join("home"));
        command
    }

    /// The same, to be run to its end.
    pub(crate) fn command(&self, words: &[&str]) -> assert_cmd::Command {
        assert_cmd::Command::from_std(self.std_command(words))
    }

    /// Standard output of a command that is done.
    pub(crate) fn done(&self, words: &[&str]) -> String {
        let output = self.command(words).assert().code(0).get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The lines of JSON that a command writes.
    pub(crate) fn json(&self, words: &[&str]) -> Vec<Value> {
        lines(&self.done(words))
    }

    /// Starts a run and listens to its events.
    pub(crate) fn listen(&self, words: &[&str]) -> Live {
        let mut child = self
            .std_command(words)
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let events = BufReader::new(child.stdout.take().unwrap());
        Live { child, events }
    }
}

pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A program that runs.
pub(crate) struct Live {
    pub(crate) child: Child,
    events: BufReader<ChildStdout>,
}

impl Live {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// The next event of that kind; those before it are dropped.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            let read = self.events.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the stream ended before a {kind}");
            let event: Value = serde_json::from_str(&line).unwrap();
            if let Some(body) = event["body"].get(kind) {
                return body.clone();
            }
        }
    }

    pub(crate) fn signal(&self, signal: i32) {
        kernmark_sys::process::kill(self.pid(), signal);
    }

    /// Waits for its end; its code and what it said on stderr.
    pub(crate) fn end(self) -> (Option<i32>, String) {
        let Self { child, events } = self;
        // It may still write events.
        for line in events.lines() {
            line.unwrap();
        }
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }

    /// Its workers: its children less the janitor.
    pub(crate) fn workers(&self) -> Vec<i32> {
        let of_thread = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = fs::read_to_string(of_thread).unwrap();
        children
            .split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .filter(|pid| name(*pid).is_some_and(|name| name != "kernmark-undo"))
            .collect()
    }
}

/// What the kernel calls a process; `None` if it is gone, or dead and not yet waited for.
pub(crate) fn name(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = stat.rsplit_once(')')?;
    let alive = !after.trim_start().starts_with(['Z', 'X']);
    alive.then(|| before.split_once('(').map(|(_, name)| name.to_owned()))?
}

/// Waits for what another process does in its own time.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}

/// Names of the entries of a folder; none if it is not there.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
