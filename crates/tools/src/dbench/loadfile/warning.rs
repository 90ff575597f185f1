//! What of a loadfile is replayed otherwise than it stands there.

use std::fmt;

use super::tokens::MAX_TOKENS;
use super::{HandleFault, MAX_HANDLES};

/// Where something was found: the first line, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first line, counted from 1 over all lines of the text.
    pub first: u32,
    /// How many lines are alike, the first included.
    pub count: u32,
}

/// One kind of doubt about a loadfile, with all the lines it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Lines end in carriage return and newline.
    CarriageReturns(Lines),
    /// A tab stands between tokens.
    TabSeparators(Lines),
    /// A path without quotes or without a separator in front.
    BarePath {
        /// The first such path, as replayed.
        path: String,
        /// Where.
        lines: Lines,
    },
    /// An operation nobody knows.
    UnknownOperation {
        /// Its name.
        name: String,
        /// Where.
        lines: Lines,
    },
    /// More than 20 different unknown operations: the others.
    MoreUnknownOperations(Lines),
    /// The last token is no status.
    BadStatus {
        /// The first such token.
        status: String,
        /// Where.
        lines: Lines,
    },
    /// The first token begins with a digit and is no time.
    BadTimestamp {
        /// The first such token.
        stamp: String,
        /// Where.
        lines: Lines,
    },
    /// More than 19 tokens.
    TooManyTokens(Lines),
    /// A handle is opened that is open already.
    DuplicateHandle {
        /// The first such handle.
        handle: i32,
        /// The line that opened it before.
        opened: u32,
        /// Where it is opened again.
        lines: Lines,
    },
    /// A handle cannot be had.
    BrokenHandle {
        /// The first such handle.
        handle: i32,
        /// What is wrong with it.
        fault: HandleFault,
        /// Where.
        lines: Lines,
    },
    /// Handles are never closed.
    LeftOpen {
        /// One of them.
        handle: i32,
        /// The lines that opened them.
        lines: Lines,
    },
}

/// How many different unknown operations are told by name.
const MAX_OPERATION_NAMES: usize = 20;

impl Warning {
    /// The lines it concerns.
    pub fn lines(&self) -> Lines {
        match *self {
            Warning::CarriageReturns(lines)
            | Warning::TabSeparators(lines)
            | Warning::MoreUnknownOperations(lines)
            | Warning::TooManyTokens(lines)
            | Warning::BarePath { lines, .. }
            | Warning::UnknownOperation { lines, .. }
            | Warning::BadStatus { lines, .. }
            | Warning::BadTimestamp { lines, .. }
            | Warning::DuplicateHandle { lines, .. }
            | Warning::BrokenHandle { lines, .. }
            | Warning::LeftOpen { lines, .. } => lines,
        }
    }

    fn lines_mut(&mut self) -> &mut Lines {
        match self {
            Warning::CarriageReturns(lines)
            | Warning::TabSeparators(lines)
            | Warning::MoreUnknownOperations(lines)
            | Warning::TooManyTokens(lines)
            | Warning::BarePath { lines, .. }
            | Warning::UnknownOperation { lines, .. }
            | Warning::BadStatus { lines, .. }
            | Warning::BadTimestamp { lines, .. }
            | Warning::DuplicateHandle { lines, .. }
            | Warning::BrokenHandle { lines, .. }
            | Warning::LeftOpen { lines, .. } => lines,
        }
    }

    /// Whether the line was left out of the replay.
    pub fn skips_line(&self) -> bool {
        matches!(
            self,
            Warning::UnknownOperation { .. }
                | Warning::MoreUnknownOperations(_)
                | Warning::BadStatus { .. }
                | Warning::BadTimestamp { .. }
                | Warning::TooManyTokens(_)
        )
    }

    /// Whether both are the same doubt about different lines.
    fn is_like(&self, other: &Warning) -> bool {
        match (self, other) {
            (
                Warning::UnknownOperation { name, .. },
                Warning::UnknownOperation { name: other, .. },
            ) => name == other,
            (Warning::BrokenHandle { fault, .. }, Warning::BrokenHandle { fault: other, .. }) => {
                fault == other
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The warnings of a file so far: a bounded list, whatever the file.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    list: Vec<Warning>,
}

impl Warnings {
    /// Counts the line of `warning` with those before it that are like it.
    pub(super) fn add(&mut self, mut warning: Warning) {
        let names = self
            .list
            .iter()
            .filter(|known| matches!(known, Warning::UnknownOperation { .. }))
            .count();
        let is_known = |warning: &Warning| self.list.iter().any(|known| known.is_like(warning));
        if let Warning::UnknownOperation { lines, .. } = warning
            && names == MAX_OPERATION_NAMES
            && !is_known(&warning)
        {
            warning = Warning::MoreUnknownOperations(lines);
        }
        match self.list.iter_mut().find(|known| known.is_like(&warning)) {
            Some(known) => known.lines_mut().count += 1,
            None => self.list.push(warning),
        }
    }

    pub(super) fn finish(self) -> Vec<Warning> {
        self.list
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 | 1 => write!(out, "line {}", self.first),
            count => write!(out, "line {} and {} more", self.first, count - 1),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, consequence, remedy) = self.sentences();
        write!(
            out,
            "{} of the loadfile: {what}\n  {consequence}\n  {remedy}",
            self.lines()
        )
    }
}

impl Warning {
    /// What is found, what that means, and what to do.
    fn sentences(&self) -> (String, &'static str, &'static str) {
        match self {
            Warning::CarriageReturns(_) => (
                "the line ends in a carriage return".into(),
                "it is taken off; dbench would expect every operation to fail",
                "store the file with plain newlines",
            ),
            Warning::TabSeparators(_) => (
                "a tab separates tokens".into(),
                "it is read as a blank; dbench takes it for a part of the token",
                "use blanks",
            ),
            Warning::BarePath { path, .. } => (
                format!("the path `{path}` has no quotes around it or no separator in front"),
                "it is replayed as it is told here; dbench would use an empty name",
                "begin paths with a backslash and quote them",
            ),
            Warning::UnknownOperation { name, .. } => (
                format!("the operation `{name}` is unknown"),
                "it is not replayed, so there is less work than the file says",
                "correct its name, or take the line out",
            ),
            Warning::MoreUnknownOperations(_) => (
                "there are more unknown operations than are told by name".into(),
                "they are not replayed, so there is less work than the file says",
                "check that the file is a loadfile of dbench 3 or 4",
            ),
            Warning::BadStatus { status, .. } => (
                format!("the status `{status}` is badly formed"),
                "the line is not replayed, so there is less work than the file says",
                "end it with an NT_STATUS_ name or a 0x number (a loadfile of dbench 2 has neither)",
            ),
            Warning::BadTimestamp { stamp, .. } => (
                format!("`{stamp}` is neither an operation nor a time in seconds"),
                "the line is not replayed, so there is less work than the file says",
                "correct the line, or take it out",
            ),
            Warning::TooManyTokens(_) => (
                format!("the line has more than {MAX_TOKENS} tokens"),
                "it is not replayed, so there is less work than the file says",
                "quote paths that have blanks, or shorten the line",
            ),
            Warning::DuplicateHandle { handle, opened, .. } => (
                format!("handle {handle} is opened while it is open since line {opened}"),
                "both stay open, and the number means the one in the lower place, as in dbench",
                "give each open handle a number of its own",
            ),
            Warning::BrokenHandle {
                handle,
                fault: HandleFault::Unknown,
                ..
            } => (
                format!("unknown handle {handle}: no line before opens it with success"),
                "the run fails when it comes to this line",
                "open the handle first, or take the line out",
            ),
            Warning::BrokenHandle {
                handle,
                fault: HandleFault::TableFull,
                ..
            } => (
                format!("handle {handle} is one more than the {MAX_HANDLES} that can be open"),
                "the run fails when it comes to this line",
                "close handles before",
            ),
            Warning::LeftOpen { handle, .. } => (
                format!("handle {handle} is still open after the last line"),
                "it is closed before the next pass; dbench would run out of handles in the end",
                "close it in the file",
            ),
        }
    }
}
