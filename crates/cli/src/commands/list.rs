//! `kernmark list`: the tools, and their parameters.

use std::io::{self, Write};

use kernmark_engine::tool::{Tool, WorkloadSpec};
use kernmark_model::plan::ParamKind;
use kernmark_model::run::Metric;
use kernmark_tools::ALL;
use serde::Serialize;

use super::{Context, tool};
use crate::args::List;
use crate::exit::{Exit, Failure};
use crate::output::{columns, json_line};

/// Version of what `list --json` writes.
const LIST_VERSION: u32 = 1;

pub(super) fn run(command: &List, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let chosen = match &command.tool {
        Some(name) => Some((tool(name)?, name.contains(':'))),
        None => None,
    };
    let json = context.common.json;
    context.print(|out| match chosen {
        Some(((tool, _), false)) if json => json_line(out, &told(tool, tool.workloads)),
        Some(((tool, one), true)) if json => json_line(out, &told(tool, std::slice::from_ref(one))),
        Some(((tool, _), false)) => parameters(out, tool, tool.workloads),
        Some(((tool, one), true)) => parameters(out, tool, std::slice::from_ref(one)),
        None if json => ALL
            .iter()
            .try_for_each(|tool| json_line(out, &told(tool, tool.workloads))),
        None => tools(out),
    })?;
    Ok(Exit::Done)
}

fn tools(out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 2]> = ALL
        .iter()
        .map(|tool| [tool.name.to_owned(), about(tool).to_owned()])
        .collect();
    columns(out, "", &rows)?;
    writeln!(
        out,
        "\nkernmark list TOOL shows its parameters, kernmark doc TOOL its page."
    )
}

/// The summary without the tool's own name before it.
fn about(tool: &Tool) -> &'static str {
    let summary = tool.summary();
    let rest = summary.strip_prefix(tool.name).unwrap_or(summary);
    rest.trim_start_matches(':').trim_start()
}

/// Writes the parameters of `workloads`, and what is shown of their runs.
pub(super) fn parameters(
    out: &mut dyn Write,
    tool: &Tool,
    workloads: &[WorkloadSpec],
) -> io::Result<()> {
    for (index, workload) in workloads.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", selector(tool, workload))?;
        let rows: Vec<[String; 3]> = workload
            .params
            .iter()
            .map(|param| {
                [
                    format!("{}={}", param.name, shown_default(param.default)),
                    kind(param.kind),
                    param.about.to_owned(),
                ]
            })
            .collect();
        columns(out, "  ", &rows)?;
        let metrics = (workload.metrics)();
        let shown: Vec<String> = metrics
            .iter()
            .map(|metric| format!("{} ({})", metric.name, metric.unit))
            .collect();
        writeln!(out, "  shows {}", shown.join(", "))?;
    }
    Ok(())
}

fn shown_default(default: &str) -> &str {
    if default.is_empty() { "\"\"" } else { default }
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
