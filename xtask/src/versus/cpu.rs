//! What the processes that ended cost.

use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;

/// Processor time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct CpuTime {
    pub(super) user_usec: u64,
    pub(super) system_usec: u64,
}

/// One tick of the times in `/proc/PID/stat`: USER_HZ is 100 on every Linux architecture we run on (proc(5)).
const TICK_USEC: u64 = 10_000;

impl CpuTime {
    /// Of all children that ended and were waited for, and of theirs.
    pub(super) fn of_children() -> Result<Self> {
        let path = "/proc/self/stat";
        let text = fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
        Self::parse(&text).with_context(|| format!("no children's times in {path}: {text:?}"))
    }

    /// What passed since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            user_usec: self.user_usec - earlier.user_usec,
            system_usec: self.system_usec - earlier.system_usec,
        }
    }

    /// Fields 16 and 17. The program's name, in brackets, may hold blanks and brackets.
    fn parse(stat: &str) -> Option<Self> {
        let (_, after_name) = stat.rsplit_once(')')?;
        // The first field after the name is the third.
        let mut fields = after_name.split_ascii_whitespace().skip(16 - 3);
        let mut usec = || Some(fields.next()?.parse::<u64>().ok()? * TICK_USEC);
        Some(Self {
            user_usec: usec()?,
            system_usec: usec()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_times_behind_an_odd_name() {
        let stat = "7 (a) (b c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 123 45 20 0 1 0 99 1 1\n";
        let time = CpuTime {
            user_usec: 1_230_000,
            system_usec: 450_000,
        };
        assert_eq!(CpuTime::parse(stat), Some(time));
        assert_eq!(CpuTime::parse("7 (cut) S 1 7"), None);
    }

    #[test]
    fn the_kernel_speaks_this_format() {
        CpuTime::of_children().unwrap();
    }
}
