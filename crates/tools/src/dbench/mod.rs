//! dbench: the file operations an SMB server makes for one office PC, replayed by N clients.
//!
//! The loadfile is compiled once, before the first client exists ([`loadfile`]), or generated ([`generate`]); clients
//! are forked processes that share it and walk it op by op ([`workload`]), each op making exactly the calls of the
//! original ([`client`]).

use kernmark_engine::tool::{Need, Tool, WorkloadSpec};
use kernmark_model::run::{At, Better, Formula, Metric, Take};

mod client;
pub mod generate;
pub mod loadfile;
pub mod mix;
mod options;
mod workload;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "dbench",
    doc: include_str!("doc.md"),
    workloads: &[WorkloadSpec {
        name: "dbench",
        params: options::PARAMS,
        needs: &[Need::Directory],
        metrics,
        make: workload::make,
    }],
    formats: &[],
    personalities: &[],
};

/// The phase that is measured.
const EXECUTE: &str = "execute";
/// The phase in which the clients remove their files.
const CLEANUP: &str = "cleanup";
/// The span of one whole pass through the loadfile.
const PASS: &str = "pass";

fn metrics() -> Vec<Metric> {
    let metric = |name: &str, unit: &str, better, ops: &[&str], formula| Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        better,
        phase: EXECUTE.to_owned(),
        at: At::Only,
        ops: ops.iter().map(|op| (*op).to_owned()).collect(),
        formula,
        take: Take::Median,
    };
    vec![
        metric(
            "throughput",
            "MB/s",
            Better::Higher,
            &[],
            Formula::MegabytesPerSecond,
        ),
        metric(
            "durable throughput",
            "MB/s",
            Better::Higher,
            &[],
            Formula::DurableMegabytesPerSecond,
        ),
        metric("ops", "ops/s", Better::Higher, &[], Formula::OpsPerSecond),
        metric(
            "pass time",
            "ms",
            Better::Lower,
            &[PASS],
            Formula::MeanMillis,
        ),
        metric(
            "latency p50",
            "ms",
            Better::Lower,
            &[],
            Formula::QuantileMillis(0.5),
        ),
        metric(
            "latency p99",
            "ms",
            Better::Lower,
            &[],
            Formula::QuantileMillis(0.99),
        ),
        metric(
            "latency p99.9",
            "ms",
            Better::Lower,
            &[],
            Formula::QuantileMillis(0.999),
        ),
        metric(
            "Flush p99",
            "ms",
            Better::Lower,
            &["Flush"],
            Formula::QuantileMillis(0.99),
        ),
        Metric {
            phase: CLEANUP.to_owned(),
            ..metric("cleanup time", "s", Better::Lower, &[], Formula::Seconds)
        },
    ]
}
