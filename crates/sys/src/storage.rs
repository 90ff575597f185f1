//! What a filesystem offers besides files: room, and making durable.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::errno::Errno;

/// Room of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Unit in which it gives out room, in bytes.
    pub block: u64,
    /// Size in bytes.
    pub total: u64,
    /// Bytes that are free, those kept for root included.
    pub free: u64,
    /// Bytes that this user may still write.
    pub available: u64,
    /// Files that it holds at most; `None` where it keeps no such count.
    pub total_files: Option<u64>,
    /// Files that can still be made; `None` where the filesystem keeps no such count.
    pub files: Option<u64>,
    /// Its magic number.
    pub magic: u64,
}

/// The room at `path`.
#[expect(clippy::cast_sign_loss, reason = "a magic number is a bit pattern")]
pub fn room(path: &Path) -> Result<Room, Errno> {
    let stat = rustix::fs::statfs(path).map_err(|error| Errno(error.raw_os_error()))?;
    let block = u64::try_from(stat.f_frsize)
        .ok()
        .filter(|size| *size > 0)
        .unwrap_or(4096);
    Ok(Room {
        block,
        total: stat.f_blocks.saturating_mul(block),
        free: stat.f_bfree.saturating_mul(block),
        available: stat.f_bavail.saturating_mul(block),
        total_files: (stat.f_files > 0).then_some(stat.f_files),
        files: (stat.f_files > 0).then_some(stat.f_ffree),
        magic: stat.f_type as u64,
    })
}

/// syncfs: writes back everything dirty of the filesystem that holds `file`, and waits.
pub fn sync_filesystem(file: &File) -> Result<(), Errno> {
    // SAFETY: takes a plain number.
    match unsafe { libc::syncfs(file.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

/// POSIX_FADV_DONTNEED on a whole file: drops its clean pages from the cache.
pub fn drop_cached(file: &File) -> Result<(), Errno> {
    // SAFETY: takes plain numbers.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(Errno(error)),
    }
}

/// sync: asks for everything dirty on the machine to be written back, and on Linux waits for it.
pub fn sync_all() {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::sync() };
}
