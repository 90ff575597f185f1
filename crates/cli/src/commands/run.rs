//! `kernmark run`: makes the runs of a plan.

use kernmark_engine::plan;
use kernmark_tools::ALL;

use super::{Context, head, results};
use crate::args::Run;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::plans;
use crate::surroundings::program;
use crate::workshop::{Order, Watching, Workshop, foresee, settle_targets};

pub(super) fn run(command: &Run, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let plan = match &command.like {
        Some(name) => plans::like(&head(&context.store()?, name)?.plan, &command.settings),
        None => plans::of_words(&command.words, &command.settings, ALL, context.around)?,
    };
    let mut runs = plan::resolve(&plan, ALL, &program(), fresh_seed())?;
    settle_targets(&mut runs, ALL, &context.around.cwd);
    let location = context.location()?;
    let numbered: Vec<_> = (0..).zip(runs.iter().cloned()).collect();
    let mut input = Input::default();
    let estimate = foresee(&numbered, ALL, &context.around.cwd, &mut input)?;
    let mut workshop = Workshop::open(&location, ALL, context.around)?;
    let order = Order {
        plan: workshop.store.begin_plan(&plan.name, &runs)?,
        name: plan.name,
        runs: numbered,
    };
    let mut watching = Watching {
        quiet: context.common.quiet,
        json: context.common.json.then_some(&mut *context.out),
        budget: command.budget,
    };
    let made = workshop.make(&order, estimate, &mut input, &mut watching)?;
    results::show(&made, &workshop.store, context)?;
    Ok(made.exit)
}

/// A seed for a plan that names none; short enough to be typed again.
fn fresh_seed() -> u64 {
    let random = uuid::Uuid::now_v7().as_u128() & u128::from(u32::MAX);
    u64::try_from(random).unwrap_or(0)
}
