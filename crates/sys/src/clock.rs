//! The clock that durations are measured with.

use crate::usage;

/// CLOCK_MONOTONIC in nanoseconds since boot.
///
/// Goes through the C library into the vDSO, so on a machine with a usable counter it enters no kernel: about 20 ns.
#[inline]
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_BOOTTIME in nanoseconds since boot: the monotonic clock that goes on while the machine sleeps.
pub fn boot() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

/// CLOCK_REALTIME in nanoseconds since 1970: steps when somebody sets it, so never for durations.
pub fn wall() -> u64 {
    read(libc::CLOCK_REALTIME)
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
    let (own, children) = (usage::of_self(), usage::of_children());
    CpuTime {
        user: (own.user_micros + children.user_micros) * 1_000,
        system: (own.system_micros + children.system_micros) * 1_000,
    }
}

#[inline]
#[expect(
    clippy::cast_sign_loss,
    reason = "these clocks count up from zero at boot, process start or 1970"
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
