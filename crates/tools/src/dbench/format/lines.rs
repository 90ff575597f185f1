//! The lines of dbench 4.00 as it writes them; [`read`](super::read) takes them apart again.
//!
//! Figures are kept as the characters they are printed with, so that a text that was read is written back the same.

use std::fmt::{self, Display};

use kernmark_model::units::{Bytes, Nanos};

use super::printf::{fmt_f, fmt_g};

/// Version in the banner of the generation that this format is.
pub(super) const VERSION: &str = "4.00";

/// The first line of all output; an empty line follows it.
pub fn banner() -> String {
    banner_of(VERSION)
}

pub(super) fn banner_of(version: &str) -> String {
    format!("dbench version {version} - Copyright Andrew Tridgell 1999-2004")
}

/// The line that says what will run, after the banner. Times in seconds.
pub fn running_line(seconds: u64, load: &str, warmup: u64) -> String {
    let load = load.to_owned();
    Running {
        seconds,
        load,
        warmup,
    }
    .to_string()
}

/// What [`running_line`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) seconds: u64,
    pub(super) load: String,
    pub(super) warmup: u64,
}

impl Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seconds,
            load,
            warmup,
        } = self;
        write!(
            f,
            "Running for {seconds} seconds with load '{load}' and minimum warmup {warmup} secs"
        )
    }
}

/// Printed every 0.1 s until all processes wait at the barrier; `seconds` since they were made.
pub fn prepared_line(prepared: u64, processes: u64, seconds: f64) -> String {
    launch(
        &prepared.to_string(),
        &processes.to_string(),
        &fmt_f(seconds, 0),
    )
}

pub(super) fn launch(prepared: &str, processes: &str, seconds: &str) -> String {
    format!("{prepared} of {processes} processes prepared for launch {seconds:>3} sec")
}

/// Printed when all processes are released.
pub const RELEASING_LINE: &str = "releasing clients";

/// Printed when a client ended with an error, as the last line of all.
pub const CHILD_FAILED_LINE: &str = "Child failed with status 1";

/// How the line of that news begins.
pub(super) const CHILD_FAILED: &str = "Child failed with status ";

/// What a tick is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing counts yet.
    Warmup,
    /// The measured time.
    Execute,
}

impl Stage {
    const fn word(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Execute => "execute",
        }
    }
}

/// The line of one second.
///
/// `clients` at work, loadfile `lines` done (mean of the clients, all passes, warm-up included), `mb_per_sec` in 10^6
/// bytes a second since the stage began, `seconds` since then, and the longest wait of the last interval in
/// milliseconds.
pub fn tick_line(
    stage: Stage,
    clients: u64,
    lines: u64,
    mb_per_sec: f64,
    seconds: f64,
    latency_ms: f64,
) -> String {
    Tick::new(stage, clients, lines, mb_per_sec, seconds, latency_ms).to_string()
}

/// The figures of [`tick_line`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) stage: Stage,
    pub(super) clients: String,
    pub(super) lines: String,
    pub(super) throughput: String,
    pub(super) seconds: String,
    pub(super) latency: String,
}

impl Tick {
    pub(super) fn new(
        stage: Stage,
        clients: u64,
        lines: u64,
        mb_per_sec: f64,
        seconds: f64,
        latency_ms: f64,
    ) -> Self {
        Self {
            stage,
            clients: clients.to_string(),
            lines: lines.to_string(),
            throughput: fmt_f(mb_per_sec, 2),
            seconds: fmt_f(seconds, 0),
            latency: fmt_f(latency_ms, 3),
        }
    }
}

impl Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stage,
            clients,
            lines,
            throughput,
            seconds,
            latency,
        } = self;
        let stage = stage.word();
        write!(
            f,
            "{clients:>4}  {lines:>8}  {throughput:>7} MB/sec  {stage} {seconds:>3} sec  latency {latency} ms"
        )
    }
}

/// The line of one second of cleaning up: how many clients are still at it, and the seconds since the measured time
/// began.
pub fn cleanup_line(clients: u64, seconds: f64) -> String {
    Cleanup::new(clients, seconds).to_string()
}

/// The figures of [`cleanup_line`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cleanup {
    pub(super) clients: String,
    pub(super) seconds: String,
}

impl Cleanup {
    pub(super) fn new(clients: u64, seconds: f64) -> Self {
        Self {
            clients: clients.to_string(),
            seconds: fmt_f(seconds, 0),
        }
    }
}

impl Display for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4}  cleanup {:>3} sec", self.clients, self.seconds)
    }
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub(super) op: String,
    pub(super) count: String,
    pub(super) mean: String,
    pub(super) max: String,
}

impl Row {
    /// Ops of one name: how many, the sum of their latencies, and the longest. The mean of none is `-nan`, which is
    /// what the C program prints on x86.
    #[expect(clippy::cast_precision_loss, reason = "three decimals are shown")]
    pub fn new(op: &str, count: u64, total: Nanos, max: Nanos) -> Self {
        let mean = if count == 0 {
            "-nan".to_owned()
        } else {
            fmt_f(total.as_millis_f64() / count as f64, 3)
        };
        Self {
            op: op.to_owned(),
            count: count.to_string(),
            mean,
            max: fmt_f(max.as_millis_f64(), 3),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            op,
            count,
            mean,
            max,
        } = self;
        write!(f, " {op:<12} {count:>7} {mean:>9} {max:>9}")
    }
}

/// The table: its two lines of heading and the rows. An empty line stands before and after it.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        " {:<12} {:>7} {:>9} {:>9}\n {}",
        "Operation",
        "Count",
        "AvgLat",
        "MaxLat",
        "-".repeat(40)
    );
    for row in rows {
        text.push('\n');
        text.push_str(&row.to_string());
    }
    text
}

/// What one client did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientResult {
    pub(super) client: u32,
    pub(super) lines: String,
    pub(super) bytes: String,
    pub(super) rows: Vec<Row>,
}

impl ClientResult {
    /// The client's number from 0, the loadfile lines it did, the bytes it read and wrote, and its ops: one row for
    /// each op that any client did.
    pub fn new(client: u32, lines: u64, bytes: Bytes, rows: Vec<Row>) -> Self {
        Self {
            client,
            lines: lines.to_string(),
            bytes: bytes.0.to_string(),
            rows,
        }
    }
}

/// A table for each client, after the one of all. An empty line stands after it.
pub fn per_client_table(clients: &[ClientResult]) -> String {
    let tables: Vec<String> = clients
        .iter()
        .map(|client| {
            format!(
                "Client {} did {} lines and {} bytes\n{}",
                client.client,
                client.lines,
                client.bytes,
                table(&client.rows)
            )
        })
        .collect();
    format!("Per client results:\n{}", tables.join("\n\n"))
}

/// What the last line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughputLine {
    /// 10^6 bytes read and written a second.
    pub mb_per_sec: f64,
    /// Files were opened with O_SYNC.
    pub sync: bool,
    /// Directories were synced after a change.
    pub sync_dir: bool,
    /// Clients in all.
    pub clients: u64,
    /// Processes they ran in.
    pub processes: u64,
    /// The longest wait that a tick showed, in milliseconds.
    pub max_latency_ms: f64,
}

/// The last line.
pub fn throughput_line(line: ThroughputLine) -> String {
    Throughput::from(line).to_string()
}

/// The figures of [`throughput_line`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Throughput {
    pub(super) throughput: String,
    pub(super) sync: bool,
    pub(super) sync_dir: bool,
    pub(super) clients: u64,
    pub(super) processes: u64,
    pub(super) max_latency: String,
}

impl From<ThroughputLine> for Throughput {
    fn from(line: ThroughputLine) -> Self {
        Self {
            throughput: fmt_g(line.mb_per_sec),
            sync: line.sync,
            sync_dir: line.sync_dir,
            clients: line.clients,
            processes: line.processes,
            max_latency: fmt_f(line.max_latency_ms, 3),
        }
    }
}

impl Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            throughput,
            sync,
            sync_dir,
            clients,
            processes,
            max_latency,
        } = self;
        let sync = if *sync { " (sync open)" } else { "" };
        let sync_dir = if *sync_dir { " (sync dirs)" } else { "" };
        write!(
            f,
            "Throughput {throughput} MB/sec{sync}{sync_dir}  {clients} clients  {processes} procs  max_latency={max_latency} ms"
        )
    }
}
