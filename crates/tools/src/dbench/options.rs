//! dbench's parameters, and what they make of a replay.

use kernmark_engine::tool::{MakeError, Param};
use kernmark_model::plan::{ParamKind, Params};
use kernmark_model::units::Nanos;

use super::generate;

const YES_NO: ParamKind = ParamKind::Flag;

const fn flag(name: &'static str, default: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: YES_NO,
        default,
        about,
    }
}

/// The parameters; `kernmark doc dbench` prints them.
pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "clients",
        kind: ParamKind::Count {
            least: 1,
            most: 100_000,
        },
        default: "1",
        about: "how many clients replay the loadfile at the same time",
    },
    Param {
        name: "seconds",
        kind: ParamKind::Duration,
        default: "60s",
        about: "length of the measured window",
    },
    Param {
        name: "warmup",
        kind: ParamKind::Duration,
        default: "5s",
        about: "least time before the window opens",
    },
    Param {
        name: "passes",
        kind: ParamKind::Count {
            least: 0,
            most: 1_000_000_000,
        },
        default: "0",
        about: "whole passes of each client instead of a time; 0 to go by seconds",
    },
    Param {
        name: "setup",
        kind: ParamKind::Choice(&["exclude", "include"]),
        default: "exclude",
        about: "exclude: the window opens only when every client has set up its files",
    },
    Param {
        name: "loadfile",
        kind: ParamKind::Text,
        default: "",
        about: "a loadfile of dbench 3.x or 4.x, plain or gzip, - for stdin; empty for the generated standard one",
    },
    Param {
        name: "iterations",
        kind: ParamKind::Count {
            least: 1,
            most: generate::MAX_ITERATIONS as u64,
        },
        default: "129",
        about: "length of the generated loadfile, in iterations of the office mix",
    },
    Param {
        name: "on-error",
        kind: ParamKind::Choice(&["stop", "continue", "original"]),
        default: "stop",
        about: "after an op that did not end as its status says; original: as dbench 4.00 does",
    },
    Param {
        name: "clients-per-process",
        kind: ParamKind::Count {
            least: 1,
            most: 1000,
        },
        default: "1",
        about: "clients that share a process and go in lock-step, line by line",
    },
    Param {
        name: "rate",
        kind: ParamKind::Number,
        default: "0",
        about: "pace each client to this many MB/s (10^6 bytes); 0 for as fast as it goes",
    },
    flag(
        "drain",
        "yes",
        "a timed sync after the window: what is dirty becomes durable",
    ),
    flag("sync", "no", "O_SYNC on every file"),
    flag(
        "sync-dir",
        "no",
        "fdatasync the parent after unlink, rmdir and rename",
    ),
    flag("fsync", "no", "fsync after every write"),
    flag(
        "xattr",
        "no",
        "the extended attribute that a Samba server keeps for DOS",
    ),
    flag(
        "resolve",
        "yes",
        "scan the parent directory after a failed stat, as a case-insensitive server must",
    ),
    flag(
        "one-byte-write-fix",
        "no",
        "make no 1-byte write that changes nothing",
    ),
    flag(
        "stat-check",
        "no",
        "ask by stat before a mkdir, create, rmdir or rename whether it is pointless",
    ),
    flag(
        "fake-io",
        "no",
        "count reads and writes without making them",
    ),
    flag(
        "per-client-results",
        "no",
        "the 4.00 text has a table for each client",
    ),
    flag(
        "skip-cleanup",
        "no",
        "leave the clients' trees; in a scratch folder they go all the same",
    ),
];

/// What happens after an op that did not end as its status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    /// The run has failed.
    Stop,
    /// It is counted, and the client goes on.
    Continue,
    /// As in dbench 4.00: some are fatal, some are told, most are not looked at.
    Original,
}

/// How a loadfile is replayed.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the original's command line"
)]
pub(super) struct Options {
    pub(super) processes: u32,
    pub(super) per_process: u32,
    pub(super) length: Nanos,
    pub(super) warm_up: Nanos,
    pub(super) passes: u64,
    pub(super) exclude_setup: bool,
    pub(super) on_error: OnError,
    /// Bytes per second of each client; 0 for no pacing.
    pub(super) rate: f64,
    pub(super) drain: bool,
    pub(super) sync: bool,
    pub(super) sync_dir: bool,
    pub(super) fsync: bool,
    pub(super) xattr: bool,
    pub(super) resolve: bool,
    pub(super) one_byte_write_fix: bool,
    pub(super) stat_check: bool,
    pub(super) fake_io: bool,
    pub(super) skip_cleanup: bool,
}

impl Options {
    pub(super) fn read(params: &Params) -> Result<Self, MakeError> {
        let clients = params.count("clients")?;
        let per_process = params.count("clients-per-process")?;
        if clients % per_process != 0 {
            return Err(MakeError::Value(format!(
                "{clients} clients cannot be shared out {per_process} to a process; make it a multiple"
            )));
        }
        let options = Self {
            processes: u32::try_from(clients / per_process).unwrap_or(u32::MAX),
            per_process: u32::try_from(per_process).unwrap_or(u32::MAX),
            length: params.duration("seconds")?,
            warm_up: params.duration("warmup")?,
            passes: params.count("passes")?,
            exclude_setup: params.text("setup")? == "exclude",
            on_error: match params.text("on-error")?.as_str() {
                "continue" => OnError::Continue,
                "original" => OnError::Original,
                _ => OnError::Stop,
            },
            rate: params.number("rate")? * 1e6,
            drain: params.flag("drain")?,
            sync: params.flag("sync")?,
            sync_dir: params.flag("sync-dir")?,
            fsync: params.flag("fsync")?,
            xattr: params.flag("xattr")?,
            resolve: params.flag("resolve")?,
            one_byte_write_fix: params.flag("one-byte-write-fix")?,
            stat_check: params.flag("stat-check")?,
            fake_io: params.flag("fake-io")?,
            skip_cleanup: params.flag("skip-cleanup")?,
        };
        if options.length.0 == 0 && options.passes == 0 {
            return Err(MakeError::Value(
                "seconds=0 measures nothing; give a time, or passes=1 or more".to_owned(),
            ));
        }
        Ok(options)
    }

    /// Clients in all.
    pub(super) const fn clients(&self) -> u32 {
        self.processes * self.per_process
    }
}
