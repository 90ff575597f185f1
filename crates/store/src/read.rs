//! Reading runs.

use std::collections::HashMap;

use kernmark_model::machine::{Machine, Target};
use kernmark_model::plan::{Params, RunPlan};
use kernmark_model::run::{Origin, Outcome, Run, SessionPlace, Usage};
use kernmark_model::units::Nanos;
use rusqlite::{Connection, Row, params_from_iter};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::code::{from_json, from_word, unreadable};
use crate::error::Fault;
use crate::{Selection, StoreError, phases, write};

/// How much of a run is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// No phases, and of machine and target only what does not change by itself.
    Head,
    /// What its figures follow from: left out are series, counters, the state of machine and target, and histograms
    /// unless a metric of the run is a quantile.
    Figures,
    /// Everything.
    Full,
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHead {
    /// Its name.
    pub uuid: Uuid,
    /// Wall clock at the start, RFC 3339 in UTC.
    pub started: Option<String>,
    /// Tool and workload, as one selects them.
    pub selector: String,
    /// The user's word for it.
    pub label: Option<String>,
    /// Every parameter.
    pub params: Params,
    /// Directory, file or device it was measured on.
    pub on: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Type of the filesystem.
    pub filesystem: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Time of the whole run.
    pub elapsed: Option<Nanos>,
    /// Its place in a blocked experiment.
    pub session: Option<SessionPlace>,
    /// Read from somebody's text.
    pub imported: bool,
    /// How many reasons there are to be careful with it.
    pub doubts: u32,
}

/// The selected runs, one after another, in the order of their names.
pub(crate) struct Runs<'store> {
    connection: &'store Connection,
    detail: Detail,
    rows: std::vec::IntoIter<i64>,
    machines: HashMap<i64, Machine>,
    targets: HashMap<i64, Target>,
}

/// A run, and where it was found.
pub(crate) struct Found {
    /// Row of the run.
    pub(crate) id: i64,
    /// Row of its machine.
    pub(crate) machine: i64,
    /// Row of its target.
    pub(crate) target: Option<i64>,
    /// The run, with as much as was asked for.
    pub(crate) run: Run,
}

impl<'store> Runs<'store> {
    pub(crate) fn new(
        connection: &'store Connection,
        selection: &Selection,
        detail: Detail,
    ) -> Result<Self, Fault> {
        let (condition, values) = selection.condition(connection)?;
        let rows: Vec<i64> = connection
            .prepare(&format!(
                "SELECT id FROM run WHERE {condition} ORDER BY uuid"
            ))?
            .query_map(params_from_iter(values), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(Self::of(connection, rows, detail))
    }

    fn of(connection: &'store Connection, rows: Vec<i64>, detail: Detail) -> Self {
        Self {
            connection,
            detail,
            rows: rows.into_iter(),
            machines: HashMap::new(),
            targets: HashMap::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Run>, Fault> {
        Ok(self.next_found()?.map(|found| found.run))
    }

    /// The next run with its rows.
    pub(crate) fn next_found(&mut self) -> Result<Option<Found>, Fault> {
        let Some(id) = self.rows.next() else {
            return Ok(None);
        };
        let mut found = self.head(id)?;
        if self.detail != Detail::Head {
            found.run.phases = phases::read(self.connection, id, &found.run, self.detail)?;
        }
        Ok(Some(found))
    }

    fn head(&mut self, id: i64) -> Result<Found, Fault> {
        let connection = self.connection;
        let mut statement = connection.prepare_cached(
            "SELECT uuid, started, plan, machine, machine_state, target, target_state, boot_id, clock,
                    session, block, position, arm, import_digest, import_file, import_line, import_notes,
                    outcome, reason, elapsed_ns, user_ns, system_ns, metrics, doubts
             FROM run WHERE id = ?1",
        )?;
        let mut rows = statement.query([id])?;
        // The row was there when the snapshot began, so it is there now.
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let uuid = uuid(row, "uuid")?;
        let what = |part: &str| format!("the {part} of run {uuid}");
        let (machine, target) = (row.get("machine")?, row.get::<_, Option<i64>>("target")?);
        let full = self.detail == Detail::Full;
        let state = |column: &str| -> Result<Option<String>, Fault> {
            Ok(if full { row.get(column)? } else { None })
        };
        let run = Run {
            uuid,
            started: row.get("started")?,
            plan: from_json(what("plan"), &row.get::<_, String>("plan")?)?,
            machine: record(
                connection,
                &mut self.machines,
                machine,
                state("machine_state")?,
            )?,
            target: match target {
                Some(id) => {
                    let state = state("target_state")?;
                    Some(record(connection, &mut self.targets, id, state)?)
                }
                None => None,
            },
            boot_id: row.get("boot_id")?,
            clock: from_word(what("clock"), row.get("clock")?)?,
            session: place(row)?,
            origin: match row.get("import_digest")? {
                None => Origin::Measured,
                Some(digest) => Origin::Imported {
                    digest,
                    file: row.get("import_file")?,
                    line: row.get::<_, i64>("import_line")?.cast_unsigned(),
                    notes: from_json(what("notes"), &row.get::<_, String>("import_notes")?)?,
                },
            },
            outcome: outcome(row, uuid)?,
            usage: Usage {
                elapsed: nanos(row, "elapsed_ns")?,
                user: nanos(row, "user_ns")?,
                system: nanos(row, "system_ns")?,
            },
            metrics: from_json(what("metrics"), &row.get::<_, String>("metrics")?)?,
            doubts: from_json(what("doubts"), &row.get::<_, String>("doubts")?)?,
            phases: Vec::new(),
        };
        Ok(Found {
            id,
            machine,
            target,
            run,
        })
    }
}

/// The record of that row; with its state, where one is wanted. Without, it is read once for all runs that share it.
fn record<T: DeserializeOwned + Clone>(
    connection: &Connection,
    known: &mut HashMap<i64, T>,
    id: i64,
    state: Option<String>,
) -> Result<T, Fault> {
    if state.is_none()
        && let Some(record) = known.get(&id)
    {
        return Ok(record.clone());
    }
    let content: String = connection
        .prepare_cached("SELECT content FROM record WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let what = || format!("record {id}");
    let Some(state) = state else {
        let record: T = from_json(what(), &content)?;
        known.insert(id, record.clone());
        return Ok(record);
    };
    let mut json: Json = from_json(what(), &content)?;
    if let Json::Object(fields) = &mut json {
        fields.insert("state".to_owned(), from_json(what(), &state)?);
    }
    let record = serde_json::from_value(json).map_err(|error| unreadable(what(), error))?;
    Ok(record)
}

fn uuid(row: &Row<'_>, column: &str) -> Result<Uuid, Fault> {
    let text: String = row.get(column)?;
    let uuid = Uuid::parse_str(&text);
    Ok(uuid.map_err(|error| unreadable(format!("the name \"{text}\""), error))?)
}

fn nanos(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Nanos>> {
    let nanos: Option<i64> = row.get(column)?;
    Ok(nanos.map(|nanos| Nanos(nanos.cast_unsigned())))
}

fn place(row: &Row<'_>) -> Result<Option<SessionPlace>, Fault> {
    if row.get_ref("session")? == rusqlite::types::ValueRef::Null {
        return Ok(None);
    }
    Ok(Some(SessionPlace {
        id: uuid(row, "session")?,
        block: row.get("block")?,
        position: row.get("position")?,
        arm: row.get("arm")?,
    }))
}

fn outcome(row: &Row<'_>, uuid: Uuid) -> Result<Outcome, Fault> {
    let word: String = row.get("outcome")?;
    let reason: Option<String> = row.get("reason")?;
    let reason = reason.unwrap_or_default();
    Ok(match word.as_str() {
        "complete" => Outcome::Complete,
        "partial" => Outcome::Partial(reason),
        "failed" => Outcome::Failed(reason),
        "voided" => Outcome::Voided(reason),
        _ => {
            let what = format!("the outcome of run {uuid}");
            return Err(unreadable(what, format!("no outcome is called \"{word}\"")).into());
        }
    })
}

/// The selected runs as a list shows them.
pub(crate) fn heads(connection: &Connection, selection: &Selection) -> Result<Vec<RunHead>, Fault> {
    let (condition, values) = selection.condition(connection)?;
    let mut statement = connection.prepare(&format!(
        "SELECT uuid, started, plan, session, block, position, arm, outcome, reason, elapsed_ns,
                import_digest IS NOT NULL AS imported, json_array_length(doubts) AS doubts,
                (SELECT value FROM run_fact WHERE run = run.id AND key = 'kernel') AS kernel,
                (SELECT value FROM run_fact WHERE run = run.id AND key = 'filesystem') AS filesystem
         FROM run WHERE {condition} ORDER BY uuid"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut heads = Vec::new();
    while let Some(row) = rows.next()? {
        let uuid = uuid(row, "uuid")?;
        let what = format!("the plan of run {uuid}");
        let plan: RunPlan = from_json(what, &row.get::<_, String>("plan")?)?;
        heads.push(RunHead {
            uuid,
            started: row.get("started")?,
            selector: plan.selector(),
            label: plan.label,
            params: plan.params,
            on: plan.on,
            kernel: row.get("kernel")?,
            filesystem: row.get("filesystem")?,
            outcome: outcome(row, uuid)?,
            elapsed: nanos(row, "elapsed_ns")?,
            session: place(row)?,
            imported: row.get("imported")?,
            doubts: row.get("doubts")?,
        });
    }
    Ok(heads)
}

/// The run of that name, whole.
pub(crate) fn by_name(connection: &Connection, name: &Uuid) -> Result<Run, Fault> {
    let missing = || StoreError::NoSuchRun {
        name: name.to_string(),
    };
    let id = write::id(connection, name)?.ok_or_else(missing)?;
    let mut runs = Runs::of(connection, vec![id], Detail::Full);
    Ok(runs.next()?.ok_or_else(missing)?)
}

/// The only run whose name begins so.
pub(crate) fn find(connection: &Connection, beginning: &str) -> Result<Uuid, Fault> {
    /// How many candidates a message lists.
    const MOST_LISTED: usize = 10;
    let missing = || StoreError::NoSuchRun {
        name: beginning.to_owned(),
    };
    let digits: String = beginning.trim().replace('-', "").to_ascii_lowercase();
    if digits.is_empty() || digits.len() > 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(missing().into());
    }
    // The hyphens of a name stand before its 9th, 13th, 17th and 21st digit.
    let mut prefix = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            prefix.push('-');
        }
        prefix.push(digit);
    }
    let mut statement = connection.prepare_cached(
        "SELECT uuid FROM run WHERE uuid >= ?1 AND uuid < ?1 || 'g' ORDER BY uuid",
    )?;
    let mut rows = statement.query([prefix])?;
    let mut candidates = Vec::new();
    while let Some(row) = rows.next()?
        && candidates.len() <= MOST_LISTED
    {
        candidates.push(uuid(row, "uuid")?);
    }
    match candidates.as_slice() {
        [] => Err(missing().into()),
        [only] => Ok(*only),
        _ => {
            let more = candidates.len() > MOST_LISTED;
            candidates.truncate(MOST_LISTED);
            Err(StoreError::Ambiguous {
                name: beginning.to_owned(),
                candidates,
                more,
            }
            .into())
        }
    }
}

pub(crate) fn fact_keys(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement = connection
        .prepare("SELECT key FROM run_fact UNION SELECT key FROM record_fact ORDER BY key")?;
    let keys = statement.query_map([], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

pub(crate) fn fact_values(connection: &Connection, key: &str) -> Result<Vec<(String, u64)>, Fault> {
    let mut statement = connection
        .prepare("SELECT value, count(*) FROM fact WHERE key = ?1 GROUP BY value ORDER BY value")?;
    let values = statement.query_map([key], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
    })?;
    Ok(values.collect::<Result<_, _>>()?)
}

pub(crate) fn imported(connection: &Connection, digest: &str) -> Result<Vec<Uuid>, Fault> {
    let mut statement =
        connection.prepare("SELECT uuid FROM run WHERE import_digest = ?1 ORDER BY uuid")?;
    let mut rows = statement.query([digest])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        names.push(uuid(row, "uuid")?);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use kernmark_model::fixtures;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::Store;

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Machine {
        name: String,
        state: Option<f64>,
    }

    #[test]
    fn a_machine_in_two_states_is_stored_once_and_read_in_both() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db")).unwrap();
        let run = fixtures::corners();
        let machine = |celsius| Machine {
            name: "marvin".into(),
            state: Some(celsius),
        };
        store
            .change("test", |change| {
                let store =
                    |celsius: f64| write::record(change, "machine", &run, &machine(celsius), &[]);
                let ((cold, cold_state), (warm, warm_state)) = (store(30.1)?, store(70.2)?);
                assert_eq!(cold, warm);
                let mut known: HashMap<i64, Machine> = HashMap::new();
                assert_eq!(record(change, &mut known, cold, cold_state)?, machine(30.1));
                assert_eq!(record(change, &mut known, warm, warm_state)?, machine(70.2));
                for _ in 0..2 {
                    let settled = Machine {
                        state: None,
                        ..machine(0.0)
                    };
                    assert_eq!(record(change, &mut known, cold, None)?, settled);
                }
                Ok(())
            })
            .unwrap();
    }
}
