//! What can be done, one file a command.

mod compare;
mod doc;
mod export;
mod link;
mod list;
mod machine;
pub(crate) mod personality;
mod plan;
mod results;
mod resume;
mod run;
mod runs;
mod show;

use std::io::{self, Write};

use kernmark_engine::plan as engine_plan;
use kernmark_engine::tool::{Tool, WorkloadSpec};
use kernmark_model::run::Run;
use kernmark_store::{Condition, Detail, Selection, Store};
use kernmark_tools::ALL;

use crate::args::{Arguments, Command, Common, Which};
use crate::exit::{Exit, Failure};
use crate::location::Location;
use crate::output::Output;
use crate::surroundings::Surroundings;

/// What every command may use.
pub(crate) struct Context<'a> {
    pub(crate) common: Common,
    pub(crate) around: &'a Surroundings,
    pub(crate) out: &'a mut Output,
}

/// Does what was typed.
pub(crate) fn run(
    arguments: Arguments,
    around: &Surroundings,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let context = &mut Context {
        common: arguments.common,
        around,
        out,
    };
    match arguments.command {
        Command::Run(command) => run::run(&command, context),
        Command::Resume(command) => resume::run(&command, context),
        Command::Runs(command) => runs::run(&command, context),
        Command::Show(command) => show::run(&command, context),
        Command::Compare(command) => compare::run(&command, context),
        Command::Export(command) => export::run(&command, context),
        Command::List(command) => list::run(&command, context),
        Command::Doc(command) => doc::run(&command, context),
        Command::Plan(command) => plan::run(&command, context),
        Command::Machine(command) => machine::run(&command, context),
        Command::As(command) => personality::run(command, context),
        Command::Link(command) => link::run(&command, context),
    }
}

impl Context<'_> {
    /// Where the store lies.
    fn location(&self) -> Result<Location, Failure> {
        Location::find(self.common.db.as_deref(), self.around)
    }

    /// The store, for reading.
    fn store(&self) -> Result<Store, Failure> {
        self.location()?.read()
    }

    /// Writes a result.
    fn print(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(self.out).map_err(Failure::output)
    }
}

impl Which {
    /// As the store selects runs.
    fn selection(&self, store: &Store) -> Result<Selection, Failure> {
        let conditions = self
            .conditions
            .iter()
            .map(|text| text.parse::<Condition>())
            .collect::<Result<_, _>>()?;
        let runs = self
            .runs
            .iter()
            .map(|name| store.find(name))
            .collect::<Result<_, _>>()?;
        Ok(Selection {
            runs,
            ..Selection::of(conditions)
        })
    }

    /// Names nothing, and so means every run.
    const fn is_all(&self) -> bool {
        self.runs.is_empty() && self.conditions.is_empty()
    }
}

/// The stored run whose name begins so, without its phases.
fn head(store: &Store, name: &str) -> Result<Run, Failure> {
    let selection = Selection {
        runs: vec![store.find(name)?],
        ..Selection::default()
    };
    let found = store.load(&selection, Detail::Head)?.into_iter().next();
    // Deleted since it was looked for.
    found.ok_or_else(|| Failure::wrong_use(format_args!("no run is called \"{name}\"")))
}

/// The tool and workload called so.
fn tool(name: &str) -> Result<(&'static Tool, &'static WorkloadSpec), Failure> {
    Ok(engine_plan::find(ALL, name)?)
}
