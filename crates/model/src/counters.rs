//! What the kernel counted, raw: one snapshot before a phase, one after, compared when reading.

mod delta;
mod processes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use delta::{CpuDelta, Delta, DeviceDelta, Stall, delta};
pub use processes::{ForeignProcess, ProcessTimes, Processes, SharedCpu};

/// The version that [`Counters`] is written in.
pub const COUNTERS_VERSION: u32 = 1;

/// Everything counted at one moment.
///
/// The snapshot takes a few milliseconds and is not atomic. A counter that this kernel lacks, or that
/// we may not read, is `None` or absent from its map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Format of this record, [`COUNTERS_VERSION`]; 0 in a record nobody filled.
    pub version: u32,
    /// When the snapshot began.
    pub stamp: Stamp,
    /// Statistics of the block devices asked for, by kernel name.
    pub devices: BTreeMap<String, DeviceStatistics>,
    /// Time of all CPUs together.
    pub cpu: Option<CpuTicks>,
    /// Time of each CPU, by number.
    pub cpus: BTreeMap<u32, CpuTicks>,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
    /// Processes and threads created since boot.
    pub forks: Option<u64>,
    /// Interrupts since boot.
    pub interrupts: Option<u64>,
    /// Soft interrupts since boot, by the kernel's name (`net_rx`, `block`, …).
    pub softirqs: BTreeMap<String, u64>,
    /// `/proc/vmstat`, whole.
    pub vmstat: BTreeMap<String, u64>,
    /// `/proc/meminfo`, whole: KiB, except the `HugePages_` counts.
    pub meminfo: BTreeMap<String, u64>,
    /// How long tasks waited for something, since boot.
    pub pressure: Pressure,
    /// This process; its I/O and children's times include children that were waited for.
    pub own: Option<ProcessCounters>,
    /// The workers asked for, by process number; those already gone are absent.
    pub workers: BTreeMap<i32, ProcessCounters>,
    /// `getrusage` of this process.
    pub own_usage: Option<ResourceUsage>,
    /// `getrusage` of its children that were waited for.
    pub children_usage: Option<ResourceUsage>,
    /// Frequency of each policy's first CPU, by CPU number.
    pub frequency_khz: BTreeMap<u32, u64>,
    /// Times that cores were slowed for heat since boot, summed over CPUs.
    pub core_throttle_count: Option<u64>,
    /// Times that packages were slowed for heat since boot, summed over CPUs.
    pub package_throttle_count: Option<u64>,
    /// Our control group's counters, `file:item` (`cpu.stat:nr_throttled`, `memory.events:oom_kill`).
    pub cgroup: BTreeMap<String, u64>,
    /// The clock source in use: a change of it during a phase spoils every time.
    pub clock_source: Option<String>,
    /// Kernel-log lines of level warning and worse since the snapshot before; `None` if the log cannot be read.
    pub kernel_log: Option<KernelLog>,
    /// What was there but could not be understood: path, line, item, reason.
    pub notes: Vec<String>,
}

/// One moment on three clocks; two of them jumping apart is a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamp {
    /// `CLOCK_MONOTONIC`: the only one that measures.
    pub monotonic_nanos: Option<u64>,
    /// `CLOCK_BOOTTIME`: goes on while the machine sleeps.
    pub boot_nanos: Option<u64>,
    /// `CLOCK_REALTIME` since 1970: steps when somebody sets it.
    pub wall_nanos: Option<u64>,
}

/// `/sys/class/block/DEV/stat`. A sector is 512 bytes whatever the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceStatistics {
    /// Number of this appearance of the device: a device that was replaced has another one.
    pub disk_sequence: Option<u64>,
    /// Reads completed.
    pub reads: Option<u64>,
    /// Reads merged into others before they were issued.
    pub reads_merged: Option<u64>,
    /// Sectors read.
    pub sectors_read: Option<u64>,
    /// Time that reads took, summed over requests.
    pub read_msec: Option<u64>,
    /// Writes completed.
    pub writes: Option<u64>,
    /// Writes merged into others before they were issued.
    pub writes_merged: Option<u64>,
    /// Sectors written.
    pub sectors_written: Option<u64>,
    /// Time that writes took, summed over requests.
    pub write_msec: Option<u64>,
    /// Requests issued and not completed: a level, not a count.
    pub in_flight: Option<u64>,
    /// Time in which at least one request was in flight.
    pub busy_msec: Option<u64>,
    /// Time in flight summed over requests.
    pub weighted_msec: Option<u64>,
    /// Discards completed (since Linux 4.18).
    pub discards: Option<u64>,
    /// Discards merged.
    pub discards_merged: Option<u64>,
    /// Sectors discarded.
    pub sectors_discarded: Option<u64>,
    /// Time that discards took.
    pub discard_msec: Option<u64>,
    /// Flushes completed (since Linux 5.5; not counted for partitions).
    pub flushes: Option<u64>,
    /// Time that flushes took.
    pub flush_msec: Option<u64>,
}

/// A line of `/proc/stat`, in ticks of 1/100 s.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTicks {
    /// In programs, guests included.
    pub user: Option<u64>,
    /// In programs of lowered priority, guests included.
    pub nice: Option<u64>,
    /// In the kernel.
    pub system: Option<u64>,
    /// With nothing to do.
    pub idle: Option<u64>,
    /// With nothing to do but I/O outstanding; an estimate that can go backwards.
    pub iowait: Option<u64>,
    /// In interrupts.
    pub irq: Option<u64>,
    /// In soft interrupts.
    pub softirq: Option<u64>,
    /// Given to others by the hypervisor.
    pub steal: Option<u64>,
    /// In guests of ours; also counted in `user`.
    pub guest: Option<u64>,
    /// In guests of lowered priority; also counted in `nice`.
    pub guest_nice: Option<u64>,
}

/// `/proc/pressure`: time that tasks were stalled, since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: StallTotals,
    /// For memory.
    pub memory: StallTotals,
    /// For I/O.
    pub io: StallTotals,
    /// For interrupts (since Linux 6.1; `full` only).
    pub irq: StallTotals,
}

/// Time stalled for one thing, since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StallTotals {
    /// At least one task was stalled.
    pub some_usec: Option<u64>,
    /// All tasks that were not idle were stalled at once.
    pub full_usec: Option<u64>,
}

/// What one process did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessCounters {
    /// When it started, in ticks since boot: tells a process from a later one of the same number.
    pub start_ticks: Option<u64>,
    /// Bytes that read calls returned, from the page cache or not.
    pub read_call_bytes: Option<u64>,
    /// Bytes given to write calls.
    pub write_call_bytes: Option<u64>,
    /// Read calls.
    pub read_calls: Option<u64>,
    /// Write calls.
    pub write_calls: Option<u64>,
    /// Bytes it had fetched from devices.
    pub device_read_bytes: Option<u64>,
    /// Bytes it made dirty, to be written to devices by whoever does it.
    pub device_write_bytes: Option<u64>,
    /// Bytes of dirty cache it dropped before they were written.
    pub cancelled_write_bytes: Option<u64>,
    /// Page faults served without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: Option<u64>,
    /// CPU time in the program, in ticks of 1/100 s.
    pub user_ticks: Option<u64>,
    /// CPU time in the kernel, in ticks of 1/100 s.
    pub system_ticks: Option<u64>,
    /// The same of children waited for.
    pub children_user_ticks: Option<u64>,
    /// The same of children waited for.
    pub children_system_ticks: Option<u64>,
    /// Time spent waiting for block I/O, in ticks of 1/100 s (needs delay accounting).
    pub block_delay_ticks: Option<u64>,
    /// Time its first thread ran (`schedstat`).
    pub run_nanos: Option<u64>,
    /// Time its first thread was ready but waited for a CPU.
    pub wait_nanos: Option<u64>,
    /// Times its first thread was put on a CPU.
    pub timeslices: Option<u64>,
}

/// `getrusage`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceUsage {
    /// CPU time in programs.
    pub user_usec: Option<u64>,
    /// CPU time in the kernel.
    pub system_usec: Option<u64>,
    /// Most memory resident at once.
    pub peak_resident_kib: Option<u64>,
    /// Page faults served without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: Option<u64>,
    /// Units of 512 bytes read from devices.
    pub blocks_in: Option<u64>,
    /// Units of 512 bytes written to devices.
    pub blocks_out: Option<u64>,
    /// Times it gave the CPU up.
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from it.
    pub involuntary_switches: Option<u64>,
}

/// Lines of the kernel log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelLog {
    /// Lines of level warning and worse, oldest first, as many as are kept.
    pub lines: Vec<LogLine>,
    /// Lines of those levels beyond what is kept.
    pub more: u64,
    /// Whether the kernel overwrote lines before we read them.
    pub overrun: bool,
}

/// One line of the kernel log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLine {
    /// 0 emergency to 4 warning.
    pub level: u8,
    /// 0 is the kernel itself; programs that write to its log have others.
    pub facility: u32,
    /// The kernel's number of the line.
    pub sequence: u64,
    /// When it was logged, on the kernel's own clock, about that of time since boot.
    pub logged_usec: u64,
    /// The line.
    pub text: String,
}

/// What is read each second while a phase runs: cheap enough not to be the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySample {
    /// Page cache waiting to be written.
    pub dirty_kib: Option<u64>,
    /// Page cache being written.
    pub writeback_kib: Option<u64>,
    /// Memory not used for anything.
    pub free_kib: Option<u64>,
    /// Memory that could be had without swapping, the kernel's estimate.
    pub available_kib: Option<u64>,
    /// Page cache, shared memory included.
    pub cached_kib: Option<u64>,
    /// Swap not used.
    pub swap_free_kib: Option<u64>,
}

/// [`MemorySample`] and the limits that dirty pages run into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecondSample {
    /// From `/proc/meminfo`.
    pub memory: MemorySample,
    /// Pages waiting to be written.
    pub dirty_pages: Option<u64>,
    /// Pages being written.
    pub writeback_pages: Option<u64>,
    /// Pages beyond which writers are stopped.
    pub dirty_threshold_pages: Option<u64>,
    /// Pages beyond which writing starts in the background.
    pub background_threshold_pages: Option<u64>,
    /// Pages read in from swap since boot.
    pub swapped_in_pages: Option<u64>,
    /// Pages written out to swap since boot.
    pub swapped_out_pages: Option<u64>,
}

impl SecondSample {
    /// Whether writers were being slowed down: more is dirty or under writeback than half way between
    /// the two thresholds, where the kernel starts to pace them (`dirty_freerun_ceiling` in
    /// mm/page-writeback.c).
    ///
    /// A control group or a slow device may pace its writers earlier; that is not seen here.
    pub fn writers_throttled(&self) -> Option<bool> {
        let pages = self.dirty_pages?.checked_add(self.writeback_pages?)?;
        let thresholds = self
            .dirty_threshold_pages?
            .checked_add(self.background_threshold_pages?)?;
        Some(pages > thresholds / 2)
    }
}
