//! What the machine is called, runs inside, and is fed by.

use std::collections::BTreeMap;

use kernmark_model::machine::{Firmware, MachineState, Power, Virtualisation};

use super::cpu::has_flag;
use super::reading::{Reading, quoted};

const DMI: &str = "/sys/class/dmi/id";

pub(super) fn firmware(reading: &mut Reading<'_>) -> Firmware {
    let mut dmi = |name: &str| reading.word(&format!("{DMI}/{name}"));
    let firmware = Firmware {
        system_vendor: dmi("sys_vendor"),
        product_name: dmi("product_name"),
        product_version: dmi("product_version"),
        board_vendor: dmi("board_vendor"),
        board_name: dmi("board_name"),
        bios_version: dmi("bios_version"),
        bios_date: dmi("bios_date"),
    };
    let product_name = firmware
        .product_name
        .or_else(|| reading.word("/proc/device-tree/model"));
    Firmware {
        product_name,
        ..firmware
    }
}

/// What firmware calls itself in a virtual machine, and the hypervisor that does so.
const FIRMWARE_OF_HYPERVISORS: &[(&str, &str)] = &[
    ("QEMU", "qemu"),
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("Amazon EC2", "amazon"),
    ("Google", "google"),
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("Virtual Machine", "hyper-v"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Apple Virtualization", "apple"),
];

/// Buses that only one hypervisor offers. (Virtio is offered by many, and says nothing.)
const GUEST_BUSES: &[(&str, &str)] = &[
    ("/sys/bus/vmbus/devices", "hyper-v"),
    ("/sys/bus/xen/devices", "xen"),
];

/// Words in our control group's path and the container they betray.
const CGROUPS_OF_CONTAINERS: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("lxc", "lxc"),
    ("machine.slice/systemd-nspawn", "systemd-nspawn"),
    ("containerd", "containerd"),
    ("garden", "garden"),
];

/// Files that a container engine leaves in its containers.
const FILES_OF_CONTAINERS: &[(&str, &str)] = &[
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
];

pub(super) fn virtualisation(reading: &mut Reading<'_>, firmware: &Firmware) -> Virtualisation {
    let cpuinfo = reading.text("/proc/cpuinfo").unwrap_or_default();
    let hypervisor_flag = has_flag(&cpuinfo, "hypervisor");
    let mut evidence = Vec::new();
    let hypervisor = hypervisor(reading, firmware, hypervisor_flag, &mut evidence);
    let container = container(reading, &mut evidence);
    Virtualisation {
        hypervisor_flag,
        hypervisor,
        container,
        evidence,
    }
}

fn hypervisor(
    reading: &mut Reading<'_>,
    firmware: &Firmware,
    flag: Option<bool>,
    evidence: &mut Vec<String>,
) -> Option<String> {
    if let Some(kind) = reading.word("/sys/hypervisor/type") {
        evidence.push(format!("/sys/hypervisor/type is {}", quoted(&kind)));
        return Some(kind);
    }
    if let Some(kind) = reading.word("/proc/device-tree/hypervisor/compatible") {
        let path = "/proc/device-tree/hypervisor/compatible";
        evidence.push(format!("{path} is {}", quoted(&kind)));
        return Some(kind.trim_start_matches("linux,").to_owned());
    }
    let names = [
        &firmware.system_vendor,
        &firmware.product_name,
        &firmware.board_vendor,
    ];
    for name in names.into_iter().flatten() {
        let known = FIRMWARE_OF_HYPERVISORS
            .iter()
            .find(|(word, _)| name.contains(word));
        // Clouds and laptop makers sell hardware too: where there is a flag, it decides.
        if let Some((_, hypervisor)) = known
            && flag != Some(false)
        {
            evidence.push(format!("the firmware calls the system {}", quoted(name)));
            return Some((*hypervisor).to_owned());
        }
    }
    let source = reading.word("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    if source.is_some_and(|sources| sources.contains("kvm-clock")) {
        evidence.push("the clock source kvm-clock is offered".to_owned());
        return Some("kvm".to_owned());
    }
    for (folder, hypervisor) in GUEST_BUSES {
        if flag == Some(true) && !reading.root.names(folder).is_empty() {
            evidence.push(format!("{folder} has devices"));
            return Some((*hypervisor).to_owned());
        }
    }
    if flag == Some(true) {
        evidence.push("the processor has the flag hypervisor".to_owned());
        return Some("unknown".to_owned());
    }
    None
}

fn container(reading: &mut Reading<'_>, evidence: &mut Vec<String>) -> Option<String> {
    if let Some(kind) = reading.word("/run/systemd/container") {
        evidence.push(format!("/run/systemd/container is {}", quoted(&kind)));
        return Some(kind);
    }
    let environment = reading.text("/proc/1/environ").unwrap_or_default();
    let named = environment
        .split('\0')
        .find_map(|entry| entry.strip_prefix("container="));
    if let Some(kind) = named {
        evidence.push(format!(
            "the first process was started with container={}",
            quoted(kind)
        ));
        return Some(kind.to_owned());
    }
    for (path, kind) in FILES_OF_CONTAINERS {
        if reading.root.place(path).exists() {
            evidence.push(format!("{path} exists"));
            return Some((*kind).to_owned());
        }
    }
    let cgroup = reading.text("/proc/self/cgroup").unwrap_or_default();
    for (word, kind) in CGROUPS_OF_CONTAINERS {
        if cgroup.contains(word) {
            evidence.push(format!("/proc/self/cgroup mentions {word}"));
            return Some((*kind).to_owned());
        }
    }
    let release = reading
        .word("/proc/sys/kernel/osrelease")
        .unwrap_or_default();
    if release.to_ascii_lowercase().contains("microsoft") {
        evidence.push("the kernel's release mentions Microsoft".to_owned());
        return Some("wsl".to_owned());
    }
    None
}

pub(super) fn power(reading: &mut Reading<'_>) -> Power {
    let folder = "/sys/class/power_supply";
    let mut on_mains = None;
    for name in reading.root.names(folder) {
        let kind = reading.word(&format!("{folder}/{name}/type"));
        if kind.as_deref() == Some("Mains") {
            let online = reading.flag(&format!("{folder}/{name}/online"));
            // One adapter that feeds is enough.
            on_mains = on_mains.max(online);
        }
    }
    Power {
        on_mains,
        platform_profile: reading.word("/sys/firmware/acpi/platform_profile"),
    }
}

/// A comma list; securityfs must be mounted to see it.
pub(super) fn security_modules(reading: &mut Reading<'_>) -> Option<Vec<String>> {
    let list = reading.word("/sys/kernel/security/lsm")?;
    Some(list.split(',').map(str::to_owned).collect())
}

pub(super) fn state(reading: &mut Reading<'_>) -> MachineState {
    let stat = reading.text("/proc/stat").unwrap_or_default();
    let (steal_ticks, total_ticks) = stolen(reading, &stat);
    let load = reading.word("/proc/loadavg");
    let (core_throttle_count, package_throttle_count) = throttle_counts(reading);
    MachineState {
        boot_id: reading.word("/proc/sys/kernel/random/boot_id"),
        uptime_centisec: uptime(reading),
        steal_ticks,
        total_ticks,
        temperatures_millicelsius: temperatures(reading),
        core_throttle_count,
        package_throttle_count,
        load_average_1min: load.and_then(|text| Some(text.split_whitespace().next()?.to_owned())),
    }
}

/// `403.88 706.05`: seconds since boot with two decimals, then idle time.
fn uptime(reading: &mut Reading<'_>) -> Option<u64> {
    let path = "/proc/uptime";
    let text = reading.word(path)?;
    let word = text.split_whitespace().next()?;
    let digits = word.replacen('.', "", 1);
    reading.parsed(path, None, "uptime", &digits, "seconds with two decimals")
}

/// Stolen and whole time of the line `cpu`. Guest time is part of user time and not added again.
fn stolen(reading: &mut Reading<'_>, stat: &str) -> (Option<u64>, Option<u64>) {
    let Some(line) = stat.lines().find(|line| line.starts_with("cpu ")) else {
        return (None, None);
    };
    let words = line.split_whitespace().skip(1).take(8);
    let ticks: Option<Vec<u64>> = words
        .map(|word| reading.parsed("/proc/stat", None, "cpu", word, "a whole number"))
        .collect();
    let ticks = ticks.unwrap_or_default();
    let total = ticks
        .iter()
        .try_fold(0_u64, |sum, &tick| sum.checked_add(tick));
    let steal = ticks.get(7).copied();
    (steal, total.filter(|_| steal.is_some()))
}

/// Thermal zones by their type, hardware monitors by chip and label.
fn temperatures(reading: &mut Reading<'_>) -> BTreeMap<String, i64> {
    let mut temperatures = BTreeMap::new();
    let zones = "/sys/class/thermal";
    for number in reading.root.numbered::<u32>(zones, "thermal_zone") {
        let folder = format!("{zones}/thermal_zone{number}");
        let kind = reading.word(&format!("{folder}/type"));
        if let Some(temperature) = reading.signed(&format!("{folder}/temp")) {
            let kind = kind.unwrap_or_else(|| "zone".to_owned());
            temperatures.insert(format!("{kind} {number}"), temperature);
        }
    }
    let chips = "/sys/class/hwmon";
    for number in reading.root.numbered::<u32>(chips, "hwmon") {
        let folder = format!("{chips}/hwmon{number}");
        let chip = reading.word(&format!("{folder}/name")).unwrap_or_default();
        for file in reading.root.names(&folder) {
            let Some(sensor) = file
                .strip_suffix("_input")
                .filter(|s| s.starts_with("temp"))
            else {
                continue;
            };
            let label = reading.word(&format!("{folder}/{sensor}_label"));
            let label = label.unwrap_or_else(|| sensor.to_owned());
            if let Some(temperature) = reading.signed(&format!("{folder}/{file}")) {
                temperatures.insert(format!("{chip} {number} {label}"), temperature);
            }
        }
    }
    temperatures
}

/// Times slowed for heat, of cores and of packages, summed over CPUs. Only x86 counts them.
pub(crate) fn throttle_counts(reading: &mut Reading<'_>) -> (Option<u64>, Option<u64>) {
    const CPUS: &str = "/sys/devices/system/cpu";
    if !reading
        .root
        .place(format!("{CPUS}/cpu0/thermal_throttle"))
        .exists()
    {
        return (None, None);
    }
    let (mut core, mut package): (Option<u64>, Option<u64>) = (None, None);
    for cpu in reading.root.numbered::<u32>(CPUS, "cpu") {
        let folder = format!("{CPUS}/cpu{cpu}/thermal_throttle");
        if let Some(count) = reading.number(&format!("{folder}/core_throttle_count")) {
            core = Some(core.unwrap_or(0).saturating_add(count));
        }
        if let Some(count) = reading.number(&format!("{folder}/package_throttle_count")) {
            package = Some(package.unwrap_or(0).saturating_add(count));
        }
    }
    (core, package)
}
