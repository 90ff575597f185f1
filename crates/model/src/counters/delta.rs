//! What happened between two snapshots.
//!
//! A counter that went backwards wrapped, was reset, or belongs to a device that was replaced: the
//! difference is unknown then, and `None`.

use super::{Counters, CpuTicks, DeviceStatistics, LogLine, StallTotals};

/// Bytes in a sector of the kernel's statistics, whatever the device's own blocks.
const SECTOR_BYTES: u64 = 512;

/// Two snapshots, the earlier first.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    /// The earlier snapshot.
    pub before: &'a Counters,
    /// The later one.
    pub after: &'a Counters,
}

/// Compares two snapshots.
pub fn delta<'a>(before: &'a Counters, after: &'a Counters) -> Delta<'a> {
    Delta { before, after }
}

/// What one device did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceDelta {
    /// Bytes read from it.
    pub read_bytes: Option<u64>,
    /// Bytes written to it.
    pub written_bytes: Option<u64>,
    /// Bytes discarded.
    pub discarded_bytes: Option<u64>,
    /// Reads completed.
    pub reads: Option<u64>,
    /// Writes completed.
    pub writes: Option<u64>,
    /// Reads merged.
    pub reads_merged: Option<u64>,
    /// Writes merged.
    pub writes_merged: Option<u64>,
    /// Discards completed.
    pub discards: Option<u64>,
    /// Flushes completed.
    pub flushes: Option<u64>,
    /// Time that reads took, summed.
    pub read_msec: Option<u64>,
    /// Time that writes took, summed.
    pub write_msec: Option<u64>,
    /// Time that flushes took, summed.
    pub flush_msec: Option<u64>,
    /// Time with a request in flight.
    pub busy_msec: Option<u64>,
    /// Time in flight, summed over requests.
    pub weighted_msec: Option<u64>,
}

/// Where the CPU time went, in ticks of 1/100 s.
///
/// Idle time and time waiting for I/O are one number: the kernel moves time between the two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuDelta {
    /// In programs.
    pub user: u64,
    /// In programs of lowered priority.
    pub nice: u64,
    /// In the kernel.
    pub system: u64,
    /// In interrupts.
    pub irq: u64,
    /// In soft interrupts.
    pub softirq: u64,
    /// Given to others by the hypervisor.
    pub steal: u64,
    /// Idle, waiting for I/O or not.
    pub idle: u64,
}

/// Time that tasks were stalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// At least one task was stalled.
    pub some_usec: Option<u64>,
    /// All tasks that were not idle were stalled.
    pub full_usec: Option<u64>,
}

impl CpuDelta {
    /// All time of all CPUs.
    pub fn total(&self) -> u64 {
        let busy = self.busy();
        busy.saturating_add(self.steal).saturating_add(self.idle)
    }

    /// Time that this machine worked: neither idle nor stolen.
    pub fn busy(&self) -> u64 {
        [self.user, self.nice, self.system, self.irq, self.softirq]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Part of all time that this machine worked, 0 to 1; `None` if no time passed.
    pub fn busy_share(&self) -> Option<f64> {
        share(self.busy(), self.total())
    }

    /// Part of all time that the hypervisor gave to others, 0 to 1; `None` if no time passed.
    pub fn steal_share(&self) -> Option<f64> {
        share(self.steal, self.total())
    }
}

impl<'a> Delta<'a> {
    /// Time between the two, on the monotonic clock.
    pub fn elapsed_nanos(&self) -> Option<u64> {
        grown(
            self.before.stamp.monotonic_nanos,
            self.after.stamp.monotonic_nanos,
        )
    }

    /// How far the wall clock ran away from the monotonic one: a step that somebody or NTP made.
    ///
    /// The clocks are read one after the other, so that some microseconds mean nothing.
    pub fn wall_step_nanos(&self) -> Option<i128> {
        let passed = |from: Option<u64>, to: Option<u64>| Some(i128::from(to?) - i128::from(from?));
        let (before, after) = (&self.before.stamp, &self.after.stamp);
        let wall = passed(before.wall_nanos, after.wall_nanos)?;
        Some(wall - passed(before.monotonic_nanos, after.monotonic_nanos)?)
    }

    /// Time the machine slept between the two, to within the microseconds between reading two clocks.
    pub fn asleep_nanos(&self) -> Option<u64> {
        let boot = grown(self.before.stamp.boot_nanos, self.after.stamp.boot_nanos)?;
        Some(boot.saturating_sub(self.elapsed_nanos()?))
    }

    /// What a device did; `None` if it was not there both times, or is another one of the same name.
    pub fn device(&self, name: &str) -> Option<DeviceDelta> {
        let before = self.before.devices.get(name)?;
        let after = self.after.devices.get(name)?;
        if before.disk_sequence != after.disk_sequence {
            return None;
        }
        let count =
            |field: fn(&DeviceStatistics) -> Option<u64>| grown(field(before), field(after));
        let bytes = |field| count(field)?.checked_mul(SECTOR_BYTES);
        Some(DeviceDelta {
            read_bytes: bytes(|d| d.sectors_read),
            written_bytes: bytes(|d| d.sectors_written),
            discarded_bytes: bytes(|d| d.sectors_discarded),
            reads: count(|d| d.reads),
            writes: count(|d| d.writes),
            reads_merged: count(|d| d.reads_merged),
            writes_merged: count(|d| d.writes_merged),
            discards: count(|d| d.discards),
            flushes: count(|d| d.flushes),
            read_msec: count(|d| d.read_msec),
            write_msec: count(|d| d.write_msec),
            flush_msec: count(|d| d.flush_msec),
            busy_msec: count(|d| d.busy_msec),
            weighted_msec: count(|d| d.weighted_msec),
        })
    }

    /// Bytes read from all of `names` together; `None` if one of them is unknown, or none is given.
    pub fn devices_read_bytes<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<u64> {
        self.over_devices(names, |device| device.read_bytes)
    }

    /// Bytes written to all of `names` together; `None` if one of them is unknown, or none is given.
    pub fn devices_written_bytes<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<u64> {
        self.over_devices(names, |device| device.written_bytes)
    }

    fn over_devices<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        field: fn(DeviceDelta) -> Option<u64>,
    ) -> Option<u64> {
        let mut total: Option<u64> = None;
        for name in names {
            let bytes = field(self.device(name)?)?;
            total = Some(total.unwrap_or(0).checked_add(bytes)?);
        }
        total
    }

    /// Where the time of all CPUs went.
    pub fn cpu(&self) -> Option<CpuDelta> {
        cpu_delta(self.before.cpu.as_ref()?, self.after.cpu.as_ref()?)
    }

    /// Where the time of one CPU went.
    pub fn cpu_of(&self, number: u32) -> Option<CpuDelta> {
        cpu_delta(
            self.before.cpus.get(&number)?,
            self.after.cpus.get(&number)?,
        )
    }

    /// Context switches.
    pub fn context_switches(&self) -> Option<u64> {
        grown(self.before.context_switches, self.after.context_switches)
    }

    /// Processes and threads created.
    pub fn forks(&self) -> Option<u64> {
        grown(self.before.forks, self.after.forks)
    }

    /// Interrupts.
    pub fn interrupts(&self) -> Option<u64> {
        grown(self.before.interrupts, self.after.interrupts)
    }

    /// A counter of `/proc/vmstat`. The `nr_` items are levels, for which this means nothing.
    pub fn vmstat(&self, name: &str) -> Option<u64> {
        let value = |counters: &Counters| counters.vmstat.get(name).copied();
        grown(value(self.before), value(self.after))
    }

    /// A counter of our control group, `file:item`.
    pub fn cgroup(&self, name: &str) -> Option<u64> {
        let value = |counters: &Counters| counters.cgroup.get(name).copied();
        grown(value(self.before), value(self.after))
    }

    /// Time stalled for a CPU.
    pub fn cpu_stall(&self) -> Stall {
        stall(&self.before.pressure.cpu, &self.after.pressure.cpu)
    }

    /// Time stalled for memory.
    pub fn memory_stall(&self) -> Stall {
        stall(&self.before.pressure.memory, &self.after.pressure.memory)
    }

    /// Time stalled for I/O.
    pub fn io_stall(&self) -> Stall {
        stall(&self.before.pressure.io, &self.after.pressure.io)
    }

    /// Times that cores or packages were slowed for heat.
    ///
    /// Each CPU counts its own core and its package, so that only zero or not zero means anything.
    pub fn throttle_events(&self) -> Option<u64> {
        let core = grown(
            self.before.core_throttle_count,
            self.after.core_throttle_count,
        );
        let package = grown(
            self.before.package_throttle_count,
            self.after.package_throttle_count,
        );
        match (core, package) {
            (Some(core), Some(package)) => core.checked_add(package),
            (core, package) => core.or(package),
        }
    }

    /// Whether the kernel changed its clock source.
    pub fn clock_source_changed(&self) -> Option<bool> {
        let before = self.before.clock_source.as_ref()?;
        Some(before != self.after.clock_source.as_ref()?)
    }

    /// Lines of level warning and worse that the kernel logged; `None` if the log cannot be read.
    pub fn kernel_log(&self) -> Option<&'a [LogLine]> {
        self.after.kernel_log.as_ref().map(|log| &log.lines[..])
    }

    /// Bytes in the page cache waiting for, or being written to, a device at the end.
    pub fn still_dirty_bytes(&self) -> Option<u64> {
        let kib = |name| self.after.meminfo.get(name).copied();
        kib("Dirty")?
            .checked_add(kib("Writeback")?)?
            .checked_mul(1024)
    }
}

fn cpu_delta(before: &CpuTicks, after: &CpuTicks) -> Option<CpuDelta> {
    // Old kernels count less; what both snapshots lack took no time that we could know of.
    let newer = |before: Option<u64>, after: Option<u64>| match (before, after) {
        (None, None) => Some(0),
        _ => grown(before, after),
    };
    let idle = |ticks: &CpuTicks| ticks.idle?.checked_add(ticks.iowait.unwrap_or(0));
    Some(CpuDelta {
        user: grown(before.user, after.user)?,
        nice: grown(before.nice, after.nice)?,
        system: grown(before.system, after.system)?,
        irq: newer(before.irq, after.irq)?,
        softirq: newer(before.softirq, after.softirq)?,
        steal: newer(before.steal, after.steal)?,
        idle: grown(idle(before), idle(after))?,
    })
}

fn stall(before: &StallTotals, after: &StallTotals) -> Stall {
    Stall {
        some_usec: grown(before.some_usec, after.some_usec),
        full_usec: grown(before.full_usec, after.full_usec),
    }
}

fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    // Ticks of a machine's life stay far below 2^53, where a double counts exactly.
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{KernelLog, SecondSample};
    use super::*;

    fn device(sequence: u64, sectors_read: u64, sectors_written: u64) -> DeviceStatistics {
        DeviceStatistics {
            disk_sequence: Some(sequence),
            sectors_read: Some(sectors_read),
            sectors_written: Some(sectors_written),
            ..DeviceStatistics::default()
        }
    }

    fn with_device(name: &str, statistics: DeviceStatistics) -> Counters {
        Counters {
            devices: [(name.to_owned(), statistics)].into(),
            ..Counters::default()
        }
    }

    #[test]
    fn a_sector_is_512_bytes() {
        let before = with_device("sda", device(1, 10, 100));
        let after = with_device("sda", device(1, 12, 108));
        let delta = delta(&before, &after);
        assert_eq!(delta.devices_read_bytes(["sda"]), Some(1024));
        assert_eq!(delta.devices_written_bytes(["sda"]), Some(4096));
        assert_eq!(delta.device("sda").unwrap().discarded_bytes, None);
    }

    #[test]
    fn wrapped_replaced_and_vanished_devices_are_unknown() {
        let before = with_device("sda", device(1, 10, 100));
        let wrapped = with_device("sda", device(1, 3, 108));
        let delta_of_wrapped = delta(&before, &wrapped);
        assert_eq!(delta_of_wrapped.devices_read_bytes(["sda"]), None);
        assert_eq!(delta_of_wrapped.devices_written_bytes(["sda"]), Some(4096));
        let replaced = with_device("sda", device(2, 20, 200));
        assert_eq!(delta(&before, &replaced).device("sda"), None);
        let vanished = Counters::default();
        assert_eq!(delta(&before, &vanished).device("sda"), None);
        assert_eq!(
            delta(&before, &before).devices_read_bytes(["sda", "sdb"]),
            None
        );
        assert_eq!(delta(&before, &before).devices_read_bytes([]), None);
        assert_eq!(delta(&before, &before).devices_read_bytes(["sda"]), Some(0));
    }

    fn ticks(user: u64, idle: u64, iowait: u64, steal: u64) -> CpuTicks {
        CpuTicks {
            user: Some(user),
            nice: Some(0),
            system: Some(0),
            idle: Some(idle),
            iowait: Some(iowait),
            steal: Some(steal),
            ..CpuTicks::default()
        }
    }

    fn with_cpu(ticks: CpuTicks) -> Counters {
        Counters {
            cpu: Some(ticks),
            ..Counters::default()
        }
    }

    #[test]
    fn time_waiting_for_io_may_go_backwards_into_idle() {
        let before = with_cpu(ticks(100, 1000, 50, 0));
        let after = with_cpu(ticks(150, 1055, 45, 10));
        let cpu = delta(&before, &after).cpu().unwrap();
        assert_eq!((cpu.busy(), cpu.idle, cpu.total()), (50, 50, 110));
        assert_eq!(cpu.steal_share(), Some(10.0 / 110.0));
        assert_eq!(cpu.busy_share(), Some(50.0 / 110.0));
        assert_eq!(delta(&after, &before).cpu(), None);
        let still = delta(&after, &after).cpu().unwrap();
        assert_eq!(still.busy_share(), None);
    }

    #[test]
    fn clocks_that_jump_are_seen() {
        let at = |monotonic, boot, wall| {
            let mut counters = Counters::default();
            counters.stamp.monotonic_nanos = Some(monotonic);
            counters.stamp.boot_nanos = Some(boot);
            counters.stamp.wall_nanos = Some(wall);
            counters
        };
        let (before, after) = (at(100, 200, 9_000), at(150, 280, 8_550));
        let delta = delta(&before, &after);
        assert_eq!(delta.elapsed_nanos(), Some(50));
        assert_eq!(delta.asleep_nanos(), Some(30));
        assert_eq!(delta.wall_step_nanos(), Some(-500));
    }

    #[test]
    fn nothing_known_is_nothing_claimed() {
        let nothing = Counters::default();
        let delta = delta(&nothing, &nothing);
        assert_eq!(delta.elapsed_nanos(), None);
        assert_eq!(delta.cpu(), None);
        assert_eq!(delta.context_switches(), None);
        assert_eq!(delta.vmstat("pswpin"), None);
        assert_eq!(delta.throttle_events(), None);
        assert_eq!(delta.clock_source_changed(), None);
        assert_eq!(delta.kernel_log(), None);
        assert_eq!(delta.still_dirty_bytes(), None);
        assert_eq!(delta.cpu_stall(), Stall::default());
        assert_eq!(SecondSample::default().writers_throttled(), None);
    }

    #[test]
    fn an_empty_log_is_not_an_unreadable_one() {
        let before = Counters::default();
        let after = Counters {
            kernel_log: Some(KernelLog::default()),
            ..Counters::default()
        };
        assert_eq!(delta(&before, &after).kernel_log(), Some(&[][..]));
    }

    #[test]
    fn writers_are_paced_beyond_half_way_between_the_thresholds() {
        let sample = |dirty| SecondSample {
            dirty_pages: Some(dirty),
            writeback_pages: Some(10),
            dirty_threshold_pages: Some(200),
            background_threshold_pages: Some(100),
            ..SecondSample::default()
        };
        assert_eq!(sample(140).writers_throttled(), Some(false));
        assert_eq!(sample(141).writers_throttled(), Some(true));
    }

    #[test]
    fn snapshots_survive_json_and_old_readers_fields() {
        let before = with_device("sda", device(1, 10, 100));
        let text = serde_json::to_string(&before).unwrap();
        assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), before);
        let sparse: Counters = serde_json::from_str(r#"{"version":1,"later":3}"#).unwrap();
        assert_eq!(sparse.version, 1);
        assert_eq!(sparse.cpu, None);
    }
}
