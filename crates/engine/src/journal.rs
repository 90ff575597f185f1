//! Cleaning up whatever happens: the undo journal and the janitor that reads it.
//!
//! Every change outside this process is appended to the journal *before* it is made. Undone entries are struck off. The
//! janitor is the first process started; it sleeps on a pipe whose other end only we hold, and when that ends, however
//! we ended, it undoes what is left. A journal that even the janitor could not finish (power loss) is undone by the
//! next start. Undoing twice does no harm.

use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use kernmark_sys::{lock, process, signal};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One change, as what takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Remove a directory and all in it; symbolic links are removed, not followed.
    RemoveTree {
        /// The directory.
        path: PathBuf,
    },
    /// Remove a file.
    RemoveFile {
        /// The file.
        path: PathBuf,
    },
    /// Write a setting back.
    Write {
        /// The file under /proc or /sys.
        path: PathBuf,
        /// What it held.
        text: String,
    },
}

impl Undo {
    /// Takes the change back. What is gone already is no error.
    fn undo(&self) -> io::Result<()> {
        let done = match self {
            Self::RemoveTree { path } => fs::remove_dir_all(path),
            Self::RemoveFile { path } => fs::remove_file(path),
            Self::Write { path, text } => fs::write(path, text),
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

/// The journal of this process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Appended to, and locked for as long as this process or its janitor lives.
    file: File,
    pending: Vec<Undo>,
    janitor: Option<Janitor>,
}

#[derive(Debug)]
struct Janitor {
    pid: i32,
    /// The janitor wakes when this closes.
    wake: Option<PipeWriter>,
}

impl Journal {
    /// Opens a new journal in `folder`, which is made if absent.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}.journal", Uuid::now_v7().simple()));
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&path)?;
        if !lock::try_exclusive(&file)? {
            return Err(io::Error::from(io::ErrorKind::ResourceBusy));
        }
        Ok(Self {
            path,
            file,
            pending: Vec::new(),
            janitor: None,
        })
    }

    /// Undoes what journals of dead processes in `folder` still hold; returns a line for each change taken back.
    pub fn recover(folder: &Path) -> Vec<String> {
        let Ok(listed) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let journals = listed.filter_map(Result::ok).map(|entry| entry.path());
        let mut told = Vec::new();
        for path in journals.filter(|path| path.extension().is_some_and(|end| end == "journal")) {
            let Ok(file) = File::open(&path) else {
                continue;
            };
            // A lock means that its process or its janitor is alive.
            if lock::try_exclusive(&file) == Ok(true) {
                told.extend(undo_file(&path));
            }
        }
        told
    }

    /// Starts the janitor. To be called while this process has one thread, before anything else is started.
    pub fn start_janitor(&mut self) -> io::Result<()> {
        let (reader, writer) = io::pipe()?;
        let (path, held) = (self.path.clone(), self.file.as_raw_fd());
        let pid = process::fork(|| {
            process::new_session();
            signal::reset_for_worker();
            process::set_name(c"kernmark-undo");
            process::detach_streams();
            process::close_all_but(&[reader.as_raw_fd(), held]);
            wait_for_end(reader);
            undo_file(&path);
            0
        })?;
        self.janitor = Some(Janitor {
            pid,
            wake: Some(writer),
        });
        Ok(())
    }

    /// Writes down how a change is taken back, before it is made.
    pub fn record(&mut self, undo: Undo) -> io::Result<()> {
        let mut line = serde_json::to_string(&Entry::Do(undo.clone()))?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        // Power may fail too, and then only what is on the disk can be undone.
        self.file.sync_data()?;
        self.pending.push(undo);
        Ok(())
    }

    /// Takes everything back, the last change first; returns a line for each that could not be.
    pub fn undo_all(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        let mut troubles = Vec::new();
        while let Some(undo) = self.pending.pop() {
            if let Err(error) = undo.undo() {
                troubles.push(format!("cannot undo {}: {error}", describe(&undo)));
                left.push(undo);
            }
        }
        if left.is_empty() {
            // Nothing is pending: an empty journal needs no janitor's work.
            self.file.set_len(0).ok();
        }
        left.reverse();
        self.pending = left;
        troubles
    }
}

impl Drop for Journal {
    /// Undoes what is left and lets the janitor go.
    fn drop(&mut self) {
        self.undo_all();
        if self.pending.is_empty() {
            fs::remove_file(&self.path).ok();
        }
        if let Some(janitor) = &mut self.janitor {
            janitor.wake = None;
            process::wait(janitor.pid).ok();
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Do(Undo),
}

fn describe(undo: &Undo) -> String {
    match undo {
        Undo::RemoveTree { path } => format!("the folder {}", path.display()),
        Undo::RemoveFile { path } => format!("the file {}", path.display()),
        Undo::Write { path, .. } => format!("the setting {}", path.display()),
    }
}

/// Blocks until every writer is gone.
fn wait_for_end(mut reader: io::PipeReader) {
    let mut byte = [0];
    loop {
        match reader.read(&mut byte) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}

/// Undoes a journal file, the last change first, and removes it if all of it is done.
fn undo_file(path: &Path) -> Vec<String> {
    let Ok(text) = fs::read_to_string(path) else {
        return Vec::new();
    };
    // A last line cut short was never acted on: the change follows the line.
    let undos = text
        .lines()
        .filter_map(|line| match serde_json::from_str(line) {
            Ok(Entry::Do(undo)) => Some(undo),
            Err(_) => None,
        });
    let mut told = Vec::new();
    let mut all = true;
    for undo in undos.collect::<Vec<_>>().iter().rev() {
        match undo.undo() {
            Ok(()) => told.push(format!(
                "an earlier run was killed; removed {}",
                describe(undo)
            )),
            Err(error) => {
                all = false;
                told.push(format!(
                    "an earlier run was killed; cannot undo {}: {error}",
                    describe(undo)
                ));
            }
        }
    }
    if all {
        fs::remove_file(path).ok();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_undone_at_the_next_start_and_a_live_one_s_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("undo");
        let tree = dir.path().join("kernmark-x");
        let setting = dir.path().join("setting");
        let mut journal = Journal::open(&folder).unwrap();
        journal
            .record(Undo::RemoveTree { path: tree.clone() })
            .unwrap();
        journal
            .record(Undo::Write {
                path: setting.clone(),
                text: "50".into(),
            })
            .unwrap();
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::write(&setting, "10").unwrap();
        assert_eq!(Journal::recover(&folder), Vec::<String>::new());
        assert!(tree.exists());
        let path = journal.path.clone();
        let text = fs::read(&path).unwrap();
        journal.pending.clear();
        drop(journal);
        fs::write(&path, [&text[..], b"{\"do\":{\"remove_tr"].concat()).unwrap();
        assert_eq!(Journal::recover(&folder).len(), 2);
        assert!(!tree.exists() && !path.exists());
        assert_eq!(fs::read_to_string(&setting).unwrap(), "50");
    }

    #[test]
    fn the_janitor_undoes_what_its_dead_parent_left() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("undo");
        let tree = dir.path().join("kernmark-x");
        // A stand-in for the program: makes a tree under a journal with a janitor, and dies without a word.
        let (mut told, tell) = io::pipe().unwrap();
        let pid = process::fork(|| {
            let mut journal = Journal::open(&folder).unwrap();
            journal.start_janitor().unwrap();
            journal
                .record(Undo::RemoveTree { path: tree.clone() })
                .unwrap();
            fs::create_dir_all(tree.join("deep")).unwrap();
            (&tell)
                .write_all(&journal.janitor.as_ref().unwrap().pid.to_ne_bytes())
                .unwrap();
            std::mem::forget(journal);
            7
        })
        .unwrap();
        drop(tell);
        let mut janitor = [0; 4];
        told.read_exact(&mut janitor).unwrap();
        assert_eq!(process::wait(pid), Ok(process::Exit::Code(7)));
        // The janitor is not our child; its end shows by the journal's removal, its last act.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while fs::read_dir(&folder).unwrap().next().is_some() {
            assert!(
                std::time::Instant::now() < deadline,
                "janitor {} did not finish",
                i32::from_ne_bytes(janitor)
            );
            std::thread::yield_now();
        }
        assert!(!tree.exists());
    }

    #[test]
    fn a_normal_end_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.start_janitor().unwrap();
        let pid = journal.janitor.as_ref().unwrap().pid;
        drop(journal);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(!kernmark_sys::call::process_exists(pid));
    }
}
