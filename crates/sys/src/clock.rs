//! The clock that durations are measured with.

/// CLOCK_MONOTONIC in nanoseconds since boot.
///
/// Goes through the C library into the vDSO, so on a machine with a usable counter it enters no kernel: about 20 ns.
#[inline]
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Processor time of this process, all its threads, in nanoseconds; for the cost of our own code.
pub fn process_cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Processor time used by this program and the children it has reaped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// User time in nanoseconds; the kernel's resolution is a microsecond.
    pub user: u64,
    /// System time in nanoseconds.
    pub system: u64,
}

/// Processor time of this process and of all children that it has waited for.
pub fn cpu_time() -> CpuTime {
    let mut sum = CpuTime::default();
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: `usage` is a plain structure of integers, valid for the call to fill; both selectors exist.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let nanos = |time: libc::timeval| {
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
                + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
        };
        sum.user += nanos(usage.ru_utime);
        sum.system += nanos(usage.ru_stime);
    }
    sum
}

#[inline]
#[expect(
    clippy::cast_sign_loss,
    reason = "these clocks count up from zero at boot or process start"
)]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call to fill; the clock exists on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
