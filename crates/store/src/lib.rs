//! kernmark's store: one SQLite file that holds runs, and every line of SQL.
//!
//! A run is written as its events arrive ([`Store`] is a [`kernmark_model::event::Sink`]): its beginning, each finished
//! phase, its end, one transaction each. A program that dies at any moment leaves every phase that was acknowledged, and
//! the run as *partial*. What was measured is stored; figures are derived when reading.
//!
//! **Forks.** A store belongs to the process that opened it. A forked child must neither use it nor drop it: closing the
//! connection there would check-point and delete the parent's journal. Children leave by `_exit`; closing the file's
//! descriptors alone is harmless, and a program that a child executes never sees them (SQLite opens with `O_CLOEXEC`).
#![forbid(unsafe_code)]

mod code;
mod error;
pub mod export;
mod open;
mod phases;
mod place;
mod plans;
mod read;
mod redact;
mod schema;
mod select;
mod sink;
#[cfg(test)]
mod tests;
mod write;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kernmark_model::run::Run;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use uuid::Uuid;

use error::Fault;
pub use error::StoreError;
pub use open::Journal;
pub use plans::{PlannedRun, PlannedState, UnfinishedPlan};
pub use read::{Detail, RunHead};
pub use redact::Redactor;
pub use schema::schema_markdown;
pub use select::{Condition, Selection, Test};

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    filesystem: Option<String>,
    journal: Journal,
}

/// What became of runs that were brought in from elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Stored now.
    pub new: usize,
    /// Already there under the same name, and left as they were.
    pub known: usize,
}

impl Store {
    /// Opens the store at `path` for reading and writing. Makes it, and the folders above it, if it is not there; brings
    /// it to the present schema if an earlier program wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        open::writable(path, None)
    }

    /// Opens the store at `path` for reading. Nothing is made or changed.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        open::read_only(path)
    }

    /// The beginning of a file says that it could be a store.
    pub fn recognises(first: &[u8]) -> bool {
        first.starts_with(b"SQLite format 3\0")
    }

    /// The store's file, absolute and without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Type of the filesystem that the file lies on, as `/proc/self/mountinfo` has it.
    pub fn filesystem(&self) -> Option<&str> {
        self.filesystem.as_deref()
    }

    /// The device that the file lies on, as `stat` numbers it: a run on the same number is measured on the store's own
    /// device.
    pub fn device(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|found| found.dev())
    }

    /// How changes reach the file.
    pub fn journal(&self) -> Journal {
        self.journal
    }

    /// The selected runs as a list shows them, in the order of their names, which is that of their times.
    pub fn runs(&self, selection: &Selection) -> Result<Vec<RunHead>, StoreError> {
        self.told("listing runs", read::heads(&self.connection, selection))
    }

    /// The run of that name, whole.
    pub fn run(&self, uuid: &Uuid) -> Result<Run, StoreError> {
        self.told("reading a run", read::by_name(&self.connection, uuid))
    }

    /// The name of the only run whose name begins so; hyphens may be left out.
    pub fn find(&self, beginning: &str) -> Result<Uuid, StoreError> {
        self.told("looking for a run", read::find(&self.connection, beginning))
    }

    /// Hands each selected run to `visit`, in the order of their names, as they were when the first was read.
    pub fn each<E: From<StoreError>>(
        &self,
        selection: &Selection,
        detail: Detail,
        mut visit: impl FnMut(Run) -> Result<(), E>,
    ) -> Result<(), E> {
        let _snapshot = self.told("reading", self.snapshot())?;
        let mut runs = self.told(
            "selecting runs",
            read::Runs::new(&self.connection, selection, detail),
        )?;
        while let Some(run) = self.told("reading a run", runs.next())? {
            visit(run)?;
        }
        Ok(())
    }

    /// The selected runs, in the order of their names.
    pub fn load(&self, selection: &Selection, detail: Detail) -> Result<Vec<Run>, StoreError> {
        let mut runs = Vec::new();
        self.each(selection, detail, |run| {
            runs.push(run);
            Ok::<(), StoreError>(())
        })?;
        Ok(runs)
    }

    /// Every key that a stored run has a fact for, in order.
    pub fn fact_keys(&self) -> Result<Vec<String>, StoreError> {
        self.told("listing facts", read::fact_keys(&self.connection))
    }

    /// The values of a fact, and how many runs have each, in the order of the values.
    pub fn fact_values(&self, key: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.told("listing a fact", read::fact_values(&self.connection, key))
    }

    /// Names of the runs that were imported from the text with that SHA-256 (hexadecimal).
    pub fn imported(&self, digest: &str) -> Result<Vec<Uuid>, StoreError> {
        self.told(
            "looking for imports",
            read::imported(&self.connection, digest),
        )
    }

    /// Stores a run that is known whole. `false` if a run of that name is there already: it is the same one.
    pub fn insert_run(&mut self, run: &Run) -> Result<bool, StoreError> {
        self.change("storing a run", |change| write::insert(change, run))
    }

    /// Stores all of `runs`, or none if one of them cannot be read or stored.
    pub fn insert_runs(
        &mut self,
        runs: impl IntoIterator<Item = Result<Run, StoreError>>,
    ) -> Result<Inserted, StoreError> {
        self.change("storing runs", |change| {
            let mut inserted = Inserted::default();
            for run in runs {
                inserted.count(write::insert(change, &run?)?);
            }
            Ok(inserted)
        })
    }

    /// Stores every run of another store, or none if one of them cannot be read.
    pub fn merge(&mut self, other: &Store) -> Result<Inserted, StoreError> {
        self.change("merging a store", |change| {
            let mut inserted = Inserted::default();
            other.each(&Selection::default(), Detail::Full, |run| {
                inserted.count(write::insert(change, &run)?);
                Ok::<(), Fault>(())
            })?;
            Ok(inserted)
        })
    }

    /// Removes the runs of those names; returns how many were there.
    pub fn delete(&mut self, runs: &[Uuid]) -> Result<usize, StoreError> {
        self.change("deleting runs", |change| write::delete(change, runs))
    }

    /// Makes one change: whole, or not at all.
    fn change<T>(
        &mut self,
        attempt: &'static str,
        make: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let change = || {
            let change = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let made = make(&change)?;
            change.commit()?;
            Ok(made)
        };
        change().map_err(|fault: Fault| fault.explain(path, attempt))
    }

    /// Until it is dropped, reading sees the store as it is now. `None` inside another one.
    fn snapshot(&self) -> Result<Option<Transaction<'_>>, Fault> {
        Ok(if self.connection.is_autocommit() {
            Some(self.connection.unchecked_transaction()?)
        } else {
            None
        })
    }

    fn told<T>(&self, attempt: &'static str, result: Result<T, Fault>) -> Result<T, StoreError> {
        result.map_err(|fault| fault.explain(&self.path, attempt))
    }
}

impl Inserted {
    fn count(&mut self, new: bool) {
        if new {
            self.new += 1;
        } else {
            self.known += 1;
        }
    }
}
