//! `kernmark plan`: the built-in plans, to start from.

use kernmark_report::{Form, ToolLine, tools_text};

use super::Context;
use crate::args::Plan;
use crate::exit::{Exit, Failure};
use crate::nearest::nearest;
use crate::plans::{BUILT_IN, built_in};

pub(super) fn run(command: &Plan, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let Some(name) = &command.name else {
        let plans: Vec<ToolLine> = BUILT_IN
            .iter()
            .map(|plan| ToolLine {
                name: plan.name.to_owned(),
                summary: plan.about().to_owned(),
            })
            .collect();
        context.print(|out| out.write_all(tools_text(&plans, Form::Text).as_bytes()))?;
        return Ok(Exit::Done);
    };
    let plan = built_in(name).ok_or_else(|| unknown(name))?;
    context.print(|out| out.write_all(plan.text.as_bytes()))?;
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = BUILT_IN.iter().map(|plan| plan.name).collect();
    let there_are = names.join(", ");
    match nearest(name, names.into_iter()) {
        Some(near) => Failure::wrong_use(format_args!(
            "there is no built-in plan \"{name}\"; there are {there_are}\n  did you mean {near}?"
        )),
        None => Failure::wrong_use(format_args!(
            "there is no built-in plan \"{name}\"; there are {there_are}"
        )),
    }
}
