//! Taking out of runs what names a person, a host or a single piece of hardware.

use std::collections::{BTreeMap, BTreeSet};

use kernmark_model::counters::Counters;
use kernmark_model::plan::ParamValue;
use kernmark_model::run::{Doubt, Origin, Outcome, Run, WorkerState};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Fields, wherever they stand in a machine or target, whose value is replaced, and by what. Fields called so with a word
/// before (`filesystem_uuid`) are meant as well.
const FIELDS: &[(&str, &str)] = &[
    ("hostname", "host"),
    ("nodename", "host"),
    ("domainname", "host"),
    ("serial", "serial"),
    ("wwid", "serial"),
    ("uuid", "serial"),
    ("command_line", "command-line"),
];

/// Folders whose next path component is a user's name.
const HOMES: &[&str] = &["/home/", "/Users/", "/media/", "/run/media/"];

/// Folder whose next but one component names a single device.
const DEVICES: &str = "/dev/disk/by-";

/// Shorter names would be found in every other word.
const SHORTEST: usize = 3;

/// Replaces host names, serial numbers, command lines and the users' part of paths, the same name by the same word in
/// all runs it is given: `host-1`, `serial-2`.
///
/// The words are counted in the order in which the names are met: the same runs give the same words. Names of tools,
/// phases, ops and metrics stay, and so does every number.
#[derive(Debug, Default)]
pub struct Redactor {
    /// (Kind, name) to the word that stands for it.
    words: BTreeMap<(&'static str, String), String>,
    /// Names that are looked for in every text, longest first where one holds another.
    names: BTreeSet<(std::cmp::Reverse<usize>, String, String)>,
}

impl Redactor {
    /// The run without such names.
    pub fn run(&mut self, mut run: Run) -> Run {
        self.learn_from(&run.machine);
        if let Some(target) = &run.target {
            self.learn_from(target);
        }
        run.machine = self.record(&run.machine);
        run.target = run.target.as_ref().map(|target| self.record(target));
        let plan = &mut run.plan;
        for text in [&mut plan.on, &mut plan.label, &mut plan.destroy]
            .into_iter()
            .flatten()
        {
            self.text(text);
        }
        for value in plan.params.0.values_mut() {
            self.param(value);
        }
        if let Some(place) = &mut run.session {
            self.text(&mut place.arm);
        }
        if let Origin::Imported { file, notes, .. } = &mut run.origin {
            self.text(file);
            notes.iter_mut().for_each(|note| self.text(note));
        }
        if let Outcome::Partial(why) | Outcome::Failed(why) | Outcome::Voided(why) =
            &mut run.outcome
        {
            self.text(why);
        }
        run.doubts.iter_mut().for_each(|doubt| self.doubt(doubt));
        for phase in &mut run.phases {
            for worker in &mut phase.workers {
                if let WorkerState::Failed(why) = &mut worker.state {
                    self.text(why);
                }
            }
            if let Some(pair) = &mut phase.counters {
                pair.before = self.record::<Counters>(&pair.before);
                pair.after = self.record::<Counters>(&pair.after);
            }
        }
        run
    }

    /// Meets the names in the known fields of a record, before any text is searched for them.
    fn learn_from(&mut self, record: &impl Serialize) {
        let mut value = serde_json::to_value(record).unwrap_or_default();
        self.fields(&mut value);
    }

    /// A record of which only the fields are known by name; their texts may hold anything.
    fn record<T: Serialize + DeserializeOwned + Clone>(&mut self, record: &T) -> T {
        // What cannot become JSON holds no text either, so that the record itself is the answer.
        let Ok(mut value) = serde_json::to_value(record) else {
            return record.clone();
        };
        self.fields(&mut value);
        let known = value.clone();
        self.texts(&mut value);
        serde_json::from_value(value)
            // A host is called like a word of the record's own ("disk"): then only the known fields can be replaced.
            .or_else(|_| serde_json::from_value(known))
            .unwrap_or_else(|_| record.clone())
    }

    fn fields(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    match (field_kind(name), field) {
                        (Some(kind), Value::String(text)) => *text = self.word(kind, text),
                        (_, field) => self.fields(field),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fields(item)),
            _ => {}
        }
    }

    fn texts(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    if field_kind(name).is_none() {
                        self.texts(field);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item)),
            Value::String(text) => self.text(text),
            _ => {}
        }
    }

    fn param(&mut self, value: &mut ParamValue) {
        match value {
            ParamValue::Text(text) => self.text(text),
            ParamValue::List(items) => items.iter_mut().for_each(|item| self.param(item)),
            ParamValue::Count(_)
            | ParamValue::Bytes(_)
            | ParamValue::Duration(_)
            | ParamValue::Number(_)
            | ParamValue::Flag(_) => {}
        }
    }

    fn doubt(&mut self, doubt: &mut Doubt) {
        match doubt {
            Doubt::DeviceUnknown { why: text }
            | Doubt::Unexpected { first: text, .. }
            | Doubt::Interference { evidence: text }
            | Doubt::Unreadable { what: text }
            | Doubt::Input { what: text }
            | Doubt::Note { text } => self.text(text),
            Doubt::Stalled { .. }
            | Doubt::Throttled { .. }
            | Doubt::TooShort { .. }
            | Doubt::Unfair { .. }
            | Doubt::CacheMostly { .. }
            | Doubt::StoreOnTarget => {}
        }
    }

    /// Replaces what may stand in any text: users in paths, single devices, names that were met before.
    fn text(&mut self, text: &mut String) {
        for home in HOMES {
            *text = self.components(text, home, 0, "user");
        }
        *text = self.components(text, DEVICES, 1, "device");
        for (_, name, word) in &self.names {
            *text = replaced(text, name, word);
        }
    }

    /// Replaces, after each `folder` in `text`, the component behind `skipped` others.
    fn components(
        &mut self,
        text: &str,
        folder: &str,
        skipped: usize,
        kind: &'static str,
    ) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(folder) {
            let (before, after) = rest.split_at(at + folder.len());
            out.push_str(before);
            rest = after;
            for _ in 0..skipped {
                let Some(slash) = rest.find('/') else { break };
                out.push_str(&rest[..=slash]);
                rest = &rest[slash + 1..];
            }
            let ends = |c: char| {
                matches!(c, '/' | ':' | ',' | ';' | '"' | '\'' | ')') || c.is_whitespace()
            };
            let end = rest.find(ends).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if !name.is_empty() {
                out.push_str(&self.word(kind, name));
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The word that stands for `name`.
    fn word(&mut self, kind: &'static str, name: &str) -> String {
        // A second redaction changes nothing, and no name is no secret.
        let says_nothing = matches!(name, "" | "localhost" | "(none)" | "unknown");
        if says_nothing
            || self
                .words
                .iter()
                .any(|((k, _), word)| *k == kind && word == name)
        {
            return name.to_owned();
        }
        let number = self
            .words
            .keys()
            .filter(|(known, _)| *known == kind)
            .count()
            + 1;
        let key = (kind, name.to_owned());
        if let Some(word) = self.words.get(&key) {
            return word.clone();
        }
        let word = format!("{kind}-{number}");
        // Users' names are too often words of other things ("test").
        if matches!(kind, "host" | "serial") && name.len() >= SHORTEST {
            let length = std::cmp::Reverse(name.len());
            self.names.insert((length, name.to_owned(), word.clone()));
        }
        self.words.insert(key, word.clone());
        word
    }
}

/// What kind of name a field of that name holds.
fn field_kind(name: &str) -> Option<&'static str> {
    let known = FIELDS.iter().find(|(known, _)| {
        let before = name.strip_suffix(known);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    });
    known.map(|(_, kind)| *kind)
}

/// `text` with `word` for each `name` that is no part of a longer word.
fn replaced(text: &str, name: &str, word: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut last = None;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let alone = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        out.push_str(before);
        if alone(before.chars().next_back().or(last)) && alone(after.chars().next()) {
            out.push_str(word);
        } else {
            out.push_str(name);
        }
        last = name.chars().next_back();
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use kernmark_model::fixtures;
    use kernmark_model::machine::{Disk, Layer, Target};
    use serde_json::json;

    use super::*;

    #[test]
    fn names_in_records_are_replaced_wherever_they_stand() {
        let mut redactor = Redactor::default();
        let record = json!({
            "hostname": "marvin",
            "kernel": { "release": "6.1.0", "command_line": "root=UUID=1234 quiet", "banner": "Linux (anna@marvin) #1" },
            "stack": [{ "name": "sda", "disk": { "serial": "WD-123X", "model": "WDC" } }],
            "mount": { "point": "/home/anna/scratch", "source": "/dev/disk/by-id/ata-WDC_WD-123X" },
        });
        assert_eq!(
            redactor.record(&record),
            json!({
                "hostname": "host-1",
                "kernel": { "release": "6.1.0", "command_line": "command-line-1", "banner": "Linux (anna@host-1) #1" },
                "stack": [{ "name": "sda", "disk": { "serial": "serial-1", "model": "WDC" } }],
                "mount": { "point": "/home/user-1/scratch", "source": "/dev/disk/by-id/device-1" },
            })
        );
    }

    #[test]
    fn the_same_name_gets_the_same_word_in_every_run() {
        let mut redactor = Redactor::default();
        redactor.learn_from(&json!({ "hostname": "marvin" }));
        let mut run = fixtures::imported_mean_of_25();
        run.plan.label = Some("marvin, not marvinette, at /home/anna".into());
        run.plan.on = Some("/home/anna/x and /home/bert".into());
        run.outcome = Outcome::Failed("ENOSPC in /home/bert/y on marvin:/x".into());
        run.doubts = vec![
            Doubt::StoreOnTarget,
            Doubt::Input {
                what: "/media/anna/stick".into(),
            },
        ];
        let once = redactor.run(run.clone());
        assert_eq!(
            once.plan.on.as_deref(),
            Some("/home/user-1/x and /home/user-2")
        );
        assert_eq!(
            once.plan.label.as_deref(),
            Some("host-1, not marvinette, at /home/user-1")
        );
        assert_eq!(
            once.outcome.reason(),
            Some("ENOSPC in /home/user-2/y on host-1:/x")
        );
        assert_eq!(
            once.doubts,
            [
                Doubt::StoreOnTarget,
                Doubt::Input {
                    what: "/media/user-1/stick".into()
                }
            ]
        );
        assert_eq!(redactor.run(run), once);
        assert_eq!(redactor.run(once.clone()), once);
    }

    #[test]
    fn a_host_called_like_a_word_of_the_format_does_not_break_the_run() {
        #[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Disk,
        }
        #[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
        struct Record {
            hostname: String,
            kind: Kind,
        }
        let record = Record {
            hostname: "disk".into(),
            kind: Kind::Disk,
        };
        let redacted = Redactor::default().record(&record);
        assert_eq!(
            redacted,
            Record {
                hostname: "host-1".into(),
                kind: Kind::Disk
            }
        );
    }

    #[test]
    fn a_machine_and_its_target_lose_their_names_and_keep_their_facts() {
        let mut run = fixtures::blocked_session_with_a_void().remove(0);
        let machine = &mut run.machine;
        machine.hostname = Some("marvin".into());
        machine.kernel.release = Some("6.1.0-50".into());
        machine.kernel.command_line = Some("root=UUID=0b-1f quiet".into());
        let mut target = Target::default();
        target.filesystem.kind = Some("ext4".into());
        target.stack = vec![Layer {
            disk: Some(Disk {
                serial: Some("0b-1f".into()),
                ..Disk::default()
            }),
            ..Layer::default()
        }];
        target.mount.point = Some("/home/anna/disk".into());
        target.state.filesystem_uuid = Some("77-aa".into());
        run.target = Some(target);
        run.doubts = vec![Doubt::Unreadable {
            what: "marvin: /sys of 0b-1f".into(),
        }];

        let redacted = Redactor::default().run(run);
        let text = serde_json::to_string(&redacted).unwrap();
        for name in ["marvin", "0b-1f", "77-aa", "anna", "quiet"] {
            assert!(!text.contains(name), "{name} is in {text}");
        }
        let facts = kernmark_model::facts::of(&redacted);
        for (key, value) in [
            ("machine", "host-1"),
            ("kernel", "6.1.0-50"),
            ("filesystem", "ext4"),
            ("target.mount.point", "/home/user-1/disk"),
        ] {
            assert!(
                facts.contains(&(key.to_owned(), value.to_owned())),
                "{key}: {facts:?}"
            );
        }
    }

    #[test]
    fn figures_do_not_change() {
        let mut redactor = Redactor::default();
        for run in fixtures::all() {
            let redacted = redactor.run(run.clone());
            for metric in &run.metrics {
                assert_eq!(redacted.figure(metric), run.figure(metric));
            }
        }
    }
}
