//! Which runs are meant.

use std::str::FromStr;

use kernmark_model::sweep;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::StoreError;
use crate::error::Fault;
use crate::write::record_of;

/// Which runs are meant: those for which all of this holds. The default is every run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Conditions on facts.
    pub conditions: Vec<Condition>,
    /// Only these runs; empty for no such limit.
    pub runs: Vec<Uuid>,
    /// Only runs of this blocked experiment.
    pub session: Option<Uuid>,
    /// Only the last so many by name, which is by time.
    pub newest: Option<u32>,
}

/// A condition on a fact, typed as `kernel=6.1*`, `tool=dbench,tbench`, `param.clients=1..8`, `label=` or `arm!=null`.
///
/// The key may be any of [`crate::Store::fact_keys`], and `param.` may be left out where no fact has the bare name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The fact.
    pub key: String,
    /// What must hold of it.
    pub test: Test,
}

/// What must hold of a fact. In a value, `*` stands for any characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// It is one of these.
    Is(Vec<String>),
    /// It is none of these, or not known.
    IsNot(Vec<String>),
    /// It is not known.
    Unknown,
    /// It is known.
    Known,
}

impl FromStr for Condition {
    type Err = StoreError;

    /// Values are listed and quoted as on the command line ([`sweep::expand`]).
    fn from_str(text: &str) -> Result<Self, StoreError> {
        let refused = |source| StoreError::Condition {
            text: text.to_owned(),
            source,
        };
        let (key, values) = text.split_once('=').ok_or_else(|| refused(None))?;
        let (key, equal) = match key.strip_suffix('!') {
            Some(key) => (key, false),
            None => (key, true),
        };
        let key = key.trim();
        if key.is_empty() {
            return Err(refused(None));
        }
        let test = match (values.trim(), equal) {
            ("", true) => Test::Unknown,
            ("", false) => Test::Known,
            (values, equal) => {
                let values = sweep::expand(values).map_err(|error| refused(Some(error)))?;
                if equal {
                    Test::Is(values)
                } else {
                    Test::IsNot(values)
                }
            }
        };
        Ok(Self {
            key: key.to_owned(),
            test,
        })
    }
}

impl Selection {
    /// The runs that hold all of these conditions.
    pub fn of(conditions: Vec<Condition>) -> Self {
        Self {
            conditions,
            ..Self::default()
        }
    }

    /// As an SQL condition on table `run`, and the values of its parameters.
    pub(crate) fn condition(&self, connection: &Connection) -> Result<(String, Vec<Value>), Fault> {
        let mut parts = vec!["true".to_owned()];
        let mut values = Vec::new();
        for condition in &self.conditions {
            parts.push(condition.part(connection, &mut values)?);
        }
        if !self.runs.is_empty() {
            // One parameter, however many runs: SQLite limits how many there may be.
            parts.push("uuid IN (SELECT value FROM json_each(?))".to_owned());
            let names: Vec<String> = self.runs.iter().map(|run| format!("\"{run}\"")).collect();
            values.push(Value::Text(format!("[{}]", names.join(","))));
        }
        if let Some(session) = self.session {
            parts.push("session = ?".to_owned());
            values.push(Value::Text(session.to_string()));
        }
        let mut whole = parts.join(" AND ");
        if let Some(newest) = self.newest {
            whole = format!("id IN (SELECT id FROM run WHERE {whole} ORDER BY uuid DESC LIMIT ?)");
            values.push(Value::Integer(newest.into()));
        }
        Ok((whole, values))
    }
}

impl Condition {
    fn part(&self, connection: &Connection, values: &mut Vec<Value>) -> Result<String, Fault> {
        let key = known_key(connection, &self.key)?;
        let holders = match record_of(&key) {
            None => "id IN (SELECT run FROM run_fact WHERE key = ?",
            Some("machine") => "machine IN (SELECT record FROM record_fact WHERE key = ?",
            // A run without a target has no fact of one: what is unknown must not be NULL, which is neither.
            Some(_) => "coalesce(target, -1) IN (SELECT record FROM record_fact WHERE key = ?",
        };
        values.push(Value::Text(key));
        let (wanted, not) = match &self.test {
            Test::Is(wanted) => (wanted.as_slice(), ""),
            Test::IsNot(wanted) => (wanted.as_slice(), "NOT "),
            Test::Unknown => (&[][..], "NOT "),
            Test::Known => (&[][..], ""),
        };
        let mut any = Vec::new();
        for value in wanted {
            if value.contains('*') {
                any.push("value GLOB ?");
                // Only the star is special here, in GLOB the question mark and the bracket are too.
                let pattern = value.replace('[', "[[]").replace('?', "[?]");
                values.push(Value::Text(pattern));
            } else {
                any.push("value = ?");
                values.push(Value::Text(value.clone()));
            }
        }
        Ok(match any.as_slice() {
            [] => format!("{not}{holders})"),
            any => format!("{not}{holders} AND ({}))", any.join(" OR ")),
        })
    }
}

/// The key, or the parameter of that name. A key that no run has a fact for is a mistyped one, unless there are no runs.
fn known_key(connection: &Connection, key: &str) -> Result<String, Fault> {
    let mut known = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM run_fact WHERE key = ?1) OR EXISTS (SELECT 1 FROM record_fact WHERE key = ?1)",
    )?;
    let param = format!("param.{key}");
    for candidate in [key, &param] {
        if known.query_row([candidate], |row| row.get(0))? {
            return Ok(candidate.to_owned());
        }
    }
    let runs: bool =
        connection.query_row("SELECT EXISTS (SELECT 1 FROM run)", params![], |row| {
            row.get(0)
        })?;
    if runs {
        let key = key.to_owned();
        return Err(StoreError::UnknownFact { key }.into());
    }
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use kernmark_model::fixtures;

    use super::*;
    use crate::{Store, write};

    fn is(values: &[&str]) -> Test {
        Test::Is(values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn conditions_are_read_as_they_are_typed() {
        for (text, key, test) in [
            ("tool=dbench", "tool", is(&["dbench"])),
            ("kernel=6.1*,6.12*", "kernel", is(&["6.1*", "6.12*"])),
            ("param.clients=1..3", "param.clients", is(&["1", "2", "3"])),
            ("mount='rw,noatime'", "mount", is(&["rw,noatime"])),
            ("label=a=b", "label", is(&["a=b"])),
            ("label=", "label", Test::Unknown),
            ("label!=", "label", Test::Known),
            ("arm!=null", "arm", Test::IsNot(vec!["null".into()])),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(
                (condition.key.as_str(), condition.test),
                (key, test),
                "{text}"
            );
        }
    }

    #[test]
    fn facts_of_machines_and_targets_select_their_runs() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db")).unwrap();
        let run = fixtures::lat_mem_rd_table();
        let others = [fixtures::corners(), fixtures::imported_mean_of_25()];
        store
            .change("test", |change| {
                for run in others.iter().chain([&run]) {
                    write::insert(change, run)?;
                }
                let fact = |key: &str, value: &str| (key.to_owned(), value.to_owned());
                let facts = [
                    fact("machine.kernel.release", "6.1.0-50"),
                    fact("target.filesystem.type", "ext4"),
                ];
                for kind in ["machine", "target"] {
                    let (row, _) = write::record(change, kind, &run, &[kind], &facts)?;
                    let update = format!("UPDATE run SET {kind} = ?1 WHERE uuid = ?2");
                    change.execute(&update, params![row, run.uuid.to_string()])?;
                }
                Ok(())
            })
            .unwrap();
        let count = |condition: &str| {
            let selection = Selection::of(vec![condition.parse().unwrap()]);
            store.runs(&selection).unwrap().len()
        };
        for (condition, runs) in [
            ("machine.kernel.release=6.1*", 1),
            ("machine.kernel.release!=6.1*", 2),
            ("machine.kernel.release=6.12", 0),
            ("machine.kernel.release=", 2),
            ("target.filesystem.type=ext4", 1),
            ("target.filesystem.type!=ext4", 2),
            ("target.filesystem.type!=xfs", 3),
            ("target.filesystem.type!=", 1),
        ] {
            assert_eq!(count(condition), runs, "{condition}");
        }
        let values = store.fact_values("target.filesystem.type").unwrap();
        assert_eq!(values, [("ext4".to_owned(), 1)]);
    }

    #[test]
    fn nonsense_is_no_condition() {
        for text in ["", "tool", "=x", "!=x", "tool=a,,b", "tool=\"a"] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains(&format!("\"{text}\" is no condition")),
                "{error}"
            );
        }
    }
}
