//! Opening: what kind of file it is, how changes reach it, and its schema.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::Fault;
use crate::{Store, StoreError, place, schema, write};

/// How long a change waits for another process's change to end.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// One page of the smallest size (file format, section 1.3).
const SMALLEST_DATABASE: u64 = 512;

/// How changes reach the store's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// By a write-ahead log: readers and the writer do not wait for each other.
    Wal,
    /// By a rollback journal: where a filesystem cannot share memory between processes, which the log needs.
    Rollback,
}

/// Opens for writing. `filesystem` stands for the type of the filesystem where a test says so.
pub(crate) fn writable(path: &Path, filesystem: Option<&str>) -> Result<Store, StoreError> {
    let path = absolute(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
        path: folder.to_owned(),
        source,
    })?;
    let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let path = fs::canonicalize(&path).unwrap_or(path);
    let filesystem = match filesystem {
        Some(told) => Some(told.to_owned()),
        None => place::filesystem(&path),
    };
    let shares_memory = filesystem.as_deref().is_none_or(place::shares_memory);
    let explain = |fault: Fault| beside(fault.explain(&path, "opening"), &path);
    match connection.is_readonly("main") {
        Ok(false) => {}
        Ok(true) => return Err(StoreError::ReadOnly { path }),
        Err(error) => return Err(explain(error.into())),
    }
    let journal = prepare(&mut connection, &path, shares_memory).map_err(explain)?;
    Ok(Store {
        connection,
        path,
        filesystem,
        journal,
    })
}

/// Opens for reading.
pub(crate) fn read_only(path: &Path) -> Result<Store, StoreError> {
    let path = absolute(path)?;
    match fs::metadata(&path) {
        Ok(found) if found.len() == 0 => return Err(StoreError::Missing { path }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing { path });
        }
        Err(error) => return Err(refused(&path, &error)),
    }
    let path = fs::canonicalize(&path).unwrap_or(path);
    let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let (connection, journal) = match settle(&connection, &path) {
        Ok(journal) => (connection, journal),
        // In a folder that may not be written, SQLite cannot make the log's shared memory. It needs none if the log
        // holds nothing.
        Err(Fault::Sql(error)) if is_unopened(&error) && !has_log(&path) => {
            let connection = connect_unchanging(&path)?;
            let journal = settle(&connection, &path);
            let journal = journal.map_err(|fault| fault.explain(&path, "opening"))?;
            (connection, journal)
        }
        Err(fault) => return Err(fault.explain(&path, "opening")),
    };
    let filesystem = place::filesystem(&path);
    Ok(Store {
        connection,
        path,
        filesystem,
        journal,
    })
}

/// A name such as `:memory:` means a file, not what SQLite reads in it.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| StoreError::Open {
        path: path.to_owned(),
        why: error.to_string(),
    })
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let mut flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if access == OpenFlags::SQLITE_OPEN_READ_WRITE {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = Connection::open_with_flags(path, flags).map_err(|error| {
        // SQLite does not say why; the kernel does. An open file could lose its locks by this second opening, but one
        // that cannot be opened has none.
        match OpenOptions::new().read(true).open(path) {
            Err(cause) => refused(path, &cause),
            Ok(_) if path.is_dir() => StoreError::Open {
                path: path.to_owned(),
                why: "it is a folder".to_owned(),
            },
            Ok(_) => Fault::from(error).explain(path, "opening"),
        }
    })?;
    // SQLite takes a file that is shorter than any database for an empty one, and would write over it.
    match fs::metadata(path) {
        Ok(found) if (1..SMALLEST_DATABASE).contains(&found.len()) => {
            Err(StoreError::NotADatabase {
                path: path.to_owned(),
            })
        }
        _ => Ok(connection),
    }
}

/// Opens a file that nobody changes while it is read.
fn connect_unchanging(path: &Path) -> Result<Connection, StoreError> {
    let mut name = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                name.push(char::from(byte));
            }
            other => name.push_str(&format!("%{other:02X}")),
        }
    }
    name.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(name, flags)
        .map_err(|error| Fault::from(error).explain(path, "opening"))
}

/// What is set for a connection and not kept in the file.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A finished phase survives a power cut as well.
    connection.pragma_update(None, "synchronous", "full")?;
    // A database that somebody sent may not run functions from its schema.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Without it a cached query is planned anew whenever another value is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Checks the file, chooses the journal and brings the schema up to date, in this order: a file that is not ours is not
/// touched.
fn prepare(
    connection: &mut Connection,
    path: &Path,
    shares_memory: bool,
) -> Result<Journal, Fault> {
    if !shares_memory {
        alone(connection)?;
    }
    match configure(connection) {
        // A write-ahead log from elsewhere, and no shared memory here to read it by.
        Err(error) if is_unshared(&error) => {
            alone(connection)?;
            configure(connection)?;
        }
        configured => configured?,
    }
    schema::version(connection, path)?;
    let journal = if shares_memory {
        match write_ahead(connection) {
            Ok(true) => Journal::Wal,
            Ok(false) => roll_back(connection)?,
            Err(error) if is_unshared(&error) => {
                tracing::info!(%error, "no write-ahead log here, falling back to a rollback journal");
                alone(connection)?;
                roll_back(connection)?
            }
            Err(error) => return Err(error.into()),
        }
    } else {
        roll_back(connection)?
    };
    schema::migrate(connection, path)?;
    write::refresh_facts(connection)?;
    Ok(journal)
}

/// For reading: checks the file and takes it as it is.
fn settle(connection: &Connection, path: &Path) -> Result<Journal, Fault> {
    configure(connection)?;
    let found = schema::version(connection, path)?;
    if found < schema::KNOWN {
        return Err(StoreError::Older {
            path: path.to_owned(),
            found,
            known: schema::KNOWN,
        }
        .into());
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(if mode == "wal" {
        Journal::Wal
    } else {
        Journal::Rollback
    })
}

/// Keeps the file locked, which makes a write-ahead log readable without shared memory; undone by [`roll_back`].
fn alone(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "locking_mode", "exclusive", |_| Ok(()))
}

/// Turns to a write-ahead log; `false` if SQLite sees that it cannot work here.
fn write_ahead(connection: &Connection) -> rusqlite::Result<bool> {
    let end = Instant::now() + BUSY_TIMEOUT;
    loop {
        let turned = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))
            // The first reader maps the shared memory: what cannot be mapped shows here.
            .and_then(|mode| {
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
                Ok(mode == "wal")
            });
        match turned {
            // SQLite does not wait by itself for this change, which needs the file alone.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < end =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Turns to a rollback journal, and lets other processes in again.
fn roll_back(connection: &Connection) -> rusqlite::Result<Journal> {
    connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
    connection.pragma_update_and_check(None, "locking_mode", "normal", |_| Ok(()))?;
    // The lock is given up at the end of the next reading.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(Journal::Rollback)
}

/// The shared memory could not be made or mapped.
fn is_unshared(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed)
    )
}

fn is_unopened(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

/// There is a write-ahead log with something in it.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|found| found.len() > 0)
}

/// The file itself was opened: what could not be is a file beside it.
fn beside(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Open { .. } => StoreError::ReadOnly {
            path: path.to_owned(),
        },
        other => other,
    }
}

fn refused(path: &Path, cause: &io::Error) -> StoreError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::PermissionDenied => StoreError::Permission { path },
        // It is not there and could not be made.
        io::ErrorKind::NotFound => match path.parent().map(fs::metadata) {
            Some(Ok(_)) => StoreError::Open {
                path,
                why: "its folder cannot be written\n  name another file with --db".to_owned(),
            },
            _ => StoreError::Missing { path },
        },
        _ => StoreError::Open {
            path,
            why: cause.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use kernmark_model::fixtures;

    use super::*;
    use crate::{Detail, Selection};

    fn mode(path: &Path) -> [u8; 2] {
        let bytes = fs::read(path).unwrap();
        [bytes[18], bytes[19]]
    }

    #[test]
    fn a_filesystem_that_cannot_share_memory_gets_a_rollback_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        for filesystem in ["9p", "nfs4", "fuse.sshfs"] {
            let store = writable(&path, Some(filesystem)).unwrap();
            assert_eq!(store.journal(), Journal::Rollback, "{filesystem}");
            // Bytes 18 and 19 of the header: 1 is a rollback journal, 2 a write-ahead log.
            assert_eq!(mode(&path), [1, 1], "{filesystem}");
        }
        let store = writable(&path, Some("ext4")).unwrap();
        assert_eq!(store.journal(), Journal::Wal);
    }

    #[test]
    fn a_store_that_moves_to_such_a_filesystem_is_turned_and_keeps_its_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let run = fixtures::lat_mem_rd_table();
        let mut store = writable(&path, Some("ext4")).unwrap();
        store.insert_run(&run).unwrap();
        drop(store);
        assert_eq!(mode(&path), [2, 2]);

        let store = writable(&path, Some("nfs4")).unwrap();
        assert_eq!(mode(&path), [1, 1]);
        // Another process is let in: the file is locked only while it is turned.
        let mut other = writable(&path, Some("nfs4")).unwrap();
        assert!(other.insert_run(&fixtures::imported_mean_of_25()).unwrap());
        let runs = store.load(&Selection::default(), Detail::Full).unwrap();
        assert_eq!(runs, [run, fixtures::imported_mean_of_25()]);
    }
}
