//! The calls that workloads make: the kernel's, or a script's behind one predictable branch.

use std::ffi::CStr;

use kernmark_sys::call::{self, Fd, Stat};
use kernmark_sys::errno::Errno;
use kernmark_sys::{clock, wait};

use crate::script::Playing;

/// Where a worker's calls go.
#[derive(Debug)]
pub struct Calls<'r> {
    playing: Option<Box<Playing<'r>>>,
}

/// The descriptor that a script's `open` returns.
const SCRIPTED_FD: Fd = 1_000_000;

macro_rules! calls {
    ($( $(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) -> $out:ty = $full:expr, $wrap:expr; )*) => {
        impl Calls<'_> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $name(&mut self, $($arg: $type),*) -> Result<$out, Errno> {
                    match &mut self.playing {
                        None => call::$name($($arg),*),
                        Some(playing) => {
                            let answer = playing.answer(stringify!($name), $full as u64);
                            answer.map($wrap)
                        }
                    }
                }
            )*
        }
    };
}

/// What a script says of every file: a regular one, empty.
fn scripted_stat(_: u64) -> Stat {
    Stat {
        mode: 0o100_600,
        size: 0,
        access: 0,
        modification: 0,
    }
}

fn scripted_fd(_: u64) -> Fd {
    SCRIPTED_FD
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

calls! {
    /// stat.
    stat(path: &CStr) -> Stat = 0, scripted_stat;
    /// lstat.
    lstat(path: &CStr) -> Stat = 0, scripted_stat;
    /// fstat.
    fstat(fd: Fd) -> Stat = 0, scripted_stat;
    /// open.
    open(path: &CStr, flags: i32, mode: u32) -> Fd = 0, scripted_fd;
    /// close.
    close(fd: Fd) -> () = 0, drop;
    /// pread.
    pread(fd: Fd, buffer: &mut [u8], offset: u64) -> usize = buffer.len(), size;
    /// pwrite.
    pwrite(fd: Fd, buffer: &[u8], offset: u64) -> usize = buffer.len(), size;
    /// fsync.
    fsync(fd: Fd) -> () = 0, drop;
    /// fdatasync.
    fdatasync(fd: Fd) -> () = 0, drop;
    /// ftruncate.
    ftruncate(fd: Fd, length: u64) -> () = 0, drop;
    /// unlink.
    unlink(path: &CStr) -> () = 0, drop;
    /// rmdir.
    rmdir(path: &CStr) -> () = 0, drop;
    /// mkdir.
    mkdir(path: &CStr, mode: u32) -> () = 0, drop;
    /// rename.
    rename(old: &CStr, new: &CStr) -> () = 0, drop;
    /// utime, in seconds since 1970.
    utime(path: &CStr, access: i64, modification: i64) -> () = 0, drop;
    /// statfs.
    statfs(path: &CStr) -> () = 0, drop;
    /// getdents64; a script's directories are empty.
    getdents(fd: Fd, buffer: &mut [u8]) -> usize = 0, size;
    /// fcntl F_SETLKW, write lock.
    lock_range(fd: Fd, start: u32, length: u32) -> () = 0, drop;
    /// fcntl F_SETLKW, unlock.
    unlock_range(fd: Fd, start: u32, length: u32) -> () = 0, drop;
    /// getxattr.
    getxattr(path: &CStr, name: &CStr, buffer: &mut [u8]) -> usize = 0, size;
    /// fgetxattr.
    fgetxattr(fd: Fd, name: &CStr, buffer: &mut [u8]) -> usize = 0, size;
    /// fsetxattr.
    fsetxattr(fd: Fd, name: &CStr, value: &[u8]) -> () = 0, drop;
}

impl<'r> Calls<'r> {
    pub(crate) fn new(playing: Option<Playing<'r>>) -> Self {
        Self {
            playing: playing.map(Box::new),
        }
    }

    /// Are the answers a script's?
    pub const fn scripted(&self) -> bool {
        self.playing.is_some()
    }

    /// The run's clock, in nanoseconds.
    #[inline]
    pub fn now(&self) -> u64 {
        match &self.playing {
            None => clock::monotonic(),
            Some(playing) => playing.now(),
        }
    }

    /// Sleeps until the run's clock shows `instant`.
    pub fn sleep_until(&mut self, instant: u64) {
        match &mut self.playing {
            None => wait::sleep_until(instant),
            Some(playing) => playing.advance(instant.saturating_sub(playing.now())),
        }
    }

    /// Keeps the processor busy for that long.
    pub fn spin(&mut self, nanos: u64) {
        match &mut self.playing {
            None => {
                let end = clock::monotonic() + nanos;
                while clock::monotonic() < end {
                    std::hint::spin_loop();
                }
            }
            Some(playing) => playing.advance(nanos),
        }
    }

    /// syncfs on the filesystem of `file`.
    pub(crate) fn sync_filesystem(&mut self, file: Option<&std::fs::File>) -> Result<(), Errno> {
        match (&mut self.playing, file) {
            (Some(playing), _) => playing.answer("syncfs", 0).map(drop),
            (None, Some(file)) => kernmark_sys::storage::sync_filesystem(file),
            (None, None) => Ok(()),
        }
    }

    /// On the scripted clock, takes over the instant at which the parent released the phase.
    pub(crate) fn begin_at(&mut self, instant: u64) {
        if let Some(playing) = &mut self.playing {
            playing.set_now(instant);
        }
    }
}
