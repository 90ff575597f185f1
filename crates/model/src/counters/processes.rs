//! Whose CPU time it was: ours, the kernel's own threads', or a stranger's.
//!
//! Not stored: a list of all processes at one moment is large, only its difference is a finding.

use std::collections::BTreeMap;

/// All processes of a moment, by number.
pub type Processes = BTreeMap<i32, ProcessTimes>;

/// What one process used so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// Number of its parent.
    pub parent: i32,
    /// Name of its program, at most 15 bytes of it.
    pub name: String,
    /// Whether it is a thread of the kernel.
    pub kernel_thread: bool,
    /// When it started, in ticks since boot.
    pub start_ticks: u64,
    /// CPU time of its own, in ticks of 1/100 s.
    pub own_ticks: u64,
    /// CPU time of children it waited for.
    pub children_ticks: u64,
}

/// CPU time between two moments, by whose it was, in ticks of 1/100 s.
///
/// A process that came and went between the two counts through the parent that waited for it; one
/// that nobody waited for is not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedCpu {
    /// Our process and all below it.
    pub ours: u64,
    /// Threads of the kernel; part of them is work done for us.
    pub kernel: u64,
    /// Everybody else.
    pub foreign: u64,
    /// Who everybody else was, the greediest first; processes without a tick are left out.
    pub foreigners: Vec<ForeignProcess>,
}

/// A process that is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignProcess {
    /// Its number.
    pub process: i32,
    /// Name of its program.
    pub name: String,
    /// CPU time it used, with that of children it waited for.
    pub ticks: u64,
}

impl SharedCpu {
    /// Compares two moments; `own` is the process at the root of our tree.
    pub fn between(before: &Processes, after: &Processes, own: i32) -> Self {
        let mut shared = Self::default();
        for (&process, now) in after {
            let ticks = ticks_since(before, after, process, now);
            if now.kernel_thread {
                shared.kernel = shared.kernel.saturating_add(ticks);
            } else if descends_from(after, process, own) {
                shared.ours = shared.ours.saturating_add(ticks);
            } else if ticks > 0 {
                shared.foreign = shared.foreign.saturating_add(ticks);
                shared.foreigners.push(ForeignProcess {
                    process,
                    name: now.name.clone(),
                    ticks,
                });
            }
        }
        shared
            .foreigners
            .sort_by_key(|foreign| std::cmp::Reverse(foreign.ticks));
        shared
    }
}

/// What a process and the children it waited for used between the two moments.
fn ticks_since(before: &Processes, after: &Processes, process: i32, now: &ProcessTimes) -> u64 {
    let earlier = before
        .get(&process)
        .filter(|earlier| earlier.start_ticks == now.start_ticks);
    let Some(earlier) = earlier else {
        return now.own_ticks.saturating_add(now.children_ticks);
    };
    let own = now.own_ticks.saturating_sub(earlier.own_ticks);
    let mut children = now.children_ticks.saturating_sub(earlier.children_ticks);
    if children > 0 {
        // A child waited for brings its whole life along; what it used before is not of this interval.
        for (child, times) in before.iter().filter(|(_, times)| times.parent == process) {
            let gone = after
                .get(child)
                .is_none_or(|later| later.start_ticks != times.start_ticks);
            if gone {
                children = children
                    .saturating_sub(times.own_ticks)
                    .saturating_sub(times.children_ticks);
            }
        }
    }
    own.saturating_add(children)
}

fn descends_from(processes: &Processes, process: i32, ancestor: i32) -> bool {
    let mut current = process;
    // Bounded, as a list read while processes come and go may point in a circle.
    for _ in 0..=processes.len() {
        if current == ancestor {
            return true;
        }
        match processes.get(&current) {
            Some(times) if times.parent != 0 => current = times.parent,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(parent: i32, own_ticks: u64, children_ticks: u64) -> ProcessTimes {
        ProcessTimes {
            parent,
            name: format!("child of {parent}"),
            start_ticks: 7,
            own_ticks,
            children_ticks,
            ..ProcessTimes::default()
        }
    }

    #[test]
    fn tells_ours_from_the_kernels_and_from_strangers() {
        let kernel = |ticks| ProcessTimes {
            kernel_thread: true,
            ..times(0, ticks, 0)
        };
        let before: Processes = [
            (1, times(0, 100, 0)),
            (2, kernel(10)),
            (50, times(1, 5, 0)),
            (51, times(50, 5, 0)),
            (60, times(1, 5, 20)),
            (61, times(60, 40, 0)),
        ]
        .into();
        // 61 ended after 5 more ticks and was waited for; 62 came and went with 3; 52 is new.
        let after: Processes = [
            (1, times(0, 100, 0)),
            (2, kernel(14)),
            (50, times(1, 6, 0)),
            (51, times(50, 25, 0)),
            (52, times(51, 2, 0)),
            (60, times(1, 6, 20 + 45 + 3)),
        ]
        .into();
        let shared = SharedCpu::between(&before, &after, 50);
        assert_eq!(
            (shared.ours, shared.kernel, shared.foreign),
            (1 + 20 + 2, 4, 1 + 5 + 3)
        );
        assert_eq!(shared.foreigners.len(), 1);
        assert_eq!(shared.foreigners[0].process, 60);
    }

    #[test]
    fn a_number_used_again_is_another_process_and_circles_end() {
        let before: Processes = [(9, times(8, 500, 0))].into();
        let mut reused = times(8, 3, 0);
        reused.start_ticks = 99;
        let after: Processes = [(9, reused), (8, times(9, 0, 0))].into();
        let shared = SharedCpu::between(&before, &after, 1);
        assert_eq!((shared.ours, shared.foreign), (0, 3));
    }
}
