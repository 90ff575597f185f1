//! How the program ends, and what it says when it could not do what was asked.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use kernmark_engine::plan::PlanError;
use kernmark_engine::runner::RunError;
use kernmark_model::comparison::ComparisonError;
use kernmark_store::StoreError;

/// The exit code, and what it means. A signal gives 128 and its number, as a shell has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: what was asked for is done.
    Done,
    /// 1: a run failed, or something broke.
    Failed,
    /// 2: what was typed, or a file that it names, makes no sense; nothing was started.
    WrongUse,
    /// 3: a need is not met (root, room, a directory, a device), said before anything is started.
    NeedNotMet,
    /// 4: `compare --fail-if worse` found a row that is worse.
    Worse,
    /// 5: the same found none, and cannot vouch for every row.
    Inconclusive,
    /// 130 for Ctrl-C, 143 for SIGTERM: interrupted; what was measured until then is kept.
    Interrupted(i32),
    /// The code of a drop-in program, which means what it meant in the original.
    Original(u8),
}

/// The exit codes, as the help shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0         done
  1         a run failed
  2         wrong use; nothing was started
  3         a need is not met (root, room, directory, device); said before anything is started
  4         worse, under `compare --fail-if worse`
  5         not worse and not surely as good either, under the same
  130, 143  interrupted by Ctrl-C or SIGTERM; partial results are kept
  `kernmark as` has the codes of the original program";

/// The reader of a pipe went away, as SIGPIPE says it.
const SIGPIPE: i32 = 13;

impl Exit {
    /// As the shell sees it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::WrongUse => 2,
            Self::NeedNotMet => 3,
            Self::Worse => 4,
            Self::Inconclusive => 5,
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(1),
            Self::Original(code) => code,
        }
    }
}

/// Why something was not done, and how the program ends for it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// `None` where there is nobody to tell.
    pub(crate) error: Option<anyhow::Error>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: Some(error.into()),
        }
    }

    /// What was typed makes no sense.
    pub(crate) fn wrong_use(message: impl Display) -> Self {
        Self::new(Exit::WrongUse, anyhow::anyhow!("{message}"))
    }

    /// Something that is needed is not there.
    pub(crate) fn need(message: impl Display) -> Self {
        Self::new(Exit::NeedNotMet, anyhow::anyhow!("{message}"))
    }

    /// Standard output took no more. A closed pipe is no failure of ours: whoever read has enough.
    pub(crate) fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                exit: Exit::Done,
                error: None,
            };
        }
        let error = anyhow::Error::new(error).context("cannot write to standard output");
        Self::new(Exit::Failed, error)
    }

    /// Tells it on stderr.
    pub(crate) fn tell(&self) {
        if let Some(error) = &self.error {
            complain(format_args!("error: {}", words(error)));
        }
    }
}

/// Writes a line to stderr. Nobody is left to tell if that fails.
pub(crate) fn complain(line: impl Display) {
    writeln!(io::stderr(), "{line}").ok();
}

/// The message, with those of its causes that it does not repeat itself behind its first line.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let message = error.to_string();
    let (first, rest) = match message.split_once('\n') {
        Some((first, rest)) => (first, Some(rest)),
        None => (message.as_str(), None),
    };
    let mut text = first.to_owned();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            write!(text, ": {cause}").ok();
        }
    }
    if let Some(rest) = rest {
        write!(text, "\n{rest}").ok();
    }
    text
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let nearest = match &error {
            PlanError::Tool { name, known } | PlanError::Param { name, known, .. } => {
                crate::nearest::nearest(name, known.iter().map(String::as_str))
            }
            _ => None,
        };
        match nearest {
            Some(nearest) => Self::wrong_use(format_args!("{error}\n  did you mean {nearest}?")),
            None => Self::new(Exit::WrongUse, error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let exit = match &error {
            RunError::Plan(_) | RunError::Make { .. } => Exit::WrongUse,
            RunError::Need { .. } | RunError::Place(_) | RunError::Condition(_) => Exit::NeedNotMet,
            RunError::Crew(_) | RunError::Signals(_) => Exit::Failed,
            // Whoever read our events has enough: the run was stopped for it, as SIGPIPE would have stopped it.
            RunError::Sink(error) if is_closed_pipe(&*error.0) => {
                return Self {
                    exit: Exit::Interrupted(SIGPIPE),
                    error: None,
                };
            }
            RunError::Sink(_) => Exit::Failed,
        };
        match error {
            RunError::Plan(error) => error.into(),
            error => Self::new(exit, error),
        }
    }
}

fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

impl From<ComparisonError> for Failure {
    fn from(error: ComparisonError) -> Self {
        Self::new(Exit::WrongUse, error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Missing { .. }
            | StoreError::NotADatabase { .. }
            | StoreError::Foreign { .. }
            | StoreError::NoSuchRun { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::Condition { .. }
            | StoreError::UnknownFact { .. }
            | StoreError::NoSuchPlan { .. } => Exit::WrongUse,
            StoreError::Folder { .. }
            | StoreError::Permission { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Open { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::Busy { .. }
            | StoreError::Full { .. } => Exit::NeedNotMet,
            _ => Exit::Failed,
        };
        match error {
            // Exports go to standard output.
            StoreError::Export(error) => Self::output(error),
            error => Self::new(exit, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once_and_before_the_advice() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let folder = StoreError::Folder {
            path: "/x".into(),
            source: denied(),
        };
        assert_eq!(
            words(&folder.into()),
            "cannot make the folder /x for the store: permission denied\n  name another file with --db"
        );
        let cache = kernmark_engine::conditions::ConditionError::DropCaches(denied());
        let text = words(&cache.into());
        assert_eq!(text.matches("permission denied").count(), 1, "{text}");
    }

    #[test]
    fn signals_end_as_a_shell_has_it() {
        assert_eq!(Exit::Interrupted(2).code(), 130);
        assert_eq!(Exit::Interrupted(15).code(), 143);
        assert_eq!(Exit::Original(254).code(), 254);
    }
}
