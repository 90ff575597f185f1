//! Processes: forked workers, their end, and what they must not inherit.

use std::os::fd::RawFd;

use crate::call;
use crate::errno::Errno;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It left with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Forks; the child runs `work` and leaves with the code that it returns.
///
/// The child never returns into the caller's code: `work`'s end is `_exit`, so no destructor and no buffered output of
/// the parent runs twice. The caller should have one thread, and must be the thread that lives longest, since
/// [`die_with_parent`] is about the forking *thread*.
pub fn fork(work: impl FnOnce() -> i32) -> Result<i32, Errno> {
    // SAFETY: the child only runs `work` and `_exit`; the C library's own locks are handled by its fork.
    match unsafe { libc::fork() } {
        -1 => Err(Errno::last()),
        0 => {
            let code = work();
            // SAFETY: ends the process; nothing is left to be kept valid.
            unsafe { libc::_exit(code) }
        }
        pid => Ok(pid),
    }
}

/// This process's number.
pub fn id() -> i32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::getpid() }
}

/// The effective user.
pub fn effective_user() -> u32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::geteuid() }
}

/// Asks the kernel to kill this process when the thread that forked it ends; false if `parent` has ended already.
///
/// Cleared by a change of user, so to be called after one.
pub fn die_with_parent(parent: i32) -> bool {
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    call::getppid() == parent
}

/// Names this process as `ps` shows it; at most 15 bytes are kept.
pub fn set_name(name: &std::ffi::CStr) {
    // SAFETY: the name is NUL-terminated; the kernel copies at most 16 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Leaves the caller's session and process group, so that signals of its terminal do not arrive.
pub fn new_session() {
    // SAFETY: takes nothing; fails only for a group leader, which a forked child is not.
    unsafe { libc::setsid() };
}

/// Puts /dev/null in the place of the standard streams, so that nobody waits for this process to close them.
pub fn detach_streams() {
    if let Ok(null) = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
    {
        for fd in 0..3 {
            // SAFETY: takes plain numbers; the standard streams are owned by nobody.
            unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&null), fd) };
        }
    }
}

/// Closes every descriptor above standard error except `keep`.
pub fn close_all_but(keep: &[RawFd]) {
    let mut keep: Vec<u32> = keep
        .iter()
        .filter_map(|fd| u32::try_from(*fd).ok())
        .collect();
    keep.sort_unstable();
    let mut from = 3_u32;
    for fd in keep.into_iter().chain([u32::MAX]) {
        if fd > from {
            close_range(from, if fd == u32::MAX { fd } else { fd - 1 });
        }
        from = from.max(fd.saturating_add(1));
    }
}

fn close_range(first: u32, last: u32) {
    // SAFETY: descriptors owned by nobody in a fresh child; no memory is touched.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if closed == -1 {
        // Kernels before 5.9 have no close_range.
        for fd in first..=last.min(4096) {
            call::close(fd.cast_signed()).ok();
        }
    }
}

/// Has the child ended? Reaps it if so.
pub fn try_wait(pid: i32) -> Result<Option<Exit>, Errno> {
    wait_with(pid, libc::WNOHANG)
}

/// Waits for the child's end.
pub fn wait(pid: i32) -> Result<Exit, Errno> {
    loop {
        match wait_with(pid, 0) {
            Ok(Some(exit)) => return Ok(exit),
            Ok(None) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

fn wait_with(pid: i32, flags: i32) -> Result<Option<Exit>, Errno> {
    let mut status = 0;
    // SAFETY: `status` is valid for the call to fill.
    match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
        -1 => Err(Errno::last()),
        0 => Ok(None),
        _ if libc::WIFSIGNALED(status) => Ok(Some(Exit::Signal(libc::WTERMSIG(status)))),
        _ => Ok(Some(Exit::Code(libc::WEXITSTATUS(status)))),
    }
}

/// Sends a signal; `Ok` too if the process is gone.
pub fn kill(pid: i32, signal: i32) {
    // SAFETY: takes plain numbers. A process number above 1 names one process, never a group.
    if pid > 1 {
        // SAFETY: as above.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Lets a descriptor survive `exec`.
pub fn keep_across_exec(fd: RawFd) -> Result<(), Errno> {
    // SAFETY: takes plain numbers.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        -1 => Err(Errno::last()),
        _ => Ok(()),
    }
}

/// Takes over a descriptor that this process was started with.
///
/// # Panics
/// If no such descriptor is open.
pub fn adopt(fd: RawFd) -> std::os::fd::OwnedFd {
    assert!(
        call::fstat(fd).is_ok(),
        "descriptor {fd} was not handed over"
    );
    // SAFETY: it is open, and by the contract of whoever started us it is ours alone.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

/// Raises the soft limit on open files to the hard one; a thousand workers need a few descriptors each.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is valid for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
            && limit.rlim_cur < limit.rlim_max
        {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_s_code_and_signal_are_told() {
        let pid = fork(|| 7).unwrap();
        assert_eq!(wait(pid), Ok(Exit::Code(7)));
        let pid = fork(|| {
            loop {
                std::thread::park()
            }
        })
        .unwrap();
        assert_eq!(try_wait(pid), Ok(None));
        kill(pid, libc::SIGKILL);
        assert_eq!(wait(pid), Ok(Exit::Signal(libc::SIGKILL)));
        assert!(wait(pid).is_err());
    }

    #[test]
    fn a_child_keeps_only_the_descriptors_named() {
        let (a, b) = (
            std::fs::File::open("/dev/null").unwrap(),
            std::fs::File::open("/dev/null").unwrap(),
        );
        let (kept, closed) = (
            std::os::fd::AsRawFd::as_raw_fd(&a),
            std::os::fd::AsRawFd::as_raw_fd(&b),
        );
        let pid = fork(|| {
            close_all_but(&[kept]);
            i32::from(call::fstat(kept).is_ok()) + 2 * i32::from(call::fstat(closed).is_ok())
        })
        .unwrap();
        assert_eq!(wait(pid), Ok(Exit::Code(1)));
    }

    #[test]
    fn a_child_whose_parent_is_gone_is_told_so() {
        let pid = fork(|| i32::from(die_with_parent(-5))).unwrap();
        assert_eq!(wait(pid), Ok(Exit::Code(0)));
    }
}
