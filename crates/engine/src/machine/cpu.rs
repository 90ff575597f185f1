//! Processors, from `/proc/cpuinfo` and `/sys/devices/system/cpu`.

use std::collections::{BTreeMap, BTreeSet};

use kernmark_model::machine::{
    Cache, Cpu, CpuSet, Frequency, FrequencyPolicy, Idle, IdleState, Topology,
};

use super::reading::{Reading, names_and_values, quoted};

const FOLDER: &str = "/sys/devices/system/cpu";

pub(super) fn read(reading: &mut Reading<'_>) -> Cpu {
    let cpuinfo = reading.text("/proc/cpuinfo").unwrap_or_default();
    // Arm has no model name; PowerPC calls it `cpu`.
    let any = |names: &[&str]| names.iter().find_map(|name| distinct(&cpuinfo, name));
    let topology = topology(reading);
    Cpu {
        model_name: any(&["model name", "cpu model", "cpu"]),
        vendor: any(&["vendor_id", "CPU implementer"]),
        family: any(&["cpu family", "CPU architecture"]),
        model: any(&["model", "CPU part"]),
        stepping: any(&["stepping", "CPU revision", "revision"]),
        microcode: any(&["microcode"]),
        architecture: reading.word("/proc/sys/kernel/arch"),
        caches: caches(reading, topology.online.as_ref()),
        frequency: frequency(reading),
        idle: idle(reading),
        smt_control: reading.word(&format!("{FOLDER}/smt/control")),
        smt_active: reading.flag(&format!("{FOLDER}/smt/active")),
        mitigations: mitigations(reading),
        topology,
    }
}

/// The values that the processors give for one name, each once, in their order.
fn distinct(cpuinfo: &str, name: &str) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for (_, key, value) in names_and_values(cpuinfo) {
        if key == name && !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    (!values.is_empty()).then(|| values.join(", "))
}

/// Whether the first processor has a flag of x86; `None` without a line of flags.
pub(super) fn has_flag(cpuinfo: &str, flag: &str) -> Option<bool> {
    let mut lines = names_and_values(cpuinfo);
    let (_, _, flags) = lines.find(|(_, name, _)| *name == "flags")?;
    Some(flags.split_whitespace().any(|word| word == flag))
}

fn topology(reading: &mut Reading<'_>) -> Topology {
    let online = cpu_list(reading, &format!("{FOLDER}/online"));
    let mut packages = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in present(reading, online.as_ref()) {
        let folder = format!("{FOLDER}/cpu{cpu}/topology");
        let package = reading.signed(&format!("{folder}/physical_package_id"));
        packages.extend(package.filter(|&id| id >= 0));
        // The older name is what kernels before 5.3 have.
        let mut siblings = |name: &str| {
            let mask = format!("{folder}/{name}");
            cpu_set(reading, &format!("{mask}_list"), &mask)
        };
        let core = siblings("core_cpus").or_else(|| siblings("thread_siblings"));
        cores.extend(core.map(|core| core.to_string()));
    }
    let counted = |set: usize| u64::try_from(set).ok().filter(|&count| count > 0);
    let status = reading.text("/proc/self/status").unwrap_or_default();
    let allowed = names_and_values(&status).find(|(_, name, _)| *name == "Cpus_allowed_list");
    let allowed = allowed.and_then(|(line, name, list)| {
        reading.parsed(
            "/proc/self/status",
            Some(line),
            name,
            list,
            "a list of CPUs",
        )
    });
    Topology {
        sockets: counted(packages.len()),
        cores: counted(cores.len()),
        threads: online.as_ref().map(CpuSet::count),
        online,
        offline: cpu_list(reading, &format!("{FOLDER}/offline")),
        isolated: cpu_list(reading, &format!("{FOLDER}/isolated")),
        nohz_full: cpu_list(reading, &format!("{FOLDER}/nohz_full")),
        allowed,
    }
}

/// CPUs that have a folder and run; the folder alone decides where nothing says what runs.
fn present(reading: &Reading<'_>, online: Option<&CpuSet>) -> Vec<u32> {
    let folders = reading.root.numbered::<u32>(FOLDER, "cpu").into_iter();
    folders
        .filter(|&cpu| online.is_none_or(|online| online.contains(cpu)))
        .collect()
}

/// A file in the list spelling. An empty one is an empty set, `(null)` (nohz_full of old kernels) too.
pub(super) fn cpu_list(reading: &mut Reading<'_>, path: &str) -> Option<CpuSet> {
    let text = reading.text(path)?;
    match text.trim() {
        "(null)" => Some(CpuSet::default()),
        list => reading.parsed(path, None, "value", list, "a list of CPUs"),
    }
}

/// Two files that say the same: the list where it exists, else the mask, which is all old kernels have.
pub(super) fn cpu_set(
    reading: &mut Reading<'_>,
    list_path: &str,
    mask_path: &str,
) -> Option<CpuSet> {
    if let Some(set) = cpu_list(reading, list_path) {
        return Some(set);
    }
    let mask = reading.word(mask_path)?;
    match CpuSet::from_mask(&mask) {
        Ok(set) => Some(set),
        Err(_) => {
            let problem = format!("expected a mask of CPUs, found {}", quoted(&mask));
            reading.note(mask_path, None, "value", &problem);
            None
        }
    }
}

fn caches(reading: &mut Reading<'_>, online: Option<&CpuSet>) -> Vec<Cache> {
    // A cache that an earlier CPU shares has been seen; on a large machine most files need no reading.
    let mut seen: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in present(reading, online) {
        let folder = format!("{FOLDER}/cpu{cpu}/cache");
        for index in reading.root.numbered::<u32>(&folder, "index") {
            if seen.get(&index).is_some_and(|cpus| cpus.contains(&cpu)) {
                continue;
            }
            let cache = cache(reading, &format!("{folder}/index{index}"), cpu, |shared| {
                seen.entry(index).or_default().extend(shared);
            });
            let alike = |known: &&mut Cache| {
                let instances = known.instances;
                **known
                    == Cache {
                        instances,
                        ..cache.clone()
                    }
            };
            match caches.iter_mut().find(alike) {
                Some(known) => known.instances = known.instances.map(|count| count + 1),
                None => caches.push(Cache {
                    instances: Some(1),
                    ..cache
                }),
            }
        }
    }
    caches.sort_by(|one, two| (one.level, &one.kind).cmp(&(two.level, &two.kind)));
    caches
}

fn cache(
    reading: &mut Reading<'_>,
    folder: &str,
    cpu: u32,
    mut sharing: impl FnMut(Vec<u32>),
) -> Cache {
    /// More CPUs than any machine has: a bound for a made-up list.
    const MOST_CPUS: u64 = 1 << 16;
    let (list, mask) = (
        format!("{folder}/shared_cpu_list"),
        format!("{folder}/shared_cpu_map"),
    );
    let shared = cpu_set(reading, &list, &mask);
    let shared = shared.filter(|set| set.contains(cpu) && set.count() <= MOST_CPUS);
    sharing(
        shared
            .as_ref()
            .map_or_else(Vec::new, |set| set.iter().collect()),
    );
    Cache {
        level: reading.number(&format!("{folder}/level")),
        kind: reading.word(&format!("{folder}/type")),
        size_bytes: size(reading, &format!("{folder}/size")),
        line_bytes: reading.number(&format!("{folder}/coherency_line_size")),
        ways: reading.number(&format!("{folder}/ways_of_associativity")),
        shared_by: shared.as_ref().map(CpuSet::count),
        instances: None,
    }
}

/// A size as cache files print it: `1024K`.
fn size(reading: &mut Reading<'_>, path: &str) -> Option<u64> {
    let word = reading.word(path)?;
    let (number, unit) = match word.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => match word.strip_suffix('M') {
            Some(number) => (number, 1 << 20),
            None => (word.as_str(), 1),
        },
    };
    let size: u64 = reading.parsed(path, None, "value", number, "a size such as 1024K")?;
    size.checked_mul(unit)
}

fn frequency(reading: &mut Reading<'_>) -> Frequency {
    let mut policies: Vec<(Vec<u32>, FrequencyPolicy)> = Vec::new();
    for number in reading
        .root
        .numbered::<u32>(format!("{FOLDER}/cpufreq"), "policy")
    {
        let folder = format!("{FOLDER}/cpufreq/policy{number}");
        let cpus = affected(reading, &folder).unwrap_or_else(|| vec![number]);
        let policy = policy(reading, &folder);
        match policies.iter_mut().find(|(_, known)| *known == policy) {
            Some((known, _)) => known.extend(cpus),
            None => policies.push((cpus, policy)),
        }
    }
    let policies = policies.into_iter().map(|(cpus, policy)| FrequencyPolicy {
        cpus: Some(cpus.into_iter().collect()),
        ..policy
    });
    let no_turbo = reading.flag(&format!("{FOLDER}/intel_pstate/no_turbo"));
    let turbo = match no_turbo {
        Some(without) => Some(!without),
        None => reading.flag(&format!("{FOLDER}/cpufreq/boost")),
    };
    let mode = reading.word(&format!("{FOLDER}/intel_pstate/status"));
    Frequency {
        policies: policies.collect(),
        turbo,
        driver_mode: mode.or_else(|| reading.word(&format!("{FOLDER}/amd_pstate/status"))),
    }
}

/// `affected_cpus` is a list apart by spaces.
fn affected(reading: &mut Reading<'_>, folder: &str) -> Option<Vec<u32>> {
    let path = format!("{folder}/affected_cpus");
    let text = reading.word(&path)?;
    let words = text.split_whitespace();
    words
        .map(|word| reading.parsed(&path, None, "cpu", word, "a CPU number"))
        .collect()
}

fn policy(reading: &mut Reading<'_>, folder: &str) -> FrequencyPolicy {
    let mut word = |name: &str| reading.word(&format!("{folder}/{name}"));
    let (driver, governor) = (word("scaling_driver"), word("scaling_governor"));
    let energy_preference = word("energy_performance_preference");
    let mut number = |name: &str| reading.number(&format!("{folder}/{name}"));
    FrequencyPolicy {
        cpus: None,
        driver,
        governor,
        energy_preference,
        minimum_khz: number("scaling_min_freq"),
        maximum_khz: number("scaling_max_freq"),
        hardware_minimum_khz: number("cpuinfo_min_freq"),
        hardware_maximum_khz: number("cpuinfo_max_freq"),
        base_khz: number("base_frequency"),
    }
}

fn idle(reading: &mut Reading<'_>) -> Idle {
    let states = format!("{FOLDER}/cpu0/cpuidle");
    let states = reading
        .root
        .numbered::<u32>(&states, "state")
        .into_iter()
        .map(|number| {
            let folder = format!("{states}/state{number}");
            IdleState {
                name: reading.word(&format!("{folder}/name")),
                exit_latency_usec: reading.number(&format!("{folder}/latency")),
                disabled: reading.flag(&format!("{folder}/disable")),
            }
        });
    let states = states.collect();
    let governor = reading.word(&format!("{FOLDER}/cpuidle/current_governor"));
    Idle {
        states,
        driver: reading.word(&format!("{FOLDER}/cpuidle/current_driver")),
        governor: governor
            .or_else(|| reading.word(&format!("{FOLDER}/cpuidle/current_governor_ro"))),
    }
}

fn mitigations(reading: &mut Reading<'_>) -> BTreeMap<String, String> {
    let folder = format!("{FOLDER}/vulnerabilities");
    let names = reading.root.names(&folder).into_iter();
    names
        .filter_map(|name| {
            let state = reading.word(&format!("{folder}/{name}"))?;
            Some((name, state))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_mixed_processors_are_kept_once_each() {
        let cpuinfo = "CPU part\t: 0xd03\n\nCPU part\t: 0xd09\n\nCPU part\t: 0xd03\n";
        assert_eq!(
            distinct(cpuinfo, "CPU part").as_deref(),
            Some("0xd03, 0xd09")
        );
        assert_eq!(distinct(cpuinfo, "model name"), None);
    }

    #[test]
    fn a_flag_is_a_whole_word() {
        let cpuinfo = "flags\t\t: fpu hypervisor2 lm\n";
        assert_eq!(has_flag(cpuinfo, "hypervisor"), Some(false));
        assert_eq!(has_flag(cpuinfo, "lm"), Some(true));
        assert_eq!(has_flag("Features : fp\n", "fp"), None);
    }
}
