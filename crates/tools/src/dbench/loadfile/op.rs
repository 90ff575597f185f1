//! One operation of a loadfile, as the replay loop meets it.

use super::PathId;

/// What a line of a loadfile makes the client do: 24 bytes each, half a million in the standard
/// file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `NTCreateX`: open a file, create one, or make and open a directory.
    Create {
        /// What is opened.
        path: PathId,
        /// Where the descriptor goes; `None` if the line expects the open to fail.
        slot: Option<Slot>,
        /// What happens to an existing or a missing file.
        disposition: Disposition,
        /// Make a directory and open it (bit 0 of the options).
        directory: bool,
        /// Whether it must succeed.
        expect: Expect,
        /// The loadfile's number for the handle, for messages.
        handle: i32,
    },
    /// `Close`: give a handle back.
    Close {
        /// The handle.
        slot: Slot,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `Rename`.
    Rename {
        /// The old name.
        from: PathId,
        /// The new name, replaced if it exists.
        to: PathId,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `Unlink`: remove a file.
    Unlink {
        /// The file.
        path: PathId,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `Deltree`: remove everything below a directory.
    Deltree {
        /// The directory, which need not exist.
        path: PathId,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `Rmdir`: remove an empty directory.
    Rmdir {
        /// The directory.
        path: PathId,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `Mkdir`.
    Mkdir {
        /// The directory.
        path: PathId,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `QUERY_PATH_INFORMATION`: stat by name.
    QueryPath {
        /// The file or directory asked for.
        path: PathId,
        /// Whether it must exist; dbench does not look.
        expect: Expect,
    },
    /// `QUERY_FILE_INFORMATION`: stat by handle.
    QueryFile {
        /// The handle.
        slot: Slot,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `QUERY_FS_INFORMATION`: statfs of the base directory.
    QueryFs {
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `SET_FILE_INFORMATION`: set the times of the file a handle was opened by.
    SetFile {
        /// The handle.
        slot: Slot,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `FIND_FIRST`: read a directory.
    Find {
        /// Directory and pattern, as one path.
        pattern: PathId,
        /// The pattern has one of `< > * ? "`, so the directory is read and not only looked into.
        wildcard: bool,
        /// Whether something must match; dbench does not look.
        expect: Expect,
        /// Read at most this many entries, `.` and `..` included.
        max_count: u32,
        /// How many entries the recorded server answered, which sizes tbench's reply.
        count: u32,
    },
    /// `WriteX`.
    Write {
        /// The handle.
        slot: Slot,
        /// First byte.
        offset: u64,
        /// Bytes to write, at most [`MAX_TRANSFER_BYTES`](super::MAX_TRANSFER_BYTES).
        size: u32,
        /// Bytes that must have been written.
        expected: u32,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `ReadX`.
    Read {
        /// The handle.
        slot: Slot,
        /// First byte.
        offset: u64,
        /// Bytes to ask for, at most [`MAX_TRANSFER_BYTES`](super::MAX_TRANSFER_BYTES).
        size: u32,
        /// Bytes that must come.
        expected: u32,
        /// Whether it must succeed.
        expect: Expect,
    },
    /// `LockX`: wait for a write lock on a range.
    Lock {
        /// The handle.
        slot: Slot,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `UnlockX`: give a range back.
    Unlock {
        /// The handle.
        slot: Slot,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `Flush`: fsync (a no-op before 4.0).
    Flush {
        /// The handle.
        slot: Slot,
        /// Whether it must succeed; dbench does not look.
        expect: Expect,
    },
    /// `Sleep`: wait, outside every operation's time.
    Sleep {
        /// How long, in microseconds.
        micros: u64,
    },
    /// A line whose handle cannot be had: the run fails here, as it does in dbench.
    Broken {
        /// The operation of the line.
        code: OpCode,
        /// The loadfile's number for the handle.
        handle: i32,
        /// What is wrong with it.
        fault: HandleFault,
    },
}

const _: () = assert!(
    size_of::<Op>() == 24,
    "half a million of them are walked by every client"
);

/// Why a line's handle cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleFault {
    /// No open line gave this number, or it was closed.
    Unknown,
    /// [`MAX_HANDLES`](super::MAX_HANDLES) handles are open already.
    TableFull,
}

/// Where a client keeps an open file: dense, from zero, the lowest free one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(super) u8);

impl Slot {
    /// The slot as an index into a table of [`Loadfile::slots`](super::Loadfile::slots) entries.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What the status of a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expect {
    /// `NT_STATUS_OK`, a hexadecimal zero, or `SUCCESS`.
    Success,
    /// Any other `NT_STATUS_` name or hexadecimal number, or `ERROR`.
    Failure,
    /// `*`: both are right.
    Either,
}

impl Expect {
    /// Whether an operation that did or did not succeed went as the line says.
    pub fn agrees(self, succeeded: bool) -> bool {
        match self {
            Expect::Success => succeeded,
            Expect::Failure => !succeeded,
            Expect::Either => true,
        }
    }
}

/// What `NTCreateX` does with the file of that name (its third argument).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// 0, 1, 3 and unknown numbers: open it, no flag added.
    Open,
    /// 2: `O_CREAT`, never `O_EXCL`.
    Create,
    /// 4 and 5: `O_CREAT | O_TRUNC`.
    Truncate,
}

/// The operations of 3.x and 4.x, in the order of the table that 4.00 prints; `Sleep` is not in
/// that table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is documented at its Op")]
pub enum OpCode {
    NtCreateX,
    Close,
    Rename,
    Unlink,
    Deltree,
    Rmdir,
    Mkdir,
    QueryPath,
    QueryFile,
    QueryFs,
    SetFile,
    Find,
    WriteX,
    ReadX,
    LockX,
    UnlockX,
    Flush,
    Sleep,
}

impl OpCode {
    /// Every operation, in printed order.
    pub const ALL: [OpCode; 18] = [
        OpCode::NtCreateX,
        OpCode::Close,
        OpCode::Rename,
        OpCode::Unlink,
        OpCode::Deltree,
        OpCode::Rmdir,
        OpCode::Mkdir,
        OpCode::QueryPath,
        OpCode::QueryFile,
        OpCode::QueryFs,
        OpCode::SetFile,
        OpCode::Find,
        OpCode::WriteX,
        OpCode::ReadX,
        OpCode::LockX,
        OpCode::UnlockX,
        OpCode::Flush,
        OpCode::Sleep,
    ];

    /// Its place in [`OpCode::ALL`], for tables of counters.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name in the table that dbench 4.00 prints.
    pub fn table_name(self) -> &'static str {
        match self {
            OpCode::QueryPath => "Qpathinfo",
            OpCode::QueryFile => "Qfileinfo",
            OpCode::QueryFs => "Qfsinfo",
            OpCode::SetFile => "Sfileinfo",
            OpCode::Find => "Find",
            other => other.loadfile_name(),
        }
    }

    /// The name in a loadfile, which git-4.00 and 5.0 also print in their table.
    pub fn loadfile_name(self) -> &'static str {
        match self {
            OpCode::NtCreateX => "NTCreateX",
            OpCode::Close => "Close",
            OpCode::Rename => "Rename",
            OpCode::Unlink => "Unlink",
            OpCode::Deltree => "Deltree",
            OpCode::Rmdir => "Rmdir",
            OpCode::Mkdir => "Mkdir",
            OpCode::QueryPath => "QUERY_PATH_INFORMATION",
            OpCode::QueryFile => "QUERY_FILE_INFORMATION",
            OpCode::QueryFs => "QUERY_FS_INFORMATION",
            OpCode::SetFile => "SET_FILE_INFORMATION",
            OpCode::Find => "FIND_FIRST",
            OpCode::WriteX => "WriteX",
            OpCode::ReadX => "ReadX",
            OpCode::LockX => "LockX",
            OpCode::UnlockX => "UnlockX",
            OpCode::Flush => "Flush",
            OpCode::Sleep => "Sleep",
        }
    }

    /// The operation a loadfile names, in any case of letters as 5.0 reads it.
    pub fn from_loadfile_name(name: &[u8]) -> Option<OpCode> {
        Self::ALL
            .into_iter()
            .find(|code| code.loadfile_name().as_bytes().eq_ignore_ascii_case(name))
    }
}

impl Op {
    /// Which operation this is.
    pub fn code(&self) -> OpCode {
        match *self {
            Op::Create { .. } => OpCode::NtCreateX,
            Op::Close { .. } => OpCode::Close,
            Op::Rename { .. } => OpCode::Rename,
            Op::Unlink { .. } => OpCode::Unlink,
            Op::Deltree { .. } => OpCode::Deltree,
            Op::Rmdir { .. } => OpCode::Rmdir,
            Op::Mkdir { .. } => OpCode::Mkdir,
            Op::QueryPath { .. } => OpCode::QueryPath,
            Op::QueryFile { .. } => OpCode::QueryFile,
            Op::QueryFs { .. } => OpCode::QueryFs,
            Op::SetFile { .. } => OpCode::SetFile,
            Op::Find { .. } => OpCode::Find,
            Op::Write { .. } => OpCode::WriteX,
            Op::Read { .. } => OpCode::ReadX,
            Op::Lock { .. } => OpCode::LockX,
            Op::Unlock { .. } => OpCode::UnlockX,
            Op::Flush { .. } => OpCode::Flush,
            Op::Sleep { .. } => OpCode::Sleep,
            Op::Broken { code, .. } => code,
        }
    }

    /// The handle it works on, or opens.
    pub fn slot(&self) -> Option<Slot> {
        match *self {
            Op::Create { slot, .. } => slot,
            Op::Close { slot, .. }
            | Op::QueryFile { slot, .. }
            | Op::SetFile { slot, .. }
            | Op::Write { slot, .. }
            | Op::Read { slot, .. }
            | Op::Lock { slot, .. }
            | Op::Unlock { slot, .. }
            | Op::Flush { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// The path it names; for a rename the old one.
    pub fn path(&self) -> Option<PathId> {
        match *self {
            Op::Create { path, .. }
            | Op::Unlink { path, .. }
            | Op::Deltree { path, .. }
            | Op::Rmdir { path, .. }
            | Op::Mkdir { path, .. }
            | Op::QueryPath { path, .. }
            | Op::Find { pattern: path, .. }
            | Op::Rename { from: path, .. } => Some(path),
            _ => None,
        }
    }

    /// The new path of a rename.
    pub fn second_path(&self) -> Option<PathId> {
        match *self {
            Op::Rename { to, .. } => Some(to),
            _ => None,
        }
    }

    /// What its status asks for; a sleep cannot fail, a broken line cannot succeed.
    pub fn expect(&self) -> Expect {
        match *self {
            Op::Create { expect, .. }
            | Op::Close { expect, .. }
            | Op::Rename { expect, .. }
            | Op::Unlink { expect, .. }
            | Op::Deltree { expect, .. }
            | Op::Rmdir { expect, .. }
            | Op::Mkdir { expect, .. }
            | Op::QueryPath { expect, .. }
            | Op::QueryFile { expect, .. }
            | Op::QueryFs { expect, .. }
            | Op::SetFile { expect, .. }
            | Op::Find { expect, .. }
            | Op::Write { expect, .. }
            | Op::Read { expect, .. }
            | Op::Lock { expect, .. }
            | Op::Unlock { expect, .. }
            | Op::Flush { expect, .. } => expect,
            Op::Sleep { .. } | Op::Broken { .. } => Expect::Success,
        }
    }
}
