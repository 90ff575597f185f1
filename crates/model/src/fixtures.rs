//! Runs that the model must be able to say, for tests of this crate and of those that keep, compare or show runs.
//!
//! Each is a kind of run that a simpler model could not hold: a table inside one run, points chosen from the last one,
//! a figure somebody else averaged, a clock that is no time, an experiment with a run struck out. All numbers are made
//! up unless a comment names their source, and none changes between two calls.

mod corners;
mod parts;

use std::collections::BTreeMap;

pub use corners::corners;
use parts::{count, imported, metric, name, op, params, phase, reported, run, sample, worker};

use crate::counters::Counters;
use crate::machine::Target;
use crate::plan::ParamValue;
use crate::run::{
    At, AxisValue, Better, Clock, CounterPair, CutOp, Direction, Doubt, Formula, Metric, OpName,
    Outcome, Point, Run, Sample, SessionPlace, Spawn, Statistic, Take, Usage, Value, WorkerResult,
    WorkerState,
};
use crate::series::{Series, SeriesKind};
use crate::units::{Bytes, Nanos};

/// All of them, in the order of their names' times.
pub fn all() -> Vec<Run> {
    let mut runs = vec![
        lat_mem_rd_table(),
        adaptive_aim7_series(),
        imported_mean_of_25(),
        imported_sum_of_3(),
        guest_in_instructions(),
    ];
    runs.extend(blocked_session_with_a_void());
    runs.push(corners());
    runs
}

/// The load latencies of four sizes by two strides, four tries each, in one run; the deciding one is the largest size.
pub fn lat_mem_rd_table() -> Run {
    let mut run = run(1, "lmbench", "lat_mem_rd");
    run.plan.params = params([
        ("size", ParamValue::Bytes(Bytes::mib(64))),
        (
            "strides",
            ParamValue::List(vec![
                ParamValue::Bytes(Bytes(64)),
                ParamValue::Bytes(Bytes(128)),
            ]),
        ),
    ]);
    run.metrics = vec![Metric {
        at: At::Point(memory_point(Bytes::mib(64), 128)),
        take: Take::Best,
        ..metric(
            "load latency",
            "ns",
            Better::Lower,
            "chain",
            Formula::Stored,
        )
    }];
    for stride in [64, 128] {
        for (size, best) in [
            (Bytes::kib(16), 1.25),
            (Bytes::kib(512), 4.5),
            (Bytes::mib(8), 14.75),
            (Bytes::mib(64), 96.3),
        ] {
            let mut phase = phase("chain", Nanos::millis(400));
            phase.point = memory_point(size, stride);
            phase.spawn = Some(Spawn::Exec);
            phase.samples = (1..=4)
                .map(|repetition| Sample {
                    repetition,
                    // The second try is the best one.
                    ..sample(
                        "load latency",
                        Value::Ratio(best * [1.5, 1.0, 1.25, 2.0][repetition as usize - 1]),
                    )
                })
                .collect();
            run.phases.push(phase);
        }
    }
    run
}

/// The point of [`lat_mem_rd_table`] with chains of that size and that many bytes from one load to the next.
pub fn memory_point(size: Bytes, stride: u64) -> Point {
    Point(BTreeMap::from([
        ("size".to_owned(), AxisValue::Bytes(size)),
        ("stride".to_owned(), AxisValue::Bytes(Bytes(stride))),
    ]))
}

/// Load levels of 1, 2, 3, 5 and 8 tasks, each chosen from what the ones before gave; 107 jobs a task. The peak is at
/// 5 tasks: 60 x 107 x 5 / 52.5 s = 611.4 jobs a minute.
pub fn adaptive_aim7_series() -> Run {
    let mut run = run(2, "aim7", "custom");
    run.plan.params = params([
        ("start", ParamValue::Count(1)),
        ("crossover", ParamValue::Number(1.0)),
        ("adaptive", ParamValue::Flag(true)),
    ]);
    let jobs = Metric {
        at: At::Best,
        ..metric(
            "jobs",
            "jobs/min",
            Better::Higher,
            "level",
            Formula::OpsPerMinute,
        )
    };
    run.metrics = vec![
        jobs.clone(),
        // What a reader of one load level asks for.
        Metric {
            at: At::Point(task_point(8)),
            ..jobs
        },
    ];
    let mut start = Nanos::secs(2);
    for (tasks, millis) in [
        (1, 12_000),
        (2, 22_000),
        (3, 32_100),
        (5, 52_500),
        (8, 85_900),
    ] {
        let mut phase = phase("level", Nanos::millis(millis));
        phase.point = task_point(u64::from(tasks));
        phase.start = start;
        phase.ops = vec![op("disk_rr"), op("add_int")];
        phase.workers = (0..tasks)
            .map(|rank| {
                let end = Nanos::millis(millis - 10 * u64::from(rank));
                WorkerResult {
                    end,
                    ops: vec![
                        count(0, 7, Bytes::mib(7), Nanos::millis(250)),
                        count(1, 100, Bytes(0), Nanos::millis(60)),
                    ],
                    ..worker(rank)
                }
            })
            .collect();
        start += phase.elapsed + Nanos::secs(1);
        run.phases.push(phase);
    }
    run
}

/// The point of [`adaptive_aim7_series`] with that many tasks.
pub fn task_point(tasks: u64) -> Point {
    Point(BTreeMap::from([(
        "tasks".to_owned(),
        AxisValue::Count(tasks),
    )]))
}

/// One row of a table of 2003 in which every figure is the mean of 25 runs (kernel 2.5.66-mm1, posted to linux-kernel
/// on 2003-04-01).
pub fn imported_mean_of_25() -> Run {
    let mut run = imported(3, "lmbench", "summary", 445);
    run.plan.label = Some("2.5.66-mm1".to_owned());
    for (phase_name, name, unit, better, text, half_unit) in [
        ("pipe", "bandwidth", "MB/s", Better::Higher, "52.0", 0.05),
        ("l1", "load latency", "ns", Better::Lower, "4.25", 0.005),
        ("l2", "load latency", "ns", Better::Lower, "229.87", 0.005),
        // The original prints plus signs for what was too quick to time.
        ("stat", "rate", "/s", Better::Higher, "+++++", 0.0),
    ] {
        let mut phase = phase(phase_name, Nanos(0));
        phase.samples = vec![sample(
            name,
            reported(text, half_unit, Statistic::Mean, Some(25)),
        )];
        run.phases.push(phase);
        run.metrics
            .push(metric(name, unit, better, phase_name, Formula::Stored));
    }
    run
}

/// One row of another table of the same post: the rate is a mean over three runs, the average latency was summed up over
/// them (8 threads, kernel 2.4.21-pre5aa2).
pub fn imported_sum_of_3() -> Run {
    let mut run = imported(4, "tiobench", "classic", 456);
    run.plan.label = Some("2.4.21-pre5aa2".to_owned());
    let mut phase = phase("Sequential Reads", Nanos(0));
    phase.point = Point(BTreeMap::from([(
        "threads".to_owned(),
        AxisValue::Count(8),
    )]));
    phase.samples = vec![
        sample("rate", reported("15.71", 0.005, Statistic::Mean, Some(3))),
        sample(
            "average latency",
            reported("5.896", 0.0005, Statistic::Sum, Some(3)),
        ),
    ];
    run.metrics = vec![
        metric(
            "rate",
            "MB/s",
            Better::Higher,
            "Sequential Reads",
            Formula::Stored,
        ),
        metric(
            "average latency",
            "ms",
            Better::Lower,
            "Sequential Reads",
            Formula::Stored,
        ),
    ];
    run.phases = vec![phase];
    run
}

/// A guest that counts instructions: batches of one system call, stored as samples, and of file creations, counted as
/// ops. Nothing in it is a time.
pub fn guest_in_instructions() -> Run {
    let mut run = run(5, "lmbench", "lat_fs");
    run.clock = Clock::Instructions;
    run.boot_id = Some("5f0c2b1e-6d0a-4c53-9a52-3d1b8b2f8f10".to_owned());
    run.metrics = vec![
        metric(
            "getppid",
            "instructions",
            Better::Lower,
            "getppid",
            Formula::Stored,
        ),
        metric(
            "create",
            "instructions",
            Better::Lower,
            "create",
            Formula::MeanInstructions,
        ),
        // What a guest on this clock must never be asked for.
        metric(
            "rate",
            "ops/s",
            Better::Higher,
            "create",
            Formula::OpsPerSecond,
        ),
        metric("time", "ns", Better::Lower, "create", Formula::MeanNanos),
    ];
    let mut getppid = phase("getppid", Nanos(5_055_000));
    getppid.samples = (1..=15)
        .map(|repetition| Sample {
            repetition,
            // 15 batches from 330 to 344: the median is 337.
            ..sample(
                "getppid",
                Value::Instructions(330 + u64::from(repetition * 7 % 15)),
            )
        })
        .collect();
    let mut create = phase("create", Nanos(2_448_400_000));
    create.ops = vec![op("create")];
    create.workers = vec![WorkerResult {
        end: create.elapsed,
        ops: vec![count(0, 100_000, Bytes(0), Nanos(24_484))],
        ..worker(0)
    }];
    run.phases = vec![getppid, create];
    run
}

/// Two rounds of a baseline, its null arm and a contender. One run of the second round was disturbed from outside, is
/// voided with its evidence, and was made again at the round's end.
pub fn blocked_session_with_a_void() -> Vec<Run> {
    let place = |block, position, arm: &str| {
        Some(SessionPlace {
            id: name(0x5e55),
            block,
            position,
            arm: arm.to_owned(),
        })
    };
    let stolen = "steal took 4.1 % of the run's time; at most 1 % is allowed";
    let rounds = [
        (0, 0, "6.1.0-50", 51_000),
        (0, 1, "6.12.117", 54_000),
        (0, 2, "null", 50_500),
        (1, 0, "null", 50_800),
        (1, 1, "6.12.117", 39_000),
        (1, 2, "6.1.0-50", 50_900),
        (1, 3, "6.12.117", 53_800),
    ];
    rounds
        .into_iter()
        .zip(6..)
        .map(|((block, position, arm, writes), number)| {
            let mut run = dbench(number, writes);
            run.session = place(block, position, arm);
            run.plan.label = Some(arm.to_owned());
            if (block, position) == (1, 1) {
                run.outcome = Outcome::Voided(stolen.to_owned());
                run.doubts = vec![Doubt::Interference {
                    evidence: stolen.to_owned(),
                }];
            }
            run
        })
        .collect()
}

/// A run whose one figure is `throughput` in MB/s, more being better, made on `kernel`. For tests that need many.
pub fn one_figure(number: u64, kernel: &str, value: Value) -> Run {
    let mut run = run(1_000 + number, "dbench", "dbench");
    run.plan.params = params([("clients", ParamValue::Count(8))]);
    run.machine.kernel.release = Some(kernel.to_owned());
    let mut replay = phase("replay", Nanos::secs(60));
    replay.samples = vec![sample("throughput", value)];
    run.phases = vec![replay];
    run.metrics = vec![metric(
        "throughput",
        "MB/s",
        Better::Higher,
        "replay",
        Formula::Stored,
    )];
    run
}

/// The block and arm of a run in the one session that the fixtures have.
pub fn place(block: u32, arm: &str) -> SessionPlace {
    SessionPlace {
        id: name(0x5e55),
        block,
        position: 0,
        arm: arm.to_owned(),
    }
}

/// Ten seconds of two clients that write 64 KiB at a time, with everything a run can carry.
fn dbench(number: u64, writes: u64) -> Run {
    let mut run = run(number, "dbench", "dbench");
    run.plan.params = params([
        ("clients", ParamValue::Count(2)),
        ("seconds", ParamValue::Duration(Nanos::secs(10))),
        ("loadfile", ParamValue::Text("client.txt".to_owned())),
    ]);
    run.plan.on = Some("/mnt/test".to_owned());
    run.target = Some(Target::default());
    run.usage = Usage {
        elapsed: Some(Nanos::millis(12_500)),
        user: Some(Nanos::millis(1_500)),
        system: Some(Nanos::millis(8_500)),
    };
    run.metrics = vec![
        metric(
            "throughput",
            "MB/s",
            Better::Higher,
            "replay",
            Formula::MegabytesPerSecond,
        ),
        Metric {
            ops: vec!["Flush".to_owned()],
            ..metric(
                "Flush p99",
                "ms",
                Better::Lower,
                "replay",
                Formula::QuantileMillis(0.99),
            )
        },
        metric(
            "durable throughput",
            "MB/s",
            Better::Higher,
            "replay",
            Formula::DurableMegabytesPerSecond,
        ),
    ];
    let mut replay = phase("replay", Nanos::secs(10));
    replay.warm_up = Nanos::secs(2);
    replay.start = Nanos::millis(300);
    replay.spawn = Some(Spawn::Fork);
    replay.ops = vec![
        OpName {
            direction: Some(Direction::Write),
            ..op("WriteX")
        },
        op("Flush"),
        OpName {
            name: "pass".to_owned(),
            span: true,
            ..OpName::default()
        },
    ];
    replay.workers = (0..2)
        .map(|rank| WorkerResult {
            end: Nanos::millis(9_990 + u64::from(rank) * 10),
            state: WorkerState::Stopped,
            ops: vec![
                count(0, writes, Bytes(writes << 16), Nanos::micros(150)),
                count(1, 200, Bytes(0), Nanos::millis(4)),
                count(2, 12, Bytes(0), Nanos::millis(800)),
            ],
            cut: Some(CutOp {
                op: 1,
                nanos: Nanos::millis(7),
            }),
            ..worker(rank)
        })
        .collect();
    let seconds = |kind, op: Option<&str>, worker, values: Vec<u64>| Series {
        kind,
        op: op.map(str::to_owned),
        worker,
        values,
    };
    replay.series = vec![
        seconds(
            SeriesKind::Time,
            None,
            None,
            (1..=10).map(|second| Nanos::secs(second).0).collect(),
        ),
        seconds(
            SeriesKind::Count,
            Some("WriteX"),
            Some(0),
            vec![writes / 10; 10],
        ),
        seconds(SeriesKind::DirtyBytes, None, None, vec![90 << 20; 10]),
    ];
    replay.samples = vec![
        sample("fsync retries", Value::Count(0)),
        sample("largest file", Value::Bytes(Bytes::mib(25))),
        Sample {
            worker: Some(1),
            op: Some("Flush".to_owned()),
            ..sample("first stall", Value::Nanos(Nanos::millis(7)))
        },
    ];
    replay.counters = Some(CounterPair {
        before: Counters::default(),
        after: Counters::default(),
    });
    let mut sync = phase("sync", Nanos::millis(500));
    sync.start = Nanos::millis(12_300);
    run.phases = vec![replay, sync];
    run
}
