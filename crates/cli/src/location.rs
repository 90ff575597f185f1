//! Where the store lies, and whose it is.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, lchown};
use std::path::{Path, PathBuf};

use kernmark_store::Store;

use crate::exit::Failure;
use crate::surroundings::Surroundings;

/// A store's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The store's file.
    pub(crate) file: PathBuf,
    /// Whoever called us through sudo; new files are given to him.
    pub(crate) caller: Option<Caller>,
}

/// The user behind sudo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: u32,
    pub(crate) group: Option<u32>,
}

impl Location {
    /// The store that `--db` names, else `KERNMARK_DB`, else the user's own; under sudo, that of the calling user.
    pub(crate) fn find(db: Option<&Path>, around: &Surroundings) -> Result<Self, Failure> {
        let caller = caller(around);
        let named = db.map(Path::as_os_str).or(around.variable("KERNMARK_DB"));
        let file = match named {
            Some(named) => around.cwd.join(named),
            None => data_folder(caller, around)?.join("kernmark/kernmark.db"),
        };
        Ok(Self { file, caller })
    }

    /// Opens the store for writing; makes it if it is not there.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        self.make_folder()?;
        let there = self.file.exists();
        let store = Store::open(&self.file)?;
        if !there {
            // With the log, and with the memory that belongs to it.
            for ending in ["", "-wal", "-shm"] {
                self.give(&beside(&self.file, ending));
            }
        }
        Ok(store)
    }

    /// Opens the store for reading.
    pub(crate) fn read(&self) -> Result<Store, Failure> {
        Ok(Store::open_read_only(&self.file)?)
    }

    /// Makes the folders above the store's file that are not there.
    pub(crate) fn make_folder(&self) -> Result<(), Failure> {
        let missing: Vec<&Path> = self
            .file
            .ancestors()
            .skip(1)
            .take_while(|folder| fs::symlink_metadata(folder).is_err())
            .collect();
        for folder in missing.into_iter().rev() {
            self.make(folder)?;
        }
        Ok(())
    }

    /// A folder beside the store's file that nobody else may write to: what lies in it is done as the user we are.
    pub(crate) fn undo_folder(&self, around: &Surroundings) -> Result<PathBuf, Failure> {
        self.make_folder()?;
        let folder = beside(&self.file, "-undo");
        if fs::symlink_metadata(&folder).is_err() {
            self.make(&folder)?;
        }
        let found = fs::symlink_metadata(&folder).map_err(|error| unusable(&folder, error))?;
        let ours = found.uid() == around.user
            || self.caller.is_some_and(|caller| found.uid() == caller.user);
        if !found.is_dir() || !ours || found.mode() & 0o022 != 0 {
            return Err(unusable(
                &folder,
                "it belongs to another user, or others may write to it",
            ));
        }
        Ok(folder)
    }

    fn make(&self, folder: &Path) -> Result<(), Failure> {
        DirBuilder::new()
            .mode(0o700)
            .create(folder)
            .map_err(|error| unusable(folder, error))?;
        self.give(folder);
        Ok(())
    }

    /// Gives a file that we made to the caller. Where that is not possible it stays ours, and works.
    fn give(&self, path: &Path) {
        if let Some(caller) = self.caller {
            lchown(path, Some(caller.user), caller.group).ok();
        }
    }
}

fn unusable(folder: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::need(format_args!(
        "cannot use the folder {}: {why}\n  name a store elsewhere with --db",
        folder.display()
    ))
}

/// `path` with `ending` behind its last name.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The user behind sudo, if we are root through it.
fn caller(around: &Surroundings) -> Option<Caller> {
    let number = |name| around.variable(name)?.to_str()?.parse::<u32>().ok();
    let user = number("SUDO_UID").filter(|user| *user != 0 && around.user == 0)?;
    Some(Caller {
        user,
        group: number("SUDO_GID"),
    })
}

/// `$XDG_DATA_HOME`, or what stands for it.
fn data_folder(caller: Option<Caller>, around: &Surroundings) -> Result<PathBuf, Failure> {
    const SHARE: &str = ".local/share";
    if let Some(caller) = caller {
        // The environment may be root's here.
        return match kernmark_sys::names::home_of(&around.root, caller.user) {
            Some(home) => Ok(home.join(SHARE)),
            None => Err(homeless(format_args!(
                "user {}, who called sudo, has no home in /etc/passwd",
                caller.user
            ))),
        };
    }
    // The specification of these folders says to ignore relative ones.
    let folder = |name| {
        around
            .variable(name)
            .map(Path::new)
            .filter(|path: &&Path| path.is_absolute())
    };
    folder("XDG_DATA_HOME")
        .map(Path::to_owned)
        .or_else(|| Some(folder("HOME")?.join(SHARE)))
        .ok_or_else(|| homeless("neither XDG_DATA_HOME nor HOME names a folder"))
}

fn homeless(why: impl std::fmt::Display) -> Failure {
    Failure::wrong_use(format_args!(
        "no place for the store: {why}\n  name its file with --db or KERNMARK_DB"
    ))
}

/// Was a store asked for by name?
pub(crate) fn is_named(db: Option<&Path>, around: &Surroundings) -> bool {
    db.map(Path::as_os_str)
        .or(around.variable("KERNMARK_DB"))
        .is_some_and(|name: &OsStr| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn around(variables: &[(&str, &str)]) -> Surroundings {
        Surroundings {
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            cwd: "/here".into(),
            arguments: Vec::new(),
            user: 1000,
            root: "/nowhere".into(),
        }
    }

    fn found(db: Option<&str>, variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        Location::find(db.map(Path::new), &around(variables))
            .map(|location| location.file)
            .map_err(|failure| failure.error.unwrap().to_string())
    }

    #[test]
    fn the_nearest_wish_counts() {
        let all = [
            ("KERNMARK_DB", "e.db"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/home/j"),
        ];
        for (db, variables, file) in [
            (Some("f.db"), &all[..], "/here/f.db"),
            (Some("/f.db"), &all, "/f.db"),
            (None, &all, "/here/e.db"),
            (None, &all[1..], "/data/kernmark/kernmark.db"),
            (None, &all[2..], "/home/j/.local/share/kernmark/kernmark.db"),
            (
                None,
                &[("XDG_DATA_HOME", "data"), ("HOME", "/home/j")],
                "/home/j/.local/share/kernmark/kernmark.db",
            ),
            (
                None,
                &[("KERNMARK_DB", ""), ("HOME", "/home/j")],
                "/home/j/.local/share/kernmark/kernmark.db",
            ),
        ] {
            assert_eq!(found(db, variables).as_deref(), Ok(Path::new(file)));
        }
    }

    #[test]
    fn without_a_home_the_way_out_is_named() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "relative")]] {
            let message = found(None, variables).unwrap_err();
            assert!(message.contains("--db"), "{message}");
        }
    }

    #[test]
    fn under_sudo_the_caller_s_store_is_used_and_his() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        fs::write(
            root.path().join("etc/passwd"),
            "root:x:0:0::/root:/bin/sh\nj:x:1000:100::/home/j:/bin/sh\n",
        )
        .unwrap();
        let sudo = |user: u32, caller: &str| Surroundings {
            user,
            root: root.path().to_owned(),
            ..around(&[
                ("HOME", "/root"),
                ("XDG_DATA_HOME", "/root/data"),
                ("SUDO_UID", caller),
                ("SUDO_GID", "100"),
            ])
        };
        let location = Location::find(None, &sudo(0, "1000")).unwrap();
        let expected = Location {
            file: "/home/j/.local/share/kernmark/kernmark.db".into(),
            caller: Some(Caller {
                user: 1000,
                group: Some(100),
            }),
        };
        assert_eq!(location, expected);
        // sudo -u somebody, root's own sudo, and a value that is no number.
        for (user, caller) in [(1000, "1000"), (0, "0"), (0, "x")] {
            let location = Location::find(None, &sudo(user, caller)).unwrap();
            assert_eq!(location.caller, None);
            assert_eq!(location.file, Path::new("/root/data/kernmark/kernmark.db"));
        }
        let message = Location::find(None, &sudo(0, "4711")).unwrap_err();
        let message = message.error.unwrap().to_string();
        assert!(
            message.contains("user 4711") && message.contains("--db"),
            "{message}"
        );
    }

    #[test]
    fn what_is_made_is_given_to_the_caller() {
        let dir = tempfile::tempdir().unwrap();
        let user = kernmark_sys::process::effective_user();
        let caller = if user == 0 { 1000 } else { user };
        let location = Location {
            file: dir.path().join("a/b/x.db"),
            caller: Some(Caller {
                user: caller,
                group: None,
            }),
        };
        let store = location.open().unwrap();
        for name in ["a", "a/b", "a/b/x.db", "a/b/x.db-wal", "a/b/x.db-shm"] {
            let owner = fs::metadata(dir.path().join(name)).unwrap().uid();
            assert_eq!(owner, caller, "{name}");
        }
        drop(store);
        let around = Surroundings {
            user,
            ..around(&[])
        };
        let folder = location.undo_folder(&around).unwrap();
        assert_eq!(folder, dir.path().join("a/b/x.db-undo"));
        assert_eq!(fs::metadata(&folder).unwrap().uid(), caller);
    }

    #[test]
    fn an_undo_folder_that_others_may_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let location = Location {
            file: dir.path().join("x.db"),
            caller: None,
        };
        let around = Surroundings {
            user: kernmark_sys::process::effective_user(),
            ..around(&[])
        };
        let folder = location.undo_folder(&around).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let message = location.undo_folder(&around).unwrap_err();
        let message = message.error.unwrap().to_string();
        assert!(message.contains("x.db-undo"), "{message}");
        fs::remove_dir(&folder).unwrap();
        std::os::unix::fs::symlink(dir.path(), &folder).unwrap();
        assert!(location.undo_folder(&around).is_err());
    }
}
