//! Captured machines, each one text file, laid out as the folders that a reader expects.
#![expect(
    clippy::unwrap_used,
    reason = "a tree that cannot be laid out fails its test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use kernmark_engine::machine::{Root, Site, read, read_target};
use kernmark_model::machine::{Build, Fact, Layer, Machine, Target};
use tempfile::TempDir;

/// A machine laid out in a temporary folder, which lives as long as this does.
pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// Lays out a text of these lines:
    ///
    /// - `path = value`: a file of one line;
    /// - `path -> target`: a symbolic link;
    /// - `path/`: a folder;
    /// - `path <<`, lines, `>>`: a file of these lines;
    /// - `# …` and blank lines: nothing.
    pub(crate) fn of(text: &str) -> Self {
        let tree = Self::empty();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(path) = line.strip_suffix(" <<") {
                let content: Vec<&str> = lines.by_ref().take_while(|&line| line != ">>").collect();
                tree.write(path, format!("{}\n", content.join("\n")));
            } else if let Some((path, value)) = line.split_once(" = ") {
                tree.write(path, format!("{value}\n"));
            } else if let Some((path, target)) = line.split_once(" -> ") {
                let place = tree.place(path);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink(target, place).unwrap();
            } else if let Some(path) = line.strip_suffix('/') {
                fs::create_dir_all(tree.place(path)).unwrap();
            } else {
                panic!("not a line of a tree: {line}");
            }
        }
        tree
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
    }

    pub(crate) fn place(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.folder.path())
    }

    pub(crate) fn machine(&self) -> Machine {
        read(&self.root(), Build::default())
    }

    pub(crate) fn target(&self, path: &str) -> Target {
        let site = Site {
            path: path.into(),
            ..Site::default()
        };
        read_target(&self.root(), &site)
    }

    /// Calls `visit` with every file (not link) of the tree.
    pub(crate) fn each_file(&self, mut visit: impl FnMut(&Path)) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    visit(&entry.path());
                }
            }
        }
    }
}

/// The facts of `expected` (lines `key=value`), next to what was read.
pub(crate) fn assert_facts(facts: &[Fact], expected: &[&str]) {
    let known: BTreeMap<&str, &str> = facts
        .iter()
        .map(|fact| (fact.key.as_str(), fact.value.as_str()))
        .collect();
    for line in expected {
        let (key, value) = line.split_once('=').unwrap();
        assert_eq!(known.get(key), Some(&value), "{key}\n{known:#?}");
    }
}

pub(crate) fn names(layers: &[Layer]) -> Vec<&str> {
    layers.iter().map(|layer| layer.name.as_str()).collect()
}
