//! Gathers what happened second by second, from the workers' live counters.

use std::sync::atomic::Ordering::Relaxed;

use kernmark_model::run::OpName;
use kernmark_model::series::{Series, SeriesKind};
use kernmark_sys::region::Shared;

use crate::observe::Second;

/// Counts of all workers at one instant.
#[derive(Debug, Clone, Default)]
struct Snapshot {
    /// (ops, bytes) of each worker, spans left out.
    workers: Vec<(u64, u64)>,
    /// Ops of each kind over all workers.
    ops: Vec<u64>,
}

/// The series of a phase in the making.
#[derive(Debug)]
pub(crate) struct Recorder {
    last: Snapshot,
    last_at: u64,
    time: Vec<u64>,
    count: Vec<u64>,
    bytes: Vec<u64>,
    longest: Vec<u64>,
    /// Per worker: ops and bytes of each interval.
    workers: Vec<(Vec<u64>, Vec<u64>)>,
    ops: Vec<Vec<u64>>,
    machine: Vec<Second>,
}

/// One interval, added up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) nanos: u64,
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
}

impl Recorder {
    /// Nothing recorded; intervals are counted from zero counts at `opened`.
    pub(crate) fn new(shared: &Shared, opened: u64) -> Self {
        let layout = shared.layout();
        Self {
            last: Snapshot {
                workers: vec![(0, 0); layout.workers],
                ops: vec![0; layout.ops],
            },
            last_at: opened,
            time: Vec::new(),
            count: Vec::new(),
            bytes: Vec::new(),
            longest: Vec::new(),
            workers: vec![(Vec::new(), Vec::new()); layout.workers],
            ops: vec![Vec::new(); layout.ops],
            machine: Vec::new(),
        }
    }

    /// End of the last interval.
    pub(crate) const fn last_at(&self) -> u64 {
        self.last_at
    }

    /// Ends an interval at `now`, `opened` being the start of the window.
    pub(crate) fn tick(
        &mut self,
        shared: &Shared,
        spans: &[bool],
        opened: u64,
        now: u64,
        longest: u64,
        machine: Second,
    ) -> Interval {
        let snapshot = take(shared, spans);
        let mut sum = Interval {
            nanos: now.saturating_sub(self.last_at),
            ops: 0,
            bytes: 0,
        };
        for (rank, (new, old)) in snapshot.workers.iter().zip(&self.last.workers).enumerate() {
            // A worker that has not yet heeded the opening of the window still shows older counts.
            let (ops, bytes) = (new.0.saturating_sub(old.0), new.1.saturating_sub(old.1));
            self.workers[rank].0.push(ops);
            self.workers[rank].1.push(bytes);
            sum.ops += ops;
            sum.bytes += bytes;
        }
        for (op, (new, old)) in snapshot.ops.iter().zip(&self.last.ops).enumerate() {
            self.ops[op].push(new.saturating_sub(*old));
        }
        self.time.push(now.saturating_sub(opened));
        self.count.push(sum.ops);
        self.bytes.push(sum.bytes);
        self.longest.push(longest);
        self.machine.push(machine);
        self.last = snapshot;
        self.last_at = now;
        sum
    }

    /// Intervals of at least half a second in which nothing ended.
    pub(crate) fn stalled(&self) -> u32 {
        let starts = std::iter::once(0).chain(self.time.iter().copied());
        let stalled = starts
            .zip(&self.time)
            .zip(&self.count)
            .filter(|((start, end), count)| **end - start >= 500_000_000 && **count == 0)
            .count();
        u32::try_from(stalled).unwrap_or(u32::MAX)
    }

    /// Intervals in which the kernel slowed writers down.
    pub(crate) fn throttled(&self) -> u32 {
        let throttled = self.machine.iter().filter(|second| second.throttled);
        u32::try_from(throttled.count()).unwrap_or(u32::MAX)
    }

    /// The series, ready to be stored.
    pub(crate) fn finish(self, names: &[OpName]) -> Vec<Series> {
        if self.time.is_empty() {
            return Vec::new();
        }
        let all = |kind, values| Series {
            kind,
            op: None,
            worker: None,
            values,
        };
        let mut series = vec![
            all(SeriesKind::Time, self.time),
            all(SeriesKind::Count, self.count),
            all(SeriesKind::Bytes, self.bytes),
            all(SeriesKind::LongestNanos, self.longest),
        ];
        let machine = |pick: fn(&Second) -> Option<u64>| {
            self.machine.iter().map(pick).collect::<Option<Vec<_>>>()
        };
        let facts = [
            (SeriesKind::DirtyBytes, machine(|second| second.dirty)),
            (
                SeriesKind::WritebackBytes,
                machine(|second| second.writeback),
            ),
            (
                SeriesKind::FrequencyKhz,
                machine(|second| second.frequency_khz),
            ),
        ];
        series.extend(
            facts
                .into_iter()
                .filter_map(|(kind, values)| values.map(|values| all(kind, values))),
        );
        for (rank, (ops, bytes)) in (0_u32..).zip(self.workers) {
            let of = |kind, values| Series {
                kind,
                op: None,
                worker: Some(rank),
                values,
            };
            if bytes.iter().any(|bytes| *bytes > 0) {
                series.push(of(SeriesKind::Bytes, bytes));
            }
            series.push(of(SeriesKind::Count, ops));
        }
        for (name, values) in names.iter().zip(self.ops) {
            if values.iter().any(|count| *count > 0) {
                series.push(Series {
                    kind: SeriesKind::Count,
                    op: Some(name.name.clone()),
                    worker: None,
                    values,
                });
            }
        }
        series
    }
}

fn take(shared: &Shared, spans: &[bool]) -> Snapshot {
    let layout = shared.layout();
    let mut snapshot = Snapshot {
        workers: Vec::with_capacity(layout.workers),
        ops: vec![0; layout.ops],
    };
    for rank in 0..layout.workers {
        let mut sum = (0, 0);
        for (op, counters) in shared.counters(rank).iter().enumerate() {
            let count = counters.count.load(Relaxed);
            snapshot.ops[op] += count;
            if !spans[op] {
                sum.0 += count;
                sum.1 += counters.bytes.load(Relaxed);
            }
        }
        snapshot.workers.push(sum);
    }
    snapshot
}
