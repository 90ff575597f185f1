//! `kernmark list`: the tools, and their parameters.

use kernmark_engine::tool::{Tool, WorkloadSpec};
use kernmark_model::plan::ParamKind;
use kernmark_model::run::Metric;
use kernmark_report::{Form, ParamLine, ToolLine, params_text, tools_text};
use kernmark_tools::ALL;
use serde::Serialize;

use super::{Context, tool};
use crate::args::List;
use crate::exit::{Exit, Failure};
use crate::output::json_line;

/// Version of what `list --json` writes.
const LIST_VERSION: u32 = 1;

pub(super) fn run(command: &List, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let chosen = match &command.tool {
        // A tool's own name means all its workloads.
        Some(name) => {
            let (tool, one) = tool(name)?;
            let all = !name.contains(':');
            Some((
                tool,
                if all {
                    tool.workloads
                } else {
                    std::slice::from_ref(one)
                },
            ))
        }
        None => None,
    };
    let json = context.common.json;
    context.print(|out| match chosen {
        Some((tool, workloads)) if json => json_line(out, &told(tool, workloads)),
        Some((tool, workloads)) => out.write_all(parameters(tool, workloads).as_bytes()),
        None if json => ALL
            .iter()
            .try_for_each(|tool| json_line(out, &told(tool, tool.workloads))),
        None => out.write_all(tools().as_bytes()),
    })?;
    Ok(Exit::Done)
}

fn tools() -> String {
    let lines: Vec<ToolLine> = ALL
        .iter()
        .map(|tool| ToolLine {
            name: tool.name.to_owned(),
            summary: about(tool).to_owned(),
        })
        .collect();
    let tools = tools_text(&lines, Form::Text);
    format!("{tools}\nkernmark list TOOL shows its parameters, kernmark doc TOOL its page.\n")
}

/// The summary without the tool's own name before it.
fn about(tool: &Tool) -> &'static str {
    let summary = tool.summary();
    let rest = summary.strip_prefix(tool.name).unwrap_or(summary);
    rest.trim_start_matches(':').trim_start()
}

/// The parameters of `workloads`, and what is shown of their runs.
pub(super) fn parameters(tool: &Tool, workloads: &[WorkloadSpec]) -> String {
    let texts: Vec<String> = workloads
        .iter()
        .map(|workload| {
            let params: Vec<ParamLine> = workload
                .params
                .iter()
                .map(|param| ParamLine {
                    name: param.name.to_owned(),
                    kind: kind(param.kind),
                    default: param.default.to_owned(),
                    about: param.about.to_owned(),
                })
                .collect();
            let metrics = (workload.metrics)();
            let shown: Vec<String> = metrics
                .iter()
                .map(|metric| format!("{} ({})", metric.name, metric.unit))
                .collect();
            let params = params_text(&selector(tool, workload), &params, Form::Text);
            format!("{params}shows {}\n", shown.join(", "))
        })
        .collect();
    texts.join("\n")
}

fn selector(tool: &Tool, workload: &WorkloadSpec) -> String {
    if workload.name == tool.name {
        tool.name.to_owned()
    } else {
        format!("{}:{}", tool.name, workload.name)
    }
}

/// What values a parameter takes, in words.
fn kind(kind: ParamKind) -> String {
    match kind {
        ParamKind::Count {
            least,
            most: u64::MAX,
        } => format!("number from {least}"),
        ParamKind::Count { least, most } => format!("number {least} to {most}"),
        ParamKind::Bytes => "size (64k, 1.5GiB)".to_owned(),
        ParamKind::Duration => "time (15s, 10m)".to_owned(),
        ParamKind::Number => "number, also 1.5".to_owned(),
        ParamKind::Flag => "yes or no".to_owned(),
        ParamKind::Text => "text".to_owned(),
        ParamKind::Choice(words) => words.join(" or "),
        ParamKind::BytesList => "sizes (4k:64k)".to_owned(),
        ParamKind::CountList => "numbers (1:2:96)".to_owned(),
    }
}

#[derive(Serialize)]
struct ToldTool {
    version: u32,
    name: &'static str,
    about: &'static str,
    workloads: Vec<ToldWorkload>,
    formats: Vec<&'static str>,
    personalities: Vec<&'static str>,
}

#[derive(Serialize)]
struct ToldWorkload {
    selector: String,
    params: Vec<ToldParam>,
    metrics: Vec<Metric>,
}

#[derive(Serialize)]
struct ToldParam {
    name: &'static str,
    kind: String,
    default: &'static str,
    about: &'static str,
}

fn told(tool: &Tool, workloads: &[WorkloadSpec]) -> ToldTool {
    ToldTool {
        version: LIST_VERSION,
        name: tool.name,
        about: about(tool),
        workloads: workloads
            .iter()
            .map(|workload| ToldWorkload {
                selector: selector(tool, workload),
                params: workload
                    .params
                    .iter()
                    .map(|param| ToldParam {
                        name: param.name,
                        kind: kind(param.kind),
                        default: param.default,
                        about: param.about,
                    })
                    .collect(),
                metrics: (workload.metrics)(),
            })
            .collect(),
        formats: tool.formats.iter().map(|format| format.name).collect(),
        personalities: tool
            .personalities
            .iter()
            .flat_map(|personality| personality.names.iter().copied())
            .collect(),
    }
}
