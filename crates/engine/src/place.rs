//! The directory under test, and the guard before it.
//!
//! A run gets a fresh folder of its own under the directory that was named, or, in place, named entries directly in it
//! (as the originals do). The directory is locked first, so that two runs never delete each other's files; whatever is
//! made is written to the undo journal before it is made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use kernmark_model::units::Bytes;
use kernmark_sys::call::{O_CREAT, O_NOFOLLOW};
use kernmark_sys::lock;
use thiserror::Error;
use uuid::Uuid;

use crate::journal::{Journal, Undo};
use crate::tool::Room;

/// Name of the lock file in the directory under test.
pub const LOCK_NAME: &str = ".kernmark.lock";

/// Why a directory was refused. Nothing was changed in it.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// It is not there, or no directory, or may not be entered.
    #[error(
        "cannot work in {path}: {cause}\n  name a directory that exists and that you may write to with --on"
    )]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Another run holds it.
    #[error(
        "another run is working in {directory}: it holds the lock {lock}\n  two runs in one directory would delete each other's files; wait for it, or name another directory"
    )]
    Busy {
        /// The directory.
        directory: PathBuf,
        /// The lock file.
        lock: PathBuf,
    },
    /// An entry that the run would make is there and holds files.
    #[error(
        "{entry} exists and holds files ({example}): it is not ours to overwrite\n  move it away, or name another directory"
    )]
    Foreign {
        /// The entry.
        entry: PathBuf,
        /// One of the files.
        example: PathBuf,
    },
    /// It does not hold enough.
    #[error(
        "{path} has {available} free, and this run needs {needed}\n  free some, name another filesystem with --on, or plan fewer clients"
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// Free bytes.
        available: Bytes,
        /// What the run needs.
        needed: Bytes,
    },
    /// It cannot hold enough files.
    #[error(
        "{path} can take {available} more files, and this run makes {needed}\n  name another filesystem with --on"
    )]
    NoFiles {
        /// The directory.
        path: PathBuf,
        /// Free inodes.
        available: u64,
        /// What the run needs.
        needed: u64,
    },
    /// The machine has not enough memory.
    #[error(
        "this run needs {needed} of memory for its workers, and {available} is available\n  plan fewer clients"
    )]
    NoMemory {
        /// MemAvailable.
        available: Bytes,
        /// What the run needs.
        needed: Bytes,
    },
    /// The undo journal could not be written.
    #[error(
        "cannot keep the undo journal: {0}\n  without it a killed run would leave its files behind"
    )]
    Journal(#[source] io::Error),
}

/// A directory that is ours until dropped.
#[derive(Debug)]
pub struct Place {
    directory: PathBuf,
    root: PathBuf,
    /// Held, not read: closing it lets the lock go.
    _lock: Option<File>,
}

impl Place {
    /// Where files are to be made.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory that was named.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A place that another process holds for us.
    pub(crate) const fn lent(directory: PathBuf, root: PathBuf) -> Self {
        Self {
            directory,
            root,
            _lock: None,
        }
    }

    /// Locks `named` and makes a fresh folder in it; in place if `entries` names what will be made there.
    pub(crate) fn take(
        named: &Path,
        entries: Option<&[&str]>,
        keep: bool,
        room: Room,
        journal: &mut Journal,
    ) -> Result<Self, PlaceError> {
        let unusable = |cause| PlaceError::Unusable {
            path: named.to_owned(),
            cause,
        };
        let root = fs::canonicalize(named).map_err(unusable)?;
        if !root.is_dir() {
            return Err(unusable(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        check_room(&root, room)?;
        let lock = take_lock(&root, journal)?;
        let directory = match entries {
            Some(entries) => {
                for entry in entries {
                    let entry = root.join(entry);
                    refuse_files(&entry)?;
                    if !keep {
                        journal
                            .record(Undo::RemoveTree { path: entry })
                            .map_err(PlaceError::Journal)?;
                    }
                }
                // The directory as it was named: path lengths are part of what is measured.
                named.to_owned()
            }
            None => {
                let directory = root.join(format!("kernmark-{}", Uuid::now_v7().simple()));
                journal
                    .record(Undo::RemoveTree {
                        path: directory.clone(),
                    })
                    .map_err(PlaceError::Journal)?;
                DirBuilder::new()
                    .mode(0o700)
                    .create(&directory)
                    .map_err(unusable)?;
                directory
            }
        };
        Ok(Self {
            directory,
            root,
            _lock: Some(lock),
        })
    }
}

/// Locks the directory by a file in it.
fn take_lock(root: &Path, journal: &mut Journal) -> Result<File, PlaceError> {
    let path = root.join(LOCK_NAME);
    let unusable = |cause| PlaceError::Unusable {
        path: root.to_owned(),
        cause,
    };
    let busy = || PlaceError::Busy {
        directory: root.to_owned(),
        lock: path.clone(),
    };
    // Its holder removes the file and then lets the lock go, so the file that we locked may be gone already: try again.
    for _ in 0..100 {
        // Read-only, though it creates: a file open for writing would keep the filesystem from being remounted.
        let file = OpenOptions::new()
            .read(true)
            .mode(0o600)
            // A symbolic link in the lock's place must not lead out of the directory.
            .custom_flags(O_CREAT | O_NOFOLLOW)
            .open(&path)
            .map_err(unusable)?;
        if !lock::try_exclusive(&file).map_err(|errno| unusable(errno.io()))? {
            return Err(busy());
        }
        let ours = file.metadata().map_err(unusable)?;
        if fs::symlink_metadata(&path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
        {
            journal
                .record(Undo::RemoveFile { path })
                .map_err(PlaceError::Journal)?;
            return Ok(file);
        }
    }
    Err(busy())
}

/// Refuses an entry that holds anything but directories (which the original leaves behind).
fn refuse_files(entry: &Path) -> Result<(), PlaceError> {
    let mut pending = vec![entry.to_owned()];
    while let Some(path) = pending.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        if !metadata.is_dir() {
            return Err(PlaceError::Foreign {
                entry: entry.to_owned(),
                example: path,
            });
        }
        let listed = fs::read_dir(&path).map_err(|cause| PlaceError::Unusable {
            path: path.clone(),
            cause,
        })?;
        pending.extend(listed.filter_map(Result::ok).map(|child| child.path()));
    }
    Ok(())
}

/// Refuses work that does not fit into what is free at `root`.
pub(crate) fn check_room(root: &Path, room: Room) -> Result<(), PlaceError> {
    let Ok(there) = kernmark_sys::storage::room(root) else {
        return Ok(());
    };
    if there.available < room.bytes.0 {
        return Err(PlaceError::NoRoom {
            path: root.to_owned(),
            available: Bytes(there.available),
            needed: room.bytes,
        });
    }
    // btrfs counts no inodes and reports none at all.
    if let Some(files) = there.files.filter(|files| *files < room.files) {
        return Err(PlaceError::NoFiles {
            path: root.to_owned(),
            available: files,
            needed: room.files,
        });
    }
    Ok(())
}

/// Refuses work whose workers do not fit into `available` memory.
pub(crate) fn check_memory(available: Option<Bytes>, room: Room) -> Result<(), PlaceError> {
    match available {
        Some(available) if available < room.memory => Err(PlaceError::NoMemory {
            available,
            needed: room.memory,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(dir: &Path) -> Journal {
        Journal::open(&dir.join("undo")).unwrap()
    }

    #[test]
    fn a_second_run_in_one_directory_is_refused_and_names_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (mut a, mut b) = (journal(dir.path()), journal(dir.path()));
        let first = Place::take(dir.path(), None, false, Room::default(), &mut a).unwrap();
        let refused = Place::take(dir.path(), None, false, Room::default(), &mut b)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(LOCK_NAME), "{refused}");
        a.undo_all();
        drop(first);
        Place::take(dir.path(), None, false, Room::default(), &mut b).unwrap();
        b.undo_all();
        let left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["undo"]);
    }

    #[test]
    fn foreign_files_are_not_touched_and_empty_leftovers_are_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let clients = dir.path().join("clients");
        fs::create_dir_all(clients.join("client0/~dmtmp")).unwrap();
        let mut journal = journal(dir.path());
        Place::take(
            dir.path(),
            Some(&["clients"]),
            false,
            Room::default(),
            &mut journal,
        )
        .unwrap();
        journal.undo_all();
        assert!(!clients.exists());
        fs::create_dir(&clients).unwrap();
        fs::write(clients.join("thesis"), "years").unwrap();
        let refused = Place::take(
            dir.path(),
            Some(&["clients"]),
            false,
            Room::default(),
            &mut journal,
        );
        assert!(matches!(refused, Err(PlaceError::Foreign { .. })));
        journal.undo_all();
        assert_eq!(fs::read_to_string(clients.join("thesis")).unwrap(), "years");
    }

    #[test]
    fn what_cannot_fit_is_refused_with_the_amount() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = journal(dir.path());
        let room = Room {
            bytes: Bytes(1 << 60),
            ..Room::default()
        };
        let refused = Place::take(dir.path(), None, false, room, &mut journal)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("needs 1048576 TiB"), "{refused}");
        let refused = Place::take(
            Path::new("/no/such/place"),
            None,
            false,
            Room::default(),
            &mut journal,
        );
        assert!(matches!(refused, Err(PlaceError::Unusable { .. })));
        assert!(
            check_memory(
                Some(Bytes(1)),
                Room {
                    memory: Bytes(2),
                    ..Room::default()
                }
            )
            .is_err()
        );
        assert!(
            check_memory(
                None,
                Room {
                    memory: Bytes(2),
                    ..Room::default()
                }
            )
            .is_ok()
        );
    }

    #[test]
    fn a_link_in_the_lock_s_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join(LOCK_NAME))
            .unwrap();
        let mut journal = journal(dir.path());
        assert!(Place::take(dir.path(), None, false, Room::default(), &mut journal).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }
}
