//! A run as plain lines, `key` and `value`: what runs are selected and compared by.

use crate::machine::{self, Fact};
use crate::run::{Clock, Origin, Run};

/// Version of what [`of`] says. A store keeps facts beside its runs and writes them anew when this number changed.
pub const VERSION: u32 = 2;

/// Every fact of `run` that is known, in no order that means anything; a key may have several values.
///
/// `machine.…` and `target.…` are the fields of those records by their dotted path, what changes by itself (`state`) and
/// the reader's `notes` left out; `param.…` are the parameters as they are typed; keys without a dot are the run's own
/// and the short names ([`machine::SHORT_NAMES`]).
pub fn of(run: &Run) -> Vec<(String, String)> {
    let target = run.target.as_ref();
    let mut facts = settled("machine", run.machine.facts());
    if let Some(target) = target {
        facts.extend(settled("target", target.facts()));
    }
    for short in machine::SHORT_NAMES {
        if let Some(value) = machine::select(&run.machine, target, short.name) {
            facts.push((short.name.to_owned(), value));
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

/// The facts of a record that do not change by themselves, below the record's name.
fn settled(record: &str, facts: Vec<Fact>) -> Vec<(String, String)> {
    facts
        .into_iter()
        .filter(|fact| !fact.key.starts_with("state.") && fact.key != "notes")
        .map(|fact| (format!("{record}.{}", fact.key), fact.value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::machine::Target;

    #[test]
    fn records_become_dotted_lines_and_what_changes_by_itself_does_not() {
        let mut run = fixtures::lat_mem_rd_table();
        run.machine.kernel.release = Some("6.1.0-50".into());
        run.machine.state.uptime_centisec = Some(1234);
        run.machine.notes = vec!["unread".into()];
        let mut target = Target::default();
        target.filesystem.kind = Some("ext4".into());
        target.mount.options = vec!["rw".into(), "noatime".into()];
        run.target = Some(target);
        let facts = of(&run);
        let value = |key: &str| {
            let fact = facts.iter().find(|(known, _)| known == key);
            fact.map(|(_, value)| value.as_str())
        };
        assert_eq!(value("machine.kernel.release"), Some("6.1.0-50"));
        assert_eq!(value("kernel"), Some("6.1.0-50"));
        assert_eq!(value("filesystem"), Some("ext4"));
        assert_eq!(value("target.mount.options"), Some("rw,noatime"));
        assert_eq!(value("param.strides"), Some("64:128"));
        assert_eq!(value("scheduler"), None);
        assert!(
            facts
                .iter()
                .all(|(key, _)| !key.contains("state") && !key.contains("notes"))
        );
    }
}
