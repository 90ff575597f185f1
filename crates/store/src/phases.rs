//! Reading the phases of a run: each table once for a run, not once for a phase.

use std::collections::HashMap;

use kernmark_model::histogram::Histogram;
use kernmark_model::run::{
    CutOp, Formula, OpCount, OpName, Phase, Reported, Run, Sample, Value, WorkerResult,
};
use kernmark_model::series::{self, Series, SeriesKind};
use kernmark_model::units::{Bytes, Nanos};
use rusqlite::{Connection, Row, ToSql, params};
use uuid::Uuid;

use crate::code::{counters_from_bytes, from_json, from_word, unreadable};
use crate::error::Fault;
use crate::{Detail, StoreError};

const PHASES: &str = "SELECT id, name, point, repetition, start_ns, elapsed_ns, warm_up_ns, spawn,
        CASE WHEN ?2 THEN counters END
    FROM phase WHERE run = ?1 ORDER BY position";
const OPS: &str = "SELECT op.phase, op.name, op.span, op.direction
    FROM phase CROSS JOIN op ON op.phase = phase.id
    WHERE phase.run = ?1 ORDER BY phase.position, op.op";
const WORKERS: &str = "SELECT w.phase, w.rank, w.start_ns, w.end_ns, w.state, w.cut_op, w.cut_ns
    FROM phase CROSS JOIN worker w ON w.phase = phase.id
    WHERE phase.run = ?1 ORDER BY phase.position, w.rank";
const OP_COUNTS: &str =
    "SELECT c.phase, c.worker, c.op, c.count, c.bytes, c.unexpected, c.total_ns, c.max_ns,
        CASE WHEN ?2 THEN c.histogram END
    FROM phase CROSS JOIN op_count c ON c.phase = phase.id
    WHERE phase.run = ?1 ORDER BY phase.position, c.worker, c.op";
const SERIES: &str = "SELECT s.phase, s.kind, s.op, s.worker, s.data
    FROM phase CROSS JOIN series s ON s.phase = phase.id
    WHERE phase.run = ?1 ORDER BY phase.position, s.position";
const SAMPLES: &str =
    "SELECT s.phase, s.metric, s.op, s.worker, s.repetition, s.kind, s.value, s.half_unit,
        s.statistic, s.of_values
    FROM phase CROSS JOIN sample s ON s.phase = phase.id
    WHERE phase.run = ?1 ORDER BY phase.position, s.position";

/// The phases of `run`, which is row `id`, in as much detail as its figures need, or whole.
pub(crate) fn read(
    connection: &Connection,
    id: i64,
    run: &Run,
    detail: Detail,
) -> Result<Vec<Phase>, Fault> {
    let whole = detail == Detail::Full;
    let quantiles = || {
        let mut formulas = run.metrics.iter().map(|metric| metric.formula);
        formulas.any(|formula| matches!(formula, Formula::QuantileMillis(_)))
    };
    let mut reader = Reader {
        connection,
        run: run.uuid,
        rows: HashMap::new(),
        phases: Vec::new(),
    };
    reader.phases(id, whole)?;
    reader.ops(id)?;
    reader.workers(id)?;
    reader.op_counts(id, whole || quantiles())?;
    if whole {
        reader.series(id)?;
    }
    reader.samples(id)?;
    Ok(reader.phases)
}

struct Reader<'store> {
    connection: &'store Connection,
    run: Uuid,
    /// Row of a phase to its place.
    rows: HashMap<i64, usize>,
    phases: Vec<Phase>,
}

impl Reader<'_> {
    fn unreadable(&self, part: &str, why: impl std::fmt::Display) -> StoreError {
        unreadable(self.what(part), why)
    }

    fn what(&self, part: &str) -> String {
        format!("the {part} of run {}", self.run)
    }

    fn phases(&mut self, id: i64, with_counters: bool) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(PHASES)?;
        let mut rows = statement.query(params![id, with_counters])?;
        while let Some(row) = rows.next()? {
            self.rows.insert(row.get(0)?, self.phases.len());
            let point: String = row.get(2)?;
            let spawn: Option<String> = row.get(7)?;
            let counters: Option<Vec<u8>> = row.get(8)?;
            self.phases.push(Phase {
                name: row.get(1)?,
                point: from_json(self.what("point"), &point)?,
                repetition: row.get(3)?,
                start: Nanos(unsigned(row, 4)?),
                elapsed: Nanos(unsigned(row, 5)?),
                warm_up: Nanos(unsigned(row, 6)?),
                spawn: match spawn {
                    Some(word) => Some(from_word(self.what("spawn"), word)?),
                    None => None,
                },
                ops: Vec::new(),
                workers: Vec::new(),
                series: Vec::new(),
                samples: Vec::new(),
                counters: match counters {
                    Some(bytes) => Some(counters_from_bytes(self.what("counters"), &bytes)?),
                    None => None,
                },
            });
        }
        Ok(())
    }

    /// Hands each row of a query to `add`, with the phase that its first column names.
    fn each(
        &mut self,
        query: &str,
        parameters: &[&dyn ToSql],
        add: impl Fn(&Self, &Row<'_>) -> Result<Piece, Fault>,
    ) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(query)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            let piece = add(self, row)?;
            // Foreign keys keep rows from being without their phase or worker.
            let Some(phase) = self
                .rows
                .get(&row.get(0)?)
                .map(|&place| &mut self.phases[place])
            else {
                continue;
            };
            match piece {
                Piece::Op(op) => phase.ops.push(op),
                Piece::Worker(worker) => phase.workers.push(worker),
                Piece::Count(rank, count) => {
                    let found = phase
                        .workers
                        .binary_search_by_key(&rank, |worker| worker.rank);
                    if let Ok(place) = found {
                        phase.workers[place].ops.push(count);
                    }
                }
                Piece::Series(series) => phase.series.push(series),
                Piece::Sample(sample) => phase.samples.push(sample),
            }
        }
        Ok(())
    }

    fn ops(&mut self, id: i64) -> Result<(), Fault> {
        self.each(OPS, params![id], |reader, row| {
            let direction: Option<String> = row.get(3)?;
            Ok(Piece::Op(OpName {
                name: row.get(1)?,
                span: row.get(2)?,
                direction: match direction {
                    Some(word) => Some(from_word(reader.what("op's direction"), word)?),
                    None => None,
                },
            }))
        })
    }

    fn workers(&mut self, id: i64) -> Result<(), Fault> {
        self.each(WORKERS, params![id], |reader, row| {
            let state: String = row.get(4)?;
            let cut: Option<u32> = row.get(5)?;
            Ok(Piece::Worker(WorkerResult {
                rank: row.get(1)?,
                start: Nanos(unsigned(row, 2)?),
                end: Nanos(unsigned(row, 3)?),
                state: from_json(reader.what("worker's end"), &state)?,
                ops: Vec::new(),
                cut: match cut {
                    Some(op) => Some(CutOp {
                        op,
                        nanos: Nanos(unsigned(row, 6)?),
                    }),
                    None => None,
                },
            }))
        })
    }

    fn op_counts(&mut self, id: i64, with_histograms: bool) -> Result<(), Fault> {
        self.each(OP_COUNTS, params![id, with_histograms], |reader, row| {
            let histogram: Option<Vec<u8>> = row.get(8)?;
            let histogram = match histogram {
                Some(bytes) => Histogram::from_bytes(&bytes)
                    .map_err(|error| reader.unreadable("histogram", error))?,
                None => Histogram::default(),
            };
            let count = OpCount {
                op: row.get(2)?,
                count: unsigned(row, 3)?,
                bytes: Bytes(unsigned(row, 4)?),
                unexpected: unsigned(row, 5)?,
                total: Nanos(unsigned(row, 6)?),
                max: Nanos(unsigned(row, 7)?),
                histogram,
            };
            Ok(Piece::Count(row.get(1)?, count))
        })
    }

    fn series(&mut self, id: i64) -> Result<(), Fault> {
        self.each(SERIES, params![id], |reader, row| {
            let kind: String = row.get(1)?;
            let data: Vec<u8> = row.get(4)?;
            Ok(Piece::Series(Series {
                kind: SeriesKind::from_name(&kind).ok_or_else(|| {
                    reader.unreadable("series", format!("no kind is called \"{kind}\""))
                })?,
                op: row.get(2)?,
                worker: row.get(3)?,
                values: series::from_bytes(&data)
                    .map_err(|error| reader.unreadable("series", error))?,
            }))
        })
    }

    fn samples(&mut self, id: i64) -> Result<(), Fault> {
        self.each(SAMPLES, params![id], |reader, row| {
            let kind = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?;
            let value = match kind {
                "count" => Value::Count(unsigned(row, 6)?),
                "bytes" => Value::Bytes(Bytes(unsigned(row, 6)?)),
                "nanos" => Value::Nanos(Nanos(unsigned(row, 6)?)),
                "instructions" => Value::Instructions(unsigned(row, 6)?),
                "ratio" => Value::Ratio(row.get(6)?),
                "reported" => Value::Reported(Reported {
                    text: row.get(6)?,
                    half_unit: row.get(7)?,
                    statistic: from_word(reader.what("sample"), row.get(8)?)?,
                    of: row.get(9)?,
                }),
                other => {
                    let why = format!("no kind is called \"{other}\"");
                    return Err(reader.unreadable("sample", why).into());
                }
            };
            Ok(Piece::Sample(Sample {
                metric: row.get(1)?,
                op: row.get(2)?,
                worker: row.get(3)?,
                repetition: row.get(4)?,
                value,
            }))
        })
    }
}

/// A row, read, on its way to its phase.
enum Piece {
    Op(OpName),
    Worker(WorkerResult),
    Count(u32, OpCount),
    Series(Series),
    Sample(Sample),
}

/// A number of which SQLite holds the same 64 bits as a signed one.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_query_walks_through_a_whole_table() {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::Store::open(&folder.path().join("store.db")).unwrap();
        for query in [PHASES, OPS, WORKERS, OP_COUNTS, SERIES, SAMPLES] {
            let explain = format!("EXPLAIN QUERY PLAN {query}");
            let mut plan = store.connection.prepare(&explain).unwrap();
            let parameters = vec![1_i64; plan.parameter_count()];
            let steps: Vec<String> = plan
                .query_map(rusqlite::params_from_iter(parameters), |row| row.get(3))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert!(!steps.is_empty());
            for step in &steps {
                assert!(step.starts_with("SEARCH"), "{query}\n{steps:#?}");
            }
        }
    }

    #[test]
    fn a_cached_query_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::Store::open(&folder.path().join("store.db")).unwrap();
        for query in [PHASES, OPS, WORKERS, OP_COUNTS, SERIES, SAMPLES] {
            let mut statement = store.connection.prepare(query).unwrap();
            for run in 1..4_i64 {
                let parameters = vec![run; statement.parameter_count()];
                let mut rows = statement
                    .query(rusqlite::params_from_iter(parameters))
                    .unwrap();
                assert!(rows.next().unwrap().is_none());
            }
            let plannings = statement.get_status(rusqlite::StatementStatus::RePrepare);
            assert_eq!(plannings, 0, "{query}");
        }
    }
}
