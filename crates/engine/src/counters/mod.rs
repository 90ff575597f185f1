//! Snapshots of what the kernel counts, before and after each phase, and samples each second.
//!
//! A snapshot reads some thirty small files, a few milliseconds; [`sample_second`] reads two.

mod kernel_log;
mod process;

use std::collections::BTreeMap;
use std::path::PathBuf;

use kernmark_model::counters::{
    COUNTERS_VERSION, Counters, CpuTicks, DeviceStatistics, MemorySample, Pressure, ResourceUsage,
    SecondSample, StallTotals, Stamp,
};

use kernmark_sys::{clock, usage};

use crate::machine::{Groups, Reading, Root, names_and_values, own_groups, throttle_counts};
use kernel_log::LogReader;

pub use process::processes;

/// What a snapshot shall look at beside the machine as a whole, and what only system calls tell.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// Kernel names of the devices, e.g. those of `Target::devices`.
    pub devices: &'a [&'a str],
    /// Process numbers of the workers that run.
    pub workers: &'a [i32],
    /// The time now.
    pub stamp: Stamp,
    /// `getrusage` of this process.
    pub own_usage: Option<ResourceUsage>,
    /// `getrusage` of its children that were waited for.
    pub children_usage: Option<ResourceUsage>,
}

impl<'a> Request<'a> {
    /// Asks for these devices and workers, and the kernel for the time and our own usage.
    pub fn now(devices: &'a [&'a str], workers: &'a [i32]) -> Self {
        Self {
            devices,
            workers,
            stamp: Stamp {
                monotonic_nanos: Some(clock::monotonic()),
                boot_nanos: Some(clock::boot()),
                wall_nanos: Some(clock::wall()),
            },
            own_usage: Some(resource_usage(usage::of_self())),
            children_usage: Some(resource_usage(usage::of_children())),
        }
    }
}

fn resource_usage(usage: usage::Usage) -> ResourceUsage {
    ResourceUsage {
        user_usec: Some(usage.user_micros),
        system_usec: Some(usage.system_micros),
        peak_resident_kib: Some(usage.peak_resident_kib),
        minor_faults: Some(usage.minor_faults),
        major_faults: Some(usage.major_faults),
        blocks_in: Some(usage.blocks_in),
        blocks_out: Some(usage.blocks_out),
        voluntary_switches: Some(usage.voluntary_switches),
        involuntary_switches: Some(usage.involuntary_switches),
    }
}

/// Takes snapshots; remembers up to where the kernel log was read.
#[derive(Debug)]
pub struct Reader {
    root: Root,
    groups: Groups,
    log: Option<LogReader>,
}

impl Reader {
    /// Prepares for snapshots below a root. Kernel-log lines count from here on.
    pub fn new(root: Root) -> Self {
        let groups = own_groups(&mut Reading::new(&root));
        Self {
            log: LogReader::at_end(&root),
            groups,
            root,
        }
    }

    /// Reads everything that is counted.
    pub fn snapshot(&mut self, request: &Request<'_>) -> Counters {
        let mut reading = Reading::new(&self.root);
        let mut counters = Counters {
            version: COUNTERS_VERSION,
            stamp: request.stamp,
            own_usage: request.own_usage.clone(),
            children_usage: request.children_usage.clone(),
            ..Counters::default()
        };
        // Devices first: our own reading below causes no I/O, but the log and the rest take time.
        for &name in request.devices {
            if let Some(statistics) = device(&mut reading, name) {
                counters.devices.insert(name.to_owned(), statistics);
            }
        }
        stat(&mut reading, &mut counters);
        counters.vmstat = reading.counts("/proc/vmstat").unwrap_or_default();
        counters.meminfo = reading.counts("/proc/meminfo").unwrap_or_default();
        counters.pressure = Pressure {
            cpu: stall(&mut reading, "/proc/pressure/cpu"),
            memory: stall(&mut reading, "/proc/pressure/memory"),
            io: stall(&mut reading, "/proc/pressure/io"),
            irq: stall(&mut reading, "/proc/pressure/irq"),
        };
        counters.own = process::counters(&mut reading, "self");
        for &worker in request.workers {
            let found = process::counters(&mut reading, &worker.to_string());
            counters.workers.extend(found.map(|found| (worker, found)));
        }
        counters.frequency_khz = frequencies(&mut reading);
        (
            counters.core_throttle_count,
            counters.package_throttle_count,
        ) = throttle_counts(&mut reading);
        counters.cgroup = cgroup(&mut reading, &self.groups);
        let folder = "/sys/devices/system/clocksource/clocksource0";
        counters.clock_source = reading.word(&format!("{folder}/current_clocksource"));
        counters.kernel_log = self.log.as_mut().map(LogReader::since_last);
        counters.notes = reading.into_notes();
        counters
    }
}

/// What is dirty and what is free, from one read of `/proc/meminfo`.
pub fn sample_memory(root: &Root) -> MemorySample {
    let text = Reading::new(root).text("/proc/meminfo").unwrap_or_default();
    let mut sample = MemorySample::default();
    for (_, name, value) in names_and_values(&text) {
        let field = match name {
            "Dirty" => &mut sample.dirty_kib,
            "Writeback" => &mut sample.writeback_kib,
            "MemFree" => &mut sample.free_kib,
            "MemAvailable" => &mut sample.available_kib,
            "Cached" => &mut sample.cached_kib,
            "SwapFree" => &mut sample.swap_free_kib,
            _ => continue,
        };
        *field = first_number(value);
    }
    sample
}

/// [`sample_memory`] and the limits of dirty memory, from one more read of `/proc/vmstat`.
pub fn sample_second(root: &Root) -> SecondSample {
    let text = Reading::new(root).text("/proc/vmstat").unwrap_or_default();
    let mut sample = SecondSample {
        memory: sample_memory(root),
        ..SecondSample::default()
    };
    for (_, name, value) in names_and_values(&text) {
        let field = match name {
            "nr_dirty" => &mut sample.dirty_pages,
            "nr_writeback" => &mut sample.writeback_pages,
            "nr_dirty_threshold" => &mut sample.dirty_threshold_pages,
            "nr_dirty_background_threshold" => &mut sample.background_threshold_pages,
            "pswpin" => &mut sample.swapped_in_pages,
            "pswpout" => &mut sample.swapped_out_pages,
            _ => continue,
        };
        *field = first_number(value);
    }
    sample
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Statistics of a device; `None` if it is gone, or does not count (`queue/iostats` is 0).
fn device(reading: &mut Reading<'_>, name: &str) -> Option<DeviceStatistics> {
    if name.contains('/') || name == ".." {
        return None;
    }
    let folder = format!("/sys/class/block/{name}");
    let path = format!("{folder}/stat");
    let text = reading.word(&path)?;
    if reading.flag(&format!("{folder}/queue/iostats")) == Some(false) {
        return None;
    }
    let fields: Vec<Option<u64>> = text
        .split_whitespace()
        .map(|word| reading.parsed(&path, Some(1), "field", word, "a whole number"))
        .collect();
    let field = |position: usize| fields.get(position).copied().flatten();
    Some(DeviceStatistics {
        disk_sequence: reading.number(&format!("{folder}/diskseq")),
        reads: field(0),
        reads_merged: field(1),
        sectors_read: field(2),
        read_msec: field(3),
        writes: field(4),
        writes_merged: field(5),
        sectors_written: field(6),
        write_msec: field(7),
        in_flight: field(8),
        busy_msec: field(9),
        weighted_msec: field(10),
        discards: field(11),
        discards_merged: field(12),
        sectors_discarded: field(13),
        discard_msec: field(14),
        flushes: field(15),
        flush_msec: field(16),
    })
}

/// Names of the soft interrupts in the order of the line `softirq` (`softirq_to_name` in kernel/softirq.c).
const SOFTIRQS: &[&str] = &[
    "hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu",
];

/// `/proc/stat`: CPU time, interrupts, context switches, forks.
fn stat(reading: &mut Reading<'_>, counters: &mut Counters) {
    const PATH: &str = "/proc/stat";
    let text = reading.text(PATH).unwrap_or_default();
    for (index, line) in text.lines().enumerate() {
        let (name, values) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let line = Some(index + 1);
        let mut count = |word: &str| reading.parsed(PATH, line, name, word, "a whole number");
        let mut words = values.split_whitespace();
        match name {
            "cpu" => counters.cpu = Some(ticks(values, count)),
            "ctxt" => counters.context_switches = words.next().and_then(count),
            "processes" => counters.forks = words.next().and_then(count),
            // The total comes first; what follows, one number for each interrupt, is not kept.
            "intr" => counters.interrupts = words.next().and_then(count),
            "softirq" => {
                let counts = SOFTIRQS.iter().zip(words.skip(1));
                for (&name, word) in counts {
                    counters
                        .softirqs
                        .extend(count(word).map(|n| (name.to_owned(), n)));
                }
            }
            cpu => {
                if let Some(number) = cpu.strip_prefix("cpu").and_then(|n| n.parse().ok()) {
                    counters.cpus.insert(number, ticks(values, count));
                }
            }
        }
    }
}

fn ticks(values: &str, count: impl FnMut(&str) -> Option<u64>) -> CpuTicks {
    let fields: Vec<Option<u64>> = values.split_whitespace().map(count).collect();
    let field = |position: usize| fields.get(position).copied().flatten();
    CpuTicks {
        user: field(0),
        nice: field(1),
        system: field(2),
        idle: field(3),
        iowait: field(4),
        irq: field(5),
        softirq: field(6),
        steal: field(7),
        guest: field(8),
        guest_nice: field(9),
    }
}

/// `some avg10=0.19 avg60=0.61 avg300=0.78 total=5902701`, then the same for `full`.
fn stall(reading: &mut Reading<'_>, path: &str) -> StallTotals {
    let text = reading.text(path).unwrap_or_default();
    let mut totals = StallTotals::default();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or("");
        let total = words
            .find_map(|word| word.strip_prefix("total="))
            .unwrap_or("");
        let total = reading.parsed(path, Some(index + 1), kind, total, "total=MICROSECONDS");
        match kind {
            "some" => totals.some_usec = total,
            "full" => totals.full_usec = total,
            _ => {}
        }
    }
    totals
}

/// Frequency of the first CPU of each policy, by CPU number, in kHz.
///
/// A file for each policy, and on x86 that is each CPU, which the kernel may have to wake for the answer: on a large
/// machine too dear for each second.
pub fn sample_frequencies(root: &Root) -> BTreeMap<u32, u64> {
    frequencies(&mut Reading::new(root))
}

fn frequencies(reading: &mut Reading<'_>) -> BTreeMap<u32, u64> {
    const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";
    let numbers = reading.root.numbered::<u32>(FOLDER, "policy").into_iter();
    numbers
        .filter_map(|number| {
            let khz = reading.number(&format!("{FOLDER}/policy{number}/scaling_cur_freq"))?;
            Some((number, khz))
        })
        .collect()
}

/// Files of our own group that count, by controller of v1; v2 has them all in one folder.
const V2_COUNTERS: &[&str] = &[
    "cpu.stat",
    "memory.events",
    "memory.swap.events",
    "pids.events",
];
const V1_COUNTERS: &[(&str, &str)] = &[("cpu", "cpu.stat"), ("memory", "memory.oom_control")];
/// Files of v1 that are one number.
const V1_NUMBERS: &[(&str, &str)] = &[
    ("memory", "memory.failcnt"),
    ("memory", "memory.memsw.failcnt"),
    ("cpuacct", "cpuacct.usage"),
];

fn cgroup(reading: &mut Reading<'_>, groups: &Groups) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let place = |folder: &PathBuf, file: &str| folder.join(file).to_string_lossy().into_owned();
    let unified = groups.unified.first();
    let in_v2 = unified
        .iter()
        .flat_map(|folder| V2_COUNTERS.iter().map(move |file| (*folder, *file)));
    let in_v1 = V1_COUNTERS
        .iter()
        .filter_map(|(controller, file)| Some((groups.v1(controller).first()?, *file)));
    for (folder, file) in in_v2.chain(in_v1) {
        let counts = reading.counts(&place(folder, file)).unwrap_or_default();
        counters.extend(
            counts
                .into_iter()
                .map(|(item, n)| (format!("{file}:{item}"), n)),
        );
    }
    for (controller, file) in V1_NUMBERS {
        let folder = groups.v1(controller).first();
        let count = folder.and_then(|folder| reading.number(&place(folder, file)));
        counters.extend(count.map(|count| ((*file).to_owned(), count)));
    }
    counters
}
