//! A dry run: what a loadfile asks of a filesystem, and whether a filesystem would answer as it
//! expects.
//!
//! One pass of one client is walked over a made-up namespace that begins empty. The result says
//! what the mix is made of, how large the working set is, and which operations would not end as
//! their status says.

mod distribution;
mod iterations;
mod namespace;
mod table;
mod unexpected;
mod walk;

#[cfg(test)]
pub(crate) mod tests;

pub use distribution::Distribution;
pub use iterations::Iterations;
pub use unexpected::{Got, Unexpected};

use std::collections::HashSet;

use self::distribution::ratio;
use super::loadfile::{Loadfile, OpCode};

/// How many operations that go against their status are kept with their line.
pub const MAX_UNEXPECTED: usize = 100;

/// One pass of one client, in numbers.
#[derive(Debug, Default)]
pub struct Mix {
    /// Operations of each kind, by [`OpCode::index`].
    pub counts: [u64; OpCode::ALL.len()],
    /// Sizes asked for by `ReadX`, in bytes.
    pub read_sizes: Distribution,
    /// Sizes of `WriteX`, in bytes.
    pub write_sizes: Distribution,
    /// `ReadX` that begin where the last `ReadX` on the handle ended.
    pub sequential_reads: u64,
    /// `WriteX` that begin where the last `WriteX` on the handle ended.
    pub sequential_writes: u64,
    /// Where the writes fall.
    pub positions: Positions,
    /// How the opens end.
    pub opens: Opens,
    /// What the handles were used for, counted at their close.
    pub handles: HandleLives,
    /// What `QUERY_PATH_INFORMATION` finds.
    pub queries: Queries,
    /// What `FIND_FIRST` finds.
    pub finds: Finds,
    /// Sizes of the files at each close of one, in bytes.
    pub close_sizes: Distribution,
    /// Sizes of the files that are unlinked, in bytes.
    pub unlink_sizes: Distribution,
    /// Lengths of the paths as used, in bytes, with `.` as base directory.
    pub path_lengths: Distribution,
    /// Components of the paths as used.
    pub path_depths: Distribution,
    /// Distinct paths that are opened or renamed.
    pub distinct_paths: usize,
    /// The most files that had a name at one time.
    pub peak_files: u64,
    /// The most bytes that files with a name had at one time: what one client needs on the disk.
    pub peak_bytes: u64,
    /// The most files in one directory at the end of an operation that made one.
    pub largest_directory: usize,
    /// The most handles open at one time.
    pub peak_handles: usize,
    /// Operations of the set-up part.
    pub setup_ops: u64,
    /// Bytes in files when the set-up part is over.
    pub setup_bytes: u64,
    /// Bytes read and written by the set-up part.
    pub setup_moved_bytes: u64,
    /// The repetitions after the set-up part, if there are any to be seen.
    pub iterations: Option<Iterations>,
    /// How often an operation (first index) was followed by another (second), by [`OpCode::index`].
    pub successions: [[u64; OpCode::ALL.len()]; OpCode::ALL.len()],
    /// Lengths of uninterrupted runs of `ReadX`.
    pub read_runs: Distribution,
    /// The first operations that would not end as their status says, at most [`MAX_UNEXPECTED`].
    pub unexpected: Vec<Unexpected>,
    /// How many such operations there are.
    pub unexpected_count: u64,
}

/// Where writes fall in relation to the end of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Positions {
    /// One byte beyond the end: how an office program lengthens a file.
    pub hole: u64,
    /// Several bytes beyond the end.
    pub beyond: u64,
    /// Exactly at the end.
    pub at_end: u64,
    /// From before the end to behind it.
    pub crossing: u64,
    /// Before the end altogether.
    pub overwrite: u64,
}

/// How opens end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opens {
    /// A file or directory that was there.
    pub existing: u64,
    /// None.
    pub failed: u64,
    /// A file that is new.
    pub new: u64,
    /// A directory made or opened by option bit 0.
    pub directories: u64,
}

/// What handles were used for between open and close.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandleLives {
    /// Neither read nor written.
    pub idle: u64,
    /// Only read.
    pub read: u64,
    /// Only written.
    pub written: u64,
    /// Both.
    pub both: u64,
}

/// What stat by name finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queries {
    /// A file.
    pub file: u64,
    /// A directory.
    pub directory: u64,
    /// Nothing.
    pub missing: u64,
}

/// What directory searches find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finds {
    /// Something matches.
    pub matched: u64,
    /// Nothing does.
    pub unmatched: u64,
    /// Entries of the directory searched, `.` and `..` not counted.
    pub entries: Distribution,
}

impl Mix {
    /// Walks one pass of the loadfile.
    pub fn of(loadfile: &Loadfile) -> Mix {
        let mut mix = walk::pass(loadfile);
        mix.distinct_paths = named_paths(loadfile);
        mix.iterations = iterations::detect(loadfile);
        mix
    }

    /// Operations of one kind.
    pub fn count(&self, code: OpCode) -> u64 {
        self.counts[code.index()]
    }

    /// Operations of all kinds.
    pub fn ops(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Which part of all operations is of this kind, 0 to 1; `None` of none.
    pub fn share(&self, code: OpCode) -> Option<f64> {
        ratio(self.count(code), self.ops())
    }

    /// Bytes that one pass asks to read and write.
    pub fn moved_bytes(&self) -> u64 {
        self.read_sizes.sum() + self.write_sizes.sum()
    }

    /// Bytes moved for each operation after the set-up part; `None` if there is none.
    pub fn steady_bytes_per_op(&self) -> Option<f64> {
        ratio(
            self.moved_bytes() - self.setup_moved_bytes,
            self.ops() - self.setup_ops,
        )
    }

    /// Which part of the bytes moved is read, 0 to 1; `None` if none move.
    pub fn read_byte_share(&self) -> Option<f64> {
        ratio(self.read_sizes.sum(), self.moved_bytes())
    }

    /// Flushes for every thousand operations; `None` of none.
    pub fn flushes_per_thousand(&self) -> Option<f64> {
        self.share(OpCode::Flush).map(|share| share * 1000.0)
    }
}

fn named_paths(loadfile: &Loadfile) -> usize {
    let named = loadfile
        .ops
        .iter()
        .filter(|op| matches!(op.code(), OpCode::NtCreateX | OpCode::Rename));
    named
        .flat_map(|op| op.path().into_iter().chain(op.second_path()))
        .collect::<HashSet<_>>()
        .len()
}
