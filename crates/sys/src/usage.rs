//! getrusage: what this process and its children used.

/// What processes used so far, as the kernel adds it up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in programs, in microseconds.
    pub user_micros: u64,
    /// CPU time in the kernel, in microseconds.
    pub system_micros: u64,
    /// Most memory that was resident at once, in KiB; of children, that of the largest.
    pub peak_resident_kib: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Units of 512 bytes fetched from devices.
    pub blocks_in: u64,
    /// Units of 512 bytes made dirty.
    pub blocks_out: u64,
    /// Times the CPU was given up.
    pub voluntary_switches: u64,
    /// Times the CPU was taken away.
    pub involuntary_switches: u64,
}

/// Of this process, all its threads.
pub fn of_self() -> Usage {
    of(libc::RUSAGE_SELF)
}

/// Of all children that this process has waited for, and of theirs.
pub fn of_children() -> Usage {
    of(libc::RUSAGE_CHILDREN)
}

fn of(who: libc::c_int) -> Usage {
    // SAFETY: `usage` is a plain structure of integers, valid for the call to fill; both selectors exist.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    // None of these is negative.
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let micros = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    Usage {
        user_micros: micros(usage.ru_utime),
        system_micros: micros(usage.ru_stime),
        peak_resident_kib: count(usage.ru_maxrss),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        blocks_in: count(usage.ru_inblock),
        blocks_out: count(usage.ru_oublock),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_memory_is_seen() {
        let before = of_self();
        let touched = std::hint::black_box(vec![1_u8; 16 << 20]);
        let after = of_self();
        assert!(after.peak_resident_kib >= 16 << 10, "{after:?}");
        assert!(
            after.minor_faults > before.minor_faults,
            "{before:?} {after:?}"
        );
        drop(touched);
    }
}
