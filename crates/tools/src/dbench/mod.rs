//! dbench: the file operations an SMB server makes for one office PC, replayed by N clients.
//!
//! The loadfile is compiled once, before the first client exists ([`loadfile`]), or generated ([`generate`]); clients
//! are forked processes that share it and walk it op by op (`workload`), each op making exactly the calls of the
//! original (`client`).

use kernmark_engine::tool::{Need, Tool, WorkloadSpec};
use kernmark_model::run::{Better, Formula, Metric};

mod client;
pub mod format;
pub mod generate;
pub mod loadfile;
pub mod mix;
mod options;
mod personality;
mod trouble;
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
    formats: &[format::DBENCH_4],
    personalities: &[personality::DBENCH],
};

/// The phase that is measured.
const EXECUTE: &str = "execute";
/// The phase in which the clients remove their files.
const CLEANUP: &str = "cleanup";
/// The span of one whole pass through the loadfile.
const PASS: &str = "pass";

fn metrics() -> Vec<Metric> {
    use Better::{Higher, Lower};
    let metric = |name, unit, better, formula| Metric::new(name, unit, better, EXECUTE, formula);
    vec![
        metric("throughput", "MB/s", Higher, Formula::MegabytesPerSecond),
        metric(
            "durable throughput",
            "MB/s",
            Higher,
            Formula::DurableMegabytesPerSecond,
        ),
        metric("ops", "ops/s", Higher, Formula::OpsPerSecond),
        metric("pass time", "ms", Lower, Formula::MeanMillis).of(&[PASS]),
        metric("latency p50", "ms", Lower, Formula::QuantileMillis(0.5)),
        metric("latency p99", "ms", Lower, Formula::QuantileMillis(0.99)),
        metric("latency p99.9", "ms", Lower, Formula::QuantileMillis(0.999)),
        metric("Flush p99", "ms", Lower, Formula::QuantileMillis(0.99)).of(&["Flush"]),
        Metric::new("cleanup time", "s", Lower, CLEANUP, Formula::Seconds),
    ]
}
