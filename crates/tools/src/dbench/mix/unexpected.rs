//! Operations that a POSIX filesystem would answer otherwise than their status says.

use std::fmt;

use super::super::loadfile::{Expect, HandleFault, OpCode};

/// One operation that would not end as its line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unexpected {
    /// The line, counted from 1.
    pub line: u32,
    /// Its operation.
    pub code: OpCode,
    /// What its status asks for.
    pub expect: Expect,
    /// How it ends.
    pub got: Got,
}

/// How an operation ends in the dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// It succeeds.
    Success,
    /// It fails.
    Failure,
    /// Fewer or more bytes move than the line expects.
    Bytes {
        /// What the line says.
        expected: u32,
        /// What moves.
        got: u32,
    },
    /// The open that should have made its handle failed.
    NotOpen,
    /// No open line gives its handle.
    Broken {
        /// The loadfile's number for it.
        handle: i32,
        /// What is wrong with it.
        fault: HandleFault,
    },
}

impl Got {
    pub(super) fn status(success: bool) -> Got {
        if success { Got::Success } else { Got::Failure }
    }

    pub(super) fn length(expected: u32, got: u32) -> Got {
        if expected == got {
            Got::Success
        } else {
            Got::Bytes { expected, got }
        }
    }

    pub(super) fn agrees(self, expect: Expect) -> bool {
        match self {
            Got::Success => expect.agrees(true),
            Got::Failure => expect.agrees(false),
            Got::Bytes { .. } | Got::NotOpen | Got::Broken { .. } => false,
        }
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {} ", self.line, self.code.loadfile_name())?;
        match self.got {
            Got::Success => out.write_str("should fail and succeeds"),
            Got::Failure => out.write_str("should succeed and fails"),
            Got::Bytes { expected, got } => {
                write!(out, "should move {expected} bytes and moves {got}")
            }
            Got::NotOpen => out.write_str("uses a handle whose open failed"),
            Got::Broken {
                handle,
                fault: HandleFault::Unknown,
            } => write!(out, "uses handle {handle}, which is not open"),
            Got::Broken {
                handle,
                fault: HandleFault::TableFull,
            } => {
                write!(out, "opens handle {handle}, which is one too many")
            }
        }
    }
}
