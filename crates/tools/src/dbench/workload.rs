//! The replay: every client walks the compiled loadfile, over and over, until the window closes.
//!
//! Clients of one process go in lock-step, line by line, as in the original. Nothing is parsed, allocated or formatted
//! between two ops; what an op does to the kernel is in [`super::client`].

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::os::unix::ffi::OsStrExt;

use kernmark_engine::tool::{MakeError, Making, PhaseSpec, Room, Stage, Stop, WorkError, Workload};
use kernmark_engine::worker::{Done, Worker};
use kernmark_model::plan::Params;
use kernmark_model::run::{Direction, OpName, Phase, Spawn};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_sys::errno::Errno;

use super::client::{Client, Create};
use super::generate::{Recipe, STANDARD_SEED};
use super::loadfile::{self, Expect, HandleFault, Loadfile, Op, OpCode};
use super::mix::Mix;
use super::options::{OnError, Options};
use super::trouble::{Trouble, TroubleKind, as_original, in_words};
use super::{CLEANUP, EXECUTE, PASS};

/// Ops of the table; `Sleep` is not timed, and its place is the pass's.
const OPS: usize = OpCode::Sleep as usize;
const PASS_SPAN: usize = OPS;

struct Dbench {
    options: Options,
    loadfile: Loadfile,
    /// Largest transfer of the loadfile in bytes.
    longest: usize,
    /// One line moves bytes: only then can a client be seen to have begun by them.
    moves_bytes: bool,
    room: Room,
}

pub(super) fn make(
    params: &Params,
    making: &mut Making<'_>,
) -> Result<Box<dyn Workload>, MakeError> {
    let options = Options::read(params)?;
    let name = params.text("loadfile")?;
    let loadfile = if name.is_empty() {
        generated(params.count("iterations")?)?
    } else {
        read(&name, making)?
    };
    let mix = Mix::of(&loadfile);
    for warning in &loadfile.warnings {
        making.remarks.push(warning.to_string());
    }
    if let Some(unexpected) = mix.unexpected.first() {
        making.remarks.push(format!(
            "{} lines cannot end as their status says on a filesystem that begins empty, first: {unexpected}",
            mix.unexpected_count
        ));
    }
    let sizes = loadfile.ops.iter().filter_map(|op| match op {
        Op::Read { size, .. } | Op::Write { size, .. } => Some(*size as usize),
        _ => None,
    });
    let longest = sizes.max().unwrap_or(0);
    let clients = u64::from(options.clients());
    let dbench = Dbench {
        longest,
        moves_bytes: longest > 0,
        room: Room {
            // What directories, journals and allocation cost besides is some percent, and 64 KiB a client.
            bytes: Bytes(clients.saturating_mul(mix.peak_bytes + mix.peak_bytes / 50 + (64 << 10))),
            files: clients.saturating_mul(mix.peak_files + 16),
            // Two buffers, paths, page tables and histograms.
            memory: Bytes(clients.saturating_mul(2 * longest as u64 + (512 << 10))),
        },
        options,
        loadfile,
    };
    Ok(Box::new(dbench))
}

fn generated(iterations: u64) -> Result<Loadfile, MakeError> {
    let iterations = u32::try_from(iterations).unwrap_or(u32::MAX);
    let recipe = Recipe::new(iterations, STANDARD_SEED)
        .map_err(|error| MakeError::Value(error.to_string()))?;
    recipe
        .loadfile()
        .map_err(|error| input("the generated loadfile", error))
}

fn read(name: &str, making: &mut Making<'_>) -> Result<Loadfile, MakeError> {
    if name == "-" {
        let mut text = Vec::new();
        let most = loadfile::MAX_TEXT_BYTES;
        making
            .stdin
            .take(most + 1)
            .read_to_end(&mut text)
            .map_err(|error| input("standard input", error))?;
        return loadfile::read(Cursor::new(text)).map_err(|error| input("standard input", error));
    }
    let file =
        File::open(name).map_err(|error| input(name, Errno(error.raw_os_error().unwrap_or(0))))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(input(name, Errno::ISDIR));
    }
    loadfile::read(BufReader::with_capacity(1 << 20, file)).map_err(|error| input(name, error))
}

fn input(path: &str, cause: impl std::error::Error + Send + Sync + 'static) -> MakeError {
    MakeError::Input {
        path: path.to_owned(),
        cause: Box::new(cause),
    }
}

impl Workload for Dbench {
    fn ops(&self) -> Vec<OpName> {
        let ops = OpCode::ALL[..OPS].iter().map(|code| OpName {
            name: code.table_name().to_owned(),
            span: false,
            direction: match code {
                OpCode::ReadX => Some(Direction::Read),
                OpCode::WriteX => Some(Direction::Write),
                _ => None,
            },
        });
        ops.chain([OpName {
            name: PASS.to_owned(),
            span: true,
            direction: None,
        }])
        .collect()
    }

    fn spawn(&self) -> Spawn {
        Spawn::Fork
    }

    fn next_stage(&mut self, done: &[Phase]) -> Option<Stage> {
        if !done.is_empty() {
            return None;
        }
        let by_passes = self.options.passes > 0;
        let execute = PhaseSpec {
            stop: if by_passes {
                Stop::WhenDone
            } else {
                Stop::After(self.options.length)
            },
            warm_up: if by_passes {
                Nanos(0)
            } else {
                self.options.warm_up
            },
            until_warm: !by_passes,
            ..PhaseSpec::new(EXECUTE)
        };
        let mut phases = vec![execute];
        if self.options.drain {
            phases.push(PhaseSpec::sync());
        }
        if !self.options.skip_cleanup {
            phases.push(PhaseSpec::new(CLEANUP));
            if self.options.drain {
                phases.push(PhaseSpec::sync());
            }
        }
        Some(Stage {
            workers: self.options.processes,
            phases,
        })
    }

    fn room(&self) -> Room {
        self.room
    }

    fn in_place_entries(&self) -> &'static [&'static str] {
        &["clients"]
    }

    fn work(&self, worker: &mut Worker<'_>) -> Result<(), WorkError> {
        let base = if worker.calls.scripted() {
            b"/scripted"
        } else {
            worker.directory()?.as_os_str().as_bytes()
        };
        let first = worker.rank() * self.options.per_process;
        let mut clients = (first..first + self.options.per_process)
            .map(|id| Client::new(&self.loadfile, base, id, self.longest))
            .collect::<Result<Vec<_>, _>>()?;
        while let Some(phase) = worker.next_phase() {
            if phase.name == EXECUTE {
                Replay {
                    dbench: self,
                    first,
                    moved: 0.0,
                    paced_from: worker.last(),
                    first_pass: true,
                }
                .run(&mut clients, worker)?;
            } else {
                for client in &mut clients {
                    worker.timed(OpCode::Deltree as usize, |calls| {
                        Done::as_expected(client.clean_up(calls).is_ok())
                    });
                }
            }
        }
        Ok(())
    }
}

/// A process's walk through the execute phase.
struct Replay<'a> {
    dbench: &'a Dbench,
    /// Number of its first client.
    first: u32,
    /// Bytes of its first client since the phase began; what pacing goes by.
    moved: f64,
    paced_from: u64,
    /// The tree was empty when this pass began. Deltree leaves directories, as the original's does, so that from the
    /// second pass on lookups find some that the loadfile expects to be missing.
    first_pass: bool,
}

impl Replay<'_> {
    fn run(&mut self, clients: &mut [Client], worker: &mut Worker<'_>) -> Result<(), WorkError> {
        let Dbench {
            options, loadfile, ..
        } = self.dbench;
        let paced = options.rate > 0.0 || !loadfile.stamps_nanos.is_empty();
        let warm_at = if options.exclude_setup {
            loadfile.setup_end
        } else {
            0
        };
        if warm_at == 0 && (options.exclude_setup || !self.dbench.moves_bytes) {
            worker.warm();
        }
        let mut passes = 0;
        loop {
            let begun = worker.last();
            for (index, op) in loadfile.ops.iter().enumerate() {
                if worker.should_stop() {
                    return Ok(());
                }
                if paced {
                    self.pace(worker, begun, index);
                }
                for (offset, client) in (0_u32..).zip(clients.iter_mut()) {
                    if let Some(trouble) = self.op(worker, client, self.first + offset, index, op) {
                        self.judge(worker, client, &trouble)?;
                    }
                }
                if index + 1 == warm_at {
                    worker.warm();
                }
            }
            // The window may close while the last line sleeps: then the pass was cut, too.
            if worker.should_stop() {
                return Ok(());
            }
            for client in &mut *clients {
                client.close_left(&mut worker.calls, &loadfile.left_open);
            }
            worker.span(PASS_SPAN, worker.last().saturating_sub(begun));
            worker.warm();
            self.first_pass = false;
            passes += 1;
            if passes == options.passes {
                return Ok(());
            }
        }
    }

    /// Waits until the op is due: by its time stamp in this pass, or by the bytes moved so far.
    fn pace(&self, worker: &mut Worker<'_>, pass_begun: u64, index: usize) {
        let Dbench {
            options, loadfile, ..
        } = self.dbench;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes over a positive rate; a cast saturates"
        )]
        let due = if options.rate > 0.0 {
            self.paced_from + (self.moved / options.rate * 1e9) as u64
        } else {
            pass_begun + loadfile.due(index).unwrap_or(0)
        };
        if due > worker.last() {
            worker.sleep_until(due);
        }
    }

    /// Makes one op; what went against its status, if anything did.
    #[inline]
    fn op(
        &mut self,
        worker: &mut Worker<'_>,
        client: &mut Client,
        id: u32,
        index: usize,
        op: &Op,
    ) -> Option<Trouble> {
        let options = &self.dbench.options;
        let code = op.code() as usize;
        let mut trouble = None;
        let status = |result: Result<(), Errno>, expect: Expect| {
            (!expect.agrees(result.is_ok())).then_some(TroubleKind::Status(result))
        };
        /// An op that moves no bytes.
        macro_rules! plain {
            ($expect:expr, |$calls:ident| $call:expr) => {{
                worker.timed(code, |$calls| {
                    trouble = status($call, $expect);
                    Done::as_expected(trouble.is_none())
                });
            }};
        }
        /// An op on an open file.
        macro_rules! on_file {
            ($slot:expr, $expect:expr, |$fd:ident, $calls:ident| $call:expr) => {
                match client.fd($slot) {
                    Some($fd) => plain!($expect, |$calls| $call),
                    None => trouble = Some(TroubleKind::NoHandle(client.handle($slot))),
                }
            };
        }
        match *op {
            Op::Read {
                slot,
                offset,
                size,
                expected,
                expect,
            } => match client.fd(slot) {
                Some(fd) => {
                    worker.timed(code, |calls| {
                        if options.fake_io {
                            return Done::bytes(u64::from(expected));
                        }
                        trouble = moved(client.read(calls, fd, offset, size), expected, expect);
                        // The original counts what was asked for, whatever came.
                        Done {
                            bytes: u64::from(size),
                            expected: trouble.is_none(),
                        }
                    });
                    self.moved += f64::from(size);
                }
                None => trouble = Some(TroubleKind::NoHandle(client.handle(slot))),
            },
            Op::Write {
                slot,
                offset,
                size,
                expected,
                expect,
            } => match client.fd(slot) {
                Some(fd) => {
                    worker.timed(code, |calls| {
                        if options.fake_io {
                            return Done::bytes(u64::from(expected));
                        }
                        let written = client.write(calls, options, fd, offset, size);
                        let bytes = if written.is_ok() { u64::from(size) } else { 0 };
                        trouble = moved(written, expected, expect);
                        Done {
                            bytes,
                            expected: trouble.is_none(),
                        }
                    });
                    self.moved += f64::from(size);
                }
                None => trouble = Some(TroubleKind::NoHandle(client.handle(slot))),
            },
            Op::Create {
                path,
                slot,
                disposition,
                directory,
                expect,
                handle,
            } => {
                let create = Create {
                    path,
                    slot,
                    disposition,
                    directory,
                    handle,
                };
                plain!(expect, |calls| client.create(calls, options, &create));
            }
            Op::QueryPath { path, expect } => {
                let expect = if self.first_pass {
                    expect
                } else {
                    Expect::Either
                };
                plain!(expect, |calls| client.query_path(calls, options, path))
            }
            Op::Close { slot, expect } => {
                on_file!(slot, expect, |fd, calls| client.close(calls, slot, fd))
            }
            Op::Find {
                pattern,
                wildcard,
                max_count,
                ..
            } => {
                // What a pattern finds cannot be told from the lookup: the status says nothing here.
                plain!(Expect::Either, |calls| client
                    .find(calls, options, pattern, wildcard, max_count));
            }
            Op::Unlink { path, expect } => {
                plain!(expect, |calls| client.unlink(calls, options, path))
            }
            Op::QueryFs { expect } => plain!(expect, |calls| client.query_fs(calls)),
            Op::QueryFile { slot, expect } => {
                on_file!(slot, expect, |fd, calls| Client::query_file(
                    calls, options, fd
                ));
            }
            Op::SetFile { slot, expect } => {
                on_file!(slot, expect, |fd, calls| client
                    .set_file(calls, options, slot, fd));
            }
            Op::Flush { slot, expect } => on_file!(slot, expect, |fd, calls| calls.fsync(fd)),
            Op::Rename { from, to, expect } => {
                plain!(expect, |calls| client.rename(calls, options, from, to))
            }
            Op::Lock {
                slot,
                offset,
                length,
                expect,
            } => {
                on_file!(slot, expect, |fd, calls| Client::lock(
                    calls, fd, offset, length
                ));
            }
            Op::Unlock {
                slot,
                offset,
                length,
                expect,
            } => {
                on_file!(slot, expect, |fd, calls| Client::unlock(
                    calls, fd, offset, length
                ));
            }
            Op::Mkdir { path, expect } => {
                plain!(expect, |calls| client.mkdir(calls, options, path))
            }
            Op::Rmdir { path, expect } => {
                plain!(expect, |calls| client.rmdir(calls, options, path))
            }
            Op::Deltree { path, expect } => plain!(expect, |calls| client.deltree(calls, path)),
            Op::Sleep { micros } => {
                let end = worker.last().saturating_add(micros.saturating_mul(1000));
                worker.sleep_until(end);
            }
            Op::Broken {
                handle,
                fault: HandleFault::Unknown | HandleFault::TableFull,
                ..
            } => {
                trouble = Some(TroubleKind::NoHandle(handle));
            }
        }
        self.dbench.warm_by_bytes(worker, op);
        trouble.map(|kind| Trouble {
            index,
            client: id,
            kind,
        })
    }

    /// What an op that went against its status means for the run.
    #[cold]
    fn judge(
        &self,
        worker: &mut Worker<'_>,
        client: &Client,
        trouble: &Trouble,
    ) -> Result<(), WorkError> {
        let Dbench {
            options, loadfile, ..
        } = self.dbench;
        let (op, line) = (
            &loadfile.ops[trouble.index],
            loadfile.op_lines[trouble.index],
        );
        let path = |id| client.path(id);
        match options.on_error {
            OnError::Original => {
                let (text, fatal) = as_original(op, line, trouble, &path);
                if let Some(text) = text {
                    worker.note(&text);
                }
                if fatal {
                    return Err(WorkError(format!(
                        "ERROR: child {} failed at line {line}",
                        trouble.client
                    )));
                }
            }
            OnError::Stop => return Err(WorkError(in_words(op, line, trouble, &path))),
            OnError::Continue => worker.note(&in_words(op, line, trouble, &path)),
        }
        Ok(())
    }
}

impl Dbench {
    /// Where set-up is included, a client has begun when its first byte was moved.
    #[inline]
    fn warm_by_bytes(&self, worker: &Worker<'_>, op: &Op) {
        if !self.options.exclude_setup && matches!(op, Op::Read { .. } | Op::Write { .. }) {
            worker.warm();
        }
    }
}

/// Did a transfer go as it should?
#[inline]
fn moved(result: Result<usize, Errno>, expected: u32, expect: Expect) -> Option<TroubleKind> {
    match result {
        Ok(got) if expect == Expect::Success && got != expected as usize => {
            Some(TroubleKind::Short { got, expected })
        }
        Ok(_) => (!expect.agrees(true)).then_some(TroubleKind::Status(Ok(()))),
        Err(errno) => (!expect.agrees(false)).then_some(TroubleKind::Status(Err(errno))),
    }
}
