//! What was asked for and is not done: so that an interrupted plan goes on where it stopped.

use kernmark_model::plan::RunPlan;
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::code::{from_json, to_json, unreadable};
use crate::error::Fault;
use crate::{Store, StoreError};

/// A plan of which some run is not done.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedPlan {
    /// Its name in the store.
    pub uuid: Uuid,
    /// What the user calls it.
    pub name: String,
    /// All its runs in order, done ones as well.
    pub runs: Vec<PlannedRun>,
}

/// A run of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    /// Place within the plan, from 0.
    pub position: u32,
    /// The run as it shall be made.
    pub plan: RunPlan,
    /// How far it is.
    pub state: PlannedState,
    /// Name of the run that was made last for it.
    pub run: Option<Uuid>,
}

/// How far a run of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedState {
    /// Not begun.
    Pending,
    /// Begun, and not marked as finished: by a process that lives, or was killed.
    Running,
    /// Made, whatever its outcome.
    Done,
}

impl Store {
    /// Notes the runs that shall be made under a plan called `name`; returns the plan's name in the store.
    pub fn begin_plan(&mut self, name: &str, runs: &[RunPlan]) -> Result<Uuid, StoreError> {
        let uuid = Uuid::now_v7();
        self.change("noting a plan", |change| {
            let plan = uuid.to_string();
            change.execute("INSERT INTO plan (uuid, name) VALUES (?1, ?2)", [&plan, name])?;
            let mut insert = change.prepare(
                "INSERT INTO plan_run (plan, position, run_plan, state) VALUES (?1, ?2, ?3, 'pending')",
            )?;
            for (position, run) in (0_u32..).zip(runs) {
                insert.execute(params![plan, position, to_json(uuid, "plan", run)?])?;
            }
            Ok(uuid)
        })
    }

    /// The run at `position` of the plan is being made, under the name `run`; also when it is made once more.
    pub fn mark_started(&mut self, plan: Uuid, position: u32, run: Uuid) -> Result<(), StoreError> {
        self.change("noting a plan's progress", |change| {
            mark(
                change,
                "UPDATE plan_run SET state = 'running', run = ?3 WHERE plan = ?1 AND position = ?2",
                (plan, position, Some(run)),
            )
        })
    }

    /// The run at `position` of the plan was made and needs not be made again.
    pub fn mark_finished(&mut self, plan: Uuid, position: u32) -> Result<(), StoreError> {
        self.change("noting a plan's progress", |change| {
            mark(
                change,
                "UPDATE plan_run SET state = 'done' WHERE plan = ?1 AND position = ?2",
                (plan, position, None),
            )
        })
    }

    /// Plans with runs that are not done, in the order in which they were begun.
    pub fn unfinished(&self) -> Result<Vec<UnfinishedPlan>, StoreError> {
        self.told("listing plans", unfinished(&self.connection))
    }

    /// Forgets a plan that shall not be resumed; runs that were made for it stay. `false` if there is no such plan.
    pub fn forget_plan(&mut self, plan: Uuid) -> Result<bool, StoreError> {
        self.change("forgetting a plan", |change| {
            let deleted = change.execute("DELETE FROM plan WHERE uuid = ?1", [plan.to_string()])?;
            Ok(deleted > 0)
        })
    }
}

fn mark(
    change: &Connection,
    update: &str,
    (plan, position, run): (Uuid, u32, Option<Uuid>),
) -> Result<(), Fault> {
    let mut statement = change.prepare_cached(update)?;
    let marked = match run {
        Some(run) => statement.execute(params![plan.to_string(), position, run.to_string()])?,
        None => statement.execute(params![plan.to_string(), position])?,
    };
    if marked == 0 {
        return Err(StoreError::NoSuchPlan { plan, position }.into());
    }
    Ok(())
}

fn unfinished(connection: &Connection) -> Result<Vec<UnfinishedPlan>, Fault> {
    let mut statement = connection.prepare(
        "SELECT plan.uuid, plan.name, r.position, r.run_plan, r.state, r.run
         FROM plan JOIN plan_run r ON r.plan = plan.uuid
         WHERE plan.uuid IN (SELECT plan FROM plan_run WHERE state <> 'done')
         ORDER BY plan.uuid, r.position",
    )?;
    let mut rows = statement.query([])?;
    let mut plans: Vec<UnfinishedPlan> = Vec::new();
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        let what = || format!("plan {text}");
        let uuid = Uuid::parse_str(&text).map_err(|error| unreadable(what(), error))?;
        let (run_plan, state): (String, String) = (row.get(3)?, row.get(4)?);
        let run: Option<String> = row.get(5)?;
        let run = run.as_deref().map(Uuid::parse_str).transpose();
        let planned = PlannedRun {
            position: row.get(2)?,
            plan: from_json(what(), &run_plan)?,
            state: match state.as_str() {
                "pending" => PlannedState::Pending,
                "running" => PlannedState::Running,
                _ => PlannedState::Done,
            },
            run: run.map_err(|error| unreadable(what(), error))?,
        };
        match plans.last_mut() {
            Some(last) if last.uuid == uuid => last.runs.push(planned),
            _ => plans.push(UnfinishedPlan {
                uuid,
                name: row.get(1)?,
                runs: vec![planned],
            }),
        }
    }
    Ok(plans)
}
