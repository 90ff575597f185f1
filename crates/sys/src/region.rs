//! The memory that workers share with their parent.
//!
//! One memfd holds a [`Control`] line that the parent writes and workers read, and for each worker a region that this
//! worker alone writes: a [`Header`], an [`OpCounters`] for each op, a latency histogram for each op. The parent reads
//! a region live, and still after the worker was killed. All fields are atomics used with relaxed order: each has one
//! writer, and the barrier between phases (a futex) orders the rest.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::errno::Errno;

/// Histogram buckets to an op; `kernmark_model::histogram::BUCKETS` says what each counts.
pub const BUCKETS: usize = 1984;

/// What the parent tells its workers.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct Control {
    /// Stop flag, epoch and tick in one word, so that a worker needs one load an op: see `engine::worker`.
    pub word: AtomicU64,
    /// Phases released so far; a futex.
    pub released: AtomicU32,
    /// Not 0: no further phase will come.
    pub over: AtomicU32,
    /// On the scripted clock, workers wait when they reach this instant; moved on by the parent; a futex beside it.
    pub boundary: AtomicU64,
    /// Counts the moves of `boundary`; a futex.
    pub boundary_moves: AtomicU32,
    /// When the latest phase was released, on the run's clock.
    pub released_at: AtomicU64,
}

/// Where a worker stands.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Header {
    /// Phases ended so far; equal to `Control::released` while waiting for the next.
    pub ended: AtomicU32,
    /// Not 0: what the workload calls its own warm-up (set-up of files, first pass) is over.
    pub warm: AtomicU32,
    /// The epoch whose counts the counters hold.
    pub epoch: AtomicU32,
    /// Not 0: the worker waits at `Control::boundary` on the scripted clock.
    pub at_boundary: AtomicU32,
    /// Index of the op in flight plus 1; 0 between phases.
    pub in_flight: AtomicU64,
    /// When it began, on the run's clock.
    pub in_flight_since: AtomicU64,
    /// Longest op that ended in an even and in an odd tick.
    pub longest: [AtomicU64; 2],
    /// When this worker's window opened, on the run's clock.
    pub window_start: AtomicU64,
    /// When its last counted op ended.
    pub window_end: AtomicU64,
    /// Index plus 1 of the op that the close of the window cut, or 0.
    pub cut_op: AtomicU64,
    /// How long that op took.
    pub cut_nanos: AtomicU64,
    /// Ops counted in earlier epochs of this phase.
    pub earlier_ops: AtomicU64,
}

/// Counts of one op by one worker.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct OpCounters {
    /// How many ended.
    pub count: AtomicU64,
    /// Bytes they moved.
    pub bytes: AtomicU64,
    /// How many did not end as they should.
    pub unexpected: AtomicU64,
    /// Sum of their latencies in nanoseconds.
    pub total: AtomicU64,
    /// The longest, in nanoseconds.
    pub max: AtomicU64,
}

/// Latency histogram of one op by one worker.
pub type Buckets = [AtomicU32; BUCKETS];

/// How many workers, and how many ops each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Workers.
    pub workers: usize,
    /// Ops of a worker.
    pub ops: usize,
}

impl Layout {
    const fn region(self) -> usize {
        let bytes =
            size_of::<Header>() + self.ops * (size_of::<OpCounters>() + size_of::<Buckets>());
        // Whole pages: no two workers write one line, and /proc tells their memory apart.
        bytes.next_multiple_of(4096)
    }

    const fn bytes(self) -> usize {
        4096 + self.workers * self.region()
    }
}

/// The shared memory of a pool of workers.
#[derive(Debug)]
pub struct Shared {
    base: NonNull<u8>,
    layout: Layout,
    memfd: OwnedFd,
}

// SAFETY: the mapping lives as long as the value, holds nothing but atomics, and is never moved.
unsafe impl Send for Shared {}
// SAFETY: as above; all access is through shared references to atomics.
unsafe impl Sync for Shared {}

impl Shared {
    /// A fresh region, all zero; pages appear when touched.
    pub fn create(layout: Layout) -> Result<Self, Errno> {
        let memfd = rustix::fs::memfd_create("kernmark-workers", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|error| Errno(error.raw_os_error()))?;
        rustix::fs::ftruncate(&memfd, layout.bytes() as u64)
            .map_err(|error| Errno(error.raw_os_error()))?;
        Self::map(memfd, layout)
    }

    /// Maps a region that another process created with the same layout.
    pub fn map(memfd: OwnedFd, layout: Layout) -> Result<Self, Errno> {
        let size = rustix::fs::fstat(&memfd)
            .map_err(|error| Errno(error.raw_os_error()))?
            .st_size;
        if usize::try_from(size).ok() != Some(layout.bytes()) {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                layout.bytes(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                memfd.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let base = NonNull::new(base.cast()).ok_or(Errno(libc::ENOMEM))?;
        Ok(Self {
            base,
            layout,
            memfd,
        })
    }

    /// The memfd, to hand to a worker that is executed.
    pub fn memfd(&self) -> BorrowedFd<'_> {
        self.memfd.as_fd()
    }

    /// How many workers and ops.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// What the parent tells.
    pub fn control(&self) -> &Control {
        self.at(0)
    }

    /// Where worker `rank` stands.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn header(&self, rank: usize) -> &Header {
        self.at(self.region(rank))
    }

    /// The counters of worker `rank`, one an op.
    pub fn counters(&self, rank: usize) -> &[OpCounters] {
        let start = self.region(rank) + size_of::<Header>();
        // SAFETY: `ops` structures of atomics lie there by `Layout::region`, aligned since all sizes before are
        // multiples of 64; zero bytes are valid atomics; the reference lives no longer than the mapping.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(start).cast(), self.layout.ops) }
    }

    /// The histograms of worker `rank`, one an op.
    pub fn histograms(&self, rank: usize) -> &[Buckets] {
        let start =
            self.region(rank) + size_of::<Header>() + self.layout.ops * size_of::<OpCounters>();
        // SAFETY: as in `counters`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(start).cast(), self.layout.ops) }
    }

    fn region(&self, rank: usize) -> usize {
        assert!(
            rank < self.layout.workers,
            "worker {rank} of {}",
            self.layout.workers
        );
        4096 + rank * self.layout.region()
    }

    fn at<T>(&self, offset: usize) -> &T {
        debug_assert!(offset + size_of::<T>() <= self.layout.bytes());
        // SAFETY: callers pass only offsets at which `Layout` puts a `T` made of atomics; the mapping is page-aligned
        // and the offsets are multiples of 64 (4096 for `Control`).
        unsafe {
            self.base
                .as_ptr()
                .add(offset)
                .cast::<T>()
                .as_ref_unchecked()
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length and nobody can hold a reference into it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.layout.bytes()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn regions_are_apart_and_start_at_zero() {
        let shared = Shared::create(Layout { workers: 3, ops: 2 }).unwrap();
        for rank in 0..3 {
            for (index, op) in shared.counters(rank).iter().enumerate() {
                assert_eq!(op.count.load(Relaxed), 0);
                op.count.store((rank * 10 + index) as u64, Relaxed);
            }
            shared.histograms(rank)[1][BUCKETS - 1].store(u32::MAX, Relaxed);
            shared
                .header(rank)
                .ended
                .store(u32::try_from(rank).unwrap(), Relaxed);
        }
        for rank in 0..3 {
            assert_eq!(
                shared.counters(rank)[1].count.load(Relaxed),
                (rank * 10 + 1) as u64
            );
            assert_eq!(shared.histograms(rank)[0][0].load(Relaxed), 0);
            assert_eq!(
                shared.header(rank).ended.load(Relaxed),
                u32::try_from(rank).unwrap()
            );
        }
        assert_eq!(shared.control().word.load(Relaxed), 0);
    }

    #[test]
    fn a_memfd_of_another_layout_is_refused() {
        let shared = Shared::create(Layout { workers: 1, ops: 1 }).unwrap();
        let memfd = shared.memfd().try_clone_to_owned().unwrap();
        assert!(Shared::map(memfd, Layout { workers: 2, ops: 1 }).is_err());
    }
}
