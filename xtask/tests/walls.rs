//! The walls between the crates, as ARCHITECTURE.md draws them.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: a panic names the line"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// A crate and which of ours it may depend on.
struct Wall {
    name: &'static str,
    ours: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall {
        name: "model",
        ours: &[],
    },
    Wall {
        name: "sys",
        ours: &[],
    },
    Wall {
        name: "engine",
        ours: &["model", "sys"],
    },
    Wall {
        name: "tools",
        ours: &["model", "sys", "engine"],
    },
    Wall {
        name: "store",
        ours: &["model"],
    },
    Wall {
        name: "report",
        ours: &["model"],
    },
    Wall {
        name: "lab",
        ours: &["model", "sys", "engine", "store"],
    },
    Wall {
        name: "cli",
        ours: &["model", "sys", "engine", "tools", "store", "report", "lab"],
    },
];

/// Crates of others that belong to one of ours.
const LODGERS: &[(&str, &[&str])] = &[
    ("libc", &["sys"]),
    ("rustix", &["sys"]),
    ("rusqlite", &["store"]),
    ("anyhow", &["cli"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("comfy-table", &["report"]),
];

/// What SQL begins with, as we write it. The statements of the `sql-bench` tool are its workload, not ours.
const SQL: &[&str] = &[
    "SELECT ",
    "INSERT INTO ",
    "CREATE TABLE ",
    "DELETE FROM ",
    "PRAGMA ",
    "BEGIN IMMEDIATE",
];
const SQL_BELONGS_IN: &[&str] = &[
    "crates/store/",
    "crates/tools/src/sql_bench/",
    "xtask/tests/walls.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn crates() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Whose dependency it is: `dependencies`, `dev-dependencies` or `build-dependencies`.
type Kind = &'static str;

/// All dependencies of a crate by name, those of its tests and build script included.
fn dependencies(name: &str) -> Vec<(Kind, String)> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let mut tables = vec![&manifest];
    tables.extend(
        platforms
            .into_iter()
            .flat_map(|all| all.values())
            .filter_map(toml::Value::as_table),
    );
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut found = Vec::new();
    for table in tables {
        for kind in kinds {
            let names = table.get(kind).and_then(toml::Value::as_table);
            found.extend(
                names
                    .into_iter()
                    .flat_map(toml::Table::keys)
                    .map(|name| (kind, name.clone())),
            );
        }
    }
    found
}

/// Every Rust file of the project with its path from the top.
fn sources() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = ["crates", "xtask", "fuzz"]
        .map(|name| root().join(name))
        .into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let short = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((short, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

/// A source without its comments, and its string literals apart.
#[derive(Debug, Default, PartialEq)]
struct Parted {
    code: String,
    strings: Vec<String>,
}

/// Parts a source. Knows what Rust has: line and nested block comments, plain and raw strings, characters, lifetimes.
fn part(source: &str) -> Parted {
    let mut parted = Parted::default();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = &rest[block_comment(rest)..];
        } else if first == '"' {
            let end = quoted(rest, '"');
            parted.strings.push(rest[1..end - 1].to_owned());
            rest = &rest[end..];
        } else if let Some((text, end)) = raw_string(rest, &parted.code) {
            parted.strings.push(text.to_owned());
            rest = &rest[end..];
        } else if let Some(end) = character(rest) {
            rest = &rest[end..];
        } else {
            parted.code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    parted
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            Some(_) => at += 1,
            None => return text.len(),
        }
        if depth == 0 {
            return at;
        }
    }
}

/// Length of a literal with its quotes; a backslash takes the next character with it.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return at + 1;
        }
    }
    text.len()
}

/// `r"…"` or `r#"…"#` that does not end a word; its text and its length.
fn raw_string<'a>(text: &'a str, before: &str) -> Option<(&'a str, usize)> {
    let in_word = |last: char| (last.is_alphanumeric() || last == '_') && !before.ends_with('b');
    if before.chars().next_back().is_some_and(in_word) {
        return None;
    }
    let after = text.strip_prefix('r')?;
    let body = after.trim_start_matches('#');
    let hashes = after.len() - body.len();
    let body = body.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&close)?;
    Some((&body[..length], 1 + hashes + 1 + length + close.len()))
}

/// Length of `'x'` or `'\n'`; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\'')?;
    let first = after.chars().next()?;
    (first == '\\' || after[first.len_utf8()..].starts_with('\'')).then(|| quoted(text, '\''))
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[test]
fn parting_a_source_knows_its_corners() {
    let source = r##"fn f<'a>(c: char) { // unsafe "x"
  /* unsafe /* nested */ unsafe */ let s = "say \"unsafe\" // no"; let q = '"'; let e = '\'';
  r#"raw "unsafe" "# ; var"plain" }"##;
    let parted = part(source);
    assert_eq!(
        parted.strings,
        ["say \\\"unsafe\\\" // no", "raw \"unsafe\" ", "plain"]
    );
    assert!(
        !words(&parted.code).any(|word| word == "unsafe"),
        "{}",
        parted.code
    );
    assert!(
        parted.code.contains("fn f<'a>(c: char) {"),
        "{}",
        parted.code
    );
}

#[test]
fn there_is_no_crate_without_a_wall() {
    for name in crates() {
        assert!(
            WALLS.iter().any(|wall| wall.name == name),
            "crates/{name} is new: a crate more needs a decision page and a line in ARCHITECTURE.md and here"
        );
    }
}

#[test]
fn crates_depend_only_on_what_their_wall_lets_in() {
    for name in crates() {
        let wall = WALLS.iter().find(|wall| wall.name == name).unwrap();
        for (kind, dependency) in dependencies(&name) {
            if let Some(ours) = dependency.strip_prefix("kernmark-") {
                // A crate's tests may ask it for a feature of its own, and everybody's tests may skip, and find
                // programs, through `kernmark_sys::testing`.
                let for_tests = kind == "dev-dependencies" && (ours == "sys" || ours == name);
                assert!(
                    for_tests || wall.ours.contains(&ours),
                    "{name} must not use {ours}"
                );
            }
            if let Some((_, homes)) = LODGERS.iter().find(|(lodger, _)| *lodger == dependency) {
                assert!(
                    homes.contains(&name.as_str()),
                    "{dependency} belongs in {homes:?}, not in {name}"
                );
            }
        }
    }
}

#[test]
fn unsafe_code_is_in_sys_alone() {
    for (path, source) in sources() {
        if path.starts_with("crates/sys/") {
            continue;
        }
        let parted = part(&source);
        assert!(
            !words(&parted.code).any(|word| word == "unsafe"),
            "{path} holds unsafe code"
        );
        let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        assert!(
            !is_root || source.contains("#![forbid(unsafe_code)]"),
            "{path} does not forbid unsafe code"
        );
    }
}

#[test]
fn sql_is_in_the_store_alone() {
    for (path, source) in sources() {
        if SQL_BELONGS_IN.iter().any(|home| path.starts_with(home)) {
            continue;
        }
        for text in part(&source).strings {
            let is_sql = SQL.iter().any(|word| text.trim_start().starts_with(word));
            assert!(!is_sql, "{path} holds SQL: {text:?}");
        }
    }
}
