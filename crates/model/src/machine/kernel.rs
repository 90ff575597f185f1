//! The running kernel and how it was built.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The running kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// `uname -r`.
    pub release: Option<String>,
    /// `uname -v`: build number, SMP and preemption, build date.
    pub version: Option<String>,
    /// `/proc/version`: who built it, with which compiler.
    pub banner: Option<String>,
    /// The boot command line.
    pub command_line: Option<String>,
    /// Why the kernel calls itself tainted, as its bit mask; 0 is untainted.
    pub tainted: Option<u64>,
    /// Preemption chosen at boot or later, where debugfs can be read: `none`, `voluntary`, `full`, `lazy`.
    pub preemption: Option<String>,
    /// The loaded sched_ext scheduler; `None` if the kernel has no such class, `disabled` if none is loaded.
    pub sched_ext: Option<String>,
    /// Options it was built with.
    pub config: Option<KernelConfig>,
    /// `kernel.*` settings that move numbers, by their name below `/proc/sys/kernel`.
    pub settings: BTreeMap<String, String>,
}

/// The build options that move numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelConfig {
    /// File they were read from.
    pub source: String,
    /// Option without `CONFIG_` to `y`, `m`, a number or a text; `n` if the file says it is not set.
    /// An option that this kernel does not know is absent.
    pub options: BTreeMap<String, String>,
}

/// The kernel's clock source: it decides what reading the time costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSource {
    /// The one in use, e.g. `tsc`.
    pub current: Option<String>,
    /// What could be chosen instead.
    pub available: Vec<String>,
}
