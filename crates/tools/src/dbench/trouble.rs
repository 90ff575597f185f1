//! Ops that went against their status: what is said of them, in our words and in the original's.

use std::borrow::Cow;

use kernmark_sys::errno::Errno;

use super::loadfile::{Op, PathId};

/// An op that went against its status.
pub(super) struct Trouble {
    /// Index of the op.
    pub(super) index: usize,
    pub(super) client: u32,
    pub(super) kind: TroubleKind,
}

pub(super) enum TroubleKind {
    /// It failed and should not have, or the reverse.
    Status(Result<(), Errno>),
    /// It moved another number of bytes.
    Short { got: usize, expected: u32 },
    /// The handle is not open, since its open failed.
    NoHandle(i32),
}

/// For a reader who wants to know what happened: client, line, op, path, what was expected and what came.
pub(super) fn in_words<'c>(
    op: &Op,
    line: u32,
    trouble: &Trouble,
    path: &dyn Fn(PathId) -> Cow<'c, str>,
) -> String {
    let name = op.code().loadfile_name();
    let on = op
        .path()
        .map(|id| format!(" {}", path(id)))
        .unwrap_or_default();
    let what = match &trouble.kind {
        TroubleKind::Status(Ok(())) => {
            "it succeeded, and the loadfile expects it to fail".to_owned()
        }
        TroubleKind::Status(Err(errno)) => {
            format!("{errno}, and the loadfile expects it to succeed")
        }
        TroubleKind::Short { got, expected } => format!("{got} bytes moved, {expected} expected"),
        TroubleKind::NoHandle(handle) => {
            format!("handle {handle} was not found: no open file has this number")
        }
    };
    format!(
        "client {}, loadfile line {line}: {name}{on}: {what}",
        trouble.client
    )
}

/// What dbench 4.00 prints for it, if anything, and whether the client ends by it.
pub(super) fn as_original<'c>(
    op: &Op,
    line: u32,
    trouble: &Trouble,
    path: &dyn Fn(PathId) -> Cow<'c, str>,
) -> (Option<String>, bool) {
    let reason = |result: &Result<(), Errno>| match result {
        Ok(()) => "Success".to_owned(),
        Err(errno) => errno.to_string(),
    };
    match (op, &trouble.kind) {
        (_, TroubleKind::NoHandle(handle)) => (
            Some(format!("({line}) ERROR: handle {handle} was not found")),
            true,
        ),
        (
            Op::Create {
                path: id, handle, ..
            },
            TroubleKind::Status(result),
        ) => {
            let text = match result {
                Ok(()) => format!("[{line}] open {} succeeded for handle {handle}", path(*id)),
                Err(errno) => format!(
                    "[{line}] open {} failed for handle {handle} ({errno})",
                    path(*id)
                ),
            };
            (Some(text), false)
        }
        (
            Op::Unlink {
                path: id, expect, ..
            }
            | Op::Rmdir {
                path: id, expect, ..
            },
            TroubleKind::Status(result),
        ) => {
            let name = if matches!(op, Op::Unlink { .. }) {
                "unlink"
            } else {
                "rmdir"
            };
            (
                Some(format!(
                    "[{line}] {name} {} failed ({}) - expected {expect:?}",
                    path(*id),
                    reason(result)
                )),
                true,
            )
        }
        (Op::Rename { from, to, expect }, TroubleKind::Status(result)) => {
            let text = format!(
                "[{line}] rename {} {} failed ({}) - expected {expect:?}",
                path(*from),
                path(*to),
                reason(result)
            );
            (Some(text), true)
        }
        (Op::Write { .. }, TroubleKind::Status(result)) => (
            Some(format!("[{line}] write failed ({})", reason(result))),
            true,
        ),
        (Op::Write { .. }, TroubleKind::Short { got, expected }) => (
            Some(format!("[{line}] wrote {got} bytes, expected {expected}")),
            true,
        ),
        (Op::Read { .. }, TroubleKind::Short { got, expected }) => (
            Some(format!("[{line}] read {got} bytes, expected {expected}")),
            false,
        ),
        (Op::Read { .. }, TroubleKind::Status(result)) => (
            Some(format!("[{line}] read failed ({})", reason(result))),
            false,
        ),
        _ => (None, false),
    }
}
