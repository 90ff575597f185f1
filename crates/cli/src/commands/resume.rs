//! `kernmark resume`: makes the runs of an interrupted plan that are not done.

use kernmark_model::plan::RunPlan;
use kernmark_store::{PlannedState, UnfinishedPlan};
use kernmark_tools::ALL;

use super::{Context, results};
use crate::args::Resume;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::surroundings::program;
use crate::workshop::{Order, Watching, Workshop, foresee, short};

pub(super) fn run(command: &Resume, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let unfinished = context.store()?.unfinished()?;
    let plan = chosen(unfinished, command.plan.as_deref())?;
    let location = context.location()?;
    if command.forget {
        location.open()?.forget_plan(plan.uuid)?;
        return Ok(Exit::Done);
    }
    let runs: Vec<(u32, RunPlan)> = plan
        .runs
        .into_iter()
        .filter(|run| run.state != PlannedState::Done)
        .map(|run| {
            // The plan is stored as it runs, and that is by this program.
            let program = program();
            (
                run.position,
                RunPlan {
                    program,
                    ..run.plan
                },
            )
        })
        .collect();
    let mut input = Input::default();
    let estimate = foresee(&runs, ALL, &context.around.cwd, &mut input)?;
    let order = Order {
        plan: plan.uuid,
        name: plan.name,
        runs,
    };
    let mut workshop = Workshop::open(&location, ALL, context.around)?;
    let mut watching = Watching {
        quiet: context.common.quiet,
        json: context.common.json.then_some(&mut *context.out),
        budget: command.budget,
    };
    let made = workshop.make(&order, estimate, &mut input, &mut watching)?;
    results::show(&made, &workshop.store, context)?;
    Ok(made.exit)
}

/// The plan whose name begins so, or the only one.
fn chosen(unfinished: Vec<UnfinishedPlan>, name: Option<&str>) -> Result<UnfinishedPlan, Failure> {
    if unfinished.is_empty() {
        return Err(Failure::wrong_use(
            "every plan in the store is done: nothing to resume",
        ));
    }
    let all: Vec<String> = unfinished.iter().map(described).collect();
    let wanted = name.unwrap_or_default().replace('-', "");
    let mut fit = unfinished
        .into_iter()
        .filter(|plan| plan.uuid.simple().to_string().starts_with(&wanted));
    let (first, second) = (fit.next(), fit.next());
    match (first, second, name) {
        (Some(plan), None, _) => Ok(plan),
        (None, ..) => Err(Failure::wrong_use(format_args!(
            "no plan that is not done is called \"{}\"; there are\n  {}",
            name.unwrap_or_default(),
            all.join("\n  ")
        ))),
        (Some(_), Some(_), _) => Err(Failure::wrong_use(format_args!(
            "several plans are not done; name one: kernmark resume PLAN\n  {}",
            all.join("\n  ")
        ))),
    }
}

fn described(plan: &UnfinishedPlan) -> String {
    let undone = plan
        .runs
        .iter()
        .filter(|run| run.state != PlannedState::Done);
    format!(
        "{}  {}, {} of {} runs not done",
        short(plan.uuid),
        plan.name,
        undone.count(),
        plan.runs.len()
    )
}
