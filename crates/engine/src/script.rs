//! A scripted clock and target, so that a test of a slow fsync takes no time.
//!
//! On a scripted run nothing enters the kernel: each call is answered by the first rule that fits it, and the clock moves
//! by that rule's duration and by nothing else. Each worker carries its own time; when one reaches the instant at which
//! the parent wants to look (a tick, the end of warm-up, the end of the window) it waits until all others have, so that
//! results do not depend on the machine.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use kernmark_sys::errno::Errno;
use kernmark_sys::region::{Control, Header};
use kernmark_sys::wait::{Bell, futex_wait};
use serde::{Deserialize, Serialize};

/// What a scripted target answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Looked through in order for each call; the first that fits answers.
    pub rules: Vec<Rule>,
    /// Duration of a call that no rule fits; it succeeds in full.
    pub otherwise_nanos: u64,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The call's name, as in [`crate::calls::Calls`].
    pub call: String,
    /// The first call of that name by a worker that it answers, from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Only for this worker.
    pub worker: Option<u32>,
    /// How long the call takes.
    pub nanos: u64,
    /// What it returns: bytes, or an error number.
    pub result: Answer,
}

/// What a scripted call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// All that was asked for.
    Full,
    /// This many bytes.
    Bytes(u64),
    /// This error number.
    Errno(i32),
}

impl Rule {
    /// Every call of that name, by every worker, takes `nanos` and succeeds.
    pub fn every(call: &str, nanos: u64) -> Self {
        Self {
            call: call.to_owned(),
            first: 1,
            last: u64::MAX,
            worker: None,
            nanos,
            result: Answer::Full,
        }
    }

    /// Only the calls number `first` to `last`.
    pub fn calls(self, first: u64, last: u64) -> Self {
        Self {
            first,
            last,
            ..self
        }
    }

    /// They return this instead.
    pub fn returns(self, result: Answer) -> Self {
        Self { result, ..self }
    }

    /// Only by that worker.
    pub fn by(self, worker: u32) -> Self {
        Self {
            worker: Some(worker),
            ..self
        }
    }
}

/// A worker's place in a script.
#[derive(Debug)]
pub(crate) struct Playing<'r> {
    script: &'r Script,
    rank: u32,
    made: BTreeMap<&'static str, u64>,
    now: u64,
    control: &'r Control,
    header: &'r Header,
    bell: &'r Bell,
}

impl<'r> Playing<'r> {
    pub(crate) fn new(
        script: &'r Script,
        rank: u32,
        control: &'r Control,
        header: &'r Header,
        bell: &'r Bell,
    ) -> Self {
        Self {
            script,
            rank,
            made: BTreeMap::new(),
            now: 0,
            control,
            header,
            bell,
        }
    }

    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    pub(crate) const fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Answers a call of `full` bytes.
    pub(crate) fn answer(&mut self, call: &'static str, full: u64) -> Result<u64, Errno> {
        let made = self.made.entry(call).or_default();
        *made += 1;
        let number = *made;
        let rule = self.script.rules.iter().find(|rule| {
            rule.call == call
                && (rule.first..=rule.last).contains(&number)
                && rule.worker.is_none_or(|worker| worker == self.rank)
        });
        self.advance(rule.map_or(self.script.otherwise_nanos, |rule| rule.nanos));
        match rule.map_or(Answer::Full, |rule| rule.result) {
            Answer::Full => Ok(full),
            Answer::Bytes(bytes) => Ok(bytes),
            Answer::Errno(errno) => Err(Errno(errno)),
        }
    }

    /// Moves the clock, stopping wherever the parent wants to look.
    pub(crate) fn advance(&mut self, nanos: u64) {
        let end = self.now.saturating_add(nanos);
        loop {
            // The count is read first: if the boundary moves in between, the wait below returns at once.
            let moves = self.control.boundary_moves.load(Acquire);
            let boundary = self.control.boundary.load(Acquire);
            if end < boundary {
                break;
            }
            // Never backwards: at a phase's start the boundary may still be an old one.
            self.now = self.now.max(boundary);
            self.header
                .at_boundary
                .store(moves.wrapping_add(1), Release);
            self.bell.ring();
            while self.control.boundary_moves.load(Acquire) == moves {
                futex_wait(&self.control.boundary_moves, moves, None);
            }
        }
        self.now = end;
        self.header.at_boundary.store(0, Relaxed);
    }
}
