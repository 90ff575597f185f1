//! Walks a run: needs, place, workers through their stages, clean-up; speaks through events only.

use std::path::PathBuf;

use kernmark_model::event::{EventBody, Sink, SinkError};
use kernmark_model::machine::Machine;
use kernmark_model::plan::{Cache, Program, RunPlan};
use kernmark_model::run::{Clock, Doubt, OpName, Origin, Outcome, Phase, Run, Usage};
use kernmark_model::units::Nanos;
use kernmark_sys::errno::Errno;
use kernmark_sys::signal::{self, Held};
use kernmark_sys::{clock, process};
use thiserror::Error;
use uuid::Uuid;

use crate::conditions::{self, ConditionError};
use crate::crew::{CrewError, Job};
use crate::emitter::Emitter;
use crate::journal::Journal;
use crate::machine::{Root, Site, read, read_target, this_build};
use crate::observe::Observer;
use crate::place::{self, Place, PlaceError};
use crate::plan::{self, PlanError};
use crate::preview;
use crate::script::Script;
use crate::stage::{self, Context, StageError};
use crate::tool::{MakeError, Making, Need, Tool, Workload, WorkloadSpec};

/// Makes runs. One lives for a whole program.
pub struct Runner<'a> {
    /// Every tool there is.
    pub tools: &'static [Tool],
    /// This program, for the record.
    pub program: Program,
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// Undone at the end of each run, and by the janitor if we do not live to see it.
    pub journal: Journal,
    /// Receives every event besides the caller's own sink: the store.
    pub recorder: Option<&'a mut dyn Sink>,
    /// A script instead of the kernel and the clock; for tests.
    pub script: Option<Script>,
    /// Where facts and counters are read; `/` but in tests.
    pub root: Root,
    /// Number of the next event.
    pub events: u64,
}

/// How a run is made, beyond its plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manner {
    /// Directly in the directory, under the original's names, not in a fresh folder.
    pub in_place: bool,
    /// What was made in place is left behind.
    pub keep: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Its name.
    pub uuid: Uuid,
    /// Its outcome.
    pub outcome: Outcome,
    /// The signal that ended it early.
    pub interrupted: Option<i32>,
}

/// A run was not started, or could not be recorded.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan names something unknown.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The workload could not be made.
    #[error("{tool}: {cause}")]
    Make {
        /// The tool.
        tool: String,
        /// Why.
        #[source]
        cause: MakeError,
    },
    /// A need is not met.
    #[error("{tool} needs {need}\n  {remedy}")]
    Need {
        /// The tool.
        tool: String,
        /// What it needs.
        need: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The directory was refused.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A condition could not be set.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// No workers.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// Signals could not be held.
    #[error("cannot watch for signals: {0}")]
    Signals(#[source] Errno),
    /// A receiver of events failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl From<StageError> for RunError {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Crew(error) => Self::Crew(error),
            StageError::Sink(error) => Self::Sink(error),
        }
    }
}

impl Runner<'_> {
    /// One that stores nothing and enters the kernel.
    pub fn new(tools: &'static [Tool], program: Program, cwd: PathBuf, journal: Journal) -> Self {
        Self {
            tools,
            program,
            cwd,
            journal,
            recorder: None,
            script: None,
            root: Root::real(),
            events: 0,
        }
    }

    /// Makes the run that `plan` describes and tells `sink` of it.
    ///
    /// An error means that nothing was measured, or that it could not be recorded; whatever breaks during the
    /// measurement is an outcome. In both cases nothing of the run is left on the machine when this returns.
    pub fn run(
        &mut self,
        plan: &RunPlan,
        manner: Manner,
        stdin: &mut dyn std::io::Read,
        sink: &mut dyn Sink,
    ) -> Result<RunEnd, RunError> {
        let started = clock::monotonic();
        let cpu_before = clock::cpu_time();
        let (tool, spec) = plan::find(self.tools, &plan.selector())?;
        let mut remarks = Vec::new();
        let mut making = Making {
            stdin,
            remarks: &mut remarks,
            seed: plan.seed,
        };
        let mut workload =
            (spec.make)(&plan.params, &mut making).map_err(|cause| RunError::Make {
                tool: plan.selector(),
                cause,
            })?;
        let held = Held::new(&[
            signal::CHLD,
            signal::INT,
            signal::TERM,
            signal::HUP,
            signal::QUIT,
        ])
        .map_err(RunError::Signals)?;
        process::raise_file_limit();
        let place = self.prepare(plan, tool, spec, workload.as_ref(), manner)?;
        let mut run = self.opening(plan, spec, place.as_ref());
        let mut observer = if self.script.is_some() {
            Observer::blind()
        } else {
            Observer::new(&self.root, run.target.as_ref())
        };
        run.doubts
            .extend(remarks.into_iter().map(|what| Doubt::Input { what }));
        let scripted = self.script.is_some();
        let mut sinks: Vec<&mut dyn Sink> = Vec::new();
        if let Some(recorder) = &mut self.recorder {
            sinks.push(&mut **recorder);
        }
        sinks.push(sink);
        let mut emitter = Emitter::new(
            sinks,
            &mut self.events,
            run.uuid,
            if scripted { 0 } else { started },
            scripted,
        );
        let mut interrupted = None;
        let walked = emitter
            .emit(EventBody::RunStarted {
                run: Box::new(run.clone()),
            })
            .map_err(RunError::from)
            .and_then(|()| {
                walk(
                    workload.as_mut(),
                    plan,
                    place.as_ref(),
                    self.script.as_ref(),
                    &mut observer,
                    &held,
                    &mut emitter,
                    &mut interrupted,
                )
            });
        let troubles = self.journal.undo_all();
        drop(place);
        let (failure, doubts) = walked?;
        run.doubts.extend(doubts);
        run.doubts
            .extend(troubles.into_iter().map(|text| Doubt::Note { text }));
        run.outcome = match (failure, interrupted) {
            (Some(why), None) => Outcome::Failed(why),
            (_, Some(signal)) => {
                Outcome::Partial(format!("interrupted by {}", signal_name(signal)))
            }
            (None, None) => Outcome::Complete,
        };
        run.usage = usage(started, cpu_before, scripted);
        let (uuid, outcome) = (run.uuid, run.outcome.clone());
        emitter.emit(EventBody::RunFinished { run: Box::new(run) })?;
        Ok(RunEnd {
            uuid,
            outcome,
            interrupted,
        })
    }

    /// Checks needs, takes the directory, sets conditions.
    fn prepare(
        &mut self,
        plan: &RunPlan,
        tool: &Tool,
        spec: &WorkloadSpec,
        workload: &dyn Workload,
        manner: Manner,
    ) -> Result<Option<Place>, RunError> {
        preview::check_needs(plan, tool, spec)?;
        if self.script.is_some() {
            return Ok(None);
        }
        place::check_memory(conditions::available_memory(), workload.room())?;
        let place = if spec.needs.contains(&Need::Directory) {
            let named = preview::directory(plan, &self.cwd);
            let entries = manner.in_place.then(|| workload.in_place_entries());
            let taken = Place::take(
                &named,
                entries,
                manner.keep,
                workload.room(),
                &mut self.journal,
            );
            Some(taken.inspect_err(|_| drop(self.journal.undo_all()))?)
        } else {
            None
        };
        if plan.cache == Cache::Cold {
            conditions::drop_caches().inspect_err(|_| drop(self.journal.undo_all()))?;
        }
        Ok(place)
    }

    /// All that is known of the run before it begins.
    fn opening(&self, plan: &RunPlan, spec: &WorkloadSpec, place: Option<&Place>) -> Run {
        let scripted = self.script.is_some();
        let machine = if scripted {
            Machine::default()
        } else {
            read(&self.root, this_build(None))
        };
        let site = place.and_then(|place| Site::of(place.root()).ok());
        Run {
            uuid: Uuid::now_v7(),
            started: Some(jiff::Timestamp::now().to_string()),
            plan: plan.clone(),
            boot_id: machine.state.boot_id.clone(),
            machine,
            target: site.map(|site| read_target(&self.root, &site)),
            clock: if scripted {
                Clock::Scripted
            } else {
                Clock::Wall
            },
            session: None,
            origin: Origin::Measured,
            outcome: Outcome::Partial("the program ended before the run did".to_owned()),
            usage: Usage::default(),
            metrics: (spec.metrics)(),
            doubts: Vec::new(),
            phases: Vec::new(),
        }
    }
}

/// Walks the workload's stages; what failed, and what a reader must know.
#[expect(
    clippy::too_many_arguments,
    reason = "called once, from the function that owns all of them"
)]
fn walk(
    workload: &mut dyn Workload,
    plan: &RunPlan,
    place: Option<&Place>,
    script: Option<&Script>,
    observer: &mut Observer,
    signals: &Held,
    emitter: &mut Emitter<'_>,
    interrupted: &mut Option<i32>,
) -> Result<(Option<String>, Vec<Doubt>), RunError> {
    let mut ops = workload.ops();
    ops.push(OpName {
        name: "syncfs".to_owned(),
        span: true,
        ..OpName::default()
    });
    let spans: Vec<bool> = ops.iter().map(|op| op.span).collect();
    let mut done: Vec<Phase> = Vec::new();
    let mut doubts = Vec::new();
    while let Some(stage) = workload.next_stage(&done) {
        let job = Job {
            workload,
            stage: &stage,
            plan,
            spans: &spans,
            place,
            script,
        };
        let mut context = Context {
            observer,
            signals,
            emitter,
            interrupted,
            ops: &ops,
        };
        let end = stage::run(&job, job.workload.spawn(), &mut context)?;
        doubts.extend(end.doubts);
        done.extend(end.phases);
        if end.failure.is_some() || interrupted.is_some() {
            return Ok((end.failure, doubts));
        }
    }
    Ok((None, doubts))
}

fn usage(started: u64, before: clock::CpuTime, scripted: bool) -> Usage {
    if scripted {
        return Usage::default();
    }
    let now = clock::cpu_time();
    Usage {
        elapsed: Some(Nanos(clock::monotonic() - started)),
        user: Some(Nanos(now.user - before.user)),
        system: Some(Nanos(now.system - before.system)),
    }
}

/// `SIGINT` and so on.
fn signal_name(signal: i32) -> String {
    match signal {
        signal::INT => "SIGINT".to_owned(),
        signal::TERM => "SIGTERM".to_owned(),
        signal::HUP => "SIGHUP".to_owned(),
        signal::QUIT => "SIGQUIT".to_owned(),
        other => format!("signal {other}"),
    }
}
