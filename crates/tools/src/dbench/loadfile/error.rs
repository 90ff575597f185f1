//! Why a loadfile is refused.

use super::{MAX_LINE_BYTES, MAX_OPS, MAX_TEXT_BYTES, OpCode, Warning};

/// A loadfile that cannot be replayed, with the line at fault.
#[derive(Debug, thiserror::Error)]
pub enum LoadfileError {
    /// The source failed.
    #[error("cannot read the loadfile")]
    Read(#[source] std::io::Error),
    /// It begins as gzip and does not go on so.
    #[error(
        "cannot unpack the gzip loadfile: it is cut short or damaged\n  \
         a part of a pass would be another workload\n  \
         fetch or compress the file again"
    )]
    Gzip(#[source] std::io::Error),
    /// More text than [`MAX_TEXT_BYTES`].
    #[error(
        "the loadfile has more than {} MiB of text\n  \
         no client could hold it in memory beside its files\n  \
         give a shorter loadfile; it is repeated until the time is over",
        MAX_TEXT_BYTES >> 20
    )]
    TextTooLong,
    /// More operations than [`MAX_OPS`].
    #[error(
        "the loadfile has more than {MAX_OPS} operations, the first too many on line {line}\n  \
         no client could hold it in memory beside its files\n  \
         give a shorter loadfile; it is repeated until the time is over"
    )]
    TooManyOps {
        /// The line of the first too many.
        line: u32,
    },
    /// A line longer than [`MAX_LINE_BYTES`].
    #[error(
        "line {line} of the loadfile is longer than {MAX_LINE_BYTES} bytes\n  \
         no operation needs that much, so this is hardly a loadfile\n  \
         check the file, or break the line"
    )]
    LineTooLong {
        /// The line, counted from 1.
        line: u32,
    },
    /// A zero byte.
    #[error(
        "line {line} of the loadfile has a zero byte: this is not text\n  \
         give a loadfile as text, or text packed by gzip"
    )]
    NotText {
        /// The line, counted from 1.
        line: u32,
    },
    /// The grammar of 1.x.
    #[error(
        "this is a dbench 1 load file: line {line} names {name}\n  \
         3.x and 4.x have other operations, and their numbers cannot be compared\n  \
         give a loadfile of 3.x or 4.x, or none for the standard mix"
    )]
    Generation1 {
        /// The line, counted from 1.
        line: u32,
        /// Its operation.
        name: String,
    },
    /// A control word of 5.0.
    #[error(
        "line {line} of the loadfile has {name}, a directive of dbench 5.0\n  \
         left out, it would make another workload of the lines around it\n  \
         write the lines out as 4.x has them"
    )]
    Directive {
        /// The line, counted from 1.
        line: u32,
        /// The word.
        name: String,
    },
    /// An argument that is needed is not there.
    #[error(
        "line {line} of the loadfile: {} has no {argument}\n  \
         the original would take what an earlier line left in its place\n  \
         complete the line",
        code.loadfile_name()
    )]
    MissingArgument {
        /// The line, counted from 1.
        line: u32,
        /// Its operation.
        code: OpCode,
        /// What is missing.
        argument: &'static str,
    },
    /// An argument that is no whole number.
    #[error(
        "line {line} of the loadfile: the {argument} `{text}` of {} is no whole number\n  \
         the original would take it for zero or for its first digits\n  \
         write it decimal, 0x hexadecimal or 0 octal",
        code.loadfile_name()
    )]
    NotANumber {
        /// The line, counted from 1.
        line: u32,
        /// Its operation.
        code: OpCode,
        /// Which argument.
        argument: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number outside what the argument can be.
    #[error(
        "line {line} of the loadfile: the {argument} {text} of {} is outside {least} to {most}\n  \
         it cannot be passed to the kernel as it stands\n  \
         correct the line",
        code.loadfile_name()
    )]
    OutOfRange {
        /// The line, counted from 1.
        line: u32,
        /// Its operation.
        code: OpCode,
        /// Which argument.
        argument: &'static str,
        /// What stands there.
        text: String,
        /// The smallest that can be used.
        least: i64,
        /// The largest that can be used.
        most: i64,
    },
    /// A transfer larger than [`MAX_TRANSFER_BYTES`](super::MAX_TRANSFER_BYTES).
    #[error(
        "line {line} of the loadfile: {} moves {size} bytes, more than 16 MiB\n  \
         the buffer that each client fills before the start has 16 MiB\n  \
         break the transfer into several lines",
        code.loadfile_name()
    )]
    TransferTooLarge {
        /// The line, counted from 1.
        line: u32,
        /// Its operation.
        code: OpCode,
        /// The size it asks for, in bytes.
        size: i128,
    },
    /// A path with a `..` in it.
    #[error(
        "line {line} of the loadfile: the path `{path}` goes up by `..`\n  \
         it could leave the directory under test and delete what is not ours\n  \
         write the path without `..`"
    )]
    LeavesBase {
        /// The line, counted from 1.
        line: u32,
        /// The path.
        path: String,
    },
    /// Nothing to run.
    #[error("the loadfile has no operation that can be replayed{}", first_fault(.fault))]
    Nothing {
        /// What was wrong with the first line that was skipped, if one was.
        fault: Option<Warning>,
    },
}

fn first_fault(fault: &Option<Warning>) -> String {
    match fault {
        Some(fault) => format!("\n  {fault}"),
        None => String::from(
            "\n  it is empty, or has comments and single words only\n  give another loadfile",
        ),
    }
}
