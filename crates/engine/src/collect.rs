//! Reads the workers' shared memory: live totals, and a phase's final counts.

use std::sync::atomic::Ordering::Relaxed;

use kernmark_model::histogram::Histogram;
use kernmark_model::run::{CutOp, OpCount, WorkerResult, WorkerState};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_sys::region::Shared;

use crate::worker::ControlWord;

/// Ops and bytes over all workers, spans left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    /// Workers that have moved a byte.
    pub(crate) active: u32,
    /// Ops of this phase before the window opened.
    pub(crate) earlier: u64,
}

pub(crate) fn totals(shared: &Shared, spans: &[bool]) -> Totals {
    let mut sum = Totals::default();
    for rank in 0..shared.layout().workers {
        let before = sum.bytes;
        for (counters, _) in shared
            .counters(rank)
            .iter()
            .zip(spans)
            .filter(|(_, span)| !**span)
        {
            sum.ops += counters.count.load(Relaxed);
            sum.bytes += counters.bytes.load(Relaxed);
        }
        sum.active += u32::from(sum.bytes > before);
        sum.earlier += shared.header(rank).earlier_ops.load(Relaxed);
    }
    sum
}

/// The longest op that ended in the tick that `word` names, or that is in flight at `now`.
pub(crate) fn longest(shared: &Shared, word: ControlWord, now: u64) -> u64 {
    (0..shared.layout().workers)
        .map(|rank| {
            let header = shared.header(rank);
            let ended = header.longest[word.tick as usize & 1].load(Relaxed);
            let since = header.in_flight_since.load(Relaxed);
            let in_flight = if header.in_flight.load(Relaxed) == 0 {
                0
            } else {
                now.saturating_sub(since)
            };
            ended.max(in_flight)
        })
        .max()
        .unwrap_or(0)
}

/// When the last op of all ended.
pub(crate) fn last_end(shared: &Shared) -> u64 {
    (0..shared.layout().workers)
        .map(|rank| shared.header(rank).window_end.load(Relaxed))
        .max()
        .unwrap_or(0)
}

/// What each worker did in the window from `opened` to `closed`; nothing if it never opened.
pub(crate) fn workers(
    shared: &Shared,
    opened: u64,
    closed: u64,
    counted: bool,
    state: &dyn Fn(usize) -> WorkerState,
) -> Vec<WorkerResult> {
    (0..shared.layout().workers)
        .map(|rank| {
            let header = shared.header(rank);
            let since = |instant: u64| Nanos(instant.clamp(opened, closed.max(opened)) - opened);
            WorkerResult {
                rank: u32::try_from(rank).unwrap_or(u32::MAX),
                start: since(header.window_start.load(Relaxed)),
                end: since(header.window_end.load(Relaxed)),
                state: state(rank),
                ops: if counted {
                    ops(shared, rank)
                } else {
                    Vec::new()
                },
                cut: header.cut_op.load(Relaxed).checked_sub(1).map(|op| CutOp {
                    op: u32::try_from(op).unwrap_or(u32::MAX),
                    nanos: Nanos(header.cut_nanos.load(Relaxed)),
                }),
            }
        })
        .collect()
}

fn ops(shared: &Shared, rank: usize) -> Vec<OpCount> {
    let each = (0_u32..)
        .zip(shared.counters(rank))
        .zip(shared.histograms(rank));
    each.filter(|((_, counters), _)| counters.count.load(Relaxed) > 0)
        .map(|((op, counters), buckets)| OpCount {
            op,
            count: counters.count.load(Relaxed),
            bytes: Bytes(counters.bytes.load(Relaxed)),
            unexpected: counters.unexpected.load(Relaxed),
            total: Nanos(counters.total.load(Relaxed)),
            max: Nanos(counters.max.load(Relaxed)),
            histogram: Histogram::from_dense(
                buckets.iter().map(|count| u64::from(count.load(Relaxed))),
            ),
        })
        .collect()
}
