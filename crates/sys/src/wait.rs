//! Waiting: futexes in shared memory, event counters, several descriptors at once.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;

use crate::errno::Errno;

/// Sleeps while `word` holds `expected`, for at most `nanos`; returns on any wake, also an idle one.
pub fn futex_wait(word: &AtomicU32, expected: u32, nanos: Option<u64>) {
    let timeout = nanos.map(timespec);
    let pointer = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is alive and aligned, and so is the timeout; not FUTEX_PRIVATE, as the word is shared memory.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            expected,
            pointer,
        )
    };
}

/// Wakes everybody who sleeps on `word`.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: the word is alive and aligned.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
    }
}

/// Sleeps until CLOCK_MONOTONIC shows `instant` or a signal arrives.
pub fn sleep_until(instant: u64) {
    let until = timespec(instant);
    // SAFETY: the time is valid; no remainder is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        );
    }
}

/// A counter that workers raise and the parent waits for.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A silent one.
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: takes plain numbers; the new descriptor is owned by nobody else.
        match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
            -1 => Err(Errno::last()),
            // SAFETY: a fresh descriptor.
            fd => Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) })),
        }
    }

    /// One made in another process.
    pub const fn from_fd(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Rings.
    pub fn ring(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes are read from `one`. It can only fail when the counter is full, and then it rings.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Silences it.
    pub fn silence(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes are written to `count`.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Reads from `fd` return at once from now on.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(fd).map_err(|error| Errno(error.raw_os_error()))?;
    rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)
        .map_err(|error| Errno(error.raw_os_error()))
}

/// Waits until one of `fds` can be read or has hung up, or until CLOCK_MONOTONIC shows `deadline`. An early return
/// without cause is possible.
pub fn poll_until(fds: &[BorrowedFd<'_>], deadline: Option<u64>) {
    let mut polled: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let timeout = deadline.map(|at| timespec(at.saturating_sub(crate::clock::monotonic())));
    let pointer = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array is valid for its length, the timeout for the call.
    unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            pointer,
            std::ptr::null(),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_wakes_the_poller() {
        let bell = Bell::new().unwrap();
        bell.ring();
        poll_until(&[bell.as_fd()], None); // would hang if it had not rung
        bell.silence();
        poll_until(&[bell.as_fd()], Some(crate::clock::monotonic()));
    }

    #[test]
    fn a_changed_word_does_not_wait() {
        futex_wait(&AtomicU32::new(1), 0, None);
        futex_wake(&AtomicU32::new(1));
    }
}
