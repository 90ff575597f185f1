//! Writing runs. Every function works inside a transaction that its caller begins and ends.

use std::collections::HashSet;
use std::sync::LazyLock;

use kernmark_model::facts;
use kernmark_model::run::{Origin, Phase, Run, Sample, Value, WorkerResult};
use kernmark_model::series;
use rusqlite::types::Value as Column;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::StoreError;
use crate::code::{counters_to_bytes, to_json, to_word};
use crate::error::Fault;
use crate::read::{self, Detail};

/// Columns of a run in the order in which [`save`] has their values.
const RUN_COLUMNS: &[&str] = &[
    "uuid",
    "started",
    "tool",
    "workload",
    "label",
    "plan",
    "machine",
    "machine_state",
    "target",
    "target_state",
    "boot_id",
    "clock",
    "session",
    "block",
    "position",
    "arm",
    "import_digest",
    "import_file",
    "import_line",
    "import_notes",
    "outcome",
    "reason",
    "elapsed_ns",
    "user_ns",
    "system_ns",
    "metrics",
    "doubts",
];

static SAVE_RUN: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=RUN_COLUMNS.len()).map(|n| format!("?{n}")).collect();
    let changes: Vec<String> = RUN_COLUMNS
        .iter()
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    format!(
        "INSERT INTO run ({}) VALUES ({}) ON CONFLICT (uuid) DO UPDATE SET {} RETURNING id",
        RUN_COLUMNS.join(", "),
        places.join(", "),
        changes.join(", "),
    )
});

/// Stores the run and its phases; `false` if it is there already.
pub(crate) fn insert(change: &Connection, run: &Run) -> Result<bool, Fault> {
    if id(change, &run.uuid)?.is_some() {
        return Ok(false);
    }
    let id = save(change, run)?;
    for phase in &run.phases {
        append(change, run.uuid, id, phase)?;
    }
    Ok(true)
}

/// The row of the run of that name.
pub(crate) fn id(connection: &Connection, run: &Uuid) -> Result<Option<i64>, Fault> {
    Ok(connection
        .prepare_cached("SELECT id FROM run WHERE uuid = ?1")?
        .query_row([run.to_string()], |row| row.get(0))
        .optional()?)
}

/// Writes all of the run but its phases, whether it is there already or not; returns its row.
pub(crate) fn save(change: &Connection, run: &Run) -> Result<i64, Fault> {
    let (plan, usage, session) = (&run.plan, &run.usage, run.session.as_ref());
    let facts = facts::of(run);
    let (machine, machine_state) = record(change, "machine", run, &run.machine, &facts)?;
    let (target, target_state) = match &run.target {
        Some(target) => {
            let (target, state) = record(change, "target", run, target, &facts)?;
            (Some(target), state)
        }
        None => (None, None),
    };
    let (digest, file, line, notes) = match &run.origin {
        Origin::Measured => (None, None, None, None),
        Origin::Imported {
            digest,
            file,
            line,
            notes,
        } => (
            Some(digest),
            Some(file),
            Some(line.cast_signed()),
            Some(to_json(run.uuid, "notes", notes)?),
        ),
    };
    let nanos = |time: Option<kernmark_model::units::Nanos>| time.map(|time| time.0.cast_signed());
    let values = params![
        run.uuid.to_string(),
        run.started,
        plan.tool,
        plan.workload,
        plan.label,
        to_json(run.uuid, "plan", plan)?,
        machine,
        machine_state,
        target,
        target_state,
        run.boot_id,
        to_word(&run.clock),
        session.map(|place| place.id.to_string()),
        session.map(|place| place.block),
        session.map(|place| place.position),
        session.map(|place| &place.arm),
        digest,
        file,
        line,
        notes,
        run.outcome.word(),
        run.outcome.reason(),
        nanos(usage.elapsed),
        nanos(usage.user),
        nanos(usage.system),
        to_json(run.uuid, "metrics", &run.metrics)?,
        to_json(run.uuid, "doubts", &run.doubts)?,
    ];
    let id = change
        .prepare_cached(&SAVE_RUN)?
        .query_row(values, |row| row.get(0))
        .map_err(|error| refused(run.uuid, error))?;
    save_run_facts(change, id, &facts)?;
    Ok(id)
}

/// Stores a machine or target without its state, once for all runs that share it. Returns its row and its state.
pub(crate) fn record(
    change: &Connection,
    kind: &'static str,
    run: &Run,
    record: &impl Serialize,
    facts: &[(String, String)],
) -> Result<(i64, Option<String>), Fault> {
    let unwritable = |error: serde_json::Error| StoreError::Inconsistent {
        run: run.uuid,
        why: format!("its {kind} cannot be written as JSON ({error})"),
    };
    let mut json = serde_json::to_value(record).map_err(unwritable)?;
    let state = match &mut json {
        Json::Object(fields) => fields.shift_remove("state"),
        _ => None,
    };
    let content = json.to_string();
    let digest = format!("{kind}\n{content}");
    let digest: String = Sha256::digest(digest)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let known = change
        .prepare_cached("SELECT id FROM record WHERE digest = ?1")?
        .query_row([&digest], |row| row.get(0))
        .optional()?;
    let id = match known {
        Some(id) => id,
        None => {
            let id = change
                .prepare_cached(
                    "INSERT INTO record (digest, kind, content) VALUES (?1, ?2, ?3) RETURNING id",
                )?
                .query_row([&digest, kind, &content], |row| row.get(0))?;
            save_record_facts(change, id, kind, facts)?;
            id
        }
    };
    Ok((id, state.map(|state| state.to_string())))
}

/// The kind of record that a fact belongs to: `machine.…`, `target.…`; `None` for the run's own.
pub(crate) fn record_of(key: &str) -> Option<&'static str> {
    match key.split_once('.')?.0 {
        "machine" => Some("machine"),
        "target" => Some("target"),
        _ => None,
    }
}

fn save_record_facts(
    change: &Connection,
    record: i64,
    kind: &str,
    facts: &[(String, String)],
) -> Result<(), Fault> {
    let mut insert = change.prepare_cached(
        "INSERT OR IGNORE INTO record_fact (record, key, value) VALUES (?1, ?2, ?3)",
    )?;
    for (key, value) in facts {
        if record_of(key) == Some(kind) {
            insert.execute(params![record, key, value])?;
        }
    }
    Ok(())
}

fn save_run_facts(change: &Connection, run: i64, facts: &[(String, String)]) -> Result<(), Fault> {
    change
        .prepare_cached("DELETE FROM run_fact WHERE run = ?1")?
        .execute([run])?;
    let mut insert = change
        .prepare_cached("INSERT OR IGNORE INTO run_fact (run, key, value) VALUES (?1, ?2, ?3)")?;
    for (key, value) in facts {
        if record_of(key).is_none() {
            insert.execute(params![run, key, value])?;
        }
    }
    Ok(())
}

/// Writes all facts anew if they were derived by an earlier program, which knew fewer.
pub(crate) fn refresh_facts(connection: &mut Connection) -> Result<(), Fault> {
    let version = |connection: &Connection| {
        let select = "SELECT value FROM setting WHERE name = 'facts_version'";
        let value: Option<String> = connection
            .query_row(select, [], |row| row.get(0))
            .optional()?;
        Ok::<u32, Fault>(value.and_then(|text| text.parse().ok()).unwrap_or(0))
    };
    if version(connection)? >= facts::VERSION {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&change)? >= facts::VERSION {
        return Ok(());
    }
    change.execute_batch("DELETE FROM record_fact")?;
    let mut runs = read::Runs::new(&change, &crate::Selection::default(), Detail::Head)?;
    let mut done = HashSet::new();
    while let Some(found) = runs.next_found()? {
        let facts = facts::of(&found.run);
        let records = [("machine", Some(found.machine)), ("target", found.target)];
        for (kind, record) in records {
            if let Some(record) = record.filter(|record| done.insert(*record)) {
                save_record_facts(&change, record, kind, &facts)?;
            }
        }
        save_run_facts(&change, found.id, &facts)?;
    }
    drop(runs);
    change.execute(
        "INSERT INTO setting (name, value) VALUES ('facts_version', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [facts::VERSION.to_string()],
    )?;
    change.commit()?;
    Ok(())
}

/// Stores a phase behind those that the run has.
pub(crate) fn append(
    change: &Connection,
    name: Uuid,
    run: i64,
    phase: &Phase,
) -> Result<(), Fault> {
    let append = || -> Result<(), Fault> {
        let counters = match &phase.counters {
            Some(pair) => Some(counters_to_bytes(name, pair)?),
            None => None,
        };
        let id = change
            .prepare_cached(
                "INSERT INTO phase (run, position, name, point, repetition, start_ns, elapsed_ns, warm_up_ns, spawn, counters)
                 VALUES (?1, (SELECT count(*) FROM phase WHERE run = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id",
            )?
            .query_row(
                params![
                    run,
                    phase.name,
                    to_json(name, "point", &phase.point)?,
                    phase.repetition,
                    phase.start.0.cast_signed(),
                    phase.elapsed.0.cast_signed(),
                    phase.warm_up.0.cast_signed(),
                    phase.spawn.as_ref().and_then(to_word),
                    counters,
                ],
                |row| row.get(0),
            )?;
        let mut op = change.prepare_cached(
            "INSERT INTO op (phase, op, name, span, direction) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for (index, named) in (0_i64..).zip(&phase.ops) {
            op.execute(params![
                id,
                index,
                named.name,
                named.span,
                named.direction.as_ref().and_then(to_word)
            ])?;
        }
        for worker in &phase.workers {
            append_worker(change, name, id, worker)?;
        }
        let mut series_row = change.prepare_cached(
            "INSERT INTO series (phase, position, kind, op, worker, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (position, series) in (0_i64..).zip(&phase.series) {
            let data = series::to_bytes(&series.values);
            series_row.execute(params![
                id,
                position,
                series.kind.name(),
                series.op,
                series.worker,
                data
            ])?;
        }
        for (position, sample) in (0_i64..).zip(&phase.samples) {
            append_sample(change, name, id, position, sample)?;
        }
        Ok(())
    };
    append().map_err(|fault| match fault {
        Fault::Sql(error) => refused(name, error),
        told => told,
    })
}

fn append_worker(
    change: &Connection,
    name: Uuid,
    phase: i64,
    worker: &WorkerResult,
) -> Result<(), Fault> {
    change
        .prepare_cached(
            "INSERT INTO worker (phase, rank, start_ns, end_ns, state, cut_op, cut_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            phase,
            worker.rank,
            worker.start.0.cast_signed(),
            worker.end.0.cast_signed(),
            to_json(name, "worker's end", &worker.state)?,
            worker.cut.map(|cut| cut.op),
            worker.cut.map(|cut| cut.nanos.0.cast_signed()),
        ])?;
    let mut row = change.prepare_cached(
        "INSERT INTO op_count (phase, worker, op, count, bytes, unexpected, total_ns, max_ns, histogram)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for op in &worker.ops {
        row.execute(params![
            phase,
            worker.rank,
            op.op,
            op.count.cast_signed(),
            op.bytes.0.cast_signed(),
            op.unexpected.cast_signed(),
            op.total.0.cast_signed(),
            op.max.0.cast_signed(),
            op.histogram.to_bytes(),
        ])?;
    }
    Ok(())
}

fn append_sample(
    change: &Connection,
    run: Uuid,
    phase: i64,
    position: i64,
    sample: &Sample,
) -> Result<(), Fault> {
    let integer = |number: u64| Column::Integer(number.cast_signed());
    let (kind, value, reported) = match &sample.value {
        Value::Count(count) => ("count", integer(*count), None),
        Value::Bytes(bytes) => ("bytes", integer(bytes.0), None),
        Value::Nanos(nanos) => ("nanos", integer(nanos.0), None),
        Value::Instructions(count) => ("instructions", integer(*count), None),
        Value::Ratio(ratio) => ("ratio", Column::Real(*ratio), None),
        Value::Reported(reported) => {
            let text = Column::Text(reported.text.clone());
            ("reported", text, Some(reported))
        }
    };
    let half_unit = reported.map(|reported| reported.half_unit);
    for number in [half_unit, Some(&value).and_then(real)]
        .into_iter()
        .flatten()
    {
        if !number.is_finite() {
            return Err(StoreError::Inconsistent {
                run,
                why: format!(
                    "its sample \"{}\" holds {number}, which is no number",
                    sample.metric
                ),
            }
            .into());
        }
    }
    change
        .prepare_cached(
            "INSERT INTO sample (phase, position, metric, op, worker, repetition, kind, value, half_unit, statistic, of_values)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            phase,
            position,
            sample.metric,
            sample.op,
            sample.worker,
            sample.repetition,
            kind,
            value,
            half_unit,
            reported.and_then(|reported| to_word(&reported.statistic)),
            reported.and_then(|reported| reported.of),
        ])?;
    Ok(())
}

fn real(column: &Column) -> Option<f64> {
    match column {
        Column::Real(number) => Some(*number),
        _ => None,
    }
}

/// Removes runs, and machines and targets that no run is left for.
pub(crate) fn delete(change: &Connection, runs: &[Uuid]) -> Result<usize, Fault> {
    let mut deleted = 0;
    let mut delete = change.prepare_cached("DELETE FROM run WHERE uuid = ?1")?;
    for run in runs {
        deleted += delete.execute([run.to_string()])?;
    }
    forget_records(change)?;
    Ok(deleted)
}

/// Removes machines and targets that no run refers to.
pub(crate) fn forget_records(change: &Connection) -> Result<(), Fault> {
    change
        .prepare_cached(
            "DELETE FROM record WHERE id NOT IN
             (SELECT machine FROM run UNION SELECT target FROM run WHERE target IS NOT NULL)",
        )?
        .execute([])?;
    Ok(())
}

/// A run whose parts contradict each other breaks a rule of the tables.
fn refused(run: Uuid, error: rusqlite::Error) -> Fault {
    if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) {
        let why = format!("its parts contradict each other ({error})");
        return StoreError::Inconsistent { run, why }.into();
    }
    error.into()
}
