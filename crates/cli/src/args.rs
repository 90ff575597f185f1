//! What can be typed. The parameters of tools are not here: they follow from the tools.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kernmark_engine::plan::MOST_RUNS;
use kernmark_model::plan::{Cache, Step};
use kernmark_model::units::Nanos;

use crate::exit::EXIT_CODES;

/// Benchmarks kernels, filesystems and machines: the classic workloads, the facts beside every number.
#[derive(Debug, Parser)]
#[command(
    name = "kernmark",
    version = env!("KERNMARK_VERSION"),
    after_help = EXIT_CODES,
    max_term_width = 100,
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The store [default: kernmark/kernmark.db in $XDG_DATA_HOME; also KERNMARK_DB]
    #[arg(long, global = true, value_name = "FILE", display_order = 900)]
    pub(crate) db: Option<PathBuf>,
    /// Write JSON, one object a line; of a run, every event as it happens
    #[arg(long, global = true, display_order = 901)]
    pub(crate) json: bool,
    /// No progress and no hints on stderr
    #[arg(long, short, global = true, display_order = 902)]
    pub(crate) quiet: bool,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a tool or a plan, and store what was measured
    Run(Run),
    /// Go on with an interrupted plan
    Resume(Resume),
    /// List stored runs, or remove some
    Runs(Runs),
    /// Show a stored run
    Show(Show),
    /// Compare stored runs: ranked tables, and what may be said of them
    Compare(Compare),
    /// Write stored runs for other programs
    Export(Export),
    /// List the tools, or the parameters of one
    List(List),
    /// Show a tool's page
    Doc(Doc),
    /// Print a built-in plan to start from
    Plan(Plan),
    /// Show what is recorded of this machine, or compare two records
    Machine(Machine),
    /// Be one of the original programs: its flags, its output, its exit codes
    As(As),
    /// Make links by which this program is called under the originals' names
    Link(Link),
}

/// `kernmark run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kernmark run                                    the plan `quick` in a scratch folder here
  kernmark run null workers=1,8 seconds=5         two runs; a comma list or 1..64 is a sweep
  kernmark run mine.toml --on /mnt/test --repeat 5
  kernmark run --like 0198f3c2                    a stored run once more")]
pub(crate) struct Run {
    /// A tool with its parameters (name=value), a built-in plan or a plan file [default: quick]
    #[arg(value_name = "TOOL|PLAN", conflicts_with = "like")]
    pub(crate) words: Vec<String>,
    /// Make a stored run again, with every parameter it had
    #[arg(long, value_name = "RUN")]
    pub(crate) like: Option<String>,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Start no run that would end later than this from now, such as 10m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Nanos>,
}

/// What may be said of every step of a plan; typed, it goes before what the plan says.
#[derive(Debug, Default, Args)]
pub(crate) struct Settings {
    /// Directory, file or device to measure on [default: the current directory]
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,
    /// A word to find and compare the runs by
    #[arg(long, value_name = "WORD")]
    pub(crate) label: Option<String>,
    /// Make each run so many times
    #[arg(long, value_name = "N", value_parser = repeat)]
    pub(crate) repeat: Option<u32>,
    /// Drop the page cache before each run, or leave it warm on purpose
    #[arg(long, value_name = "STATE", value_parser = cache)]
    pub(crate) cache: Option<Cache>,
    /// Allow this device to be overwritten; it must be the target too
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy: Option<String>,
}

/// `kernmark resume`
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The plan, by the beginning of its name [default: the only one that is not done]
    pub(crate) plan: Option<String>,
    /// Start no run that would end later than this from now, such as 10m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Nanos>,
    /// Do not go on with it, now or later; what was measured stays
    #[arg(long, requires = "plan")]
    pub(crate) forget: bool,
}

/// Which stored runs are meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Runs, by the beginning of their names
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only runs with this fact, such as tool=dbench, kernel=6.1* or clients=1,8
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) conditions: Vec<String>,
}

/// `kernmark runs`
#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Remove them from the store
    #[arg(long)]
    pub(crate) delete: bool,
    /// List the facts that runs can be selected by
    #[arg(long, conflicts_with_all = ["delete", "runs", "conditions"])]
    pub(crate) facts: bool,
}

/// `kernmark show`
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run, by the beginning of its name
    pub(crate) run: String,
    /// As an original program prints it, such as dbench-4.0
    #[arg(long = "as", value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<String>,
}

/// `kernmark compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kernmark compare --by kernel
  kernmark compare --by kernel,filesystem --where tool=dbench --baseline 6.1.0
  kernmark compare --by label --fail-if worse     exit code 4 if a row is worse, 5 if that is open")]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The facts that make the rows, such as kernel,filesystem; `kernmark runs --facts` lists them
    #[arg(long, value_name = "KEY", value_delimiter = ',', required = true)]
    pub(crate) by: Vec<String>,
    /// The row to hold the others against, by the beginning of its name [default: the first made]
    #[arg(long, value_name = "ROW")]
    pub(crate) baseline: Option<String>,
    /// Compare by these metrics, or by all; the deciding one is what counts [default: that one]
    #[arg(long, value_name = "METRIC|all", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Differences surely smaller than this share count as none
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    pub(crate) margin: f64,
    /// Let the exit code say whether a row is worse than the baseline
    #[arg(long, value_name = "VERDICT")]
    pub(crate) fail_if: Option<FailIf>,
}

/// What a comparison fails for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FailIf {
    Worse,
}

/// `kernmark export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,
    /// json reads back whole; csv is for spreadsheets; sql makes a database
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Take out names of hosts, users and single pieces of hardware
    #[arg(long)]
    pub(crate) redact: bool,
}

/// How runs are written for other programs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    Json,
    Csv,
    Sql,
}

/// `kernmark list`
#[derive(Debug, Args)]
pub(crate) struct List {
    /// List the parameters of this tool
    pub(crate) tool: Option<String>,
}

/// `kernmark doc`
#[derive(Debug, Args)]
pub(crate) struct Doc {
    /// The tool
    pub(crate) tool: String,
}

/// `kernmark plan`
#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The plan; without, they are listed
    pub(crate) name: Option<String>,
}

/// `kernmark machine`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Machine {
    /// Describe this directory, file or device too
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<MachineCommand>,
}

/// What else can be done with machines.
#[derive(Debug, Subcommand)]
pub(crate) enum MachineCommand {
    /// Show in what the machines and targets of two runs differ
    Diff {
        /// A run, by the beginning of its name
        first: String,
        /// Another one
        second: String,
    },
}

/// `kernmark as`
#[derive(Debug, Args)]
pub(crate) struct As {
    /// The program's name, then its own arguments
    #[arg(
        value_name = "NAME",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) called: Vec<OsString>,
}

/// `kernmark link`
#[derive(Debug, Args)]
pub(crate) struct Link {
    /// The folder to make them in
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

impl Settings {
    /// Says it of a step.
    pub(crate) fn apply(&self, step: &mut Step) {
        let put = |typed: &Option<String>, said: &mut Option<String>| {
            if typed.is_some() {
                said.clone_from(typed);
            }
        };
        put(&self.on, &mut step.on);
        put(&self.label, &mut step.label);
        put(&self.destroy, &mut step.destroy);
        step.repeat = self.repeat.unwrap_or(step.repeat);
        step.cache = self.cache.unwrap_or(step.cache);
    }
}

fn repeat(text: &str) -> Result<u32, String> {
    let most = u32::try_from(MOST_RUNS).unwrap_or(u32::MAX);
    match text.parse() {
        Ok(times) if (1..=most).contains(&times) => Ok(times),
        _ => Err(format!("it is a whole number from 1 to {most}")),
    }
}

fn cache(text: &str) -> Result<Cache, &'static str> {
    match text {
        "cold" => Ok(Cache::Cold),
        "warm" => Ok(Cache::Warm),
        _ => Err("it is cold or warm"),
    }
}

fn budget(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos(0)) => Err("nothing could run in it".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_agree_with_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn everything_behind_a_program_s_name_is_its_own() {
        let words = [
            "kernmark", "--db", "x.db", "as", "dbench", "-t", "1", "--help", "--db", "y",
        ];
        let parsed = Arguments::try_parse_from(words).unwrap();
        assert_eq!(parsed.common.db, Some("x.db".into()));
        let Command::As(command) = parsed.command else {
            panic!("{:?}", parsed.command);
        };
        assert_eq!(command.called, ["dbench", "-t", "1", "--help", "--db", "y"]);
    }
}
