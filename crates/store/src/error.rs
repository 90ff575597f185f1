//! What can go wrong with a store, in words.

use std::io;
use std::path::{Path, PathBuf};

use kernmark_model::sweep::SweepError;
use rusqlite::ErrorCode;
use thiserror::Error;
use uuid::Uuid;

/// Why a store could not do what was asked. Each message names the file, the cause and what to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Nothing is there to be read.
    #[error("there is no store at {}\n  `kernmark run` makes one; --db names another", .path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The folder that the store should lie in could not be made.
    #[error("cannot make the folder {} for the store\n  name another file with --db", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The user may not read or write it.
    #[error("no permission to open the store {}\n  change its owner, or name another file with --db", .path.display())]
    Permission {
        /// The store.
        path: PathBuf,
    },
    /// It, or its folder, can be read and not written.
    #[error("the store {} can be read but not written\n  make it and its folder writable, or name another file with --db", .path.display())]
    ReadOnly {
        /// The store.
        path: PathBuf,
    },
    /// It could not be opened for another reason.
    #[error("cannot open the store {}: {why}", .path.display())]
    Open {
        /// The store.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// A file of another kind.
    #[error("{} is no store: it is not an SQLite database\n  name another file with --db", .path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// A database of another program.
    #[error("{} is a database of another program and was left alone\n  name another file with --db", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its pages contradict each other.
    #[error("the store {} is damaged: {why}\n  move it away and restore a copy, or save what can be read with `sqlite3 FILE .recover`", .path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What SQLite found.
        why: String,
    },
    /// A later program wrote it.
    #[error("the store {} is of schema {found}, and this program knows schemas up to {known}\n  it was left alone; use the program that wrote it, or a later one", .path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The latest schema that is known here.
        known: u32,
    },
    /// An earlier program wrote it, and it may not be written here.
    #[error("the store {} is of schema {found} and must be brought to {known} before it can be read\n  `kernmark run` or `kernmark import` does it where the file can be written", .path.display())]
    Older {
        /// The store.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The schema that is read here.
        known: u32,
    },
    /// Another process kept it for itself.
    #[error("the store {} has been locked by another process for 10 s\n  wait for that process, or end it", .path.display())]
    Busy {
        /// The store.
        path: PathBuf,
    },
    /// No space is left.
    #[error("no space is left for the store {}\n  what was stored before is intact; make room, or name another file with --db", .path.display())]
    Full {
        /// The store.
        path: PathBuf,
    },
    /// No run has that name.
    #[error("no run in the store is called \"{name}\"\n  `kernmark runs` lists them")]
    NoSuchRun {
        /// The name, or its beginning.
        name: String,
    },
    /// Several runs have that name.
    #[error("\"{name}\" is the beginning of {}:\n  {}\n  type more of the one that is meant", plural(.candidates.len(), .more), listed(.candidates))]
    Ambiguous {
        /// What was typed.
        name: String,
        /// The first of those that it could mean.
        candidates: Vec<Uuid>,
        /// There are more than these.
        more: bool,
    },
    /// A run that was begun a second time.
    #[error("run {run} is in the store already and cannot be begun again")]
    Begun {
        /// Its name.
        run: Uuid,
    },
    /// A run that no store can hold.
    #[error("run {run} was not stored: {why}")]
    Inconsistent {
        /// Its name.
        run: Uuid,
        /// What is wrong with it.
        why: String,
    },
    /// Something stored that cannot be understood.
    #[error(
        "cannot read {what} in the store: {why}\n  `kernmark runs --delete` removes the run; the others are not touched"
    )]
    Unreadable {
        /// Which value of which run.
        what: String,
        /// Why.
        why: String,
    },
    /// No plan has that name, or no run at that place.
    #[error(
        "there is no run {position} of plan {plan} in the store\n  `kernmark resume` lists the plans that are not done"
    )]
    NoSuchPlan {
        /// The plan.
        plan: Uuid,
        /// The place within it.
        position: u32,
    },
    /// A condition that is none.
    #[error(
        "\"{text}\" is no condition\n  write KEY=VALUE, KEY=VALUE,VALUE, KEY=BEGIN*, KEY= (has none) or KEY!=VALUE"
    )]
    Condition {
        /// What was typed.
        text: String,
        /// What is wrong with the values, where it is they.
        #[source]
        source: Option<SweepError>,
    },
    /// A condition on a fact that no run has.
    #[error("no stored run has a fact \"{key}\"\n  `kernmark runs --facts` lists those there are")]
    UnknownFact {
        /// The key.
        key: String,
    },
    /// What was exported could not be written.
    #[error("cannot write the export")]
    Export(#[source] io::Error),
    /// A text that is no export of this program.
    #[error("line {line}: {why}")]
    Format {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Anything else that SQLite refused.
    #[error("{attempt} failed in the store {}", .path.display())]
    Sql {
        /// What was attempted.
        attempt: &'static str,
        /// The store.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
}

fn plural(count: usize, more: &bool) -> String {
    if *more {
        format!("more than {count} runs")
    } else {
        format!("{count} runs")
    }
}

fn listed(candidates: &[Uuid]) -> String {
    let names: Vec<String> = candidates.iter().map(Uuid::to_string).collect();
    names.join("\n  ")
}

/// What goes wrong below the store's surface, where nobody knows the file's name.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite refused.
    Sql(rusqlite::Error),
    /// Said already.
    Told(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Told(error)
    }
}

impl Fault {
    /// In words.
    pub(crate) fn explain(self, path: &Path, attempt: &'static str) -> StoreError {
        let source = match self {
            Self::Told(error) => return error,
            Self::Sql(source) => source,
        };
        let path = path.to_owned();
        let rusqlite::Error::SqliteFailure(failure, ref message) = source else {
            return StoreError::Sql {
                attempt,
                path,
                source,
            };
        };
        let why = || message.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy { path },
            ErrorCode::NotADatabase => StoreError::NotADatabase { path },
            ErrorCode::DatabaseCorrupt => StoreError::Damaged { path, why: why() },
            ErrorCode::DiskFull => StoreError::Full { path },
            ErrorCode::ReadOnly => StoreError::ReadOnly { path },
            ErrorCode::PermissionDenied => StoreError::Permission { path },
            ErrorCode::CannotOpen => StoreError::Open { path, why: why() },
            _ => StoreError::Sql {
                attempt,
                path,
                source,
            },
        }
    }
}
