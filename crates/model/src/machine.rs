//! Everything a reader must know about a machine and a target to believe or repeat a number.
//!
//! Two records travel with each run: [`Machine`], which is the same for all runs of a boot, and
//! [`Target`], which belongs to a folder or device. An unknown value is `None` (or an empty list),
//! zero means zero, and every unit is in the name of its field.

mod block;
mod cpu;
mod cpu_set;
mod facts;
mod kernel;
mod limits;
mod memory;
mod summary;
mod target;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use block::{Array, DeviceMapper, Disk, Layer, LayerKind, LoopDevice, Partition, Queue};
pub use cpu::{Cache, Cpu, Frequency, FrequencyPolicy, Idle, IdleState, Topology};
pub use cpu_set::{CpuSet, CpuSetError};
pub use facts::{Difference, Fact, SHORT_NAMES, ShortName, facts_diff, select};
pub use kernel::{ClockSource, Kernel, KernelConfig};
pub use limits::{Cgroup, Limit, LimitError};
pub use memory::{Memory, NumaNode, Swap, TransparentHugepages};
pub use summary::summary;
pub use target::{
    BackingDevice, Filesystem, Mount, TARGET_VERSION, Target, TargetKind, TargetState,
};

/// The version that [`Machine`] is written in.
pub const MACHINE_VERSION: u32 = 1;

/// A machine as it was when a run started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Format of this record, [`MACHINE_VERSION`]; 0 in a record nobody filled.
    pub version: u32,
    /// What it calls itself.
    pub hostname: Option<String>,
    /// Processors.
    pub cpu: Cpu,
    /// Main memory.
    pub memory: Memory,
    /// The running kernel.
    pub kernel: Kernel,
    /// What the kernel reads the time from.
    pub clock_source: ClockSource,
    /// Firmware's names for the hardware.
    pub firmware: Firmware,
    /// What we run inside.
    pub virtualisation: Virtualisation,
    /// Loaded security modules, in order. Unknown if securityfs cannot be read.
    pub security_modules: Option<Vec<String>>,
    /// What the control groups allow us.
    pub cgroup: Cgroup,
    /// Where the energy comes from.
    pub power: Power,
    /// How the program that measures was built.
    pub build: Build,
    /// What changes without anybody changing a setting; [`facts_diff`] leaves it out.
    pub state: MachineState,
    /// What was there but could not be understood: path, line, item, reason.
    pub notes: Vec<String>,
}

/// Names that the firmware gives the hardware (DMI, or a device tree's model as the product).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Firmware {
    /// Maker of the system.
    pub system_vendor: Option<String>,
    /// The system.
    pub product_name: Option<String>,
    /// Its version; laptops keep the name people know here.
    pub product_version: Option<String>,
    /// Maker of the board.
    pub board_vendor: Option<String>,
    /// The board.
    pub board_name: Option<String>,
    /// Version of the BIOS.
    pub bios_version: Option<String>,
    /// Its date, as the firmware writes it (usually month/day/year).
    pub bios_date: Option<String>,
}

/// What the machine runs inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Virtualisation {
    /// Whether the processor says that it is virtual (the `hypervisor` flag of x86). Unknown elsewhere.
    pub hypervisor_flag: Option<bool>,
    /// The hypervisor, as far as the evidence goes: `xen`, `kvm`, `vmware`, `hyper-v`, …
    pub hypervisor: Option<String>,
    /// The container: `docker`, `podman`, `lxc`, `kubernetes`, …; `None` if no trace of one was seen.
    pub container: Option<String>,
    /// What the two names were concluded from.
    pub evidence: Vec<String>,
}

/// Where the energy comes from and what it may be spent on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Power {
    /// Whether a mains adapter is plugged in. Unknown on machines that have none to report.
    pub on_mains: Option<bool>,
    /// The firmware's profile, e.g. `balanced`.
    pub platform_profile: Option<String>,
}

/// How the program that measures was built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Version of the program.
    pub version: Option<String>,
    /// Commit it was built from.
    pub commit: Option<String>,
    /// `rustc --version` of its compiler.
    pub compiler: Option<String>,
    /// Target triple it was compiled for.
    pub target: Option<String>,
    /// Optimisation level.
    pub optimisation: Option<String>,
    /// The C library below it.
    pub libc: Libc,
}

/// The C library of the program that measures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Libc {
    /// `gnu` or `musl`.
    pub family: Option<String>,
    /// Its version, where it tells one.
    pub version: Option<String>,
    /// `true` if it is linked into the program, `false` if it is loaded at start.
    pub linked_statically: Option<bool>,
}

/// What changes on a machine by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineState {
    /// Random name of this boot.
    pub boot_id: Option<String>,
    /// Time since boot, in hundredths of a second, sleep included.
    pub uptime_centisec: Option<u64>,
    /// Time that the hypervisor gave to others, over all CPUs since boot, in ticks of 1/100 s.
    pub steal_ticks: Option<u64>,
    /// All time of all CPUs since boot, in the same ticks: what the stolen time is a part of.
    pub total_ticks: Option<u64>,
    /// Sensor to temperature in thousandths of a degree Celsius.
    pub temperatures_millicelsius: BTreeMap<String, i64>,
    /// Times that cores were slowed for heat since boot, over all CPUs.
    pub core_throttle_count: Option<u64>,
    /// Times that packages were slowed for heat since boot, over all CPUs (each CPU counts its package).
    pub package_throttle_count: Option<u64>,
    /// Programs ready to run over the last minute, as `/proc/loadavg` prints it.
    pub load_average_1min: Option<String>,
}
