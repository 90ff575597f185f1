//! `dbench` as the original: its flags, its text, its exit codes; the same engine beneath.

use std::ffi::OsString;
use std::io::{self, Write};

use kernmark_engine::plan::resolve;
use kernmark_engine::runner::{Manner, RunError, Runner};
use kernmark_engine::tool::{Invocation, Personality, PersonalityKind};
use kernmark_model::event::{Event, EventBody, Sink, SinkError, Tick};
use kernmark_model::plan::{Cache, PLAN_VERSION, Plan, RunPlan, Step};
use kernmark_model::run::{Outcome, Phase, Run};
use lexopt::{Arg, Parser, ValueExt};

use super::format::{self, CHILD_FAILED_LINE, RELEASING_LINE, Stage};
use super::{CLEANUP, EXECUTE};

/// dbench 4.00.
pub(super) const DBENCH: Personality = Personality {
    names: &["dbench"],
    kind: PersonalityKind::Run,
    about: "dbench 4.00: its flags, its text",
    main: run,
};

/// Where Debian's package keeps the standard loadfile; the original's own default.
const DEFAULT_LOADFILE: &str = "/usr/share/dbench/client.txt";

/// The command line as typed.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the original's command line"
)]
struct Flags {
    processes: Option<i64>,
    seconds: i64,
    loadfile: OsString,
    directory: OsString,
    rate: f64,
    sync: bool,
    sync_dir: bool,
    fsync: bool,
    xattr: bool,
    no_resolve: bool,
    per_process: i64,
    one_byte_write_fix: bool,
    stat_check: bool,
    fake_io: bool,
    skip_cleanup: bool,
    per_client: bool,
}

/// What a command line asks for.
enum Asked {
    Run(Flags),
    Help,
    Usage,
}

fn parse(args: Vec<OsString>) -> Result<Asked, String> {
    let mut flags = Flags {
        processes: None,
        seconds: 600,
        loadfile: DEFAULT_LOADFILE.into(),
        directory: ".".into(),
        rate: 0.0,
        sync: false,
        sync_dir: false,
        fsync: false,
        xattr: false,
        no_resolve: false,
        per_process: 1,
        one_byte_write_fix: false,
        stat_check: false,
        fake_io: false,
        skip_cleanup: false,
        per_client: false,
    };
    let mut parser = Parser::from_args(args);
    let mut positional = 0;
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('t') | Arg::Long("timelimit") => flags.seconds = number(&mut parser, "-t")?,
            Arg::Short('c') | Arg::Long("loadfile") => flags.loadfile = value(&mut parser)?,
            Arg::Short('D') | Arg::Long("directory") => flags.directory = value(&mut parser)?,
            // Sockets are tbench's; the original accepts the flag for both.
            Arg::Short('T') | Arg::Long("tcp-options") => drop(value(&mut parser)?),
            Arg::Short('R') | Arg::Long("target-rate") => flags.rate = rate(&mut parser)?,
            Arg::Short('s') | Arg::Long("sync") => flags.sync = true,
            Arg::Short('S') | Arg::Long("sync-dir") => flags.sync_dir = true,
            Arg::Short('F') | Arg::Long("fsync") => flags.fsync = true,
            Arg::Short('x') | Arg::Long("xattr") => flags.xattr = true,
            Arg::Long("no-resolve") => flags.no_resolve = true,
            Arg::Long("clients-per-process") => {
                flags.per_process = number(&mut parser, "--clients-per-process")?
            }
            Arg::Long("one-byte-write-fix") => flags.one_byte_write_fix = true,
            Arg::Long("stat-check") => flags.stat_check = true,
            Arg::Long("fake-io") => flags.fake_io = true,
            Arg::Long("skip-cleanup") => flags.skip_cleanup = true,
            Arg::Long("per-client-results") => flags.per_client = true,
            Arg::Short('?') | Arg::Long("help") => return Ok(Asked::Help),
            Arg::Long("usage") => return Ok(Asked::Usage),
            Arg::Value(text) => {
                // The second names tbench's server.
                if positional == 0 {
                    flags.processes = Some(atoi(&text.to_string_lossy()));
                }
                positional += 1;
            }
            Arg::Short(letter) => return Err(format!("Invalid option -{letter}: unknown option")),
            Arg::Long(name) => return Err(format!("Invalid option --{name}: unknown option")),
        }
    }
    Ok(Asked::Run(flags))
}

fn value(parser: &mut Parser) -> Result<OsString, String> {
    parser.value().map_err(|error| error.to_string())
}

fn number(parser: &mut Parser, flag: &str) -> Result<i64, String> {
    let text = value(parser)?.string().map_err(|error| error.to_string())?;
    text.trim()
        .parse()
        .map_err(|_| format!("Invalid option {flag}: \"{text}\" is not a number"))
}

fn rate(parser: &mut Parser) -> Result<f64, String> {
    let text = value(parser)?.string().map_err(|error| error.to_string())?;
    let rate: Result<f64, _> = text.trim().parse();
    rate.ok()
        .filter(|rate| rate.is_finite() && *rate >= 0.0)
        .ok_or_else(|| format!("Invalid option -R: \"{text}\" is not a rate in MB/sec"))
}

/// Leading blanks, a sign, digits: what C's `atoi` makes of a text, without its overflow.
fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && matches!(c, '+' | '-'))))
        .map_or(text.len(), |(at, _)| at);
    let digits = text[..end].trim_start_matches('+');
    match digits.parse() {
        Ok(number) => number,
        Err(_) if digits.len() > 18 && digits.starts_with('-') => i64::MIN,
        Err(_) if digits.len() > 18 => i64::MAX,
        Err(_) => 0,
    }
}

const HELP: &str = "\
Usage: dbench [OPTION...] NPROCS
  -t, --timelimit=SECONDS           length of the measured part (600)
  -c, --loadfile=FILE               loadfile, plain or gzip
  -D, --directory=DIR               directory to work in (.)
  -T, --tcp-options=LIST            for tbench; no effect here
  -R, --target-rate=MB/s            pace each client
  -s, --sync                        O_SYNC on every file
  -S, --sync-dir                    fdatasync directories after changes
  -F, --fsync                       fsync after every write
  -x, --xattr                       use extended attributes
      --no-resolve                  no directory scans after failed lookups
      --clients-per-process=N       clients that share a process
      --one-byte-write-fix          no 1-byte writes that change nothing
      --stat-check                  ask by stat before pointless calls
      --fake-io                     count reads and writes, make none
      --skip-cleanup                leave the files
      --per-client-results          tables for each client

Help options:
  -?, --help                        this text
      --usage                       the first line of it
";

fn run(call: &mut Invocation<'_>, runner: &mut Runner<'_>) -> u8 {
    match talk(call, runner) {
        Ok(code) => code,
        // Nobody reads what we print: end quietly, as a program that a closed pipe kills.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            writeln!(call.err, "dbench: cannot write: {error}").ok();
            1
        }
    }
}

fn talk(call: &mut Invocation<'_>, runner: &mut Runner<'_>) -> io::Result<u8> {
    writeln!(call.out, "{}\n", format::banner())?;
    let flags = match parse(std::mem::take(&mut call.args)) {
        Ok(Asked::Run(flags)) => flags,
        Ok(Asked::Help) => {
            write!(call.out, "{HELP}")?;
            return Ok(0);
        }
        Ok(Asked::Usage) => {
            write!(
                call.out,
                "{}",
                HELP.split_inclusive('\n').next().unwrap_or(HELP)
            )?;
            return Ok(0);
        }
        Err(message) => {
            writeln!(call.err, "{message}")?;
            return Ok(1);
        }
    };
    let Some(processes) = flags.processes else {
        write!(call.out, "You need to specify NPROCS\n{HELP}")?;
        return Ok(1);
    };
    let seconds = u64::try_from(flags.seconds).unwrap_or(0);
    let warm_up = seconds / 5;
    let load = flags.loadfile.to_string_lossy().into_owned();
    writeln!(
        call.out,
        "{}",
        format::running_line(seconds, &load, warm_up)
    )?;
    call.out.flush()?;
    let plan = match plan_of(&flags, processes, warm_up, runner) {
        Ok(plan) => plan,
        Err(message) => {
            writeln!(call.err, "dbench: {message}")?;
            return Ok(1);
        }
    };
    let manner = Manner {
        in_place: true,
        keep: flags.skip_cleanup,
    };
    let mut live = Live {
        out: call.out,
        clients: plan.params.count("clients").unwrap_or(1),
        seconds: 0.0,
        phases: Vec::new(),
        run: None,
        error: None,
    };
    let end = runner.run(&plan, manner, call.stdin, &mut live);
    let Live { run, error, .. } = live;
    if let Some(error) = error {
        return Err(error);
    }
    let end = match end {
        Ok(end) => end,
        Err(RunError::Make { cause, .. }) => {
            // As the original says it: dbench: error opening 'F': reason.
            let text = cause.to_string();
            let reason = text
                .strip_prefix(&format!("cannot read {load}: "))
                .map(|reason| format!("error opening '{load}': {reason}"));
            writeln!(call.err, "dbench: {}", reason.unwrap_or(text))?;
            return Ok(1);
        }
        Err(error) => {
            writeln!(call.err, "dbench: {error}")?;
            return Ok(1);
        }
    };
    match run {
        Some(run) => finish(call, &run, end.interrupted),
        None => Ok(1),
    }
}

/// The tables and the last line, or what broke.
fn finish(call: &mut Invocation<'_>, run: &Run, interrupted: Option<i32>) -> io::Result<u8> {
    if let Outcome::Failed(why) = &run.outcome {
        // What the clients had to say was printed as it came; this names what ended the run.
        let text = why.split_once(": ").map_or(why.as_str(), |(_, text)| text);
        writeln!(call.err, "{text}\n{CHILD_FAILED_LINE}")?;
        return Ok(1);
    }
    if let Some(signal) = interrupted {
        return Ok(u8::try_from(128 + signal).unwrap_or(1));
    }
    match format::ending(run) {
        Ok(ending) => write!(call.out, "{ending}")?,
        Err(error) => {
            writeln!(call.err, "dbench: {error}")?;
            return Ok(1);
        }
    }
    call.out.flush()?;
    Ok(0)
}

/// The same run as native parameters.
fn plan_of(
    flags: &Flags,
    processes: i64,
    warm_up: u64,
    runner: &Runner<'_>,
) -> Result<RunPlan, String> {
    if processes < 1 || flags.per_process < 1 {
        return Err(format!(
            "{processes} processes with {} clients each measure nothing",
            flags.per_process
        ));
    }
    if flags.seconds < 1 {
        return Err(format!(
            "a time limit of {} seconds measures nothing",
            flags.seconds
        ));
    }
    let clients = processes.checked_mul(flags.per_process).ok_or_else(|| {
        format!(
            "{processes} times {} clients are too many",
            flags.per_process
        )
    })?;
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    let params = [
        ("clients", clients.to_string()),
        ("clients-per-process", flags.per_process.to_string()),
        ("seconds", flags.seconds.to_string()),
        ("warmup", warm_up.to_string()),
        ("setup", "include".to_owned()),
        ("drain", "no".to_owned()),
        ("on-error", "original".to_owned()),
        ("loadfile", flags.loadfile.to_string_lossy().into_owned()),
        ("rate", flags.rate.to_string()),
        ("sync", yes(flags.sync)),
        ("sync-dir", yes(flags.sync_dir)),
        ("fsync", yes(flags.fsync)),
        ("xattr", yes(flags.xattr)),
        ("resolve", yes(!flags.no_resolve)),
        ("one-byte-write-fix", yes(flags.one_byte_write_fix)),
        ("stat-check", yes(flags.stat_check)),
        ("fake-io", yes(flags.fake_io)),
        ("skip-cleanup", yes(flags.skip_cleanup)),
        ("per-client-results", yes(flags.per_client)),
    ];
    let step = Step {
        tool: "dbench".to_owned(),
        params: params
            .into_iter()
            .map(|(name, value)| (name.to_owned(), vec![value]))
            .collect(),
        on: Some(flags.directory.to_string_lossy().into_owned()),
        label: None,
        repeat: 1,
        cache: Cache::Unchanged,
        destroy: None,
    };
    let plan = Plan {
        version: PLAN_VERSION,
        name: "dbench".to_owned(),
        seed: None,
        steps: vec![step],
    };
    let mut runs =
        resolve(&plan, runner.tools, &runner.program, 0).map_err(|error| error.to_string())?;
    runs.pop().ok_or_else(|| "nothing to run".to_owned())
}

/// Prints each second's line as it comes, and keeps the run for its end.
struct Live<'a, 'o> {
    out: &'a mut (dyn Write + 'o),
    clients: u64,
    /// Length of the execute part, for the lines of the clean-up.
    seconds: f64,
    phases: Vec<Phase>,
    run: Option<Run>,
    error: Option<io::Error>,
}

impl Live<'_, '_> {
    fn print(&mut self, line: &str) {
        let printed = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        if self.error.is_none() {
            self.error = printed.err();
        }
    }

    fn tick(&mut self, tick: &Tick) {
        let seconds = tick.elapsed.as_secs_f64();
        if tick.phase == CLEANUP && tick.running > 0 {
            self.print(&format::cleanup_line(
                u64::from(tick.running),
                self.seconds + seconds,
            ));
        }
        // The original is silent about less than a second.
        if tick.phase != EXECUTE || seconds < 1.0 {
            return;
        }
        let (stage, clients) = if tick.warm_up {
            (Stage::Warmup, u64::from(tick.active))
        } else {
            (Stage::Execute, self.clients)
        };
        self.print(&format::tick_line(
            stage,
            clients,
            tick.ops_in_all / self.clients.max(1),
            tick.bytes.as_mb() / seconds,
            seconds,
            tick.longest.as_millis_f64(),
        ));
    }
}

impl Sink for Live<'_, '_> {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        match &event.body {
            EventBody::PhaseStarted { phase, workers, .. } if phase == EXECUTE => {
                let processes = u64::from(*workers);
                let seconds = event.at.as_secs_f64();
                self.print(&format::prepared_line(processes, processes, seconds));
                self.print(RELEASING_LINE);
            }
            EventBody::PhaseStarted { phase, .. } if phase == CLEANUP => {
                self.print(&format::cleanup_line(self.clients, self.seconds));
            }
            EventBody::Tick(tick) => self.tick(tick),
            EventBody::Note { text } => self.print(text),
            EventBody::PhaseFinished { phase } => {
                if phase.name == EXECUTE {
                    self.seconds = phase.elapsed.as_secs_f64();
                } else if phase.name == CLEANUP {
                    let seconds = self.seconds + phase.elapsed.as_secs_f64();
                    self.print(&format::cleanup_line(0, seconds));
                }
                self.phases.push((**phase).clone());
            }
            EventBody::RunFinished { run } => {
                let phases = std::mem::take(&mut self.phases);
                self.run = Some(Run {
                    phases,
                    ..(**run).clone()
                });
            }
            EventBody::RunStarted { .. }
            | EventBody::PhaseStarted { .. }
            | EventBody::Doubted { .. } => {}
        }
        match &self.error {
            None => Ok(()),
            Some(error) => Err(SinkError(Box::new(io::Error::from(error.kind())))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, number) in [
            ("8", 8),
            (" 12x", 12),
            ("-3", -3),
            ("+4", 4),
            ("x", 0),
            ("", 0),
            ("99999999999999999999", i64::MAX),
        ] {
            assert_eq!(atoi(text), number, "{text}");
        }
    }

    #[test]
    fn every_flag_of_the_original_is_taken() {
        let args = "-t 5 -c F -D /d -T SO_KEEPALIVE -R 2.5 -s -S -F -x --no-resolve --clients-per-process=2 \
                    --one-byte-write-fix --stat-check --fake-io --skip-cleanup --per-client-results 3 host";
        let Ok(Asked::Run(flags)) = parse(args.split_whitespace().map(OsString::from).collect())
        else {
            panic!("refused");
        };
        let expected = Flags {
            processes: Some(3),
            seconds: 5,
            loadfile: "F".into(),
            directory: "/d".into(),
            rate: 2.5,
            sync: true,
            sync_dir: true,
            fsync: true,
            xattr: true,
            no_resolve: true,
            per_process: 2,
            one_byte_write_fix: true,
            stat_check: true,
            fake_io: true,
            skip_cleanup: true,
            per_client: true,
        };
        assert_eq!(flags, expected);
        assert!(
            matches!(parse(vec!["-Z".into()]), Err(message) if message == "Invalid option -Z: unknown option")
        );
    }
}
