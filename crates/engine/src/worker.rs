//! A worker's side: its part of each phase, and the one place where an op is timed.

use std::fmt::Write as _;
use std::io::PipeWriter;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use kernmark_model::histogram;
use kernmark_sys::region::{Buckets, Control, Header, OpCounters, Shared};
use kernmark_sys::wait::{Bell, futex_wait};

use crate::calls::Calls;
use crate::place::Place;
use crate::script::{Playing, Script};
use crate::tool::{Actor, PhaseSpec, WorkError};

const _: () = assert!(kernmark_sys::region::BUCKETS == histogram::BUCKETS);

/// The parent's word to all workers: may they go on, which window is open, which second it is.
///
/// One 64-bit word, so that a worker needs one load an op of a line that changes once a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlWord {
    /// The window is closed; end this phase.
    pub(crate) stop: bool,
    /// Number of the window whose ops count; a change makes each worker drop what it counted before.
    pub(crate) epoch: u16,
    /// Ticks of this phase so far.
    pub(crate) tick: u32,
}

impl ControlWord {
    pub(crate) fn pack(self) -> u64 {
        u64::from(self.stop) | u64::from(self.epoch) << 1 | u64::from(self.tick) << 32
    }

    #[expect(clippy::cast_possible_truncation, reason = "the fields' own widths")]
    pub(crate) const fn unpack(word: u64) -> Self {
        Self {
            stop: word & 1 == 1,
            epoch: (word >> 1) as u16,
            tick: (word >> 32) as u32,
        }
    }
}

/// When the clock is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stamp {
    /// After each op; its end is the start of the next. Right where ops follow each other back to back.
    #[default]
    Chained,
    /// Before and after each op; for generators that work in between.
    Both,
}

/// How an op went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Bytes it moved.
    pub bytes: u64,
    /// Did it end as it should?
    pub expected: bool,
}

impl Done {
    /// As it should, moving that many bytes.
    #[inline]
    pub const fn bytes(bytes: u64) -> Self {
        Self {
            bytes,
            expected: true,
        }
    }

    /// As it should, or not; moving nothing.
    #[inline]
    pub const fn as_expected(expected: bool) -> Self {
        Self { bytes: 0, expected }
    }
}

/// Kinds of message on the pipe to the parent, one a line.
pub(crate) const ERROR: char = 'E';
pub(crate) const NOTE: char = 'N';

/// Longest message, so that a line is written in one piece.
const LONGEST_MESSAGE: usize = 3000;
/// A worker says no more than this; further remarks are counted in its counters and would only drown the first ones.
const MOST_NOTES: u32 = 20;

/// What makes a worker, whichever way it came to be.
pub(crate) struct Seat<'r> {
    pub(crate) rank: u32,
    pub(crate) shared: &'r Shared,
    pub(crate) spans: &'r [bool],
    pub(crate) phases: &'r [PhaseSpec],
    pub(crate) bell: &'r Bell,
    pub(crate) pipe: PipeWriter,
    pub(crate) script: Option<&'r Script>,
    pub(crate) place: Option<&'r Place>,
    pub(crate) seed: u64,
}

/// One of the processes or threads that do the work.
#[derive(Debug)]
pub struct Worker<'r> {
    /// The calls it makes.
    pub calls: Calls<'r>,
    control: &'r Control,
    header: &'r Header,
    counters: &'r [OpCounters],
    histograms: &'r [Buckets],
    /// The last word heeded.
    word: u64,
    parity: usize,
    stopping: bool,
    stamp: Stamp,
    /// End of the last op.
    last: u64,
    rank: u32,
    workers: u32,
    seed: u64,
    spans: &'r [bool],
    phases: &'r [PhaseSpec],
    next: u32,
    in_phase: bool,
    bell: &'r Bell,
    pipe: PipeWriter,
    notes: u32,
    place: Option<&'r Place>,
}

#[inline]
fn add(counter: &AtomicU64, amount: u64) {
    // A load and a store: this worker is the only writer, and a locked add would cost more than the rest together.
    counter.store(counter.load(Relaxed).wrapping_add(amount), Relaxed);
}

impl<'r> Worker<'r> {
    pub(crate) fn new(seat: Seat<'r>) -> Self {
        let rank = seat.rank as usize;
        let (control, header) = (seat.shared.control(), seat.shared.header(rank));
        let playing = seat
            .script
            .map(|script| Playing::new(script, seat.rank, control, header, seat.bell));
        Self {
            calls: Calls::new(playing),
            control,
            header,
            counters: seat.shared.counters(rank),
            histograms: seat.shared.histograms(rank),
            word: 0,
            parity: 0,
            stopping: false,
            stamp: Stamp::Chained,
            last: 0,
            rank: seat.rank,
            workers: u32::try_from(seat.shared.layout().workers).unwrap_or(u32::MAX),
            seed: seat.seed,
            spans: seat.spans,
            phases: seat.phases,
            next: 0,
            in_phase: false,
            bell: seat.bell,
            pipe: seat.pipe,
            notes: 0,
            place: seat.place,
        }
    }

    /// This worker's number, from 0.
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// How many workers there are.
    pub const fn workers(&self) -> u32 {
        self.workers
    }

    /// A seed of its own, the same in every run of the same plan.
    pub const fn seed(&self) -> u64 {
        self.seed ^ (self.rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The directory in which to make files.
    pub fn directory(&self) -> Result<&'r Path, WorkError> {
        self.place
            .map(Place::directory)
            .ok_or_else(|| WorkError("this workload was given no directory to work in".to_owned()))
    }

    /// Reads the clock before each op as well.
    pub const fn stamp_both(&mut self) {
        self.stamp = Stamp::Both;
    }

    /// Ends the current phase and waits for the next; `None` when there is no more.
    pub fn next_phase(&mut self) -> Option<&'r PhaseSpec> {
        loop {
            self.end_phase();
            let phases = self.phases;
            let phase = phases.get(self.next as usize)?;
            self.next += 1;
            if !self.await_release() {
                return None;
            }
            self.begin_phase();
            if phase.actor == Actor::Workers {
                return Some(phase);
            }
            if self.rank == 0 {
                self.sync_target();
            }
        }
    }

    /// Waits until the parent has released phase number `self.next`; false if it will not.
    fn await_release(&self) -> bool {
        loop {
            let released = self.control.released.load(Acquire);
            if self.control.over.load(Acquire) != 0 {
                return false;
            }
            if released >= self.next {
                return true;
            }
            futex_wait(&self.control.released, released, None);
        }
    }

    fn begin_phase(&mut self) {
        self.clear();
        self.header.earlier_ops.store(0, Relaxed);
        self.header.warm.store(0, Relaxed);
        self.header.cut_op.store(0, Relaxed);
        self.header.longest[0].store(0, Relaxed);
        self.header.longest[1].store(0, Relaxed);
        self.word = self.control.word.load(Relaxed);
        let word = ControlWord::unpack(self.word);
        self.parity = word.tick as usize & 1;
        self.stopping = word.stop;
        self.header.epoch.store(u32::from(word.epoch), Relaxed);
        self.calls.begin_at(self.control.released_at.load(Relaxed));
        self.in_phase = true;
        self.last = self.calls.now();
        self.header.window_start.store(self.last, Relaxed);
        self.header.window_end.store(self.last, Relaxed);
    }

    fn end_phase(&mut self) {
        self.header.in_flight.store(0, Relaxed);
        if self.in_phase {
            self.in_phase = false;
            if !self.stopping {
                let now = self.calls.now();
                self.header.window_end.store(now, Relaxed);
            }
            self.header.ended.store(self.next, Release);
            self.bell.ring();
        }
    }

    /// The worker's own warm-up is over: set-up done, first pass made.
    pub fn warm(&self) {
        if self.header.warm.load(Relaxed) == 0 {
            self.header.warm.store(1, Relaxed);
        }
    }

    /// Is it time to leave this phase?
    #[inline]
    pub fn should_stop(&mut self) -> bool {
        let word = self.control.word.load(Relaxed);
        if word != self.word {
            let now = self.calls.now();
            self.heed(word, now);
        }
        self.stopping
    }

    /// Makes one op of kind `op` and counts it, with its latency.
    ///
    /// An op counts in the window in which it ends. One that ends after the window closed is no longer counted, but
    /// its duration is kept, since a stall would otherwise hide in it.
    #[inline]
    pub fn timed(&mut self, op: usize, work: impl FnOnce(&mut Calls<'r>) -> Done) -> Done {
        if self.stamp == Stamp::Both {
            self.last = self.calls.now();
        }
        let start = self.last;
        self.header.in_flight_since.store(start, Relaxed);
        self.header.in_flight.store(op as u64 + 1, Relaxed);
        let done = work(&mut self.calls);
        let end = self.calls.now();
        self.last = end;
        let word = self.control.word.load(Relaxed);
        if word != self.word {
            self.heed(word, end);
        }
        self.count(op, end.saturating_sub(start), done, end);
        done
    }

    /// Counts a span (a pass, an application's burst) that ended now and took `nanos`.
    pub fn span(&mut self, op: usize, nanos: u64) {
        let end = self.last;
        self.count(op, nanos, Done::bytes(0), end);
    }

    #[inline]
    fn count(&mut self, op: usize, nanos: u64, done: Done, end: u64) {
        if self.stopping {
            self.cut(op, nanos);
            return;
        }
        let counters = &self.counters[op];
        add(&counters.count, 1);
        add(&counters.bytes, done.bytes);
        add(&counters.total, nanos);
        if nanos > counters.max.load(Relaxed) {
            counters.max.store(nanos, Relaxed);
        }
        if !done.expected {
            add(&counters.unexpected, 1);
        }
        let bucket = &self.histograms[op][histogram::bucket(nanos)];
        bucket.store(bucket.load(Relaxed).saturating_add(1), Relaxed);
        let longest = &self.header.longest[self.parity];
        if nanos > longest.load(Relaxed) && !self.spans[op] {
            longest.store(nanos, Relaxed);
        }
        self.header.window_end.store(end, Relaxed);
    }

    #[cold]
    fn cut(&self, op: usize, nanos: u64) {
        if self.header.cut_op.load(Relaxed) == 0 && !self.spans[op] {
            self.header.cut_nanos.store(nanos, Relaxed);
            self.header.cut_op.store(op as u64 + 1, Relaxed);
        }
    }

    /// Takes in a new word of the parent's.
    #[cold]
    fn heed(&mut self, word: u64, now: u64) {
        let (old, new) = (ControlWord::unpack(self.word), ControlWord::unpack(word));
        self.word = word;
        if new.epoch != old.epoch {
            let earlier: u64 = self.live_ops();
            add(&self.header.earlier_ops, earlier);
            self.clear();
            self.header.window_start.store(now, Relaxed);
            self.header.epoch.store(u32::from(new.epoch), Release);
            // Clearing is ours, not the next op's.
            self.last = self.calls.now();
        }
        if new.tick != old.tick {
            self.parity = new.tick as usize & 1;
            self.header.longest[self.parity].store(0, Relaxed);
        }
        self.stopping |= new.stop;
    }

    fn live_ops(&self) -> u64 {
        self.counters
            .iter()
            .zip(self.spans)
            .filter(|(_, span)| !**span)
            .map(|(op, _)| op.count.load(Relaxed))
            .sum()
    }

    /// Sets this worker's own counts back to nothing.
    fn clear(&self) {
        for (op, buckets) in self.counters.iter().zip(self.histograms) {
            if op.count.load(Relaxed) == 0 {
                continue; // pages never touched stay unmade
            }
            for counter in [&op.count, &op.bytes, &op.unexpected, &op.total, &op.max] {
                counter.store(0, Relaxed);
            }
            for bucket in buckets {
                if bucket.load(Relaxed) != 0 {
                    bucket.store(0, Relaxed);
                }
            }
        }
    }

    /// Sleeps until `instant` on the run's clock, or until it is time to leave the phase; the time asleep belongs to no
    /// op.
    pub fn sleep_until(&mut self, instant: u64) {
        /// A stop is noticed this soon.
        const SLICE: u64 = 20_000_000;
        self.header.in_flight.store(0, Relaxed);
        while self.calls.now() < instant && !self.should_stop() {
            let slice = self.calls.now() + SLICE;
            self.calls.sleep_until(slice.min(instant));
        }
        self.last = self.calls.now();
    }

    /// End of the last op, or start of the phase, on the run's clock.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// Says something to whoever watches the run; the first few remarks of a worker are passed on.
    pub fn note(&mut self, text: &str) {
        self.notes += 1;
        if self.notes <= MOST_NOTES {
            self.send(NOTE, text);
        }
    }

    /// Tells the parent why this worker cannot go on.
    pub(crate) fn fail(&mut self, error: &WorkError) {
        self.send(ERROR, &error.0);
    }

    fn send(&mut self, kind: char, text: &str) {
        let mut line = String::new();
        // Writing to a String cannot fail; a parent that is gone has no use for the line.
        write!(line, "{kind}{} ", self.rank).ok();
        for c in text.chars() {
            if line.len() >= LONGEST_MESSAGE {
                break;
            }
            line.push(if c == '\n' { ' ' } else { c });
        }
        line.push('\n');
        self.pipe.write_all(line.as_bytes()).ok();
    }

    /// The timed sync between two phases.
    fn sync_target(&mut self) {
        let file = self
            .place
            .and_then(|place| std::fs::File::open(place.directory()).ok());
        let op = self.counters.len() - 1; // the runner puts it behind the workload's own ops
        let mut failure = None;
        self.timed(op, |calls| match calls.sync_filesystem(file.as_ref()) {
            Ok(()) => Done::bytes(0),
            Err(errno) => {
                failure = Some(errno);
                Done::as_expected(false)
            }
        });
        if let Some(errno) = failure {
            self.note(&format!(
                "syncfs failed: {errno}; what was written may not be durable"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_word_is_read_as_it_was_written() {
        for word in [
            ControlWord {
                stop: false,
                epoch: 0,
                tick: 0,
            },
            ControlWord {
                stop: true,
                epoch: u16::MAX,
                tick: u32::MAX,
            },
            ControlWord {
                stop: false,
                epoch: 3,
                tick: 86_400,
            },
        ] {
            assert_eq!(ControlWord::unpack(word.pack()), word);
        }
    }
}
