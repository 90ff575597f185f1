//! The running kernel, from `/proc` and the file of its build options.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use kernmark_model::machine::{ClockSource, Kernel, KernelConfig};

use super::reading::{Reading, quoted};

/// Longest text of build options; a real one has about 300 KiB.
const LONGEST_CONFIG_BYTES: u64 = 8 << 20;

/// Build options that move numbers; a star stands for any end. The tick and preemption, what checks
/// every allocation, lock or access, how control groups and block I/O account, mitigations and
/// hardening, how it was compiled.
const OPTIONS: &[&str] = &[
    "HZ*",
    "NO_HZ*",
    "PREEMPT",
    "PREEMPT_*",
    "PREEMPTION",
    "SLUB*",
    "SLAB*",
    "SLOB",
    "LOCKDEP",
    "PROVE_LOCKING",
    "PROVE_RCU",
    "LOCK_STAT",
    "DEBUG_LOCK_ALLOC",
    "DEBUG_MUTEXES",
    "DEBUG_SPINLOCK",
    "DEBUG_RWSEMS",
    "DEBUG_RT_MUTEXES",
    "DEBUG_ATOMIC_SLEEP",
    "DEBUG_PAGEALLOC*",
    "DEBUG_PREEMPT",
    "DEBUG_OBJECTS*",
    "DEBUG_KMEMLEAK*",
    "DEBUG_LIST",
    "DEBUG_VM*",
    "KASAN*",
    "KCSAN",
    "KMSAN",
    "KFENCE*",
    "UBSAN*",
    "KCOV",
    "GCOV_KERNEL",
    "CGROUPS",
    "CGROUP_*",
    "MEMCG*",
    "BLK_CGROUP*",
    "BLK_WBT*",
    "BLK_DEV_THROTTLING",
    "CFS_BANDWIDTH",
    "FAIR_GROUP_SCHED",
    "RT_GROUP_SCHED*",
    "SCHED_*",
    "SCHEDSTATS",
    "PSI*",
    "TASKSTATS",
    "TASK_*",
    "NUMA",
    "NUMA_BALANCING*",
    "TRANSPARENT_HUGEPAGE*",
    "LRU_GEN*",
    "PER_VMA_LOCK",
    "PAGE_SHIFT",
    "ARM64_4K_PAGES",
    "ARM64_16K_PAGES",
    "ARM64_64K_PAGES",
    "MITIGATION_*",
    "CPU_MITIGATIONS",
    "SPECULATION_MITIGATIONS",
    "PAGE_TABLE_ISOLATION",
    "RETPOLINE",
    "INIT_ON_*",
    "INIT_STACK_*",
    "HARDENED_USERCOPY*",
    "STACKPROTECTOR*",
    "RANDOMIZE_KSTACK*",
    "RANDOM_KMALLOC_CACHES",
    "CFI*",
    "SHADOW_CALL_STACK",
    "LTO_*",
    "CC_OPTIMIZE_*",
    "CC_VERSION_TEXT",
    "AUTOFDO_CLANG",
    "PROPELLER_CLANG",
    "LOCALVERSION",
    "FTRACE",
    "FUNCTION_TRACER",
    "DYNAMIC_FTRACE",
    "PARAVIRT*",
    "HYPERVISOR_GUEST",
    "KVM_GUEST",
    "AUDIT",
    "AUDITSYSCALL",
    "SECURITY_SELINUX",
    "SECURITY_APPARMOR",
    "IO_URING",
    "RCU_NOCB_CPU*",
    "RCU_BOOST",
    "RCU_LAZY*",
    "RCU_TRACE",
    "SMP",
    "NR_CPUS",
    "MAXSMP",
    "X86_INTEL_PSTATE",
    "X86_AMD_PSTATE",
    "CPU_FREQ_DEFAULT_GOV_*",
    "EXT4_DEBUG",
    "XFS_DEBUG",
    "XFS_WARN",
    "BTRFS_DEBUG",
    "BTRFS_ASSERT",
    "JBD2_DEBUG",
];

/// Settings below `/proc/sys/kernel` that move numbers.
const SETTINGS: &[&str] = &[
    "io_uring_disabled",
    "kptr_restrict",
    "nmi_watchdog",
    "numa_balancing",
    "perf_event_paranoid",
    "randomize_va_space",
    "sched_autogroup_enabled",
    "sched_cfs_bandwidth_slice_us",
    "sched_rt_period_us",
    "sched_rt_runtime_us",
    "sched_schedstats",
    "task_delayacct",
    "timer_migration",
    "watchdog",
];

pub(super) fn read(reading: &mut Reading<'_>) -> Kernel {
    let release = reading.word("/proc/sys/kernel/osrelease");
    let settings = SETTINGS.iter().filter_map(|&name| {
        let value = reading.word(&format!("/proc/sys/kernel/{name}"))?;
        Some((name.to_owned(), value))
    });
    Kernel {
        settings: settings.collect(),
        version: reading.word("/proc/sys/kernel/version"),
        banner: reading.word("/proc/version"),
        command_line: reading.word("/proc/cmdline"),
        tainted: reading.number("/proc/sys/kernel/tainted"),
        preemption: preemption(reading),
        sched_ext: sched_ext(reading),
        config: config(reading, release.as_deref()),
        release,
    }
}

pub(super) fn clock_source(reading: &mut Reading<'_>) -> ClockSource {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    let available = reading.word(&format!("{folder}/available_clocksource"));
    let available = available.unwrap_or_default();
    ClockSource {
        current: reading.word(&format!("{folder}/current_clocksource")),
        available: available.split_whitespace().map(str::to_owned).collect(),
    }
}

/// `none (voluntary) full`, the one in force in round brackets.
fn preemption(reading: &mut Reading<'_>) -> Option<String> {
    let path = "/sys/kernel/debug/sched/preempt";
    let text = reading.word(path)?;
    let chosen = text
        .split_once('(')
        .and_then(|(_, rest)| Some(rest.split_once(')')?.0));
    if chosen.is_none() {
        let problem = format!("no choice in brackets: {}", quoted(&text));
        reading.note(path, None, "value", &problem);
    }
    chosen.map(str::to_owned)
}

fn sched_ext(reading: &mut Reading<'_>) -> Option<String> {
    let state = reading.word("/sys/kernel/sched_ext/state")?;
    let name = reading.word("/sys/kernel/sched_ext/root/ops");
    Some(name.filter(|_| state != "disabled").unwrap_or(state))
}

fn config(reading: &mut Reading<'_>, release: Option<&str>) -> Option<KernelConfig> {
    if let Some(text) = unpacked(reading, "/proc/config.gz") {
        return Some(chosen_options(reading, "/proc/config.gz", &text));
    }
    // A release with a slash in it would lead out of the folder.
    let release = release.filter(|release| !release.contains('/'))?;
    let places = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        format!("/usr/lib/modules/{release}/config"),
        format!("/lib/modules/{release}/build/.config"),
    ];
    places.iter().find_map(|path| {
        let text = reading.text(path)?;
        Some(chosen_options(reading, path, &text))
    })
}

fn unpacked(reading: &mut Reading<'_>, path: &str) -> Option<String> {
    let packed = reading.bytes(path)?;
    let mut unpacked = Vec::new();
    let mut decoder = GzDecoder::new(packed.as_slice()).take(LONGEST_CONFIG_BYTES);
    if let Err(error) = decoder.read_to_end(&mut unpacked) {
        reading.note(path, None, "file", &format!("is no gzip text: {error}"));
        return None;
    }
    Some(String::from_utf8_lossy(&unpacked).into_owned())
}

fn is_wanted(option: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => option.starts_with(beginning),
        None => option == wanted,
    }
}

fn chosen_options(reading: &mut Reading<'_>, path: &str, text: &str) -> KernelConfig {
    let mut options = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let unset = line
            .strip_prefix("# CONFIG_")
            .and_then(|rest| rest.strip_suffix(" is not set"));
        let option = match (unset, line.strip_prefix("CONFIG_")) {
            (Some(name), _) => Some((name, "n")),
            (None, Some(rest)) => match rest.split_once('=') {
                Some((name, value)) => Some((name, value.trim_matches('"'))),
                None => {
                    let problem = "expected CONFIG_NAME=VALUE";
                    reading.note(path, Some(index + 1), line, problem);
                    None
                }
            },
            // Comments, blank lines.
            (None, None) => None,
        };
        if let Some((name, value)) = option
            && OPTIONS.iter().any(|wanted| is_wanted(name, wanted))
        {
            options.insert(name.to_owned(), value.to_owned());
        }
    }
    KernelConfig {
        source: path.to_owned(),
        options,
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::Root;
    use super::*;

    #[test]
    fn chooses_the_options_that_move_numbers() {
        let root = Root::real();
        let mut reading = Reading::new(&root);
        let text = "#\n# Automatically generated\n#\nCONFIG_CC_VERSION_TEXT=\"gcc 15\"\n\
                    CONFIG_HZ=250\n# CONFIG_PREEMPT is not set\nCONFIG_USB=y\nCONFIG_KASAN\n";
        let config = chosen_options(&mut reading, "/boot/config-6", text);
        let options: Vec<_> = config
            .options
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        assert_eq!(options, ["CC_VERSION_TEXT=gcc 15", "HZ=250", "PREEMPT=n"]);
        assert_eq!(
            reading.into_notes(),
            ["/boot/config-6:8: CONFIG_KASAN: expected CONFIG_NAME=VALUE"]
        );
    }
}
