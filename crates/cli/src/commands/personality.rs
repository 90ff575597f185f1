//! `kernmark as`, and this program called by another's name: the originals, dropped in.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use kernmark_engine::machine::Root;
use kernmark_engine::runner::Runner;
use kernmark_engine::tool::{Invocation, Personality};
use kernmark_tools::ALL;
use uuid::Uuid;

use super::Context;
use crate::args::As;
use crate::exit::{Exit, Failure};
use crate::location::{Location, is_named};
use crate::nearest::nearest;
use crate::output::Output;
use crate::surroundings::{Surroundings, program};
use crate::workshop::UndoFolder;

/// A program of the original.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called(&'static Personality);

/// The original called so.
pub(crate) fn find(name: &OsStr) -> Option<Called> {
    let mut all = ALL.iter().flat_map(|tool| tool.personalities);
    all.find(|personality| personality.names.iter().any(|known| name == *known))
        .map(Called)
}

/// Every name that one can be called by.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter()
        .flat_map(|tool| tool.personalities)
        .flat_map(|personality| personality.names.iter().copied())
}

pub(super) fn run(mut command: As, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let name = command.called.remove(0);
    let called = find(&name).ok_or_else(|| unknown(&name.to_string_lossy()))?;
    let db = context.common.db.as_deref();
    called.run(command.called, db, context.around, context.out)
}

fn unknown(name: &str) -> Failure {
    let there_are = names().collect::<Vec<_>>().join(", ");
    match nearest(name, names()) {
        Some(near) => Failure::wrong_use(format_args!(
            "no original program here is called \"{name}\"; there are {there_are}\n  did you mean {near}?"
        )),
        None => Failure::wrong_use(format_args!(
            "no original program here is called \"{name}\"; there are {there_are}"
        )),
    }
}

impl Called {
    /// Is that program, with those arguments. Its run is stored if a store was named.
    pub(crate) fn run(
        self,
        args: Vec<OsString>,
        db: Option<&Path>,
        around: &Surroundings,
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let location = Location::find(db, around);
        let undo = match &location {
            Ok(location) => location.undo_folder(around)?,
            // An original needs no home.
            Err(_) => private_folder(),
        };
        let (_undo, journal) = UndoFolder::begin(undo)?;
        let mut store = if is_named(db, around) {
            Some(location?.open()?)
        } else {
            None
        };
        let mut runner = Runner {
            tools: ALL,
            program: program(),
            cwd: around.cwd.clone(),
            journal,
            recorder: store.as_mut().map(|store| store as _),
            script: None,
            root: Root::real(),
            events: 0,
        };
        let mut invocation = Invocation {
            args,
            env: around.variables.clone(),
            cwd: around.cwd.clone(),
            stdin: &mut io::stdin().lock(),
            out,
            err: &mut io::stderr(),
        };
        let code = (self.0.main)(&mut invocation, &mut runner);
        Ok(Exit::Original(code))
    }
}

/// A name that nobody else has.
fn private_folder() -> PathBuf {
    std::env::temp_dir().join(format!("kernmark-undo-{}", Uuid::now_v7().simple()))
}
