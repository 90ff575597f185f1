//! From a plan as typed to the runs it means: tools found, parameters checked, defaults filled in, sweeps unrolled.

use std::collections::BTreeMap;

use kernmark_model::plan::{
    PLAN_VERSION, ParamError, ParamValue, Params, Plan, Program, RunPlan, Step,
};
use thiserror::Error;

use crate::tool::{Tool, WorkloadSpec};

/// More runs than this in one plan are refused: a typing error is likelier than that somebody wants to wait for them.
pub const MOST_RUNS: usize = 100_000;

/// Why a plan was refused. Nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Written by a later program.
    #[error("this plan is of version {0}; this program knows version {PLAN_VERSION}")]
    Version(u32),
    /// No such tool or workload.
    #[error("there is no tool \"{name}\"; there are {}", known.join(", "))]
    Tool {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No such parameter.
    #[error("{tool} has no parameter \"{name}\"; it has {}", known.join(", "))]
    Param {
        /// The tool.
        tool: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A value was refused.
    #[error("{tool} {name}: {cause}")]
    Value {
        /// The tool.
        tool: String,
        /// The parameter.
        name: String,
        /// Why.
        cause: ParamError,
    },
    /// No steps, no values, or no repetitions.
    #[error("this plan makes no run: {0}")]
    Empty(String),
    /// Too many.
    #[error("this plan makes more than {MOST_RUNS} runs")]
    TooMany,
}

/// The tool and workload called `selector`: `dbench`, `lmbench:lat_pipe`.
pub fn find(
    tools: &'static [Tool],
    selector: &str,
) -> Result<(&'static Tool, &'static WorkloadSpec), PlanError> {
    let (tool, workload) = selector.split_once(':').unwrap_or((selector, ""));
    tools
        .iter()
        .find(|candidate| candidate.name == tool)
        .and_then(|found| {
            let spec = match workload {
                "" => found.workloads.first(),
                name => found.workloads.iter().find(|spec| spec.name == name),
            };
            spec.map(|spec| (found, spec))
        })
        .ok_or_else(|| PlanError::Tool {
            name: selector.to_owned(),
            known: selectors(tools),
        })
}

/// Every name that [`find`] finds.
pub fn selectors(tools: &'static [Tool]) -> Vec<String> {
    tools
        .iter()
        .flat_map(|tool| {
            tool.workloads.iter().map(move |spec| {
                if spec.name == tool.name {
                    tool.name.to_owned()
                } else {
                    format!("{}:{}", tool.name, spec.name)
                }
            })
        })
        .collect()
}

/// The runs that `plan` means, in order. `seed` is used where the plan names none.
pub fn resolve(
    plan: &Plan,
    tools: &'static [Tool],
    program: &Program,
    seed: u64,
) -> Result<Vec<RunPlan>, PlanError> {
    if plan.version != PLAN_VERSION {
        return Err(PlanError::Version(plan.version));
    }
    let mut runs = Vec::new();
    for step in &plan.steps {
        resolve_step(step, tools, program, plan.seed.unwrap_or(seed), &mut runs)?;
    }
    if runs.is_empty() {
        return Err(PlanError::Empty("it has no steps".to_owned()));
    }
    Ok(runs)
}

fn resolve_step(
    step: &Step,
    tools: &'static [Tool],
    program: &Program,
    seed: u64,
    runs: &mut Vec<RunPlan>,
) -> Result<(), PlanError> {
    let (tool, spec) = find(tools, &step.tool)?;
    if let Some(name) = step
        .params
        .keys()
        .find(|name| spec.params.iter().all(|param| param.name != name.as_str()))
    {
        return Err(PlanError::Param {
            tool: step.tool.clone(),
            name: name.clone(),
            known: spec
                .params
                .iter()
                .map(|param| param.name.to_owned())
                .collect(),
        });
    }
    if step.repeat == 0 {
        return Err(PlanError::Empty(format!(
            "{} is to be repeated 0 times",
            step.tool
        )));
    }
    let mut combinations = vec![BTreeMap::new()];
    for param in spec.params {
        let values = parse_values(step, param)?;
        if combinations.len().saturating_mul(values.len()) > MOST_RUNS {
            return Err(PlanError::TooMany);
        }
        combinations = combinations
            .into_iter()
            .flat_map(|chosen| {
                values
                    .iter()
                    .map(move |value| with(&chosen, param.name, value))
            })
            .collect();
    }
    if (runs.len() + combinations.len()).saturating_mul(step.repeat as usize) > MOST_RUNS {
        return Err(PlanError::TooMany);
    }
    for repetition in 1..=step.repeat {
        runs.extend(combinations.iter().map(|params| RunPlan {
            version: PLAN_VERSION,
            tool: tool.name.to_owned(),
            workload: spec.name.to_owned(),
            params: Params(params.clone()),
            on: step.on.clone(),
            label: step.label.clone(),
            repetition,
            repetitions: step.repeat,
            cache: step.cache,
            destroy: step.destroy.clone(),
            seed,
            program: program.clone(),
        }));
    }
    Ok(())
}

fn parse_values(step: &Step, param: &crate::tool::Param) -> Result<Vec<ParamValue>, PlanError> {
    let refused = |cause| PlanError::Value {
        tool: step.tool.clone(),
        name: param.name.to_owned(),
        cause,
    };
    match step.params.get(param.name) {
        None => Ok(vec![param.kind.parse(param.default).map_err(refused)?]),
        Some(typed) if typed.is_empty() => Err(PlanError::Empty(format!(
            "{} {} has no value",
            step.tool, param.name
        ))),
        Some(typed) => typed
            .iter()
            .map(|text| param.kind.parse(text).map_err(refused))
            .collect(),
    }
}

fn with(
    chosen: &BTreeMap<String, ParamValue>,
    name: &str,
    value: &ParamValue,
) -> BTreeMap<String, ParamValue> {
    let mut more = chosen.clone();
    more.insert(name.to_owned(), value.clone());
    more
}
