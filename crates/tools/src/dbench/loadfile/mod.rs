//! Loadfiles: the script every client replays, read once and compiled to a compact array.
//!
//! ```text
//! [timestamp] OPNAME args... STATUS
//! ```
//!
//! This is the grammar of dbench 3.x and 4.x. Where the original cuts, overflows or misreads a
//! line, this reader does what the author of the line meant and says so in a [`Warning`] with its
//! line number; where no meaning can be guessed, it refuses the file with one [`LoadfileError`].
//!
//! Everything that does not depend on the client is settled here, once, so that the replay loop
//! only matches on [`Op`]: numbers are binary, paths are interned, and the loadfile's handle
//! numbers have become dense slots.

mod arguments;
mod compile;
mod error;
mod handles;
mod number;
mod op;
mod paths;
mod source;
mod tokens;
mod warning;

#[cfg(test)]
mod tests;

pub use error::LoadfileError;
pub use handles::MAX_HANDLES;
pub use op::{Disposition, Expect, HandleFault, Op, OpCode, Slot};
pub use paths::{PathId, PathTemplate, Paths};
pub use source::{MAX_LINE_BYTES, MAX_TEXT_BYTES};
pub use warning::{Lines, Warning};

use std::io::BufRead;

/// The longest transfer a line may ask for, in bytes: the size of the original's write buffer.
pub const MAX_TRANSFER_BYTES: u32 = 16 << 20;

/// The most operations a loadfile may hold: 36 times the standard file, 470 MB compiled.
pub const MAX_OPS: usize = 1 << 24;

/// A loadfile, ready to be replayed by any number of clients.
#[derive(Debug)]
pub struct Loadfile {
    /// The operations of one pass, in the order of the file.
    pub ops: Vec<Op>,
    /// For each operation the line it stands on, counted from 1 over all lines of the text.
    pub op_lines: Vec<u32>,
    /// For each operation its time stamp in nanoseconds after the start of the pass, zero for none.
    ///
    /// Empty if no line has one, which is the common case; ask [`Loadfile::due`].
    pub stamps_nanos: Vec<u64>,
    /// Every distinct path the operations name.
    pub paths: Paths,
    /// How many slots a client needs: the most handles open at one time.
    pub slots: usize,
    /// Slots still open after the last operation; the replay closes them before the next pass.
    pub left_open: Vec<Slot>,
    /// Lines of two tokens or more that are not comments: what dbench counts as loadfile lines.
    pub lines: u64,
    /// Index of the first operation after the set-up part, zero if there is none that can be told.
    ///
    /// The set-up part creates the files that the rest works on. It ends with the `Close` of the
    /// handle that was written last before the first `ReadX`; queries and failing lookups between
    /// that `Close` and the `ReadX` belong to the work itself. It is not recognised if nothing is
    /// read, nothing is written first, the last handle written is still open at the first read, or
    /// the part would be longer than what follows it.
    pub setup_end: usize,
    /// SHA-256 of the text, decompressed if it came as gzip.
    pub digest: [u8; 32],
    /// What was read otherwise than it stands there, at most one entry for each kind.
    pub warnings: Vec<Warning>,
}

impl Loadfile {
    /// When operation `index` is due, in nanoseconds after the start of the pass; `None` if at
    /// once.
    pub fn due(&self, index: usize) -> Option<u64> {
        self.stamps_nanos
            .get(index)
            .copied()
            .filter(|&nanos| nanos > 0)
    }

    /// The digest as 64 hexadecimal digits.
    pub fn digest_hex(&self) -> String {
        self.digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Compiles a loadfile held in memory, plain or gzip.
pub fn parse(text: &[u8]) -> Result<Loadfile, LoadfileError> {
    read(text)
}

/// Compiles a loadfile as it is read, plain or gzip (told by its first two bytes).
pub fn read(source: impl BufRead) -> Result<Loadfile, LoadfileError> {
    let mut compiler = compile::Compiler::default();
    let digest = source::each_line(source, |number, line| compiler.line(number, line))?;
    compiler.finish(digest)
}
