//! `null`: ops that do nothing, or are busy for a known time. The engine's own test and measure.

use kernmark_engine::tool::{
    MakeError, Making, Param, PhaseSpec, Stage, Stop, Tool, WorkError, Workload, WorkloadSpec,
};
use kernmark_engine::worker::{Done, Worker};
use kernmark_model::plan::{ParamKind, Params};
use kernmark_model::run::{Better, Formula, Metric, OpName, Phase, Spawn};
use kernmark_model::units::{Bytes, Nanos};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "null",
    doc: include_str!("doc.md"),
    workloads: &[WorkloadSpec {
        name: "null",
        params: PARAMS,
        needs: &[],
        metrics,
        make: |params, making| make(params, making),
    }],
    formats: &[],
    personalities: &[],
};

const PARAMS: &[Param] = &[
    Param {
        name: "workers",
        kind: ParamKind::Count {
            least: 1,
            most: 100_000,
        },
        default: "1",
        about: "how many workers",
    },
    Param {
        name: "seconds",
        kind: ParamKind::Duration,
        default: "1s",
        about: "length of the measured window; 0 to end by ops alone",
    },
    Param {
        name: "ops",
        kind: ParamKind::Count {
            least: 0,
            most: u64::MAX,
        },
        default: "0",
        about: "ops of each worker; 0 for as many as fit into the time",
    },
    Param {
        name: "warmup",
        kind: ParamKind::Duration,
        default: "0s",
        about: "time before the window opens",
    },
    Param {
        name: "busy",
        kind: ParamKind::Duration,
        default: "0s",
        about: "how long each op keeps a processor busy",
    },
    Param {
        name: "bytes",
        kind: ParamKind::Bytes,
        default: "0",
        about: "bytes that each op claims to move",
    },
    Param {
        name: "spawn",
        kind: ParamKind::Choice(&["fork", "exec", "thread"]),
        default: "fork",
        about: "how workers are made",
    },
];

const OP: usize = 0;

fn metrics() -> Vec<Metric> {
    let metric = |name, unit, better, formula| Metric::new(name, unit, better, "work", formula);
    vec![
        metric("ops", "ops/s", Better::Higher, Formula::OpsPerSecond),
        metric(
            "throughput",
            "MB/s",
            Better::Higher,
            Formula::MegabytesPerSecond,
        ),
        metric(
            "latency p99",
            "ms",
            Better::Lower,
            Formula::QuantileMillis(0.99),
        ),
    ]
}

struct Null {
    workers: u32,
    length: Nanos,
    ops: u64,
    warm_up: Nanos,
    busy: u64,
    bytes: Bytes,
    spawn: Spawn,
}

fn make(params: &Params, _: &mut Making<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let null = Null {
        workers: u32::try_from(params.count("workers")?).unwrap_or(u32::MAX),
        length: params.duration("seconds")?,
        ops: params.count("ops")?,
        warm_up: params.duration("warmup")?,
        busy: params.duration("busy")?.0,
        bytes: params.bytes("bytes")?,
        spawn: match params.text("spawn")?.as_str() {
            "exec" => Spawn::Exec,
            "thread" => Spawn::Thread,
            _ => Spawn::Fork,
        },
    };
    if null.length.0 == 0 && null.ops == 0 {
        return Err(MakeError::Value(
            "seconds=0 and ops=0 would never end; give one of them".to_owned(),
        ));
    }
    Ok(Box::new(null))
}

impl Workload for Null {
    fn ops(&self) -> Vec<OpName> {
        vec![OpName {
            name: "nothing".to_owned(),
            span: false,
            ..OpName::default()
        }]
    }

    fn spawn(&self) -> Spawn {
        self.spawn
    }

    fn next_stage(&mut self, done: &[Phase]) -> Option<Stage> {
        done.is_empty().then(|| Stage {
            workers: self.workers,
            phases: vec![PhaseSpec {
                stop: if self.length.0 == 0 {
                    Stop::WhenDone
                } else {
                    Stop::After(self.length)
                },
                warm_up: self.warm_up,
                ..PhaseSpec::new("work")
            }],
        })
    }

    fn work(&self, worker: &mut Worker<'_>) -> Result<(), WorkError> {
        let limit = if self.ops == 0 { u64::MAX } else { self.ops };
        while worker.next_phase().is_some() {
            let mut made = 0;
            while made < limit && !worker.should_stop() {
                worker.timed(OP, |calls| {
                    if self.busy > 0 {
                        calls.spin(self.busy);
                    }
                    Done::bytes(self.bytes.0)
                });
                made += 1;
            }
        }
        Ok(())
    }
}
