//! From lines to operations: the grammar of 3.x and 4.x.

use super::arguments::{Arguments, lossy};
use super::handles::Handles;
use super::number::{c_integer, stamp_nanos};
use super::paths::Interner;
use super::tokens::Tokens;
use super::warning::Warnings;
use super::{
    Disposition, Expect, HandleFault, Lines, Loadfile, LoadfileError, MAX_OPS, Op, OpCode, PathId,
    Slot, Warning,
};

/// Words of 5.0 that change what the lines around them mean; they stand in column 1.
const DIRECTIVES: [&[u8]; 8] = [
    b"REPEAT",
    b"LOOP",
    b"ENDLOOP",
    b"RANDOMSTRING",
    b"WRITEPATTERN",
    b"SLEEP",
    b"SETSP",
    b"WAITSP",
];

/// What makes a `FIND_FIRST` read the directory. (A quote cannot reach this point: the tokens lose
/// theirs.)
const WILDCARDS: &[u8] = b"<>*?\"";

/// A loadfile under way.
#[derive(Debug, Default)]
pub(super) struct Compiler {
    tokens: Tokens,
    handles: Handles,
    paths: Interner,
    warnings: Warnings,
    ops: Vec<Op>,
    op_lines: Vec<u32>,
    stamps_nanos: Vec<u64>,
    lines: u64,
}

impl Compiler {
    /// Takes the next line, without its newline.
    pub(super) fn line(&mut self, number: u32, line: &[u8]) -> Result<(), LoadfileError> {
        if line.contains(&0) {
            return Err(LoadfileError::NotText { line: number });
        }
        let lines = Lines {
            first: number,
            count: 1,
        };
        let line = match line.strip_suffix(b"\r") {
            Some(line) => {
                self.warnings.add(Warning::CarriageReturns(lines));
                line
            }
            None => line,
        };
        if line.trim_ascii_start().starts_with(b"#") {
            return Ok(());
        }
        // Moved out so that the tokens can be read while the rest of the compiler changes.
        let mut tokens = std::mem::take(&mut self.tokens);
        let fits = tokens.split(line);
        let result = if fits {
            self.tokens(lines, line, &tokens)
        } else {
            self.warnings.add(Warning::TooManyTokens(lines));
            Ok(())
        };
        self.tokens = tokens;
        result
    }

    fn tokens(&mut self, lines: Lines, line: &[u8], tokens: &Tokens) -> Result<(), LoadfileError> {
        let first = tokens.get(0);
        if DIRECTIVES.contains(&first) && line.starts_with(first) {
            return Err(LoadfileError::Directive {
                line: lines.first,
                name: lossy(first),
            });
        }
        if first.starts_with(b"SMB") {
            return Err(LoadfileError::Generation1 {
                line: lines.first,
                name: lossy(first),
            });
        }
        if tokens.len() < 2 {
            return Ok(());
        }
        self.lines += 1;
        if tokens.tab {
            self.warnings.add(Warning::TabSeparators(lines));
        }

        let has_stamp = first.first().is_some_and(u8::is_ascii_digit);
        let stamp = if has_stamp {
            stamp_nanos(first)
        } else {
            Some(0)
        };
        let Some(stamp) = stamp else {
            self.warnings.add(Warning::BadTimestamp {
                stamp: lossy(first),
                lines,
            });
            return Ok(());
        };
        let name_at = usize::from(has_stamp);
        let name = tokens.get(name_at);
        let status = tokens.get(tokens.len() - 1);
        let expect = if name_at + 1 < tokens.len() {
            expectation(status)
        } else {
            None
        };
        let Some(expect) = expect else {
            self.warnings.add(Warning::BadStatus {
                status: lossy(status),
                lines,
            });
            return Ok(());
        };
        let Some(code) = OpCode::from_loadfile_name(name) else {
            self.warnings.add(Warning::UnknownOperation {
                name: lossy(name),
                lines,
            });
            return Ok(());
        };

        let arguments = Arguments {
            tokens,
            first: name_at + 1,
            code,
            lines,
        };
        let op = self.op(&arguments, expect)?;
        self.push(op, lines.first, stamp)
    }

    fn push(&mut self, op: Op, line: u32, stamp_nanos: u64) -> Result<(), LoadfileError> {
        if self.ops.len() == MAX_OPS {
            return Err(LoadfileError::TooManyOps { line });
        }
        if stamp_nanos > 0 || !self.stamps_nanos.is_empty() {
            self.stamps_nanos.resize(self.ops.len(), 0);
            self.stamps_nanos.push(stamp_nanos);
        }
        self.ops.push(op);
        self.op_lines.push(line);
        Ok(())
    }

    fn op(&mut self, arguments: &Arguments<'_>, expect: Expect) -> Result<Op, LoadfileError> {
        let code = arguments.code;
        Ok(match code {
            OpCode::NtCreateX => return self.create(arguments, expect),
            OpCode::Rename => {
                let from = self.path(arguments, 0, "old path")?;
                let to = self.path(arguments, 1, "new path")?;
                Op::Rename { from, to, expect }
            }
            OpCode::Unlink => Op::Unlink {
                path: self.path(arguments, 0, "path")?,
                expect,
            },
            OpCode::Deltree => Op::Deltree {
                path: self.path(arguments, 0, "path")?,
                expect,
            },
            OpCode::Rmdir => Op::Rmdir {
                path: self.path(arguments, 0, "path")?,
                expect,
            },
            OpCode::Mkdir => Op::Mkdir {
                path: self.path(arguments, 0, "path")?,
                expect,
            },
            OpCode::QueryPath => Op::QueryPath {
                path: self.path(arguments, 0, "path")?,
                expect,
            },
            OpCode::QueryFs => Op::QueryFs { expect },
            OpCode::Find => Op::Find {
                pattern: self.path(arguments, 0, "pattern")?,
                wildcard: arguments.get(0).iter().any(|byte| WILDCARDS.contains(byte)),
                expect,
                max_count: arguments.u32(2, "maximum count")?,
                count: arguments.u32(3, "count")?,
            },
            OpCode::Sleep => Op::Sleep {
                micros: arguments
                    .number(0, "time in microseconds", 0, i64::MAX)?
                    .unsigned_abs(),
            },
            OpCode::Close
            | OpCode::QueryFile
            | OpCode::SetFile
            | OpCode::WriteX
            | OpCode::ReadX
            | OpCode::LockX
            | OpCode::UnlockX
            | OpCode::Flush => {
                let handle = arguments.handle(0)?;
                match self.handles.find(handle) {
                    Some(slot) => self.op_on_handle(arguments, slot, expect)?,
                    None => self.broken(arguments, handle, HandleFault::Unknown),
                }
            }
        })
    }

    fn op_on_handle(
        &mut self,
        arguments: &Arguments<'_>,
        slot: Slot,
        expect: Expect,
    ) -> Result<Op, LoadfileError> {
        Ok(match arguments.code {
            OpCode::Close => {
                self.handles.close(slot);
                Op::Close { slot, expect }
            }
            OpCode::QueryFile => Op::QueryFile { slot, expect },
            OpCode::SetFile => Op::SetFile { slot, expect },
            OpCode::WriteX | OpCode::ReadX => {
                let size = arguments.transfer(2, "size")?;
                let offset = arguments.offset(1, i64::from(size))?;
                let expected = arguments.transfer(3, "expected size")?;
                if arguments.code == OpCode::WriteX {
                    Op::Write {
                        slot,
                        offset,
                        size,
                        expected,
                        expect,
                    }
                } else {
                    Op::Read {
                        slot,
                        offset,
                        size,
                        expected,
                        expect,
                    }
                }
            }
            OpCode::LockX | OpCode::UnlockX => {
                let length = arguments.number(2, "size", 0, i64::MAX)?;
                let offset = arguments.offset(1, length)?;
                let length = length.unsigned_abs();
                if arguments.code == OpCode::LockX {
                    Op::Lock {
                        slot,
                        offset,
                        length,
                        expect,
                    }
                } else {
                    Op::Unlock {
                        slot,
                        offset,
                        length,
                        expect,
                    }
                }
            }
            _ => Op::Flush { slot, expect },
        })
    }

    fn create(&mut self, arguments: &Arguments<'_>, expect: Expect) -> Result<Op, LoadfileError> {
        let path = self.path(arguments, 0, "path")?;
        let options = arguments.u32(1, "options")?;
        let disposition = match arguments.u32(2, "disposition")? {
            2 => Disposition::Create,
            4 | 5 => Disposition::Truncate,
            _ => Disposition::Open,
        };
        let handle = arguments.handle(3)?;
        let slot = match expect {
            Expect::Failure => None,
            Expect::Success | Expect::Either => {
                let lines = arguments.lines;
                if let Some(opened) = self.handles.opened_at(handle) {
                    self.warnings.add(Warning::DuplicateHandle {
                        handle,
                        opened,
                        lines,
                    });
                }
                match self.handles.open(handle, lines.first) {
                    Ok(slot) => Some(slot),
                    Err(fault) => return Ok(self.broken(arguments, handle, fault)),
                }
            }
        };
        Ok(Op::Create {
            path,
            slot,
            disposition,
            directory: options & 1 == 1,
            expect,
            handle,
        })
    }

    fn broken(&mut self, arguments: &Arguments<'_>, handle: i32, fault: HandleFault) -> Op {
        self.warnings.add(Warning::BrokenHandle {
            handle,
            fault,
            lines: arguments.lines,
        });
        Op::Broken {
            code: arguments.code,
            handle,
            fault,
        }
    }

    fn path(
        &mut self,
        arguments: &Arguments<'_>,
        index: usize,
        argument: &'static str,
    ) -> Result<PathId, LoadfileError> {
        let text = arguments.required(index, argument)?;
        if text
            .split(|&byte| byte == b'/')
            .any(|component| component == b"..")
        {
            return Err(LoadfileError::LeavesBase {
                line: arguments.lines.first,
                path: lossy(text),
            });
        }
        let is_rooted = text.starts_with(b"/");
        if is_rooted && arguments.is_quoted(index) {
            return Ok(self.paths.intern(text));
        }
        let separator: &[u8] = if is_rooted { b"" } else { b"/" };
        let path = [separator, text].concat();
        self.warnings.add(Warning::BarePath {
            path: lossy(&path),
            lines: arguments.lines,
        });
        Ok(self.paths.intern(&path))
    }

    /// The whole file, once its last line is in.
    pub(super) fn finish(mut self, digest: [u8; 32]) -> Result<Loadfile, LoadfileError> {
        if self.ops.is_empty() {
            let fault = self.warnings.finish().into_iter().find(Warning::skips_line);
            return Err(LoadfileError::Nothing { fault });
        }
        if !self.stamps_nanos.is_empty() {
            self.stamps_nanos.resize(self.ops.len(), 0);
        }
        for (_, handle, line) in self.handles.still_open() {
            self.warnings.add(Warning::LeftOpen {
                handle,
                lines: Lines {
                    first: line,
                    count: 1,
                },
            });
        }
        Ok(Loadfile {
            setup_end: setup_end(&self.ops),
            left_open: self.handles.still_open().map(|(slot, ..)| slot).collect(),
            slots: self.handles.len(),
            paths: self.paths.finish(),
            warnings: self.warnings.finish(),
            ops: self.ops,
            op_lines: self.op_lines,
            stamps_nanos: self.stamps_nanos,
            lines: self.lines,
            digest,
        })
    }
}

/// See [`Loadfile::setup_end`].
fn setup_end(ops: &[Op]) -> usize {
    let first_read = ops
        .iter()
        .position(|op| op.code() == OpCode::ReadX)
        .unwrap_or(0);
    let before = &ops[..first_read];
    let Some(last_write) = before.iter().rposition(|op| op.code() == OpCode::WriteX) else {
        return 0;
    };
    let slot = before[last_write].slot();
    let closes = |op: &Op| op.code() == OpCode::Close && op.slot() == slot;
    match before[last_write..].iter().position(closes) {
        Some(close) if (last_write + close + 1) * 2 <= ops.len() => last_write + close + 1,
        _ => 0,
    }
}

/// What a status asks for; `None` if it is none.
fn expectation(status: &[u8]) -> Option<Expect> {
    match status {
        b"NT_STATUS_OK" | b"SUCCESS" => Some(Expect::Success),
        b"ERROR" => Some(Expect::Failure),
        b"*" => Some(Expect::Either),
        _ if status.starts_with(b"NT_STATUS_") => Some(Expect::Failure),
        _ if status.starts_with(b"0x") || status.starts_with(b"0X") => match c_integer(status)? {
            0 => Some(Expect::Success),
            _ => Some(Expect::Failure),
        },
        _ => None,
    }
}
