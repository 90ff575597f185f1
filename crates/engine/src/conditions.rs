//! Conditions of a run: set, and read back.

use std::fs;
use std::io;

use kernmark_model::units::Bytes;
use thiserror::Error;

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Why a condition could not be set.
#[derive(Debug, Error)]
pub enum ConditionError {
    /// The page cache could not be dropped.
    #[error(
        "cannot drop the page cache: writing 3 to /proc/sys/vm/drop_caches: {0}\n  without it the run would time memory\n  run as root, or pass --cache warm to measure the cached case on purpose"
    )]
    DropCaches(#[source] io::Error),
}

/// Writes everything dirty back and drops clean pages, dentries and inodes, of the whole machine.
pub(crate) fn drop_caches() -> Result<(), ConditionError> {
    kernmark_sys::storage::sync_all();
    fs::write(DROP_CACHES, "3").map_err(ConditionError::DropCaches)
}

/// Looks whether [`drop_caches`] is allowed.
pub(crate) fn may_drop_caches() -> Result<(), ConditionError> {
    let file = fs::File::options().write(true).open(DROP_CACHES);
    file.map(drop).map_err(ConditionError::DropCaches)
}

/// MemAvailable; `None` where the kernel does not tell.
pub(crate) fn available_memory() -> Option<Bytes> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::kib(kib))
}
