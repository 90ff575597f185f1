//! What the replay does to the kernel, by strace: the acceptance cases on single ops, and the original beside ours.
#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "a test that cannot go on ends"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kernmark_sys::skip_unless;
use kernmark_sys::testing::program as installed;
use kernmark_tools::dbench::generate::Recipe;
use support::program;

/// Calls that are the workload's; everything else is the program's own.
const CALLS: &[&str] = &[
    "newfstatat",
    "stat",
    "fstat",
    "statx",
    "open",
    "openat",
    "close",
    "pread64",
    "pwrite64",
    "read",
    "write",
    "fsync",
    "fdatasync",
    "ftruncate",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "utime",
    "utimensat",
    "getdents64",
    "statfs",
    "fcntl",
    "getxattr",
    "fgetxattr",
    "fsetxattr",
];

/// The last line of every loadfile here: longer than any run, so that each client makes one pass.
const SLEEP: &str = "Sleep 600000000 NT_STATUS_OK\n";
/// Sets up the tree that the standard loadfile begins with.
const TREE: &str = "\
Deltree \"\\clients\\client1\" NT_STATUS_OK
Mkdir \"\\clients\" NT_STATUS_OK
NTCreateX \"\\clients\\client1\" 0x1 0x2 16385 NT_STATUS_OK
Close 16385 NT_STATUS_OK
";

/// A folder with a loadfile and a directory to replay it in.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(loadfile: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("load"), loadfile).unwrap();
        Self { folder }
    }

    /// Traces `command`, replaying the loadfile in `directory` for `seconds`; the calls of client 0 in order.
    fn trace(
        &self,
        command: &[&str],
        options: &[&str],
        directory: &str,
        seconds: u32,
    ) -> Vec<String> {
        let directory = self.folder.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        let traces = self.folder.path().join("traces");
        fs::create_dir_all(&traces).unwrap();
        let output = Command::new(installed("strace").unwrap())
            .args(["-ff", "-s", "0", "-o"])
            .arg(traces.join("t"))
            .args(command)
            .arg("-c")
            .arg(self.folder.path().join("load"))
            .arg("-D")
            .arg(&directory)
            .args(["-t", &seconds.to_string()])
            .args(options)
            .arg("1")
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let calls = client_calls(&traces, &directory);
        fs::remove_dir_all(&traces).unwrap();
        assert!(
            output.status.success(),
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        calls
    }

    /// Ours, as the drop-in.
    fn ours(&self, options: &[&str], seconds: u32) -> Vec<String> {
        let program = program();
        self.trace(
            &[program.to_str().unwrap(), "as", "dbench"],
            options,
            "ours/data",
            seconds,
        )
    }
}

/// The calls of the process that worked below `directory`, in a form that two runs share.
fn client_calls(traces: &Path, directory: &Path) -> Vec<String> {
    let base = directory.to_str().unwrap();
    let own = format!("\"{base}/clients");
    let mut files: Vec<PathBuf> = fs::read_dir(traces)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let texts: Vec<String> = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    // The client is the process that makes most calls there; a parent only looks and removes.
    let text = texts
        .iter()
        .max_by_key(|text| text.matches(&own).count())
        .unwrap();
    let mut descriptors: Vec<Option<u64>> = Vec::new();
    let mut calls: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        if !CALLS.contains(&name) {
            continue;
        }
        let Some((call, result)) = line.rsplit_once(" = ") else {
            continue;
        };
        let call = plain(call.trim_end()).replace(base, "BASE");
        let result = result.split(" (").next().unwrap_or(result).trim();
        if name == "openat" || name == "open" {
            if !call.contains("BASE") {
                continue; // the loadfile, libraries
            }
            let result = result
                .parse()
                .map_or(result.to_owned(), |fd| opened(&mut descriptors, fd));
            calls.push(format!("{call} = {result}"));
        } else if call.contains("BASE") {
            calls.push(format!("{call} = {result}"));
        } else if let Some((fd, rest)) = by_descriptor(&call, name) {
            let Some(index) = descriptors.iter().position(|open| *open == Some(fd)) else {
                continue;
            };
            if name == "close" {
                descriptors[index] = None;
            }
            calls.push(format!("{name}(#{index}{rest} = {result}"));
        }
    }
    calls
}

/// Without what differs between two runs: addresses, structures, counts of entries.
fn plain(call: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    let mut rest = call;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("/*") {
            rest = after.split_once("*/").map_or("", |(_, after)| after);
            out.truncate(out.trim_end().len());
            continue;
        }
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    out.push('?');
                }
            }
            // With -s 0 data is shown as ""...; only its being there counts.
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    let words: Vec<&str> = out.split(", ").collect();
    let words = words.iter().map(|word| {
        if word.starts_with("0x") || word.starts_with("\"\"") {
            "?"
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Gives a new descriptor the lowest free number of its own.
fn opened(descriptors: &mut Vec<Option<u64>>, fd: u64) -> String {
    let index = descriptors
        .iter()
        .position(Option::is_none)
        .unwrap_or_else(|| {
            descriptors.push(None);
            descriptors.len() - 1
        });
    descriptors[index] = Some(fd);
    format!("#{index}")
}

/// Splits `close(5)` into its descriptor and the rest.
fn by_descriptor<'c>(call: &'c str, name: &str) -> Option<(u64, &'c str)> {
    let rest = call.strip_prefix(name)?.strip_prefix('(')?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// The calls after the tree was set up, up to the clean-up.
fn between<'c>(calls: &'c [String], tree: &[String]) -> &'c [String] {
    assert_eq!(&calls[..tree.len()], tree, "the set-up is the same");
    let end = calls
        .iter()
        .rposition(|call| call.starts_with("openat(AT_FDCWD, \"BASE/clients/client0\""))
        .unwrap();
    &calls[tree.len()..end]
}

/// What the four lines of [`TREE`] do; the clean-up behind them is cut off.
fn tree() -> Vec<String> {
    let scan = |directory: &str, name: &str| {
        [
            format!("newfstatat(AT_FDCWD, \"{name}\", ?, 0) = -1 ENOENT"),
            format!(
                "openat(AT_FDCWD, \"{directory}\", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = #0"
            ),
            "newfstatat(#0, ?, ?, AT_EMPTY_PATH) = 0".to_owned(),
            "getdents64(#0, ?, 32768) = 48".to_owned(),
            "getdents64(#0, ?, 32768) = 0".to_owned(),
            "close(#0) = 0".to_owned(),
        ]
    };
    let mut calls = vec![
        "openat(AT_FDCWD, \"BASE/clients/client0\", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = -1 ENOENT".to_owned(),
    ];
    calls.extend(scan("BASE", "BASE/clients"));
    // Our own lock makes the base directory one entry larger than the original's.
    if let Some(first) = calls.iter_mut().find(|call| call.starts_with("getdents64")) {
        "getdents64(#0, ?, 32768) = ".clone_into(first);
    }
    calls.push("mkdir(\"BASE/clients\", 0777) = 0".to_owned());
    calls.extend(scan("BASE/clients", "BASE/clients/client0"));
    calls.push("mkdir(\"BASE/clients/client0\", 0700) = 0".to_owned());
    calls.push("openat(AT_FDCWD, \"BASE/clients/client0\", O_RDONLY|O_DIRECTORY) = #0".to_owned());
    calls.push("newfstatat(#0, ?, ?, AT_EMPTY_PATH) = 0".to_owned());
    calls.push("close(#0) = 0".to_owned());
    calls
}

/// The calls of the ops in `lines`, run after the tree was set up.
fn calls_of(lines: &str, options: &[&str]) -> Vec<String> {
    let calls = Stage::new(&format!("{TREE}{lines}{SLEEP}")).ours(options, 1);
    let calls = without_base_size(calls);
    between(&calls, &tree()).to_vec()
}

/// The size of the base directory's listing depends on what else is there (our lock).
fn without_base_size(mut calls: Vec<String>) -> Vec<String> {
    let of_base = |calls: &[String], index: usize| {
        calls[index - 2].starts_with("openat(AT_FDCWD, \"BASE\", ")
            && calls[index - 1].starts_with("newfstatat(#0")
            && calls[index].starts_with("getdents64(#0")
    };
    let listings: Vec<usize> = (2..calls.len())
        .filter(|index| of_base(&calls, *index))
        .collect();
    for index in listings {
        "getdents64(#0, ?, 32768) = ".clone_into(&mut calls[index]);
    }
    calls
}

fn scan_of(directory: &str, entries: &[&str]) -> Vec<String> {
    let mut calls = vec![
        format!(
            "openat(AT_FDCWD, \"{directory}\", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = #0"
        ),
        "newfstatat(#0, ?, ?, AT_EMPTY_PATH) = 0".to_owned(),
    ];
    calls.extend(
        entries
            .iter()
            .map(|filled| format!("getdents64(#0, ?, 32768) = {filled}")),
    );
    calls.push("close(#0) = 0".to_owned());
    calls
}

fn missing(path: &str) -> String {
    format!("newfstatat(AT_FDCWD, \"{path}\", ?, 0) = -1 ENOENT")
}

#[test]
fn case_05_a_missing_name_costs_a_stat_and_a_scan_of_its_parent() {
    skip_unless!(installed("strace").is_some(), "strace");
    let line = "QUERY_PATH_INFORMATION \"\\clients\\client1\\nope\" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";
    let mut expected = vec![missing("BASE/clients/client0/nope")];
    let unresolved = Stage::new(&format!("{TREE}{line}{SLEEP}")).ours(&["--no-resolve"], 1);
    let at = unresolved
        .iter()
        .position(|call| *call == expected[0])
        .unwrap();
    let clean_up =
        "openat(AT_FDCWD, \"BASE/clients/client0\", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY)";
    assert!(unresolved[at + 1].starts_with(clean_up), "only the stat");
    expected.extend(scan_of("BASE/clients/client0", &["48", "0"]));
    assert_eq!(calls_of(line, &[]), expected);
}

#[test]
fn case_06_dispositions_become_flags() {
    skip_unless!(installed("strace").is_some(), "strace");
    let lines = "\
NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK
Close 7 NT_STATUS_OK
NTCreateX \"\\clients\\client1\\a\" 0x40 0x5 7 NT_STATUS_OK
";
    let mut expected = vec![missing("BASE/clients/client0/a")];
    expected.extend(scan_of("BASE/clients/client0", &["48", "0"]));
    expected.extend(
        [
            "openat(AT_FDCWD, \"BASE/clients/client0/a\", O_RDWR|O_CREAT, 0600) = #0",
            "newfstatat(#0, ?, ?, AT_EMPTY_PATH) = 0",
            "close(#0) = 0",
            "newfstatat(AT_FDCWD, \"BASE/clients/client0/a\", ?, 0) = 0",
            "openat(AT_FDCWD, \"BASE/clients/client0/a\", O_RDWR|O_CREAT|O_TRUNC, 0600) = #0",
            "newfstatat(#0, ?, ?, AT_EMPTY_PATH) = 0",
        ]
        .map(str::to_owned),
    );
    assert_eq!(calls_of(lines, &[]), expected);
}

#[test]
fn case_07_a_rename_syncs_its_new_parent_and_a_mkdir_does_not() {
    skip_unless!(installed("strace").is_some(), "strace");
    let lines = "\
NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK
Close 7 NT_STATUS_OK
Rename \"\\clients\\client1\\a\" \"\\clients\\client1\\b\" NT_STATUS_OK
Mkdir \"\\clients\\client1\\d\" NT_STATUS_OK
";
    let calls = calls_of(lines, &["-S"]);
    let renamed = calls
        .iter()
        .position(|call| {
            call.starts_with("newfstatat(AT_FDCWD, \"BASE/clients/client0/a\", ?, 0) = 0")
        })
        .unwrap();
    let mut expected = vec![
        "newfstatat(AT_FDCWD, \"BASE/clients/client0/a\", ?, 0) = 0".to_owned(),
        missing("BASE/clients/client0/b"),
    ];
    expected.extend(scan_of("BASE/clients/client0", &["72", "0"]));
    expected.extend(
        [
            "rename(\"BASE/clients/client0/a\", \"BASE/clients/client0/b\") = 0",
            "openat(AT_FDCWD, \"BASE/clients/client0\", O_RDONLY) = #0",
            "fdatasync(#0) = 0",
            "close(#0) = 0",
        ]
        .map(str::to_owned),
    );
    expected.push(missing("BASE/clients/client0/d"));
    expected.extend(scan_of("BASE/clients/client0", &["72", "0"]));
    expected.push("mkdir(\"BASE/clients/client0/d\", 0777) = 0".to_owned());
    assert_eq!(calls[renamed..], expected);
}

#[test]
fn case_08_the_base_directory_s_own_name_is_left_alone() {
    skip_unless!(installed("strace").is_some(), "strace");
    let stage = Stage::new(&format!("{TREE}{SLEEP}"));
    let program = program();
    let calls = stage.trace(
        &[program.to_str().unwrap(), "as", "dbench"],
        &[],
        "client1",
        1,
    );
    assert!(
        calls.contains(&"mkdir(\"BASE/clients/client0\", 0700) = 0".to_owned()),
        "{calls:#?}"
    );
}

#[test]
fn the_original_and_ours_make_the_same_calls_over_2000_lines() {
    skip_unless!(installed("strace").is_some(), "strace");
    skip_unless!(installed("dbench").is_some(), "the package dbench");
    let text = String::from_utf8(Recipe::default().text()).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').take(1999).collect();
    lines.push("Sleep 15000000 NT_STATUS_OK\n");
    let stage = Stage::new(&lines.concat());
    let original = installed("dbench").unwrap();
    // Both make one pass within these seconds, sleep, and are told to stop meanwhile.
    let theirs = without_base_size(stage.trace(&[original.to_str().unwrap()], &[], "theirs", 10));
    let ours = without_base_size(stage.ours(&[], 10));
    assert!(theirs.len() > 4_000, "{} calls", theirs.len());
    let differs = theirs
        .iter()
        .zip(&ours)
        .position(|(theirs, ours)| theirs != ours);
    let around = |calls: &[String]| {
        differs.map(|at| calls[at.saturating_sub(5)..calls.len().min(at + 5)].to_vec())
    };
    assert_eq!(
        around(&theirs),
        around(&ours),
        "call {differs:?} of {} and {}",
        theirs.len(),
        ours.len()
    );
    assert_eq!(theirs.len(), ours.len());
}
