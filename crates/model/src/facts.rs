//! A run as plain lines, `key` and `value`: what runs are selected and compared by.

use serde::Serialize;
use serde_json::Value;

use crate::run::{Clock, Origin, Run};

/// Version of what [`of`] says. A store keeps facts beside its runs and writes them anew when this number changed.
pub const VERSION: u32 = 1;

/// Words that people type instead of a long key, and the key they stand for.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("kernel", "machine.kernel.release"),
    ("filesystem", "target.filesystem.type"),
];

/// Every fact of `run` that is known, in no order that means anything; a key may have several values.
///
/// `machine.…` and `target.…` are the fields of those records by their dotted path, what changes by itself (`state`) and
/// the reader's `notes` left out; `param.…` are the parameters as they are typed; keys without a dot are the run's own
/// and the short names.
pub fn of(run: &Run) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    flatten("machine", &json(&run.machine), &mut facts);
    if let Some(target) = &run.target {
        flatten("target", &json(target), &mut facts);
    }
    for (name, key) in SHORT_NAMES {
        let value = facts.iter().find(|(known, _)| known == key);
        if let Some((_, value)) = value.cloned() {
            facts.push(((*name).to_owned(), value));
        }
    }
    for (name, value) in &run.plan.params.0 {
        facts.push((format!("param.{name}"), value.to_string()));
    }
    let clock = match run.clock {
        Clock::Wall => "wall",
        Clock::Emulated => "emulated",
        Clock::Instructions => "instructions",
        Clock::Scripted => "scripted",
    };
    let origin = match run.origin {
        Origin::Measured => "measured",
        Origin::Imported { .. } => "imported",
    };
    let session = run.session.as_ref();
    let own = [
        ("tool", Some(run.plan.tool.clone())),
        ("workload", Some(run.plan.workload.clone())),
        ("label", run.plan.label.clone()),
        ("on", run.plan.on.clone()),
        ("version", Some(run.plan.program.version.clone())),
        ("commit", run.plan.program.commit.clone()),
        ("clock", Some(clock.to_owned())),
        ("origin", Some(origin.to_owned())),
        ("outcome", Some(run.outcome.word().to_owned())),
        ("boot", run.boot_id.clone()),
        ("session", session.map(|place| place.id.to_string())),
        ("arm", session.map(|place| place.arm.clone())),
    ];
    facts.extend(
        own.into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?))),
    );
    facts
}

/// Our records have text keys only, so that nothing in them can fail to become JSON.
fn json(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

fn flatten(key: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            let top = !key.contains('.');
            for (name, field) in fields {
                if !(top && matches!(name.as_str(), "state" | "notes")) {
                    flatten(&format!("{key}.{name}"), field, facts);
                }
            }
        }
        // Records in a list go by their name, else by their place.
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (place, item) in items.iter().enumerate() {
                match item.get("name").and_then(Value::as_str) {
                    Some(name) => flatten(&format!("{key}.{name}"), item, facts),
                    None => flatten(&format!("{key}.{place}"), item, facts),
                }
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(plain).collect();
            facts.push((key.to_owned(), words.join(",")));
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            facts.push((key.to_owned(), plain(value)));
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(on) => (if *on { "yes" } else { "no" }).to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_become_dotted_lines_and_what_changes_by_itself_does_not() {
        let mut facts = Vec::new();
        let record = json!({
            "hostname": null,
            "kernel": { "release": "6.1.0-50", "tainted": 0 },
            "mount": { "options": ["rw", "noatime"], "features": [] },
            "stack": [{ "name": "loop0", "state": "live", "rotational": false }, { "depth": 1 }],
            "state": { "uptime_centisec": 1234 },
            "notes": ["unread"],
        });
        flatten("machine", &record, &mut facts);
        let lines: Vec<String> = facts.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(
            lines,
            [
                "machine.kernel.release=6.1.0-50",
                "machine.kernel.tainted=0",
                "machine.mount.options=rw,noatime",
                "machine.stack.loop0.name=loop0",
                "machine.stack.loop0.state=live",
                "machine.stack.loop0.rotational=no",
                "machine.stack.1.depth=1",
            ]
        );
    }
}
