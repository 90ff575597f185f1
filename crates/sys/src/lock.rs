//! A lock on a file that the kernel releases with its holder.

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::errno::Errno;

/// Takes an exclusive `flock`; `Ok(false)` if somebody else holds one.
pub fn try_exclusive(file: &File) -> Result<bool, Errno> {
    // SAFETY: takes plain numbers.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(true),
        _ => match Errno::last() {
            Errno(libc::EWOULDBLOCK) => Ok(false),
            errno => Err(errno),
        },
    }
}
