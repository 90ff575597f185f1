//! What else differs between runs that are compared: each of it could be the reason as well.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::machine::SHORT_NAMES;

/// A fact in which compared runs are known to differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Its key, as in [`crate::facts::of`].
    pub key: String,
    /// The values, in the order in which runs had them.
    pub values: Vec<String>,
    /// Runs of one and the same row differ in it too.
    pub within_rows: bool,
}

/// Keys that a shorter one says as well.
const SAID_BY: &[(&str, &[&str])] = &[
    (
        "kernel",
        &[
            "machine.kernel.release",
            "machine.kernel.version",
            "machine.kernel.banner",
        ],
    ),
    ("machine", &["machine.hostname"]),
    ("cmdline", &["machine.kernel.command_line"]),
    ("cpu", &["machine.cpu.model_name"]),
    ("cpus", &["machine.cpu.topology.threads"]),
    ("memory", &["machine.memory.total_bytes"]),
    ("clocksource", &["machine.clock_source.current"]),
    ("hypervisor", &["machine.virtualisation.hypervisor"]),
    ("filesystem", &["target.filesystem.type"]),
    ("mount", &["target.mount.options"]),
    ("on", &["target.path"]),
    ("version", &["machine.build.version"]),
    ("commit", &["machine.build.commit"]),
];

/// Names of a run, a boot or a freshly made filesystem: they always differ and mean nothing.
const NAMES: &[&str] = &["arm", "boot", "outcome", "session"];
const NAME_ENDINGS: &[&str] = &[".uuid", ".device_number", ".options_in_force"];

/// The values of every fact, row by row.
#[derive(Debug, Default)]
pub(super) struct Differences {
    runs: usize,
    facts: HashMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    runs: usize,
    values: Vec<String>,
    /// Row to index of its first value.
    rows: HashMap<usize, usize>,
    within_rows: bool,
}

impl Differences {
    /// Takes the facts of a run of row `row`.
    pub(super) fn see(&mut self, row: usize, facts: &[(String, String)]) {
        self.runs += 1;
        for (key, value) in facts {
            if !self.facts.contains_key(key) {
                self.facts.insert(key.clone(), Seen::default());
            }
            let Some(seen) = self.facts.get_mut(key) else {
                continue;
            };
            seen.runs += 1;
            let known = seen.values.iter().position(|known| known == value);
            let index = known.unwrap_or_else(|| {
                seen.values.push(value.clone());
                seen.values.len() - 1
            });
            seen.within_rows |= *seen.rows.entry(row).or_insert(index) != index;
        }
    }

    /// The short facts that all runs have alike.
    pub(super) fn same(&self) -> BTreeMap<String, String> {
        SHORT_NAMES
            .iter()
            .map(|short| short.name)
            .chain(["label"])
            .filter_map(|key| match self.facts.get(key)? {
                seen if seen.runs == self.runs => match seen.values.as_slice() {
                    [only] => Some((key.to_owned(), only.clone())),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    /// The facts beside `by` that have more than one value: what people ask for first, then the kernel's configuration,
    /// then the rest.
    pub(super) fn list(&self, by: &[String]) -> Vec<Differing> {
        let differs = |key: &str| {
            by.iter().any(|by| by == key)
                || self
                    .facts
                    .get(key)
                    .is_some_and(|seen| seen.values.len() > 1)
        };
        let said = |key: &str| {
            SAID_BY
                .iter()
                .any(|(short, long)| long.contains(&key) && differs(short))
        };
        let hidden = |key: &str| {
            key.starts_with("param.") // equal, or what makes the rows
                || by.iter().any(|by| by == key)
                || NAMES.contains(&key)
                || NAME_ENDINGS.iter().any(|ending| key.ends_with(ending))
                || said(key)
        };
        let mut list: Vec<Differing> = self
            .facts
            .iter()
            .filter(|(key, seen)| seen.values.len() > 1 && !hidden(key))
            .map(|(key, seen)| Differing {
                key: key.clone(),
                values: seen.values.clone(),
                within_rows: seen.within_rows,
            })
            .collect();
        let rank = |key: &str| match key {
            key if !key.contains('.') => 0,
            key if key.starts_with("machine.kernel.config.") => 1,
            _ => 2,
        };
        list.sort_by(|a, b| (rank(&a.key), &a.key).cmp(&(rank(&b.key), &b.key)));
        list
    }
}
