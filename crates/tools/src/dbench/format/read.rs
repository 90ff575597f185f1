//! What a line of text says, if it is one of dbench 4.00's.

use super::lines::{
    CHILD_FAILED, Cleanup, ClientResult, RELEASING_LINE, Row, Running, Stage, Throughput, Tick,
    launch,
};

/// A line as it was understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Banner(String),
    Running(Running),
    Tick(Tick),
    Cleanup(Cleanup),
    /// A line of the launch, whose figures nobody needs.
    Launch(String),
    /// What a client or the parent complains of.
    Message(String),
    TableHead,
    TableRule,
    Row(Row),
    PerClient,
    Client(ClientResult),
    Throughput(Throughput),
    /// The running line, ended early or going on otherwise. Mail programs break long lines.
    CutRunning,
    /// The result, ended early or going on otherwise.
    CutResult {
        /// What is there is enough to tell the generation by.
        certain: bool,
    },
    /// The result of another generation.
    OtherResult,
    Blank,
    Other,
}

/// A number as printf writes it, not longer than any that makes sense.
fn figure(word: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['+', '-'])?),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = digits(whole) && digits(fraction) && digits(exponent) && exponent.len() <= 3;
    (word.len() <= LONGEST && (number || matches!(unsigned, "nan" | "inf")))
        .then(|| word.to_owned())
}

/// A count as printf writes it.
fn count(word: &str) -> Option<String> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    (digits.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
    figure(word)
}

/// A name that could head a row: what the table of any generation shows.
fn op_name(word: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (word.len() <= LONGEST
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(plain))
    .then(|| word.to_owned())
}

/// More words than any line of ours has.
const MOST_WORDS: usize = 16;

/// The line without line end and without the marks of a mail that quotes it.
pub(super) fn unquoted(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let text = line.trim_start_matches(['>', ' ', '\t']);
    // Without a mark, leading blanks are the line's own.
    match line[..line.len() - text.len()].rfind('>') {
        Some(mark) => {
            let quoted = &line[mark + 1..];
            quoted.strip_prefix(' ').unwrap_or(quoted)
        }
        None => line,
    }
}

/// Reads a line that [`unquoted`] gave. Runs of blanks count as one.
pub(super) fn read(line: &str) -> Line {
    let mut words = [""; MOST_WORDS];
    let mut number = 0;
    for (place, word) in words.iter_mut().zip(line.split_ascii_whitespace()) {
        *place = word;
        number += 1;
    }
    let words = &words[..number];
    let known = match words {
        [] => Some(Line::Blank),
        ["dbench", "version", version, "-", "Copyright", ..] => {
            Some(Line::Banner((*version).to_owned()))
        }
        ["Running", "for", _, "seconds", "with", "load", ..] => Some(read_running(line)),
        ["releasing", "clients"] => Some(Line::Launch(RELEASING_LINE.to_owned())),
        ["Per", "client", "results:"] => Some(Line::PerClient),
        ["Operation", "Count", "AvgLat", "MaxLat"] => Some(Line::TableHead),
        [
            "Client",
            client,
            "did",
            lines,
            "lines",
            "and",
            bytes,
            "bytes",
        ] => read_client(client, lines, bytes),
        ["Throughput", throughput, "MB/sec", rest @ ..] => Some(read_throughput(throughput, rest)),
        [rule] if rule.len() >= 8 && rule.bytes().all(|b| b == b'-') => Some(Line::TableRule),
        _ => read_progress(words).or_else(|| read_row(words)),
    };
    match known {
        Some(line) => line,
        None if is_message(line) => Line::Message(line.to_owned()),
        None => Line::Other,
    }
}

fn read_running(line: &str) -> Line {
    // The name may hold blanks and quotes, so it ends where the last such words begin.
    let whole = || {
        let (seconds, rest) = line
            .trim()
            .strip_prefix("Running for ")?
            .split_once(" seconds with load '")?;
        let (load, warmup) = rest.rsplit_once("' and minimum warmup ")?;
        Some(Line::Running(Running {
            seconds: u64::from(seconds.parse::<u32>().ok()?),
            load: load.to_owned(),
            warmup: u64::from(warmup.strip_suffix(" secs")?.parse::<u32>().ok()?),
        }))
    };
    whole().unwrap_or(Line::CutRunning)
}

fn read_progress(words: &[&str]) -> Option<Line> {
    match words {
        [
            clients,
            lines,
            throughput,
            "MB/sec",
            stage @ ("warmup" | "execute"),
            seconds,
            "sec",
            "latency",
            latency,
            "ms",
        ] => Some(Line::Tick(Tick {
            stage: if *stage == "warmup" {
                Stage::Warmup
            } else {
                Stage::Execute
            },
            clients: count(clients)?,
            lines: count(lines)?,
            throughput: figure(throughput)?,
            seconds: figure(seconds)?,
            latency: figure(latency)?,
        })),
        [clients, "cleanup", seconds, "sec"] => Some(Line::Cleanup(Cleanup {
            clients: count(clients)?,
            seconds: figure(seconds)?,
        })),
        [
            prepared,
            "of",
            processes,
            "processes",
            "prepared",
            "for",
            "launch",
            seconds,
            "sec",
        ] => Some(Line::Launch(launch(
            &count(prepared)?,
            &count(processes)?,
            &figure(seconds)?,
        ))),
        _ => None,
    }
}

fn read_row(words: &[&str]) -> Option<Line> {
    let [op, ops, mean, max] = words else {
        return None;
    };
    Some(Line::Row(Row {
        op: op_name(op)?,
        count: count(ops)?,
        mean: figure(mean)?,
        max: figure(max)?,
    }))
}

fn read_client(client: &str, lines: &str, bytes: &str) -> Option<Line> {
    Some(Line::Client(ClientResult {
        client: client.parse().ok()?,
        lines: count(lines)?,
        bytes: count(bytes)?,
        rows: Vec::new(),
    }))
}

fn read_throughput(throughput: &str, rest: &[&str]) -> Line {
    let (sync, rest) = match rest {
        ["(sync", "open)", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (sync_dir, rest) = match rest {
        ["(sync", "dirs)", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let whole = || {
        let [clients, "clients", processes, "procs", latency, "ms"] = rest else {
            return None;
        };
        Some(Line::Throughput(Throughput {
            throughput: figure(throughput)?,
            sync,
            sync_dir,
            clients: clients.parse().ok()?,
            processes: processes.parse().ok()?,
            max_latency: figure(latency.strip_prefix("max_latency=")?)?,
        }))
    };
    whole().unwrap_or(match rest {
        [] => Line::CutResult { certain: false },
        [clients] if count(clients).is_some() => Line::CutResult { certain: false },
        [clients, "clients", ..] if count(clients).is_some() => Line::CutResult { certain: true },
        _ => Line::OtherResult,
    })
}

/// Is it one of the forms in which dbench 4.00 complains?
fn is_message(line: &str) -> bool {
    let numbered = |open: char, close: &str| {
        line.strip_prefix(open)
            .and_then(|rest| rest.split_once(close))
            .is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            })
    };
    numbered('[', "] ")
        || numbered('(', ") ERROR: ")
        || [
            "ERROR: child ",
            "Badly formed status at line ",
            CHILD_FAILED,
            "FAILED TO START ",
            "failed to create barrier semaphore",
            "failed to connect to ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
}
