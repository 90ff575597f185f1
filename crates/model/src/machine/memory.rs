//! Main memory: how much, where, in which pages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CpuSet;

/// Main memory and swap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Memory the kernel manages (`MemTotal`), a little less than what is installed.
    pub total_bytes: Option<u64>,
    /// Size of a base page, from the auxiliary vector of this process.
    pub page_bytes: Option<u64>,
    /// NUMA nodes, by number.
    pub nodes: Vec<NumaNode>,
    /// Whether the kernel moves pages between nodes by itself (`kernel.numa_balancing`; 0 is off).
    pub numa_balancing: Option<u64>,
    /// Transparent huge pages.
    pub transparent_hugepages: TransparentHugepages,
    /// Reserved huge pages, by page size in KiB.
    pub reserved_hugepages: BTreeMap<u64, u64>,
    /// Same-page merging (`/sys/kernel/mm/ksm/run`): 0 stopped, 1 running, 2 stopped and unmerged.
    pub same_page_merging: Option<u64>,
    /// Multi-generational reclaim (`/sys/kernel/mm/lru_gen/enabled`, a mask; `0x0000` is off).
    pub multi_generational_lru: Option<String>,
    /// Whether swapped pages are first compressed in memory.
    pub zswap: Option<bool>,
    /// Swap areas. Unknown if `/proc/swaps` cannot be read; empty if there is no swap.
    pub swaps: Option<Vec<Swap>>,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumaNode {
    /// The kernel's number of it.
    pub id: u64,
    /// Memory on it.
    pub total_bytes: Option<u64>,
    /// CPUs on it; empty for a node of memory alone.
    pub cpus: Option<CpuSet>,
    /// Distance to each node in the order of the nodes; 10 is the node itself.
    pub distances: Vec<u64>,
}

/// The settings in force; each is the bracketed word of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransparentHugepages {
    /// `always`, `madvise` or `never`.
    pub enabled: Option<String>,
    /// How hard an allocation tries for a huge page.
    pub defrag: Option<String>,
    /// For shared memory and tmpfs without an option of their own.
    pub shmem_enabled: Option<String>,
    /// Whether the background thread compacts memory.
    pub khugepaged_defrag: Option<bool>,
    /// Size of a page-table level's huge page.
    pub size_bytes: Option<u64>,
}

/// One swap area.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Swap {
    /// Device or file.
    pub name: String,
    /// `partition` or `file`.
    pub kind: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Higher ones are filled first.
    pub priority: Option<i64>,
}
