//! Evidence, from outside the measured work, that a run was disturbed.
//!
//! The limits were fixed before any run was made, and none looks at the result: a run may be voided and repeated on such
//! evidence, never because its figure is odd.

use crate::counters::{Delta, SharedCpu};

/// More of the CPU time than this, taken by the hypervisor, disturbs.
pub const MOST_STEAL: f64 = 0.01;
/// More of the CPU time than this, used by programs that are not ours, disturbs.
pub const MOST_FOREIGN_CPU: f64 = 0.05;
/// A wall clock that ran this far from the monotonic one was set; a slewed one stays below in any run.
const CLOCK_STEP_NANOS: u128 = 1_000_000_000;
/// Sleep shorter than this is the reading of two clocks one after the other.
const ASLEEP_NANOS: u64 = 10_000_000;

/// What disturbed the time between two snapshots, each in words; empty if nothing did that the counters can tell.
///
/// `cpu` says whose processor time it was, where that was watched.
pub fn disturbances(counted: &Delta<'_>, cpu: Option<&SharedCpu>) -> Vec<String> {
    let mut evidence = Vec::new();
    let ticks = counted.cpu();
    if let Some(share) = ticks.as_ref().and_then(|ticks| ticks.steal_share())
        && share > MOST_STEAL
    {
        evidence.push(format!(
            "steal took {} of the CPU time; at most {} is allowed",
            percent(share),
            percent(MOST_STEAL)
        ));
    }
    if let (Some(ticks), Some(cpu)) = (&ticks, cpu) {
        evidence.extend(foreign_cpu(cpu, ticks.total()));
    }
    if let Some(pages) = counted.vmstat("pswpin").filter(|pages| *pages > 0) {
        evidence.push(format!("{pages} pages were swapped in"));
    }
    if let Some(events) = counted.throttle_events().filter(|events| *events > 0) {
        evidence.push(format!("the CPU was slowed for heat ({events} events)"));
    }
    if counted.clock_source_changed() == Some(true) {
        let name = |source: &Option<String>| source.clone().unwrap_or_default();
        evidence.push(format!(
            "the clock source changed from {} to {}",
            name(&counted.before.clock_source),
            name(&counted.after.clock_source)
        ));
    }
    evidence.extend(out_of_memory(counted));
    evidence.extend(kernel_log(counted));
    if let Some(step) = counted.wall_step_nanos()
        && step.unsigned_abs() >= CLOCK_STEP_NANOS
    {
        evidence.push("the wall clock was set".to_owned());
    }
    if counted
        .asleep_nanos()
        .is_some_and(|nanos| nanos >= ASLEEP_NANOS)
    {
        evidence.push("the machine slept".to_owned());
    }
    evidence
}

/// 0.041 as `4.1 %`.
fn percent(share: f64) -> String {
    let tenths = format!("{:.1}", 100.0 * share);
    format!("{} %", tenths.strip_suffix(".0").unwrap_or(&tenths))
}

#[expect(clippy::cast_precision_loss, reason = "a share between 0 and 1")]
fn foreign_cpu(cpu: &SharedCpu, total: u64) -> Option<String> {
    let share = |ticks: u64| ticks as f64 / total as f64;
    if total == 0 || share(cpu.foreign) <= MOST_FOREIGN_CPU {
        return None;
    }
    let greediest = cpu.foreigners.first().map(|foreign| {
        let (name, part) = (&foreign.name, percent(share(foreign.ticks)));
        format!(", {name} alone {part}")
    });
    Some(format!(
        "other programs used {} of the CPU time{}; at most {} is allowed",
        percent(share(cpu.foreign)),
        greediest.unwrap_or_default(),
        percent(MOST_FOREIGN_CPU)
    ))
}

fn out_of_memory(counted: &Delta<'_>) -> Option<String> {
    let kills = counted
        .vmstat("oom_kill")
        .max(counted.cgroup("memory.events:oom_kill"))?;
    (kills > 0).then(|| format!("the kernel killed {kills} programs for lack of memory"))
}

/// Lines of the kernel's own; programs may write to its log as they like.
fn kernel_log(counted: &Delta<'_>) -> Option<String> {
    let lines = counted.kernel_log()?;
    let mut own = lines.iter().filter(|line| line.facility == 0);
    let first = own.next()?;
    let more = own.count();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Some(format!("the kernel warned: {}{more}", first.text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Counters, CpuTicks, ForeignProcess, KernelLog, LogLine, delta};

    fn quiet() -> Counters {
        let mut counters = Counters {
            cpu: Some(CpuTicks {
                user: Some(100),
                nice: Some(0),
                system: Some(0),
                idle: Some(900),
                iowait: Some(0),
                steal: Some(0),
                ..CpuTicks::default()
            }),
            vmstat: [("pswpin".into(), 7), ("oom_kill".into(), 0)].into(),
            clock_source: Some("tsc".into()),
            core_throttle_count: Some(3),
            kernel_log: Some(KernelLog::default()),
            ..Counters::default()
        };
        counters.stamp.monotonic_nanos = Some(0);
        counters.stamp.boot_nanos = Some(0);
        counters.stamp.wall_nanos = Some(0);
        counters
    }

    /// A second later, with 1,000 ticks more of which `steal` were stolen.
    fn later(steal: u64) -> Counters {
        let mut counters = quiet();
        let cpu = counters.cpu.as_mut().unwrap();
        cpu.user = Some(600);
        cpu.idle = Some(1_400 - steal);
        cpu.steal = Some(steal);
        counters.stamp.monotonic_nanos = Some(1_000_000_000);
        counters.stamp.boot_nanos = Some(1_000_000_000);
        counters.stamp.wall_nanos = Some(1_000_000_000);
        counters
    }

    fn said(after: &Counters) -> Vec<String> {
        disturbances(&delta(&quiet(), after), None)
    }

    #[test]
    fn nothing_is_said_of_a_quiet_or_an_unknown_machine() {
        assert_eq!(said(&later(10)), [""; 0]);
        let nothing = Counters::default();
        let evidence = disturbances(&delta(&nothing, &nothing), Some(&SharedCpu::default()));
        assert_eq!(evidence, [""; 0]);
    }

    #[test]
    fn every_kind_of_evidence_is_put_into_words() {
        assert_eq!(
            said(&later(41)),
            ["steal took 4.1 % of the CPU time; at most 1 % is allowed"]
        );
        let mut after = later(0);
        after.vmstat = [("pswpin".into(), 19), ("oom_kill".into(), 2)].into();
        after.clock_source = Some("hpet".into());
        after.core_throttle_count = Some(4);
        after.stamp.wall_nanos = Some(7_000_000_000);
        after.stamp.boot_nanos = Some(3_000_000_000);
        let line = |facility, text: &str| LogLine {
            facility,
            text: text.into(),
            ..LogLine::default()
        };
        after.kernel_log = Some(KernelLog {
            lines: vec![
                line(3, "a daemon's complaint"),
                line(0, "INFO: task dd blocked"),
                line(0, "call trace"),
            ],
            ..KernelLog::default()
        });
        assert_eq!(
            said(&after),
            [
                "12 pages were swapped in",
                "the CPU was slowed for heat (1 events)",
                "the clock source changed from tsc to hpet",
                "the kernel killed 2 programs for lack of memory",
                "the kernel warned: INFO: task dd blocked and 1 more",
                "the wall clock was set",
                "the machine slept",
            ]
        );
    }

    #[test]
    fn programs_that_are_not_ours_are_named() {
        let cpu = |foreign| SharedCpu {
            foreign,
            foreigners: vec![ForeignProcess {
                process: 7,
                name: "cc1".into(),
                ticks: foreign - 10,
            }],
            ..SharedCpu::default()
        };
        let (before, after) = (quiet(), later(0));
        let said = |foreign| disturbances(&delta(&before, &after), Some(&cpu(foreign)));
        assert_eq!(said(50), [""; 0]);
        assert_eq!(
            said(62),
            ["other programs used 6.2 % of the CPU time, cc1 alone 5.2 %; at most 5 % is allowed"]
        );
    }
}
