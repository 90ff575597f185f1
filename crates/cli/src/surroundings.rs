//! What the program was started with. Nothing else of the command line asks the process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use kernmark_model::plan::Program;

/// Environment, working directory, arguments and user.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) variables: BTreeMap<OsString, OsString>,
    /// `.` where it was removed under us.
    pub(crate) cwd: PathBuf,
    /// Arguments, the program's own name first.
    pub(crate) arguments: Vec<OsString>,
    /// Number of the effective user.
    pub(crate) user: u32,
    /// Where files of the system are read; tests replace it.
    pub(crate) root: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            arguments: std::env::args_os().collect(),
            user: kernmark_sys::process::effective_user(),
            root: PathBuf::from("/"),
        }
    }

    /// A variable of the environment; an empty one counts as absent.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// The name that the program was called by, without folders.
    pub(crate) fn called(&self) -> Option<&OsStr> {
        self.arguments.first().map(Path::new)?.file_name()
    }
}

/// This program, for the record.
pub(crate) fn program() -> Program {
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("KERNMARK_COMMIT").map(str::to_owned),
    }
}
