//! One stage: its workers walked through its phases, watched every second.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use kernmark_model::event::{EventBody, SinkError, Tick};
use kernmark_model::run::{CounterPair, Doubt, OpName, Phase, Spawn};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_sys::clock;
use kernmark_sys::process::Exit;
use kernmark_sys::region::{Layout, Shared};
use kernmark_sys::signal::{self, Held};
use kernmark_sys::wait::{Bell, futex_wake, poll_until};

use crate::collect;
use crate::crew::{Crew, CrewError, Job};
use crate::emitter::Emitter;
use crate::observe::Observer;
use crate::series::Recorder;
use crate::tool::{Actor, PhaseSpec, Stop};
use crate::worker::ControlWord;

/// Length of an interval.
const SECOND: u64 = 1_000_000_000;
/// A timed window shorter than this says little: it may lie wholly inside one burst or stall of write-back.
const SHORT: Nanos = Nanos::secs(5);
/// How often ended workers are looked for without being told: SIGCHLD is lost where another thread does not hold it.
const LOOK: u64 = SECOND / 2;
/// The same while nothing else is left to wait for.
const LOOK_AT_END: u64 = SECOND / 100;
/// After a failure the others get this long to end by themselves.
const GRACE: u64 = SECOND;

/// How a stage ended.
#[derive(Debug, Default)]
pub(crate) struct StageEnd {
    pub(crate) phases: Vec<Phase>,
    /// The first thing that broke.
    pub(crate) failure: Option<String>,
    pub(crate) doubts: Vec<Doubt>,
}

/// What a stage needs of the runner.
pub(crate) struct Context<'a, 'e> {
    pub(crate) observer: &'a mut Observer,
    pub(crate) signals: &'a Held,
    pub(crate) emitter: &'a mut Emitter<'e>,
    /// The signal that asked us to stop, once one did.
    pub(crate) interrupted: &'a mut Option<i32>,
    /// Ops of the workload and, last, the runner's own sync.
    pub(crate) ops: &'a [OpName],
}

/// Why a stage could not go on at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    #[error(transparent)]
    Crew(#[from] CrewError),
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// Runs a stage to its end.
pub(crate) fn run(
    job: &Job<'_>,
    spawn: Spawn,
    context: &mut Context<'_, '_>,
) -> Result<StageEnd, StageError> {
    let workers = job.stage.workers;
    let failed = |cause| CrewError::Shared { workers, cause };
    let layout = Layout {
        workers: workers as usize,
        ops: context.ops.len(),
    };
    let shared = Shared::create(layout).map_err(|errno| failed(errno.io()))?;
    let bell = Bell::new().map_err(|errno| failed(errno.io()))?;
    match spawn {
        Spawn::Fork => Watch::new(job, spawn, &shared, job.fork(&shared, &bell)?, context).walk(),
        Spawn::Exec => Watch::new(job, spawn, &shared, job.exec(&shared, &bell)?, context).walk(),
        Spawn::Thread => {
            let ends: Vec<AtomicU32> = (0..workers).map(|_| AtomicU32::new(0)).collect();
            std::thread::scope(|scope| {
                let crew = job.threads(scope, &shared, &bell, &ends);
                if crew.is_err() {
                    dismiss(&shared); // those that were started must end, or the scope never does
                }
                Watch::new(job, spawn, &shared, crew?, context).walk()
            })
        }
    }
}

/// Tells the workers that no phase will come any more.
fn dismiss(shared: &Shared) {
    let control = shared.control();
    control.over.store(1, Release);
    control.released.fetch_add(1, Release);
    futex_wake(&control.released);
}

/// The parent, watching.
struct Watch<'a, 'c, 'e> {
    job: &'a Job<'a>,
    spawn: Spawn,
    shared: &'a Shared,
    crew: Crew<'a>,
    context: &'a mut Context<'c, 'e>,
    word: ControlWord,
    /// Phases released so far.
    released: u32,
    kill_at: Option<u64>,
    /// When ended workers are looked for again, untold.
    reap_at: u64,
    /// The first thing that a worker had to say in this phase.
    first_word: Option<String>,
    errors: Vec<Option<String>>,
    end: StageEnd,
}

/// The phase in progress.
struct Current {
    spec: PhaseSpec,
    released_at: u64,
    /// When the window opened; the release, unless there is a warm-up.
    opened: Option<u64>,
    /// When it was closed by time.
    closed: Option<u64>,
    recorder: Recorder,
    next_tick: u64,
    before: Option<kernmark_model::counters::Counters>,
}

impl<'a, 'c, 'e> Watch<'a, 'c, 'e> {
    fn new(
        job: &'a Job<'a>,
        spawn: Spawn,
        shared: &'a Shared,
        crew: Crew<'a>,
        context: &'a mut Context<'c, 'e>,
    ) -> Self {
        Self {
            job,
            spawn,
            shared,
            crew,
            context,
            word: ControlWord {
                stop: false,
                epoch: 0,
                tick: 0,
            },
            released: 0,
            kill_at: None,
            reap_at: 0,
            first_word: None,
            errors: vec![None; job.stage.workers as usize],
            end: StageEnd::default(),
        }
    }

    /// All phases, then the workers' end.
    fn walk(mut self) -> Result<StageEnd, StageError> {
        let walked = self.phases();
        // Whatever happened, the workers must end; threads would otherwise be waited for for ever.
        self.set_word(|word| word.stop = true);
        dismiss(self.shared);
        self.move_boundary(u64::MAX);
        if walked.is_err() {
            self.crew.kill();
        }
        while self.crew.alive() > 0 {
            self.poll(Some(clock::monotonic() + LOOK_AT_END));
            self.reap_at = 0;
            self.attend()?;
        }
        self.listen()?;
        walked?;
        Ok(std::mem::take(&mut self.end))
    }

    fn phases(&mut self) -> Result<(), StageError> {
        for spec in &self.job.stage.phases {
            if self.end.failure.is_some() || self.context.interrupted.is_some() {
                break;
            }
            let phase = self.phase(spec)?;
            self.context.emitter.emit(EventBody::PhaseFinished {
                phase: Box::new(phase.clone()),
            })?;
            self.end.phases.push(phase);
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.context.emitter.now()
    }

    fn phase(&mut self, spec: &PhaseSpec) -> Result<Phase, StageError> {
        self.context.emitter.emit(EventBody::PhaseStarted {
            phase: spec.name.clone(),
            point: spec.point.clone(),
            workers: if spec.actor == Actor::Sync {
                1
            } else {
                self.job.stage.workers
            },
            length: match spec.stop {
                Stop::After(length) => Some(length),
                Stop::WhenDone => None,
            },
        })?;
        self.first_word = None;
        let warm_up = spec.warm_up.0 > 0 || spec.until_warm;
        let before = if warm_up {
            None
        } else {
            self.context.observer.counters(&self.crew.pids())
        };
        let released_at = self.release();
        let mut current = Current {
            spec: spec.clone(),
            released_at,
            opened: (!warm_up).then_some(released_at),
            closed: None,
            recorder: Recorder::new(self.shared, released_at),
            next_tick: released_at + SECOND,
            before,
        };
        while !self.all_ended() {
            self.wait(
                current
                    .closed
                    .map_or_else(|| Some(self.deadline(&current)), |_| None),
            )?;
            self.attend()?;
            let now = self.now();
            if self.end.failure.is_some() || self.context.interrupted.is_some() {
                self.close(&mut current, now)?;
            }
            self.open_window(&mut current, now);
            let due = current
                .opened
                .zip(current.spec_length())
                .map(|(opened, length)| opened + length);
            if due.is_some_and(|due| now >= due) && current.closed.is_none() {
                self.close(&mut current, due.unwrap_or(now).max(now))?;
            }
            if now >= current.next_tick && current.closed.is_none() {
                self.tick(&mut current, now)?;
                // Missed ticks are not made up for: an interval is as long as it says.
                current.next_tick = now.max(current.next_tick) / SECOND * SECOND
                    + current.next_tick % SECOND
                    + SECOND;
                while current.next_tick > now + SECOND {
                    current.next_tick -= SECOND;
                }
            }
        }
        self.finish(current)
    }

    /// The next instant at which something is to be done.
    fn deadline(&self, current: &Current) -> u64 {
        let mut deadline = current.next_tick;
        match (current.opened, current.spec_length()) {
            (Some(opened), Some(length)) => deadline = deadline.min(opened + length),
            (None, _) => {
                let warm = current.released_at + current.spec.warm_up.0;
                // Past the least warm-up, whether all are warm is looked at a hundred times a second.
                deadline = deadline.min(warm.max(self.now() + SECOND / 100));
            }
            _ => {}
        }
        deadline
    }

    /// Lets the workers into the next phase.
    fn release(&mut self) -> u64 {
        self.set_word(|word| {
            *word = ControlWord {
                stop: false,
                epoch: word.epoch.wrapping_add(1) & 0x7fff,
                tick: 0,
            };
        });
        let control = self.shared.control();
        let now = self.now();
        control.released_at.store(now, Relaxed);
        self.released += 1;
        control.released.store(self.released, Release);
        futex_wake(&control.released);
        now
    }

    fn set_word(&mut self, change: impl FnOnce(&mut ControlWord)) {
        change(&mut self.word);
        self.shared.control().word.store(self.word.pack(), Relaxed);
    }

    /// Waits for something to happen, or until `deadline` on the run's clock.
    fn wait(&mut self, deadline: Option<u64>) -> Result<(), StageError> {
        if self.job.script.is_none() {
            let deadline = [deadline, self.kill_at, Some(clock::monotonic() + SECOND)]
                .into_iter()
                .flatten()
                .min();
            self.poll(deadline);
            return Ok(());
        }
        let deadline = deadline.unwrap_or(u64::MAX);
        self.move_boundary(deadline);
        loop {
            self.attend()?;
            if self.at_boundary() || self.kill_at.is_some() {
                break;
            }
            self.poll(Some(clock::monotonic() + LOOK));
        }
        let latest = (0..self.shared.layout().workers)
            .map(|rank| self.shared.header(rank).window_end.load(Relaxed))
            .max()
            .unwrap_or(0);
        let now = if self.all_ended() {
            self.now().max(latest)
        } else {
            deadline
        };
        self.context.emitter.set_scripted(now);
        Ok(())
    }

    fn poll(&self, deadline: Option<u64>) {
        let [bell, pipe] = self.crew.fds();
        poll_until(&[bell, pipe, self.context.signals.as_fd()], deadline);
    }

    /// On the scripted clock, lets the workers go on to `instant`.
    fn move_boundary(&self, instant: u64) {
        let control = self.shared.control();
        if control.boundary.swap(instant, Release) != instant {
            control.boundary_moves.fetch_add(1, Release);
            futex_wake(&control.boundary_moves);
        }
    }

    /// On the scripted clock: has every worker that is still in this phase reached the boundary?
    fn at_boundary(&self) -> bool {
        let moves = self
            .shared
            .control()
            .boundary_moves
            .load(Acquire)
            .wrapping_add(1);
        (0..self.shared.layout().workers).all(|rank| {
            self.has_ended(rank) || self.shared.header(rank).at_boundary.load(Acquire) == moves
        })
    }

    fn has_ended(&self, rank: usize) -> bool {
        self.crew.exit(rank).is_some()
            || self.shared.header(rank).ended.load(Acquire) >= self.released
    }

    fn all_ended(&self) -> bool {
        (0..self.shared.layout().workers).all(|rank| self.has_ended(rank))
    }

    /// Takes in what arrived: words, ends, signals.
    fn attend(&mut self) -> Result<(), StageError> {
        self.crew.bell.silence();
        self.listen()?;
        let mut ended = self.spawn == Spawn::Thread || clock::monotonic() >= self.reap_at;
        while let Some(signal) = self.context.signals.take() {
            if signal == signal::CHLD {
                ended = true;
            } else if self.context.interrupted.replace(signal).is_some() {
                self.crew.kill(); // asked twice
            }
        }
        if ended {
            self.reap_at = clock::monotonic() + LOOK;
            self.crew.reap();
            self.listen()?;
            self.judge_ends();
        }
        if self.kill_at.is_some_and(|at| clock::monotonic() >= at) {
            self.crew.kill();
            self.kill_at = None;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), StageError> {
        for message in self.crew.listen() {
            self.first_word.get_or_insert_with(|| message.text.clone());
            if message.error {
                let text = format!("worker {}: {}", message.rank, message.text);
                if let Some(error) = self.errors.get_mut(message.rank as usize) {
                    *error = Some(message.text);
                }
                self.fail(text);
            } else {
                self.context
                    .emitter
                    .emit(EventBody::Note { text: message.text })?;
            }
        }
        Ok(())
    }

    /// A worker that ended before its last phase did has failed, whatever its code.
    fn judge_ends(&mut self) {
        for rank in 0..self.shared.layout().workers {
            let Some(exit) = self.crew.exit(rank) else {
                continue;
            };
            let finished = self.shared.header(rank).ended.load(Acquire) >= self.released;
            if self.shared.control().over.load(Relaxed) != 0 || (finished && exit == Exit::Code(0))
            {
                continue;
            }
            if self.errors[rank].is_none() {
                self.errors[rank] = Some(match exit {
                    Exit::Signal(signal) => format!("killed by signal {signal}"),
                    Exit::Code(code) => format!("left with code {code} before the phase ended"),
                });
                let why = self.errors[rank].clone().unwrap_or_default();
                self.fail(format!("worker {rank}: {why}"));
            }
        }
    }

    fn fail(&mut self, why: String) {
        if self.end.failure.is_none() && self.context.interrupted.is_none() {
            self.end.failure = Some(why);
            self.kill_at = Some(clock::monotonic() + GRACE);
        }
    }

    /// Opens the window when the warm-up is over.
    fn open_window(&mut self, current: &mut Current, now: u64) {
        if current.opened.is_some()
            || current.closed.is_some()
            || now < current.released_at + current.spec.warm_up.0
        {
            return;
        }
        let warm = (0..self.shared.layout().workers)
            .all(|rank| self.has_ended(rank) || self.shared.header(rank).warm.load(Relaxed) != 0);
        if current.spec.until_warm && !warm {
            return;
        }
        current.before = self.context.observer.counters(&self.crew.pids());
        self.set_word(|word| word.epoch = word.epoch.wrapping_add(1) & 0x7fff);
        let opened = self.now();
        current.opened = Some(opened);
        current.recorder = Recorder::new(self.shared, opened);
        current.next_tick = opened + SECOND;
    }

    /// Closes the window: the last interval is recorded, and the workers are told to leave.
    fn close(&mut self, current: &mut Current, now: u64) -> Result<(), StageError> {
        if current.closed.is_some() {
            return Ok(());
        }
        self.set_word(|word| word.stop = true);
        current.closed = Some(now);
        if now > current.recorder.last_at() {
            self.tick(current, now)?;
        }
        Ok(())
    }

    fn tick(&mut self, current: &mut Current, now: u64) -> Result<(), StageError> {
        let longest = collect::longest(self.shared, self.word, now);
        self.set_word(|word| word.tick = word.tick.wrapping_add(1));
        let opened = current.opened.unwrap_or(current.released_at);
        let machine = self.context.observer.second();
        let interval =
            current
                .recorder
                .tick(self.shared, self.job.spans, opened, now, longest, machine);
        let totals = collect::totals(self.shared, self.job.spans);
        let workers = self.job.stage.workers;
        let running = (0..self.shared.layout().workers)
            .filter(|rank| !self.has_ended(*rank))
            .count();
        self.context.emitter.emit(EventBody::Tick(Tick {
            phase: current.spec.name.clone(),
            warm_up: current.opened.is_none(),
            elapsed: Nanos(now.saturating_sub(opened)),
            interval: Nanos(interval.nanos),
            running: u32::try_from(running).unwrap_or(workers),
            workers,
            active: totals.active,
            ops: totals.ops,
            bytes: Bytes(totals.bytes),
            interval_ops: interval.ops,
            interval_bytes: Bytes(interval.bytes),
            ops_in_all: totals.earlier + totals.ops,
            longest: Nanos(longest),
            dirty: machine.dirty.map(Bytes),
        }))?;
        Ok(())
    }

    /// Makes the phase's record.
    fn finish(&mut self, mut current: Current) -> Result<Phase, StageError> {
        let opened = current.opened.unwrap_or(current.released_at);
        let last = collect::last_end(self.shared).max(opened);
        let closed = current.closed.unwrap_or(last);
        if current.closed.is_none() && closed > current.recorder.last_at() {
            self.tick(&mut current, closed)?;
        }
        let after = self.context.observer.counters(&self.crew.pids());
        let workers = collect::workers(
            self.shared,
            opened,
            closed,
            current.opened.is_some(),
            &|rank| self.state(rank),
        );
        let phase = Phase {
            name: current.spec.name.clone(),
            point: current.spec.point.clone(),
            repetition: current.spec.repetition,
            start: Nanos(opened.saturating_sub(self.context.emitter.started())),
            elapsed: Nanos(closed.saturating_sub(opened)),
            warm_up: Nanos(opened - current.released_at),
            spawn: Some(self.spawn),
            ops: self.context.ops.to_vec(),
            workers,
            series: Vec::new(),
            samples: Vec::new(),
            counters: current
                .before
                .take()
                .zip(after)
                .map(|(before, after)| CounterPair { before, after }),
        };
        self.doubt(&phase, &current);
        let mut phase = Phase {
            series: current.recorder.finish(self.context.ops),
            ..phase
        };
        self.job.workload.samples(&mut phase);
        Ok(phase)
    }

    fn state(&self, rank: usize) -> kernmark_model::run::WorkerState {
        use kernmark_model::run::WorkerState;
        match (self.crew.exit(rank), &self.errors[rank]) {
            (Some(Exit::Signal(signal)), _) => WorkerState::Killed(signal),
            (_, Some(error)) => WorkerState::Failed(error.clone()),
            _ if self.end.failure.is_some() || self.context.interrupted.is_some() => {
                WorkerState::Stopped
            }
            _ => WorkerState::Done,
        }
    }

    /// What a reader of this phase must know.
    fn doubt(&mut self, phase: &Phase, current: &Current) {
        if current.spec.actor == Actor::Sync {
            return;
        }
        let name = || phase.name.clone();
        if let Stop::After(length) = current.spec.stop
            && length < SHORT
            && current.closed.is_some()
        {
            self.end.doubts.push(Doubt::TooShort {
                phase: name(),
                elapsed: phase.elapsed,
            });
        }
        let stalled = current.recorder.stalled();
        if stalled > 0 {
            self.end.doubts.push(Doubt::Stalled {
                phase: name(),
                seconds: stalled,
            });
        }
        let throttled = current.recorder.throttled();
        if throttled > 0 {
            self.end.doubts.push(Doubt::Throttled {
                phase: name(),
                seconds: throttled,
            });
        }
        let total = phase.total(&[]);
        if total.unexpected > 0 {
            let first = self.first_word.take().unwrap_or_default();
            self.end.doubts.push(Doubt::Unexpected {
                phase: name(),
                count: total.unexpected,
                first,
            });
        }
        if let (Stop::After(_), Some(jain)) = (
            current.spec.stop,
            phase.fairness().filter(|jain| *jain < 0.9),
        ) {
            self.end.doubts.push(Doubt::Unfair {
                phase: name(),
                jain,
            });
        }
    }
}

impl Current {
    fn spec_length(&self) -> Option<u64> {
        match self.spec.stop {
            Stop::After(length) => Some(length.0),
            Stop::WhenDone => None,
        }
    }
}
