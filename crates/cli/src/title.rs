//! A run in a few words.

use kernmark_engine::plan;
use kernmark_engine::tool::Tool;
use kernmark_model::plan::RunPlan;

/// `dbench clients=8 seconds=1s (2 of 5)`: the parameters that are not the defaults, and the repetition.
pub(crate) fn title(run: &RunPlan, tools: &'static [Tool]) -> String {
    let mut text = run.selector();
    let params = plan::find(tools, &text).map_or(&[][..], |(_, spec)| spec.params);
    for (name, value) in &run.params.0 {
        let default = params
            .iter()
            .find(|param| param.name == name)
            .and_then(|param| param.kind.parse(param.default).ok());
        if default.as_ref() != Some(value) {
            text.push_str(&format!(" {name}={value}"));
        }
    }
    if run.repetitions > 1 {
        text.push_str(&format!(" ({} of {})", run.repetition, run.repetitions));
    }
    text
}
