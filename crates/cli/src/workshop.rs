//! Where runs are made: the undo journal with its janitor, the store, the signals, in the order that is safe.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kernmark_engine::journal::Journal;
use kernmark_engine::machine::Root;
use kernmark_engine::plan;
use kernmark_engine::preview::preview;
use kernmark_engine::runner::{Manner, RunEnd, RunError, Runner};
use kernmark_engine::tool::{Need, Tool};
use kernmark_model::plan::RunPlan;
use kernmark_model::run::{Doubt, Outcome};
use kernmark_model::units::Nanos;
use kernmark_store::Store;
use kernmark_sys::signal::{self, Held};
use kernmark_sys::{clock, lock};
use uuid::Uuid;

use crate::estimate::Estimate;
use crate::exit::{Exit, Failure, complain, words};
use crate::input::Input;
use crate::location::Location;
use crate::progress::{Progress, span};
use crate::receivers::Receivers;
use crate::surroundings::{Surroundings, program};
use crate::title::title;

/// A journal in a folder that is removed again when nothing is left to be undone.
pub(crate) struct UndoFolder(PathBuf);

impl UndoFolder {
    /// Undoes what earlier programs left in `folder`, and starts the janitor of this one. To be called before anything
    /// else is started.
    ///
    /// The journal is to be dropped before the folder, and is when both are bound in this order.
    pub(crate) fn begin(folder: PathBuf) -> Result<(Self, Journal), Failure> {
        for line in Journal::recover(&folder) {
            complain(line);
        }
        let journal = Journal::open(&folder).and_then(|mut journal| {
            journal.start_janitor()?;
            Ok(journal)
        });
        let journal = journal.map_err(|error| {
            Failure::need(format_args!(
                "cannot keep the undo journal in {}: {error}\n  without it a killed run would leave its files behind",
                folder.display()
            ))
        })?;
        Ok((Self(folder), journal))
    }
}

impl Drop for UndoFolder {
    fn drop(&mut self) {
        // Stays if it holds a journal.
        fs::remove_dir(&self.0).ok();
    }
}

/// Runs that are to be made under one plan.
#[derive(Debug)]
pub(crate) struct Order {
    /// The plan's name in the store.
    pub(crate) plan: Uuid,
    /// What the user calls it.
    pub(crate) name: String,
    /// Each run and its place within the plan.
    pub(crate) runs: Vec<(u32, RunPlan)>,
}

/// What came of an order.
#[derive(Debug)]
pub(crate) struct Made {
    /// Names of the runs that were made.
    pub(crate) runs: Vec<Uuid>,
    /// How the program ends for it.
    pub(crate) exit: Exit,
}

/// All that is needed to make runs.
pub(crate) struct Workshop {
    // Fields are dropped in this order: the journal before its folder, the signals last.
    runner: Runner<'static>,
    _undo: UndoFolder,
    pub(crate) store: Store,
    held: Held,
    undo_folder: PathBuf,
}

impl Workshop {
    /// Opens it.
    pub(crate) fn open(
        location: &Location,
        tools: &'static [Tool],
        around: &Surroundings,
    ) -> Result<Self, Failure> {
        let undo_folder = location.undo_folder(around)?;
        let (undo, journal) = UndoFolder::begin(undo_folder.clone())?;
        // Between runs too: a signal must not end us with a plan half noted.
        let held = Held::new(&[signal::INT, signal::TERM, signal::HUP, signal::QUIT])
            .map_err(|errno| Failure::new(Exit::Failed, errno.io()))?;
        let store = location.open()?;
        Ok(Self {
            runner: Runner {
                tools,
                program: program(),
                cwd: around.cwd.clone(),
                journal,
                recorder: None,
                script: None,
                root: Root::real(),
                events: 0,
            },
            _undo: undo,
            store,
            held,
            undo_folder,
        })
    }

    /// Makes the runs in order. What one run cannot do does not stop the others.
    pub(crate) fn make(
        &mut self,
        order: &Order,
        mut estimate: Estimate,
        input: &mut Input,
        manner: &mut Watching<'_>,
    ) -> Result<Made, Failure> {
        let _ours = self.claim(order.plan)?;
        let mut progress = Progress::new(manner.quiet, order.runs.len());
        let began = clock::monotonic();
        let mut made = Made {
            runs: Vec::new(),
            exit: Exit::Done,
        };
        let mut refusals = Refusals::default();
        let mut left = None;
        for (index, (position, plan)) in order.runs.iter().enumerate() {
            if let Some(signal) = self.held.take() {
                made.exit = Exit::Interrupted(signal);
                left = Some(index);
                break;
            }
            let length = estimate.of(index);
            let elapsed = Nanos(clock::monotonic() - began);
            let late = |budget| elapsed + length.unwrap_or_default() > budget;
            if let Some(budget) = manner.budget.filter(|budget| late(*budget)) {
                progress.warn(&format!(
                    "{} of {} runs are left out: the next would end after the {} that may be used",
                    order.runs.len() - index,
                    order.runs.len(),
                    if budget < Nanos::secs(1) {
                        budget.to_string()
                    } else {
                        span(budget)
                    }
                ));
                left = Some(index);
                break;
            }
            let heading = title(plan, self.runner.tools);
            progress.begin(index, &heading, length, estimate.from(index + 1));
            let doubts: Vec<Doubt> = self.on_store_s_device(plan).into_iter().collect();
            let mut receivers = Receivers {
                store: &mut self.store,
                plan: (order.plan, *position),
                doubts: &doubts,
                json: match &mut manner.json {
                    Some(json) => Some(&mut **json),
                    None => None,
                },
                progress: &mut progress,
            };
            let started = clock::monotonic();
            let mut stdin = input.reader();
            match self
                .runner
                .run(plan, Manner::default(), &mut stdin, &mut receivers)
            {
                Ok(end) => {
                    made.runs.push(end.uuid);
                    if end.outcome.is_complete() {
                        estimate.finished(index, Nanos(clock::monotonic() - started));
                    }
                    if let Some(signal) = end.interrupted {
                        made.exit = Exit::Interrupted(signal);
                        left = Some(index);
                        break;
                    }
                    self.store.mark_finished(order.plan, *position)?;
                    made.note(&end, &heading, &progress);
                }
                // Nothing can be recorded any more.
                Err(error @ RunError::Sink(_)) => return Err(error.into()),
                Err(error) => made.refused(error.into(), &heading, &mut refusals, &progress),
            }
        }
        refusals.tell(&progress);
        drop(progress);
        let undone = left.map_or(0, |index| order.runs.len() - index);
        made.tell_of_the_rest(order, undone, manner.quiet);
        Ok(made)
    }

    /// Keeps other processes from making the runs of the same plan.
    fn claim(&self, plan: Uuid) -> Result<Claim, Failure> {
        let path = self.undo_folder.join(format!("{plan}.lock"));
        let taken = File::create(&path).and_then(|file| Ok((lock::try_exclusive(&file)?, file)));
        match taken {
            Ok((true, file)) => Ok(Claim { path, _file: file }),
            Ok((false, _)) => Err(Failure::need(format_args!(
                "the runs of plan {} are being made by another process\n  wait for it, or stop it",
                short(plan)
            ))),
            Err(error) => Err(Failure::need(format_args!(
                "cannot make {}: {error}",
                path.display()
            ))),
        }
    }

    fn on_store_s_device(&self, plan: &RunPlan) -> Option<Doubt> {
        let (_, spec) = plan::find(self.runner.tools, &plan.selector()).ok()?;
        if spec.needs.is_empty() {
            return None;
        }
        let target = self.runner.cwd.join(plan.on.as_deref().unwrap_or("."));
        let target = fs::metadata(target).ok()?.dev();
        (self.store.device() == Some(target)).then_some(Doubt::StoreOnTarget)
    }
}

/// How the making of runs is watched.
pub(crate) struct Watching<'a> {
    pub(crate) quiet: bool,
    /// Takes each event as a line of JSON.
    pub(crate) json: Option<&'a mut dyn Write>,
    /// Nothing is begun that would end later.
    pub(crate) budget: Option<Nanos>,
}

/// A plan that is ours while this lives.
struct Claim {
    path: PathBuf,
    /// Locked.
    _file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

/// Runs that could not be begun; the same reason is told once.
#[derive(Debug, Default)]
struct Refusals {
    last: Option<String>,
    again: usize,
}

impl Refusals {
    fn tell(&mut self, progress: &Progress) {
        if self.again > 0 {
            progress.warn(&format!("  the same for {} more", self.again));
        }
        self.again = 0;
    }
}

impl Made {
    fn note(&mut self, end: &RunEnd, heading: &str, progress: &Progress) {
        if let Outcome::Failed(why) = &end.outcome {
            progress.warn(&format!("{heading} failed: {why}"));
            self.exit = Exit::Failed;
        }
    }

    fn refused(
        &mut self,
        failure: Failure,
        heading: &str,
        refusals: &mut Refusals,
        progress: &Progress,
    ) {
        let why = failure.error.as_ref().map(words).unwrap_or_default();
        if refusals.last.as_ref() == Some(&why) {
            refusals.again += 1;
        } else {
            refusals.tell(progress);
            progress.warn(&format!("error: {heading}: {why}"));
            refusals.last = Some(why);
        }
        if self.exit == Exit::Done {
            self.exit = failure.exit;
        }
    }

    /// Says how to go on.
    fn tell_of_the_rest(&self, order: &Order, undone: usize, quiet: bool) {
        let plan = short(order.plan);
        if let Exit::Interrupted(_) = self.exit {
            complain(format_args!(
                "interrupted: {} of {} runs of {} are not done, what was measured is kept",
                undone,
                order.runs.len(),
                order.name,
            ));
        }
        if undone > 0 && !quiet {
            complain(format_args!("  kernmark resume {plan} goes on with it"));
        }
    }
}

/// As much of a name as tells it from others: they begin with the time, in milliseconds.
pub(crate) fn short(uuid: Uuid) -> String {
    let mut name = uuid.to_string();
    name.truncate(13);
    name
}

/// Says of each run on a directory which one it is, whole: a plan may be resumed from somewhere else.
pub(crate) fn settle_targets(runs: &mut [RunPlan], tools: &'static [Tool], cwd: &Path) {
    for run in runs {
        let uses = plan::find(tools, &run.selector())
            .is_ok_and(|(_, spec)| spec.needs.contains(&Need::Directory));
        if !uses && run.on.is_none() {
            continue;
        }
        let named = cwd.join(run.on.as_deref().unwrap_or("."));
        // A name that is no text stays as it was typed, or unsaid.
        let whole = std::path::absolute(named).ok();
        if let Some(whole) = whole.and_then(|path| path.into_os_string().into_string().ok()) {
            run.on = Some(whole);
        }
    }
}

/// No longer than this is spent on looking ahead: a sweep of thousands shall not wait for it.
const FORESIGHT: Nanos = Nanos::secs(5);

/// Looks at the runs before the first is begun: what cannot be made is said now. Those for which no time is left are
/// looked at when their turn comes.
pub(crate) fn foresee(
    runs: &[(u32, RunPlan)],
    tools: &'static [Tool],
    cwd: &Path,
    input: &mut Input,
) -> Result<Estimate, Failure> {
    let began = clock::monotonic();
    let mut seen = Vec::with_capacity(runs.len());
    for (index, (_, plan)) in runs.iter().enumerate() {
        let length = if index > 0 && clock::monotonic() - began > FORESIGHT.0 {
            None
        } else {
            preview(plan, tools, cwd, &mut input.reader())?.length
        };
        seen.push((plan.selector(), length));
    }
    Ok(Estimate::new(seen.into_iter()))
}
