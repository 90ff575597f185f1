//! What can be known of a run before anything starts: whether it can be made at all, and how long it means to take.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kernmark_model::plan::{Cache, RunPlan};
use kernmark_model::units::Nanos;
use kernmark_sys::process;

use crate::conditions;
use crate::place::{self, PlaceError};
use crate::plan;
use crate::runner::RunError;
use crate::tool::{Actor, Making, Need, Stop, Tool, Workload, WorkloadSpec};

/// A run to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// Time that its first workers warm up and measure; `None` where something else than time ends a phase.
    pub length: Option<Nanos>,
}

/// Looks at a run without starting or changing anything. An error is what [`crate::runner::Runner::run`] would say now.
pub fn preview(
    plan: &RunPlan,
    tools: &'static [Tool],
    cwd: &Path,
    stdin: &mut dyn Read,
) -> Result<Preview, RunError> {
    let (tool, spec) = plan::find(tools, &plan.selector())?;
    check_needs(plan, tool, spec)?;
    let mut making = Making {
        stdin,
        remarks: &mut Vec::new(),
        seed: plan.seed,
    };
    let mut workload = (spec.make)(&plan.params, &mut making).map_err(|cause| RunError::Make {
        tool: plan.selector(),
        cause,
    })?;
    place::check_memory(conditions::available_memory(), workload.room())?;
    if spec.needs.contains(&Need::Directory) {
        let named = directory(plan, cwd);
        let unusable = |cause| PlaceError::Unusable {
            path: named.clone(),
            cause,
        };
        if !named.metadata().map_err(unusable)?.is_dir() {
            return Err(unusable(io::Error::from(io::ErrorKind::NotADirectory)).into());
        }
        place::check_room(&named, workload.room())?;
    }
    if plan.cache == Cache::Cold {
        conditions::may_drop_caches()?;
    }
    Ok(Preview {
        length: length(workload.as_mut()),
    })
}

/// Checks what needs no look at the target.
pub(crate) fn check_needs(
    plan: &RunPlan,
    tool: &Tool,
    spec: &WorkloadSpec,
) -> Result<(), RunError> {
    let need = |need, remedy| RunError::Need {
        tool: tool.name.to_owned(),
        need,
        remedy,
    };
    if spec.needs.contains(&Need::Root) && process::effective_user() != 0 {
        return Err(need("the superuser", "run it as root"));
    }
    if spec.needs.contains(&Need::Device) && plan.on.is_none() {
        return Err(need("a block device", "name one with --on"));
    }
    Ok(())
}

/// The directory that a run is made in. A relative name is one under `cwd`, where we stand.
pub(crate) fn directory(plan: &RunPlan, cwd: &Path) -> PathBuf {
    match plan.on.as_deref() {
        // An unset variable in a script is no directory, least of all the present one.
        Some("") => PathBuf::new(),
        named => cwd.join(named.unwrap_or(".")),
    }
}

fn length(workload: &mut dyn Workload) -> Option<Nanos> {
    let stage = workload.next_stage(&[])?;
    let measured = stage
        .phases
        .iter()
        .filter(|phase| phase.actor == Actor::Workers);
    measured
        .map(|phase| match phase.stop {
            Stop::After(length) => Some(phase.warm_up + length),
            Stop::WhenDone => None,
        })
        .sum()
}
