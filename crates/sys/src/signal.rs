//! Signals: read from a descriptor in the parent, set back to plain in workers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::errno::Errno;

/// SIGINT.
pub const INT: i32 = libc::SIGINT;
/// SIGTERM.
pub const TERM: i32 = libc::SIGTERM;
/// SIGHUP.
pub const HUP: i32 = libc::SIGHUP;
/// SIGQUIT.
pub const QUIT: i32 = libc::SIGQUIT;
/// SIGCHLD.
pub const CHLD: i32 = libc::SIGCHLD;
/// SIGKILL.
pub const KILL: i32 = libc::SIGKILL;
/// SIGUSR1.
pub const USR1: i32 = libc::SIGUSR1;

fn set(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: a signal set is plain memory that sigemptyset initialises; sigaddset takes valid numbers only.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        set
    }
}

/// Signals that are held back from this thread and read from a descriptor instead. Dropping it lets them through again;
/// one that arrived and was not read is then delivered.
///
/// What whoever started us wants ignored (`nohup`, a shell's background job) stays ignored, although a signal that is
/// held back would be queued even so. SIGCHLD is always heard.
#[derive(Debug)]
pub struct Held {
    fd: OwnedFd,
    before: libc::sigset_t,
}

impl Held {
    /// Holds these back.
    pub fn new(signals: &[i32]) -> Result<Self, Errno> {
        let heard = |signal: &i32| *signal == CHLD || !is_ignored(*signal);
        let signals: Vec<i32> = signals.iter().copied().filter(heard).collect();
        let set = set(&signals);
        // SAFETY: both sets are valid; the new descriptor is owned by nobody else.
        unsafe {
            let mut before = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(Errno::last()),
                fd => Ok(Self {
                    fd: OwnedFd::from_raw_fd(fd),
                    before,
                }),
            }
        }
    }

    /// The next signal that arrived, if one did.
    pub fn take(&self) -> Option<i32> {
        // SAFETY: the structure is plain memory of the size that the kernel fills.
        unsafe {
            let mut info: libc::signalfd_siginfo = std::mem::zeroed();
            let size = size_of::<libc::signalfd_siginfo>();
            let read = libc::read(self.fd.as_raw_fd(), (&raw mut info).cast(), size);
            (usize::try_from(read) == Ok(size)).then(|| info.ssi_signo.cast_signed())
        }
    }
}

impl AsFd for Held {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: restores a set that the kernel gave.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            )
        };
    }
}

/// Does the signal have no effect here?
fn is_ignored(signal: i32) -> bool {
    // SAFETY: nothing is changed; the structure is plain memory for the call to fill.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a signal its default effect: whoever started us may have had it ignored, and ignored ends of children are
/// never told.
pub fn restore_default(signal: i32) {
    // SAFETY: the default action needs no handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// For a forked worker: nothing held back, every signal as the kernel has it by default (Rust's runtime ignores
/// SIGPIPE), except that the terminal's INT, QUIT and HUP and the shell's TERM are left to the parent, which stops its
/// workers itself.
pub fn reset_for_worker() {
    // SAFETY: the default and the ignoring action need no handler; the numbers are valid.
    unsafe {
        for signal in 1..=64 {
            if signal != libc::SIGKILL && signal != libc::SIGSTOP {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        for signal in [INT, QUIT, HUP, TERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let none = set(&[]);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Ends this process by the signal itself, so that whoever waits sees its true cause.
pub fn end_by(signal: i32) {
    restore_default(signal);
    // SAFETY: sends a signal to this thread.
    unsafe { libc::raise(signal) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_not_held() {
        // SAFETY: no other test of this process uses the signal.
        unsafe { libc::signal(libc::SIGWINCH, libc::SIG_IGN) };
        let held = Held::new(&[libc::SIGWINCH]).unwrap();
        // SAFETY: it is ignored.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGWINCH) };
        assert_eq!(held.take(), None);
        restore_default(libc::SIGWINCH);
        assert!(!is_ignored(libc::SIGWINCH));
    }

    #[test]
    fn a_held_signal_is_read_and_does_not_arrive() {
        let held = Held::new(&[USR1]).unwrap();
        assert_eq!(held.take(), None);
        // SAFETY: this thread holds the signal back.
        unsafe { libc::pthread_kill(libc::pthread_self(), USR1) };
        assert_eq!(held.take(), Some(USR1));
        assert_eq!(held.take(), None);
    }
}
