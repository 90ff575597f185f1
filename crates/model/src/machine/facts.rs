//! A machine and a target as plain lines: for selecting, comparing and printing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::{Machine, Target};

/// One line: a dotted key (`kernel.release`) and its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Path of field names; items of a list go by their `name`, else by their position.
    pub key: String,
    /// The value; a list of plain values is joined by commas.
    pub value: String,
}

/// A key whose value differs; `None` where one side does not know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of both facts.
    pub key: String,
    /// The value of the first machine or target.
    pub first: Option<String>,
    /// The value of the second.
    pub second: Option<String>,
}

impl Machine {
    /// Everything known, in the order of the fields.
    pub fn facts(&self) -> Vec<Fact> {
        facts_of(self)
    }
}

impl Target {
    /// Everything known, in the order of the fields.
    pub fn facts(&self) -> Vec<Fact> {
        facts_of(self)
    }
}

/// The facts in which two sides differ, in the order of the first side, then what only the second has.
///
/// What changes by itself (`state.`: temperatures, free space, boot) and the `notes` are left out:
/// the same machine with the same settings differs from itself in nothing.
pub fn facts_diff(first: &[Fact], second: &[Fact]) -> Vec<Difference> {
    fn settled(facts: &[Fact]) -> impl Iterator<Item = &Fact> {
        let settled = |fact: &&Fact| !fact.key.starts_with("state.") && fact.key != "notes";
        facts.iter().filter(settled)
    }
    let known_to_second: BTreeMap<&str, &str> = settled(second)
        .map(|fact| (fact.key.as_str(), fact.value.as_str()))
        .collect();
    let known_to_first: BTreeSet<&str> = settled(first).map(|fact| fact.key.as_str()).collect();
    let mut differences: Vec<Difference> = settled(first)
        .filter(|fact| known_to_second.get(fact.key.as_str()) != Some(&fact.value.as_str()))
        .map(|fact| Difference {
            key: fact.key.clone(),
            first: Some(fact.value.clone()),
            second: known_to_second
                .get(fact.key.as_str())
                .map(|&v| v.to_owned()),
        })
        .collect();
    differences.extend(
        settled(second)
            .filter(|fact| !known_to_first.contains(fact.key.as_str()))
            .map(|fact| Difference {
                key: fact.key.clone(),
                first: None,
                second: Some(fact.value.clone()),
            }),
    );
    differences
}

/// A word that people select and compare by.
#[derive(Clone, Copy, Debug)]
pub struct ShortName {
    /// The word.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    value: fn(&Machine, Option<&Target>) -> Option<String>,
}

/// The words that [`select`] knows beside full keys.
pub const SHORT_NAMES: &[ShortName] = &[
    ShortName {
        name: "machine",
        about: "the host's name",
        value: |machine, _| machine.hostname.clone(),
    },
    ShortName {
        name: "kernel",
        about: "the kernel's release (uname -r)",
        value: |machine, _| machine.kernel.release.clone(),
    },
    ShortName {
        name: "cmdline",
        about: "the kernel's command line",
        value: |machine, _| machine.kernel.command_line.clone(),
    },
    ShortName {
        name: "cpu",
        about: "the processor's model name",
        value: |machine, _| machine.cpu.model_name.clone(),
    },
    ShortName {
        name: "cpus",
        about: "the number of CPUs online",
        value: |machine, _| Some(machine.cpu.topology.threads?.to_string()),
    },
    ShortName {
        name: "governor",
        about: "the frequency governor; several are joined by +",
        value: |machine, _| {
            let policies = machine.cpu.frequency.policies.iter();
            joined(policies.filter_map(|policy| policy.governor.as_deref()))
        },
    },
    ShortName {
        name: "memory",
        about: "main memory in bytes, as the kernel counts it",
        value: |machine, _| Some(machine.memory.total_bytes?.to_string()),
    },
    ShortName {
        name: "clocksource",
        about: "the kernel's clock source",
        value: |machine, _| machine.clock_source.current.clone(),
    },
    ShortName {
        name: "hypervisor",
        about: "the hypervisor below, if one was seen",
        value: |machine, _| machine.virtualisation.hypervisor.clone(),
    },
    ShortName {
        name: "filesystem",
        about: "the target's filesystem type",
        value: |_, target| target?.filesystem.kind.clone(),
    },
    ShortName {
        name: "mount",
        about: "the target's mount options in force",
        value: |_, target| {
            let options = &target?.mount.options;
            (!options.is_empty()).then(|| options.join(","))
        },
    },
    ShortName {
        name: "scheduler",
        about: "the I/O scheduler of the uppermost devices that offer a choice; several are joined by +",
        value: |_, target| target.and_then(scheduler),
    },
    ShortName {
        name: "device",
        about: "the model of the disks at the bottom, or the name of one without a model; several are joined by +",
        value: |_, target| {
            joined(target?.disks().map(|layer| {
                let model = layer.disk.as_ref().and_then(|disk| disk.model.as_deref());
                model.unwrap_or(&layer.name)
            }))
        },
    },
];

/// The value that `name` stands for: a word of [`SHORT_NAMES`], or a full key after `machine.` or
/// `target.` (`machine.kernel.config.options.HZ`, `target.vm.dirty_ratio`).
///
/// `None` if it is not known here; a name that can never be known is for the caller to refuse.
pub fn select(machine: &Machine, target: Option<&Target>, name: &str) -> Option<String> {
    if let Some(short) = SHORT_NAMES.iter().find(|short| short.name == name) {
        return (short.value)(machine, target);
    }
    let (facts, key) = match name.split_once('.')? {
        ("machine", key) => (machine.facts(), key),
        ("target", key) => (target?.facts(), key),
        _ => return None,
    };
    let fact = facts.into_iter().find(|fact| fact.key == key)?;
    Some(fact.value)
}

/// Device mapper and arrays hand requests on: they offer no scheduler but `none`, which is no choice.
fn scheduler(target: &Target) -> Option<String> {
    let choices = || {
        target.stack.iter().filter_map(|layer| {
            let queue = layer.queue.as_ref()?;
            let offers_choice = queue.schedulers_offered.len() > 1;
            offers_choice.then_some((layer.depth, queue.scheduler.as_deref()?))
        })
    };
    let uppermost = choices().map(|(depth, _)| depth).min()?;
    joined(choices().filter_map(|(depth, name)| (depth == uppermost).then_some(name)))
}

/// Distinct words in their order, joined by `+`; `None` if there is none.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for word in words {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    (!distinct.is_empty()).then(|| distinct.join("+"))
}

fn facts_of(record: &impl Serialize) -> Vec<Fact> {
    let mut facts = Vec::new();
    // Our records have text keys and no floats, so that nothing in them can fail to become JSON.
    if let Ok(value) = serde_json::to_value(record) {
        flatten(String::new(), &value, &mut facts);
    }
    facts
}

fn flatten(key: String, value: &Value, facts: &mut Vec<Fact>) {
    let below = |name: &str| match key.as_str() {
        "" => name.to_owned(),
        key => format!("{key}.{name}"),
    };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                flatten(below(name), field, facts);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (position, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str);
                let place = name.map_or_else(|| position.to_string(), str::to_owned);
                flatten(below(&place), item, facts);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(plain).collect();
            facts.push(Fact {
                key,
                value: words.join(","),
            });
        }
        _ => facts.push(Fact {
            value: plain(value),
            key,
        }),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Disk, FrequencyPolicy, Layer, Queue};
    use super::*;

    fn machine() -> Machine {
        let mut machine = Machine {
            hostname: Some("lab1".into()),
            ..Machine::default()
        };
        machine.kernel.release = Some("6.1.0".into());
        machine.kernel.settings = [("numa_balancing".into(), "0".into())].into();
        machine.cpu.topology.online = Some("0-1,4".parse().unwrap());
        machine.cpu.topology.threads = Some(3);
        for governor in ["performance", "powersave", "performance"] {
            machine.cpu.frequency.policies.push(FrequencyPolicy {
                governor: Some(governor.into()),
                ..FrequencyPolicy::default()
            });
        }
        machine.state.boot_id = Some("one".into());
        machine
    }

    fn layer(name: &str, depth: u32, below: &[&str], scheduler: &str, offered: &[&str]) -> Layer {
        Layer {
            name: name.into(),
            depth,
            below: below.iter().map(|&name| name.to_owned()).collect(),
            queue: Some(Queue {
                scheduler: Some(scheduler.into()),
                schedulers_offered: offered.iter().map(|&name| name.to_owned()).collect(),
                ..Queue::default()
            }),
            ..Layer::default()
        }
    }

    fn target() -> Target {
        let mut target = Target {
            stack: vec![
                layer("dm-0", 0, &["sda", "sdb"], "none", &["none"]),
                layer("sda", 1, &[], "bfq", &["none", "bfq"]),
                layer("sdb", 1, &[], "none", &["none", "bfq"]),
            ],
            ..Target::default()
        };
        target.stack[1].disk = Some(Disk {
            model: Some("ST4000".into()),
            ..Disk::default()
        });
        target.mount.options = vec!["rw".into(), "relatime".into()];
        target.vm = [("dirty_ratio".to_owned(), 20)].into();
        target
    }

    #[test]
    fn facts_are_dotted_and_keep_the_order_of_the_fields() {
        let facts = machine().facts();
        let lines: Vec<String> = facts
            .iter()
            .map(|f| format!("{}={}", f.key, f.value))
            .collect();
        let expected = [
            "version=0",
            "hostname=lab1",
            "cpu.topology.threads=3",
            "cpu.topology.online=0-1,4",
            "cpu.frequency.policies.0.governor=performance",
            "cpu.frequency.policies.1.governor=powersave",
            "cpu.frequency.policies.2.governor=performance",
            "kernel.release=6.1.0",
            "kernel.settings.numa_balancing=0",
            "state.boot_id=one",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn differences_leave_out_what_changes_by_itself() {
        let one = machine();
        let mut two = machine();
        two.state.boot_id = Some("two".into());
        two.notes.push("unreadable".into());
        assert_eq!(facts_diff(&one.facts(), &two.facts()), []);
        two.kernel.release = Some("6.2.0".into());
        two.hostname = None;
        two.cpu.model_name = Some("x".into());
        let keys: Vec<_> = facts_diff(&one.facts(), &two.facts())
            .into_iter()
            .map(|d| (d.key, d.first, d.second))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        let expected = [
            ("hostname".to_owned(), text("lab1"), None),
            ("kernel.release".to_owned(), text("6.1.0"), text("6.2.0")),
            ("cpu.model_name".to_owned(), None, text("x")),
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn short_names_and_full_keys_select_values() {
        let (machine, target) = (machine(), target());
        let selected = |name: &str| select(&machine, Some(&target), name);
        for (name, value) in [
            ("kernel", "6.1.0"),
            ("governor", "performance+powersave"),
            ("cpus", "3"),
            ("mount", "rw,relatime"),
            ("scheduler", "bfq+none"),
            ("device", "ST4000+sdb"),
            ("machine.kernel.settings.numa_balancing", "0"),
            ("target.stack.sda.queue.scheduler", "bfq"),
            ("target.vm.dirty_ratio", "20"),
        ] {
            assert_eq!(selected(name).as_deref(), Some(value), "{name}");
        }
        for unknown in ["cpu", "nonsense", "machine.nonsense", "other.kernel"] {
            assert_eq!(selected(unknown), None, "{unknown}");
        }
        assert_eq!(select(&machine, None, "scheduler"), None);
    }

    #[test]
    fn short_names_are_unique() {
        let names: BTreeSet<&str> = SHORT_NAMES.iter().map(|short| short.name).collect();
        assert_eq!(names.len(), SHORT_NAMES.len());
    }
}
