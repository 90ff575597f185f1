//! dbench: the same loadfile, options and folder under both programs; what each printed is the figure.
//!
//! Both report the average of the last tick, about a second before the end, so the two numbers mean the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use kernmark_model::units::Bytes;
use kernmark_sys::testing::program;
use serde::Serialize;

use super::Options;
use super::cpu::CpuTime;
use super::page::{self, Circumstances};
use super::pairs::{Pair, Ratio, Side, Verdict, alternate};
use super::place::{self, Mounted, Place};
use crate::command::output;
use crate::static_build;

/// The loadfile of the Debian package.
const LOADFILE: &str = "/usr/share/dbench/client.txt";

/// What a client of that loadfile has on disk at its peak: 24 MB (its creates and unlinks added up), and directories.
const ROOM_PER_CLIENT: Bytes = Bytes::mib(32);

/// The share of user CPU per line that we may take of the original's.
const USER_CPU_GOAL: f64 = 0.30;

/// Where to come out on tmpfs with one client, where nothing but the generator is in the way.
const LONE_CLIENT_GOAL: f64 = 1.25;

/// One run of one side.
#[derive(Serialize)]
struct Outcome {
    /// The last line's throughput; one MB is 10^6 bytes.
    mb_per_sec: f64,
    /// Loadfile lines done by all clients from the start to the end, warm-up included.
    lines: u64,
    /// From before the first process to after the last.
    elapsed_usec: u64,
    cpu: CpuTime,
    /// Executions of each op after the warm-up, by the names of the table.
    ops: BTreeMap<String, u64>,
}

/// All pairs under the same circumstances.
#[derive(Serialize)]
struct Setting {
    place: String,
    clients: u32,
    seconds: u32,
    throughput: Ratio,
    verdict: Verdict,
    user_cpu_per_line: Ratio,
    pairs: Vec<Pair<Outcome>>,
}

/// The whole comparison, as it is stored.
#[derive(Serialize)]
struct Contest {
    circumstances: Circumstances,
    loadfile: &'static str,
    settings: Vec<Setting>,
}

/// The two programs.
struct Programs {
    ours: PathBuf,
    original: PathBuf,
}

/// Runs it; after each setting the page shows what there is so far.
pub(super) fn run(options: &Options) -> Result<()> {
    let original = program("dbench")
        .filter(|_| Path::new(LOADFILE).is_file())
        .context("dbench or its loadfile is not installed: the Debian package is called dbench")?;
    let seconds = options.seconds.unwrap_or(10);
    ensure!(
        seconds >= 3,
        "dbench reports the last second but one: --seconds 3 at least"
    );
    let clients = options.clients.as_deref().unwrap_or(&[1, 2, 48]);
    place::enter()?;

    let programs = Programs {
        ours: static_build::build()?,
        original,
    };
    let mut contest = Contest {
        circumstances: Circumstances::new("dbench")?,
        loadfile: LOADFILE,
        settings: Vec::new(),
    };
    println!("{HEAD}");
    for &place in &options.places {
        for &clients in clients {
            let setting = programs.setting(place, clients, seconds, options.pairs)?;
            println!("{}", setting.row());
            contest.settings.push(setting);
            page::publish("dbench", &contest.section(), options.pairs, &contest)?;
        }
    }
    println!("\n{}", contest.section());
    Ok(())
}

impl Programs {
    fn setting(&self, place: Place, clients: u32, seconds: u32, pairs: usize) -> Result<Setting> {
        let room = Bytes(ROOM_PER_CLIENT.0 * u64::from(clients));
        let mounted = Mounted::new(place, room)?;
        let pairs = alternate(pairs, |side| {
            let folder = mounted.fresh_folder()?;
            place::touch_memory(room)?;
            self.once(side, &folder, clients, seconds)
        })?;
        drop(mounted);
        let throughput = Ratio::of(&pairs, |run| run.mb_per_sec)?;
        Ok(Setting {
            place: place.to_string(),
            clients,
            seconds,
            verdict: throughput.verdict(),
            throughput,
            user_cpu_per_line: Ratio::of(&pairs, Outcome::user_nanos_per_line)?,
            pairs,
        })
    }

    /// One run of one side in an empty folder.
    fn once(&self, side: Side, folder: &Path, clients: u32, seconds: u32) -> Result<Outcome> {
        let mut command = match side {
            Side::Original => Command::new(&self.original),
            Side::Ours => {
                let mut command = Command::new(&self.ours);
                command.args(["as", "dbench"]);
                command
            }
        };
        command
            .env_remove("KERNMARK_DB") // a personality stores its run only when this says where
            .args(["-c", LOADFILE, "-D"])
            .arg(folder)
            .args([
                "-t",
                &seconds.to_string(),
                "--per-client-results",
                &clients.to_string(),
            ]);
        let (start, cpu) = (Instant::now(), CpuTime::of_children()?);
        let text = output(&mut command)?;
        let elapsed_usec = u64::try_from(start.elapsed().as_micros())?;
        let cpu = CpuTime::of_children()?.since(cpu);
        let Printed {
            mb_per_sec,
            lines,
            ops,
        } = Printed::parse(&text).with_context(|| format!("{side:?} printed:\n{text}"))?;
        Ok(Outcome {
            mb_per_sec,
            lines,
            elapsed_usec,
            cpu,
            ops,
        })
    }
}

/// What we take from the text of a run with `--per-client-results`; both programs print the same.
#[derive(Debug, PartialEq)]
struct Printed {
    mb_per_sec: f64,
    lines: u64,
    ops: BTreeMap<String, u64>,
}

impl Printed {
    fn parse(text: &str) -> Result<Self> {
        let mb_per_sec = text
            .lines()
            .rev()
            .find_map(|line| {
                line.strip_prefix("Throughput ")?
                    .split(' ')
                    .next()?
                    .parse()
                    .ok()
            })
            .context("no last line with a throughput")?;
        // "Client 0 did 211265 lines and 1154722745 bytes"
        let clients = text.lines().filter_map(|line| line.strip_prefix("Client "));
        let lines: u64 = clients
            .filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok())
            .sum();
        ensure!(lines > 0, "no client's count of lines");
        // The first table is everybody's; those behind it are one client's each.
        let ops: BTreeMap<String, u64> = text
            .lines()
            .skip_while(|line| !line.starts_with(" Operation "))
            .skip(2)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| {
                let mut words = line.split_ascii_whitespace();
                Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
            })
            .collect();
        ensure!(!ops.is_empty(), "no table of operations");
        Ok(Self {
            mb_per_sec,
            lines,
            ops,
        })
    }
}

impl Outcome {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn user_nanos_per_line(&self) -> f64 {
        self.cpu.user_usec as f64 * 1e3 / self.lines as f64
    }
}

/// The head of the table that [`Setting::row`] gives rows to.
const HEAD: &str = "\
| on | clients | pairs | ours MB/s | original MB/s | throughput ratio | | user CPU a line, ns: ours | original | ratio | |
|---|---|---|---|---|---|---|---|---|---|---|";

impl Setting {
    fn row(&self) -> String {
        let Self {
            place,
            clients,
            throughput,
            verdict,
            user_cpu_per_line,
            pairs,
            ..
        } = self;
        let ours =
            |read: fn(&Outcome) -> f64| page::median(pairs.iter().map(|pair| read(&pair.ours)));
        let original =
            |read: fn(&Outcome) -> f64| page::median(pairs.iter().map(|pair| read(&pair.original)));
        let rate: fn(&Outcome) -> f64 = |run| run.mb_per_sec;
        let cost: fn(&Outcome) -> f64 = Outcome::user_nanos_per_line;
        let lone = place == "tmpfs" && *clients == 1;
        let short = lone && throughput.estimate < LONE_CLIENT_GOAL;
        let goal = if short {
            format!(", goal {LONE_CLIENT_GOAL} missed")
        } else {
            String::new()
        };
        let cpu = if user_cpu_per_line.estimate <= USER_CPU_GOAL {
            "reached"
        } else {
            "missed"
        };
        format!(
            "| {place} | {clients} | {} | {:.0} | {:.0} | {throughput} | {verdict}{goal} | {:.0} | {:.0} | {user_cpu_per_line} | goal {USER_CPU_GOAL} {cpu} |",
            pairs.len(),
            ours(rate),
            original(rate),
            ours(cost),
            original(cost),
        )
    }

    /// Each op's share of all ops of one side, in percent.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    fn shares(&self, side: fn(&Pair<Outcome>) -> &Outcome) -> BTreeMap<&str, f64> {
        let mut counts = BTreeMap::new();
        for pair in &self.pairs {
            for (name, count) in &side(pair).ops {
                *counts.entry(name.as_str()).or_insert(0) += count;
            }
        }
        let all: u64 = counts.values().sum();
        counts
            .into_iter()
            .map(|(name, count)| (name, 100.0 * count as f64 / all as f64))
            .collect()
    }
}

impl Contest {
    /// The section of the page.
    fn section(&self) -> String {
        let mut text = self.circumstances.line();
        let seconds = self.settings.first().map_or(0, |setting| setting.seconds);
        text += &format!(
            "\nBoth: `dbench -c {} -D DIR -t {seconds} --per-client-results CLIENTS`. Throughput is the number in the \
             last line; user CPU is that of all processes of a run, the reading of the loadfile included, over all \
             lines that its clients did. The ext4 lies in an image in memory. On tmpfs with one client we want at \
             least {LONE_CLIENT_GOAL}, everywhere at most {USER_CPU_GOAL} of the user CPU.\n\n{HEAD}\n",
            self.loadfile
        );
        for setting in &self.settings {
            text += &setting.row();
            text.push('\n');
        }
        text += "\nThe same work: each op's share of all ops after the warm-up, in percent, ours / original.\n\n";
        text + &self.shares()
    }

    fn shares(&self) -> String {
        let mut head = "| op |".to_owned();
        let mut rule = "|---|".to_owned();
        let mut rows: BTreeMap<&str, String> = BTreeMap::new();
        let both: Vec<_> = self
            .settings
            .iter()
            .map(|setting| {
                (
                    setting.shares(|pair| &pair.ours),
                    setting.shares(|pair| &pair.original),
                )
            })
            .collect();
        for (ours, original) in &both {
            for name in ours.keys().chain(original.keys()) {
                rows.entry(name).or_default();
            }
        }
        for (setting, (ours, original)) in self.settings.iter().zip(&both) {
            head += &format!(" {} {} |", setting.place, setting.clients);
            rule += "---|";
            let share =
                |side: &BTreeMap<&str, f64>, name: &str| side.get(name).copied().unwrap_or(0.0);
            for (name, row) in &mut rows {
                *row += &format!(" {:.2} / {:.2} |", share(ours, name), share(original, name));
            }
        }
        let mut text = format!("{head}\n{rule}\n");
        for (name, row) in rows {
            text += &format!("| {name} |{row}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
dbench version 4.00 - Copyright Andrew Tridgell 1999-2004

   2    103230  1147.94 MB/sec  execute   1 sec  latency 5.962 ms
   0  cleanup   2 sec

 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX      72576     0.011     2.313
 Flush           5100     0.241     5.961

Per client results:
Client 0 did 211265 lines and 1154722745 bytes
 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX      36515     0.011     2.313

Client 1 did 209011 lines and 1144493816 bytes
 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX      36061     0.011     0.708

Throughput 1147.94 MB/sec  2 clients  2 procs  max_latency=5.962 ms
";

    #[test]
    fn reads_the_last_line_the_lines_and_everybodys_table() {
        let printed = Printed::parse(TEXT).unwrap();
        let ops = [("NTCreateX", 72576), ("Flush", 5100)];
        assert_eq!(
            printed,
            Printed {
                mb_per_sec: 1147.94,
                lines: 211_265 + 209_011,
                ops: ops.map(|(name, count)| (name.to_owned(), count)).into(),
            }
        );
    }

    #[test]
    fn a_cut_text_says_what_it_lacks() {
        let error = |text: &str| Printed::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "no last line with a throughput");
        assert_eq!(
            error("Throughput 1 MB/sec  1 clients\n"),
            "no client's count of lines"
        );
    }
}
