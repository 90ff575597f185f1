//! One result as a text holds it, found in a text and written as dbench lays it out.

use std::fmt::{self, Display};
use std::iter::Peekable;

use kernmark_engine::tool::FormatError;

use super::lines::{
    CHILD_FAILED, Cleanup, ClientResult, Row, Running, Stage, Throughput, Tick, banner_of,
    per_client_table, table,
};
use super::read::{Line, read, unquoted};

/// All that a text says of one run. Whatever is missing is not in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The version in the banner.
    pub(super) version: Option<String>,
    pub(super) running: Option<Running>,
    /// What came while it ran, in order.
    pub(super) progress: Vec<Progress>,
    /// The table of all clients.
    pub(super) rows: Vec<Row>,
    /// The tables of each.
    pub(super) clients: Vec<ClientResult>,
    pub(super) result: Option<Throughput>,
}

/// A line that came while it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Progress {
    Tick(Tick),
    Cleanup(Cleanup),
    /// Of the launch, or a message: kept as it is.
    Line(String),
}

impl Report {
    /// The parent saw a client end with an error.
    pub(super) fn child_failed(&self) -> Option<&str> {
        self.progress.iter().rev().find_map(|line| match line {
            Progress::Line(line) if line.starts_with(CHILD_FAILED) => Some(line.as_str()),
            _ => None,
        })
    }

    /// Is there a figure, or the news that it failed?
    pub(super) fn says_something(&self) -> bool {
        let executes =
            |line: &Progress| matches!(line, Progress::Tick(tick) if tick.stage == Stage::Execute);
        self.result.is_some()
            || !self.rows.is_empty()
            || self.progress.iter().any(executes)
            || self.child_failed().is_some()
    }

    /// The table and the result.
    pub(super) fn ending(&self) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            text += &format!("\n{}\n\n", table(&self.rows));
        }
        if !self.clients.is_empty() {
            text += &format!("{}\n\n", per_client_table(&self.clients));
        }
        if let Some(result) = &self.result {
            text += &format!("{result}\n");
        }
        text
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = &self.version {
            writeln!(f, "{}\n", banner_of(version))?;
        }
        if let Some(running) = &self.running {
            writeln!(f, "{running}")?;
        }
        for line in &self.progress {
            match line {
                Progress::Tick(tick) => writeln!(f, "{tick}")?,
                Progress::Cleanup(cleanup) => writeln!(f, "{cleanup}")?,
                Progress::Line(line) => writeln!(f, "{line}")?,
            }
        }
        f.write_str(&self.ending())
    }
}

/// A result and where it was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) report: Report,
    /// The line of the result; where there is none, the last that belongs to the run. From 1.
    pub(super) line: u64,
    /// Lines within its tables that could not be read: the first, and how many.
    pub(super) bad_rows: Option<(u64, u64)>,
}

/// Every result in the text, in order.
pub(super) fn find(text: &str) -> Result<Vec<Found>, FormatError> {
    let mut reader = Reader::default();
    let mut lines = (1_u64..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        let line = unquoted(line);
        let understood = match read(line) {
            cut @ (Line::CutRunning | Line::CutResult { .. }) => {
                read_joined(line, cut, number, &mut lines)?
            }
            understood => understood,
        };
        reader.take(number, understood);
    }
    reader.close();
    Ok(reader.done)
}

/// Reads a line that a mail program may have broken together with the next one.
fn read_joined<'text>(
    line: &str,
    cut: Line,
    number: u64,
    lines: &mut Peekable<impl Iterator<Item = (u64, &'text str)>>,
) -> Result<Line, FormatError> {
    if let Some((_, next)) = lines.peek() {
        let next = unquoted(next);
        let joined = read(&format!("{} {}", line.trim_end(), next.trim_start()));
        if matches!(joined, Line::Running(_) | Line::Throughput(_)) {
            lines.next();
            return Ok(joined);
        }
    }
    match cut {
        Line::CutResult { certain: true } => Err(FormatError::Line {
            line: number,
            what: "a dbench result that is not \"Throughput X MB/sec  N clients  N procs  max_latency=X ms\"; \
                   mend the line or remove it"
                .to_owned(),
        }),
        Line::CutResult { certain: false } => Ok(Line::OtherResult),
        _ => Ok(Line::Other),
    }
}

/// Puts lines together to results.
#[derive(Debug, Default)]
struct Reader {
    done: Vec<Found>,
    open: Option<Found>,
    /// A client of the open run failed.
    failed: bool,
    table: Table,
}

/// Where in a table the next line stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Table {
    /// In none.
    #[default]
    Outside,
    /// Directly below its heading or a row.
    Inside,
    /// Perhaps: after an empty line, which a mail program may have put between the rows.
    AfterBlank,
}

impl Reader {
    fn take(&mut self, number: u64, line: Line) {
        let table = self.table;
        self.table = Table::Outside;
        match line {
            Line::Banner(version) => {
                self.close();
                // Older generations print other lines; theirs are not mixed into ours.
                if version.starts_with('4') || version.starts_with('5') {
                    self.open(number).report.version = Some(version);
                }
            }
            Line::Running(running) => {
                let begun = |open: &Found| {
                    open.report.running.is_some()
                        || !open.report.progress.is_empty()
                        || !open.report.rows.is_empty()
                };
                if self.open.as_ref().is_some_and(begun) {
                    self.close();
                }
                self.open(number).report.running = Some(running);
            }
            Line::Tick(tick) => self.progress(number, Progress::Tick(tick)),
            Line::Cleanup(cleanup) => self.progress(number, Progress::Cleanup(cleanup)),
            Line::Launch(line) => self.progress(number, Progress::Line(line)),
            Line::Message(line) => {
                self.table = table;
                if self.open.is_some() {
                    self.failed |= line.starts_with(CHILD_FAILED);
                    let open = self.open(number);
                    open.report.progress.push(Progress::Line(line));
                }
            }
            Line::TableHead => {
                let of_client = self
                    .open
                    .as_ref()
                    .and_then(|open| open.report.clients.last())
                    .is_some_and(|client| client.rows.is_empty());
                if !of_client && self.has_table() {
                    self.close();
                }
                self.table = Table::Inside;
            }
            Line::TableRule => {
                self.table = table;
                if let Some(open) = self.open.as_mut().filter(|_| table == Table::Inside) {
                    open.line = number;
                }
            }
            Line::Blank if table == Table::Inside => self.table = Table::AfterBlank,
            Line::Blank => self.table = table,
            Line::Row(row) if table != Table::Outside => {
                self.table = Table::Inside;
                let report = &mut self.open(number).report;
                match report.clients.last_mut() {
                    Some(client) => client.rows.push(row),
                    None => report.rows.push(row),
                }
            }
            Line::Client(client) => {
                if self.has_table() {
                    self.open(number).report.clients.push(client);
                }
            }
            Line::Throughput(result) => {
                self.open(number).report.result = Some(result);
                self.close();
            }
            Line::OtherResult => self.close(),
            Line::Other if table == Table::Inside => {
                self.table = Table::Inside;
                let bad = self.open(number).bad_rows.get_or_insert((number, 0));
                bad.1 += 1;
            }
            Line::PerClient
            | Line::Row(_)
            | Line::CutRunning
            | Line::CutResult { .. }
            | Line::Other => {}
        }
    }

    /// The run in hand, to which the line of that number belongs; a new one if there is none.
    fn open(&mut self, number: u64) -> &mut Found {
        let open = self.open.get_or_insert_default();
        open.line = number;
        open
    }

    fn has_table(&self) -> bool {
        (self.open.as_ref()).is_some_and(|open| !open.report.rows.is_empty())
    }

    fn progress(&mut self, number: u64, line: Progress) {
        // After a table or a failure, only another run goes on.
        if self.has_table() || self.failed {
            self.close();
        }
        self.open(number).report.progress.push(line);
    }

    /// Ends the run in hand, if there is one; it counts if it says something.
    fn close(&mut self) {
        self.failed = false;
        self.done
            .extend(self.open.take().filter(|open| open.report.says_something()));
    }
}
