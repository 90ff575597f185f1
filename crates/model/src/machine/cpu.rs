//! The processors: what they are, how they are laid out, what holds them back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CpuSet;

/// The processors of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// Name as `/proc/cpuinfo` gives it; distinct names of a mixed machine are joined by `, `.
    pub model_name: Option<String>,
    /// Maker: `vendor_id` on x86, `CPU implementer` (a hexadecimal code) on Arm.
    pub vendor: Option<String>,
    /// `cpu family` on x86, `CPU architecture` on Arm.
    pub family: Option<String>,
    /// `model` on x86, `CPU part` on Arm.
    pub model: Option<String>,
    /// `stepping` on x86, `CPU revision` on Arm.
    pub stepping: Option<String>,
    /// Microcode revision as printed, usually hexadecimal; distinct ones are joined by `, `.
    pub microcode: Option<String>,
    /// Architecture the kernel runs on, e.g. `x86_64` (`/proc/sys/kernel/arch`, since Linux 6.1).
    pub architecture: Option<String>,
    /// Sockets, cores and threads.
    pub topology: Topology,
    /// Caches, each kind once, from the innermost level.
    pub caches: Vec<Cache>,
    /// How the clock frequency is governed.
    pub frequency: Frequency,
    /// How an idle processor sleeps.
    pub idle: Idle,
    /// `/sys/devices/system/cpu/smt/control`: `on`, `off`, `forceoff`, `notsupported`.
    pub smt_control: Option<String>,
    /// Whether more than one thread of a core is online.
    pub smt_active: Option<bool>,
    /// Vulnerability to state, as `/sys/devices/system/cpu/vulnerabilities` words it.
    pub mitigations: BTreeMap<String, String>,
}

/// How many processors there are, and which of them we may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topology {
    /// Physical packages with an online CPU.
    pub sockets: Option<u64>,
    /// Cores with an online CPU, over all sockets.
    pub cores: Option<u64>,
    /// Online CPUs, each hardware thread being one.
    pub threads: Option<u64>,
    /// CPUs that run.
    pub online: Option<CpuSet>,
    /// CPUs that the machine has but that do not run.
    pub offline: Option<CpuSet>,
    /// CPUs taken from the scheduler at boot (`isolcpus=`).
    pub isolated: Option<CpuSet>,
    /// CPUs without a tick while one task runs (`nohz_full=`).
    pub nohz_full: Option<CpuSet>,
    /// CPUs this process may run on (`Cpus_allowed_list`).
    pub allowed: Option<CpuSet>,
}

/// One kind of cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: Option<u64>,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: Option<String>,
    /// Size of one such cache.
    pub size_bytes: Option<u64>,
    /// Length of a line.
    pub line_bytes: Option<u64>,
    /// Ways of associativity; the kernel prints 0 for fully associative.
    pub ways: Option<u64>,
    /// CPUs that share one such cache.
    pub shared_by: Option<u64>,
    /// How many such caches the online CPUs have.
    pub instances: Option<u64>,
}

/// The frequency driver and its policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frequency {
    /// Whether the processor may exceed its base frequency (`intel_pstate/no_turbo`, `cpufreq/boost`).
    pub turbo: Option<bool>,
    /// `active`, `passive` or `off` for the drivers that have modes (intel_pstate, amd_pstate).
    pub driver_mode: Option<String>,
    /// The policies in force; CPUs that are governed alike share an entry.
    pub policies: Vec<FrequencyPolicy>,
}

/// How one group of CPUs is clocked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrequencyPolicy {
    /// CPUs governed so.
    pub cpus: Option<CpuSet>,
    /// e.g. `intel_pstate`, `acpi-cpufreq`.
    pub driver: Option<String>,
    /// e.g. `performance`, `powersave`, `schedutil`.
    pub governor: Option<String>,
    /// Energy and performance preference, where the hardware takes one.
    pub energy_preference: Option<String>,
    /// Lower limit in force.
    pub minimum_khz: Option<u64>,
    /// Upper limit in force.
    pub maximum_khz: Option<u64>,
    /// Lowest the hardware offers.
    pub hardware_minimum_khz: Option<u64>,
    /// Highest the hardware offers, turbo included.
    pub hardware_maximum_khz: Option<u64>,
    /// Frequency without turbo, where the driver says it.
    pub base_khz: Option<u64>,
}

/// How an idle processor sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Idle {
    /// e.g. `intel_idle`, `acpi_idle`, `none`.
    pub driver: Option<String>,
    /// e.g. `menu`, `teo`, `haltpoll`.
    pub governor: Option<String>,
    /// The states of the first CPU, shallowest first.
    pub states: Vec<IdleState>,
}

/// One depth of sleep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleState {
    /// e.g. `C1E`.
    pub name: Option<String>,
    /// Time to wake from it.
    pub exit_latency_usec: Option<u64>,
    /// Whether an administrator switched it off.
    pub disabled: Option<bool>,
}
