//! Error numbers of the kernel.

use std::fmt;

/// An error number as a system call returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// No such file or directory.
    pub const NOENT: Self = Self(libc::ENOENT);
    /// Input/output error.
    pub const IO: Self = Self(libc::EIO);
    /// Is a directory.
    pub const ISDIR: Self = Self(libc::EISDIR);
    /// File exists.
    pub const EXIST: Self = Self(libc::EEXIST);
    /// Not a directory.
    pub const NOTDIR: Self = Self(libc::ENOTDIR);
    /// Invalid argument.
    pub const INVAL: Self = Self(libc::EINVAL);
    /// No space left on device.
    pub const NOSPC: Self = Self(libc::ENOSPC);
    /// Interrupted by a signal.
    pub const INTR: Self = Self(libc::EINTR);
    /// Would block.
    pub const AGAIN: Self = Self(libc::EAGAIN);

    /// The error of the C library's last failed call in this thread.
    pub fn last() -> Self {
        Self(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// As the standard library has it, for messages and `?`.
    pub fn io(self) -> std::io::Error {
        std::io::Error::from_raw_os_error(self.0)
    }
}

impl fmt::Display for Errno {
    /// The kernel's text without Rust's "(os error N)": `No space left on device`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.io().to_string();
        f.write_str(text.split(" (os error").next().unwrap_or(&text))
    }
}

impl std::error::Error for Errno {}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        errno.io()
    }
}
