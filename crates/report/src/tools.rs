//! What can be run: lists of tools and of their parameters.

use crate::Form;
use crate::text::{definitions, heading};

/// A tool or workload as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolLine {
    /// `dbench`, or `lmbench:lat_pipe`.
    pub name: String,
    /// What it measures, in a line.
    pub summary: String,
}

/// A parameter as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamLine {
    /// Its name.
    pub name: String,
    /// What values it takes: `size`, `a whole number from 1 to 100000`.
    pub kind: String,
    /// The value when none is given.
    pub default: String,
    /// What it means, with its unit.
    pub about: String,
}

/// Tools with what they measure.
pub fn tools_text(tools: &[ToolLine], form: Form) -> String {
    let entries: Vec<(String, String)> = tools
        .iter()
        .map(|tool| (tool.name.clone(), tool.summary.clone()))
        .collect();
    definitions(&entries, form)
}

/// The parameters of one workload, with their defaults.
pub fn params_text(workload: &str, params: &[ParamLine], form: Form) -> String {
    if params.is_empty() {
        return heading(&format!("{workload} has no parameters"), form);
    }
    let entries: Vec<(String, String)> = params
        .iter()
        .map(|param| {
            let default = if param.default.is_empty() {
                "\"\""
            } else {
                &param.default
            };
            let meaning = format!("{} ({})", param.about, param.kind);
            (format!("{}={default}", param.name), meaning)
        })
        .collect();
    heading(workload, form) + &definitions(&entries, form)
}
