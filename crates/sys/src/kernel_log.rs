//! `/dev/kmsg`: the kernel's log, a record for each read.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::errno::Errno;

/// Opens the log for reading without waiting: a read at its end fails with `WouldBlock`.
///
/// A read whose record was overwritten meanwhile fails with `BrokenPipe` (EPIPE), and the next one goes on with the
/// oldest record that is left. Without CAP_SYSLOG the kernel may refuse (`kernel.dmesg_restrict`).
pub fn open(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => Ok(File::from(fd)),
        Err(error) => Err(Errno(error.raw_os_error())),
    }
}
