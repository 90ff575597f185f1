//! Main memory, from `/proc/meminfo`, `/sys/devices/system/node` and `/sys/kernel/mm`.

use std::collections::BTreeMap;

use kernmark_model::machine::{Memory, NumaNode, Swap, TransparentHugepages};

use super::cpu::cpu_set;
use super::reading::{Reading, names_and_values};

const NODES: &str = "/sys/devices/system/node";
const PAGES: &str = "/sys/kernel/mm";

/// Key of the page size in the auxiliary vector (`AT_PAGESZ` of elf.h).
const AUXILIARY_PAGE_SIZE: usize = 6;

pub(super) fn read(reading: &mut Reading<'_>) -> Memory {
    let meminfo = reading.counts("/proc/meminfo").unwrap_or_default();
    Memory {
        total_bytes: meminfo
            .get("MemTotal")
            .and_then(|kib| kib.checked_mul(1024)),
        page_bytes: page_size(reading),
        nodes: nodes(reading),
        numa_balancing: reading.number("/proc/sys/kernel/numa_balancing"),
        transparent_hugepages: transparent_hugepages(reading),
        reserved_hugepages: reserved_hugepages(reading),
        same_page_merging: reading.number(&format!("{PAGES}/ksm/run")),
        multi_generational_lru: reading.word(&format!("{PAGES}/lru_gen/enabled")),
        zswap: reading.flag("/sys/module/zswap/parameters/enabled"),
        swaps: swaps(reading),
    }
}

/// The auxiliary vector is pairs of native words, key and value.
fn page_size(reading: &mut Reading<'_>) -> Option<u64> {
    let bytes = reading.bytes("/proc/self/auxv")?;
    let words = bytes.chunks_exact(size_of::<usize>());
    let words: Vec<usize> = words
        .filter_map(|word| Some(usize::from_ne_bytes(word.try_into().ok()?)))
        .collect();
    let pairs = words.chunks_exact(2);
    let size = pairs
        .into_iter()
        .find(|pair| pair[0] == AUXILIARY_PAGE_SIZE)?[1];
    u64::try_from(size).ok()
}

fn nodes(reading: &mut Reading<'_>) -> Vec<NumaNode> {
    let numbers = reading.root.numbered::<u32>(NODES, "node").into_iter();
    let nodes = numbers.map(|number| {
        let folder = format!("{NODES}/node{number}");
        let (list, mask) = (format!("{folder}/cpulist"), format!("{folder}/cpumap"));
        NumaNode {
            id: u64::from(number),
            total_bytes: node_memory(reading, &format!("{folder}/meminfo")),
            cpus: cpu_set(reading, &list, &mask),
            distances: distances(reading, &format!("{folder}/distance")),
        }
    });
    nodes.collect()
}

/// `Node 0 MemTotal:       24684092 kB`
fn node_memory(reading: &mut Reading<'_>, path: &str) -> Option<u64> {
    let text = reading.text(path)?;
    let mut lines = names_and_values(&text);
    let (line, name, value) = lines.find(|(_, name, _)| name.ends_with("MemTotal"))?;
    let number = value.split_whitespace().next().unwrap_or("");
    let kib: u64 = reading.parsed(path, Some(line), name, number, "a whole number")?;
    kib.checked_mul(1024)
}

fn distances(reading: &mut Reading<'_>, path: &str) -> Vec<u64> {
    let text = reading.word(path).unwrap_or_default();
    let distances: Option<Vec<u64>> = text
        .split_whitespace()
        .map(|word| reading.parsed(path, None, "distance", word, "a whole number"))
        .collect();
    distances.unwrap_or_default()
}

fn transparent_hugepages(reading: &mut Reading<'_>) -> TransparentHugepages {
    let folder = format!("{PAGES}/transparent_hugepage");
    let mut chosen = |name: &str| Some(reading.choice(&format!("{folder}/{name}"))?.0);
    TransparentHugepages {
        enabled: chosen("enabled"),
        defrag: chosen("defrag"),
        shmem_enabled: chosen("shmem_enabled"),
        khugepaged_defrag: reading.flag(&format!("{folder}/khugepaged/defrag")),
        size_bytes: reading.number(&format!("{folder}/hpage_pmd_size")),
    }
}

/// Folders are named `hugepages-2048kB`.
fn reserved_hugepages(reading: &mut Reading<'_>) -> BTreeMap<u64, u64> {
    let folder = format!("{PAGES}/hugepages");
    let sizes = reading.root.names(&folder).into_iter();
    sizes
        .filter_map(|name| {
            let kib = name
                .strip_prefix("hugepages-")?
                .strip_suffix("kB")?
                .parse()
                .ok()?;
            let pages = reading.number(&format!("{folder}/{name}/nr_hugepages"))?;
            Some((kib, pages))
        })
        .collect()
}

/// A line of heads, then `name type size used priority`, the sizes in KiB.
fn swaps(reading: &mut Reading<'_>) -> Option<Vec<Swap>> {
    const PATH: &str = "/proc/swaps";
    let text = reading.text(PATH)?;
    let mut swaps = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[name, kind, size, _used, priority] = words.as_slice() else {
            if !words.is_empty() {
                reading.note(PATH, Some(index + 1), "line", "expected five columns");
            }
            continue;
        };
        let size: Option<u64> =
            reading.parsed(PATH, Some(index + 1), "size", size, "a whole number");
        swaps.push(Swap {
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            size_bytes: size.and_then(|kib| kib.checked_mul(1024)),
            priority: reading.parsed(PATH, Some(index + 1), "priority", priority, "a number"),
        });
    }
    Some(swaps)
}
