//! The parent's side of the workers: made, heard, reaped, killed.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

use kernmark_model::plan::RunPlan;
use kernmark_sys::process::{self, Exit};
use kernmark_sys::region::{Layout, Shared};
use kernmark_sys::signal;
use kernmark_sys::wait::{Bell, set_nonblocking};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::place::Place;
use crate::plan;
use crate::script::Script;
use crate::tool::{Making, Stage, Tool, WorkError, Workload};
use crate::worker::{ERROR, Seat, Worker};

/// Why workers could not be made.
#[derive(Debug, Error)]
pub enum CrewError {
    /// No shared memory, pipe or event counter.
    #[error("cannot set up the memory shared with {workers} workers: {cause}")]
    Shared {
        /// How many.
        workers: u32,
        /// Why not.
        cause: io::Error,
    },
    /// No process or thread.
    #[error(
        "cannot start worker {rank} of {workers}: {cause}\n  a limit on processes or memory is the usual cause; plan fewer clients"
    )]
    Start {
        /// Which.
        rank: u32,
        /// How many were wanted.
        workers: u32,
        /// Why not.
        cause: io::Error,
    },
}

/// What all workers of a stage have in common.
pub(crate) struct Job<'a> {
    pub(crate) workload: &'a dyn Workload,
    pub(crate) stage: &'a Stage,
    pub(crate) plan: &'a RunPlan,
    pub(crate) spans: &'a [bool],
    pub(crate) place: Option<&'a Place>,
    pub(crate) script: Option<&'a Script>,
}

/// A worker as its parent sees it.
enum Member<'a> {
    Process(i32),
    /// 0 while it runs, then 1 for a good end and 2 for a bad one.
    Thread(&'a AtomicU32),
}

/// The workers of a stage. Dropping it kills and reaps those that are left.
pub(crate) struct Crew<'a> {
    members: Vec<(Member<'a>, Option<Exit>)>,
    pub(crate) bell: &'a Bell,
    pipe: PipeReader,
    heard: Vec<u8>,
}

/// A line from a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) rank: u32,
    pub(crate) error: bool,
    pub(crate) text: String,
}

/// The worker's whole life, in whatever it lives; its exit code.
fn live(workload: &dyn Workload, seat: Seat<'_>) -> i32 {
    let mut worker = Worker::new(seat);
    match workload.work(&mut worker) {
        Ok(()) => {
            // A workload that leaves early takes no part in the phases that are left.
            while worker.next_phase().is_some() {}
            0
        }
        Err(error) => {
            worker.fail(&error);
            1
        }
    }
}

impl<'a> Job<'a> {
    fn seat<'s>(
        &'s self,
        rank: u32,
        shared: &'s Shared,
        bell: &'s Bell,
        pipe: PipeWriter,
    ) -> Seat<'s> {
        Seat {
            rank,
            shared,
            spans: self.spans,
            phases: &self.stage.phases,
            bell,
            pipe,
            script: self.script,
            place: self.place,
            seed: self.plan.seed,
        }
    }

    /// Forks the workers. This process should have one thread.
    pub(crate) fn fork(&self, shared: &Shared, bell: &'a Bell) -> Result<Crew<'a>, CrewError> {
        let workers = self.stage.workers;
        let (mut crew, writer) = Crew::new(workers, bell)?;
        let parent = process::id();
        for rank in 0..workers {
            let pid = process::fork(|| {
                signal::reset_for_worker();
                if !process::die_with_parent(parent) {
                    return 1;
                }
                let Ok(pipe) = writer.try_clone() else {
                    return 1;
                };
                process::close_all_but(&[pipe.as_raw_fd(), bell.as_fd().as_raw_fd()]);
                live(self.workload, self.seat(rank, shared, bell, pipe))
            })
            .map_err(|errno| CrewError::Start {
                rank,
                workers,
                cause: errno.io(),
            })?;
            crew.members.push((Member::Process(pid), None));
        }
        Ok(crew)
    }

    /// Starts this program again for each worker.
    pub(crate) fn exec(&self, shared: &Shared, bell: &'a Bell) -> Result<Crew<'a>, CrewError> {
        let workers = self.stage.workers;
        let (mut crew, writer) = Crew::new(workers, bell)?;
        for rank in 0..workers {
            let started = self.exec_one(rank, shared, bell, &writer);
            let child = started.map_err(|cause| CrewError::Start {
                rank,
                workers,
                cause,
            })?;
            crew.members.push((Member::Process(child), None));
        }
        Ok(crew)
    }

    fn exec_one(
        &self,
        rank: u32,
        shared: &Shared,
        bell: &Bell,
        writer: &PipeWriter,
    ) -> io::Result<i32> {
        // Duplicates without CLOEXEC: closed here again as soon as the child has them.
        let (memfd, bell, pipe) = (
            shared.memfd().try_clone_to_owned()?,
            bell.as_fd().try_clone_to_owned()?,
            writer.try_clone()?,
        );
        let passed = [memfd.as_raw_fd(), bell.as_raw_fd(), pipe.as_raw_fd()];
        for fd in passed {
            process::keep_across_exec(fd)?;
        }
        let ticket = Ticket {
            rank,
            ops: shared.layout().ops,
            fds: passed,
            parent: process::id(),
            plan: self.plan.clone(),
            stage: self.stage.clone(),
            spans: self.spans.to_vec(),
            directory: self
                .place
                .map(|place| (place.directory().to_owned(), place.root().to_owned())),
            script: self.script.cloned(),
        };
        let child = Command::new("/proc/self/exe")
            .arg(WORKER_FLAG)
            .arg(serde_json::to_string(&ticket)?)
            .spawn()?;
        i32::try_from(child.id()).map_err(io::Error::other)
    }

    /// Starts the workers as threads of `scope`.
    pub(crate) fn threads<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        shared: &'scope Shared,
        bell: &'scope Bell,
        ends: &'scope [AtomicU32],
    ) -> Result<Crew<'scope>, CrewError> {
        let workers = self.stage.workers;
        let (mut crew, writer) = Crew::new(workers, bell)?;
        for (rank, end) in (0..workers).zip(ends) {
            let failed = |cause| CrewError::Start {
                rank,
                workers,
                cause,
            };
            let pipe = writer.try_clone().map_err(failed)?;
            std::thread::Builder::new()
                .name(format!("worker-{rank}"))
                .spawn_scoped(scope, move || {
                    let told = EndOfThread { end, bell, code: 2 };
                    let code = live(self.workload, self.seat(rank, shared, bell, pipe));
                    told.ended(code);
                })
                .map_err(failed)?;
            crew.members.push((Member::Thread(end), None));
        }
        Ok(crew)
    }
}

/// Tells the parent of a thread's end, also when it unwinds.
struct EndOfThread<'a> {
    end: &'a AtomicU32,
    bell: &'a Bell,
    code: u32,
}

impl EndOfThread<'_> {
    fn ended(mut self, code: i32) {
        self.code = if code == 0 { 1 } else { 2 };
    }
}

impl Drop for EndOfThread<'_> {
    fn drop(&mut self) {
        self.end.store(self.code, Release);
        self.bell.ring();
    }
}

impl<'a> Crew<'a> {
    fn new(workers: u32, bell: &'a Bell) -> Result<(Self, PipeWriter), CrewError> {
        let (pipe, writer) = io::pipe().map_err(|cause| CrewError::Shared { workers, cause })?;
        set_nonblocking(pipe.as_fd()).map_err(|errno| CrewError::Shared {
            workers,
            cause: errno.io(),
        })?;
        Ok((
            Self {
                members: Vec::new(),
                bell,
                pipe,
                heard: Vec::new(),
            },
            writer,
        ))
    }

    /// What to wait for besides signals.
    pub(crate) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.bell.as_fd(), self.pipe.as_fd()]
    }

    /// Process numbers of the workers that are alive.
    pub(crate) fn pids(&self) -> Vec<i32> {
        self.members
            .iter()
            .filter_map(|(member, exit)| match member {
                Member::Process(pid) if exit.is_none() => Some(*pid),
                _ => None,
            })
            .collect()
    }

    /// How worker `rank` ended, if it did.
    pub(crate) fn exit(&self, rank: usize) -> Option<Exit> {
        self.members[rank].1
    }

    /// How many have not ended.
    pub(crate) fn alive(&self) -> usize {
        self.members
            .iter()
            .filter(|(_, exit)| exit.is_none())
            .count()
    }

    /// Looks for workers that ended.
    pub(crate) fn reap(&mut self) {
        for (member, exit) in self.members.iter_mut().filter(|(_, exit)| exit.is_none()) {
            *exit = match member {
                Member::Process(pid) => process::try_wait(*pid).unwrap_or(Some(Exit::Code(1))),
                Member::Thread(end) => match end.load(Acquire) {
                    0 => None,
                    1 => Some(Exit::Code(0)),
                    _ => Some(Exit::Code(1)),
                },
            };
        }
    }

    /// Kills those that are left; threads cannot be killed and end by the stop flag.
    pub(crate) fn kill(&self) {
        for pid in self.pids() {
            process::kill(pid, signal::KILL);
        }
    }

    /// What the workers said since the last call. Reads only what is there.
    pub(crate) fn listen(&mut self) -> Vec<Message> {
        let mut buffer = [0; 65_536];
        // Non-blocking: ends with an error when the pipe is empty.
        while let Ok(read @ 1..) = self.pipe.read(&mut buffer) {
            self.heard.extend_from_slice(&buffer[..read]);
        }
        let Some(end) = self.heard.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let rest = self.heard.split_off(end + 1);
        let lines = std::mem::replace(&mut self.heard, rest);
        String::from_utf8_lossy(&lines)
            .lines()
            .filter_map(message)
            .collect()
    }
}

/// Reads one line of a worker's.
fn message(line: &str) -> Option<Message> {
    let error = line.starts_with(ERROR);
    let (rank, text) = line.get(1..)?.split_once(' ')?;
    Some(Message {
        rank: rank.parse().ok()?,
        error,
        text: text.to_owned(),
    })
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.kill();
        for (member, exit) in &self.members {
            if let (Member::Process(pid), None) = (member, exit) {
                process::wait(*pid).ok();
            }
        }
    }
}

/// First argument of this program when it is a worker; what follows is a [`Ticket`].
pub const WORKER_FLAG: &str = "--kernmark-worker";

/// What an executed worker must know.
#[derive(Debug, Serialize, Deserialize)]
struct Ticket {
    rank: u32,
    ops: usize,
    /// Shared memory, bell, pipe.
    fds: [i32; 3],
    parent: i32,
    plan: RunPlan,
    stage: Stage,
    spans: Vec<bool>,
    directory: Option<(PathBuf, PathBuf)>,
    script: Option<Script>,
}

/// The life of an executed worker; its exit code. `ticket` is what followed [`WORKER_FLAG`].
pub fn executed(tools: &'static [Tool], ticket: &str) -> Result<i32, WorkError> {
    let refused =
        |error: &dyn std::fmt::Display| WorkError(format!("not a worker's ticket: {error}"));
    let ticket: Ticket = serde_json::from_str(ticket).map_err(|error| refused(&error))?;
    signal::reset_for_worker();
    if !process::die_with_parent(ticket.parent) {
        return Ok(1);
    }
    let [memfd, bell, pipe] = ticket.fds.map(process::adopt);
    let layout = Layout {
        workers: ticket.stage.workers as usize,
        ops: ticket.ops,
    };
    let shared = Shared::map(memfd, layout).map_err(|error| refused(&error))?;
    let bell = Bell::from_fd(bell);
    let (_, spec) = plan::find(tools, &ticket.plan.selector()).map_err(|error| refused(&error))?;
    let mut making = Making {
        stdin: &mut io::empty(),
        remarks: &mut Vec::new(),
        seed: ticket.plan.seed,
    };
    let workload =
        (spec.make)(&ticket.plan.params, &mut making).map_err(|error| refused(&error))?;
    let place = ticket
        .directory
        .map(|(directory, root)| Place::lent(directory, root));
    let seat = Seat {
        rank: ticket.rank,
        shared: &shared,
        spans: &ticket.spans,
        phases: &ticket.stage.phases,
        bell: &bell,
        pipe: pipe.into(),
        script: ticket.script.as_ref(),
        place: place.as_ref(),
        seed: ticket.plan.seed,
    };
    Ok(live(workload.as_ref(), seat))
}
