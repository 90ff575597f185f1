use super::*;
use crate::counters::{DeviceStatistics, ProcessCounters};
use crate::fixtures;
use crate::machine::{Layer, LoopDevice, Queue};
use crate::run::CounterPair;

const MIB: u64 = 1 << 20;

/// Two clients that wrote 1,250 MiB in ten seconds to ext4 on sda, and the sync of half a second after them.
fn written() -> Run {
    let mut run = fixtures::blocked_session_with_a_void().swap_remove(0);
    let mut target = Target {
        kind: TargetKind::Filesystem,
        stack: vec![Layer {
            name: "sda".into(),
            kind: LayerKind::Disk,
            ..Layer::default()
        }],
        ..Target::default()
    };
    target.filesystem.kind = Some("ext4".into());
    run.target = Some(target);
    let phase = &mut run.phases[0];
    phase.ops[0].direction = Some(Direction::Write);
    for worker in &mut phase.workers {
        worker.ops[0].bytes = Bytes::mib(625);
    }
    count_device(&mut run, 0, 100);
    run
}

/// The device read and wrote so many MiB; 64 MiB were dirty at the end.
fn count_device(run: &mut Run, read: u64, written: u64) {
    let counters = |sectors_read, sectors_written| Counters {
        devices: [(
            "sda".to_owned(),
            DeviceStatistics {
                sectors_read: Some(sectors_read),
                sectors_written: Some(sectors_written),
                ..DeviceStatistics::default()
            },
        )]
        .into(),
        meminfo: [("Dirty".into(), 64 << 10), ("Writeback".into(), 0)].into(),
        ..Counters::default()
    };
    run.phases[0].counters = Some(CounterPair {
        before: counters(1_000, 2_000),
        after: counters(1_000 + read * 2048, 2_000 + written * 2048),
    });
}

#[test]
fn what_stayed_in_the_cache_is_told_from_what_reached_the_device() {
    let run = written();
    assert_eq!(run.ledgers().len(), 1, "the sync has no ledger of its own");
    let ledger = run.ledger(0).unwrap();
    assert_eq!(ledger.logical, Bytes::mib(1250));
    assert_eq!(
        (ledger.read, ledger.written),
        (Some(Bytes(0)), Some(Bytes::mib(1250)))
    );
    assert_eq!(ledger.device_bytes(), Some(Bytes::mib(100)));
    assert_eq!(ledger.device_share, Some(0.08));
    assert_eq!(ledger.label, Some(Label::Ram));
    assert_eq!(ledger.still_dirty, Some(Bytes::mib(64)));
    assert_eq!(ledger.rate, Some(131.072));
    assert_eq!(ledger.device_rate, Some(10.4857600));
    assert_eq!(ledger.sync, Some(Nanos::millis(500)));
    assert!((ledger.durable_rate.unwrap() - 1310.72 / 10.5).abs() < 1e-9);
    assert_eq!(ledger.foreign_share, None);
    assert!(matches!(ledger.doubt(), Some(Doubt::CacheMostly { .. })));
}

#[test]
fn labels_change_at_their_documented_shares() {
    for (mib, label) in [
        (0, Label::Ram),
        (125, Label::Ram),
        (126, Label::Mixed),
        (1124, Label::Mixed),
        (1125, Label::Device),
        (9999, Label::Device),
    ] {
        let mut run = written();
        count_device(&mut run, 0, mib);
        assert_eq!(run.ledger(0).unwrap().label, Some(label), "{mib} MiB");
    }
}

#[test]
fn what_the_device_did_the_other_way_serves_no_op() {
    let mut run = written();
    count_device(&mut run, 2000, 100);
    assert_eq!(run.ledger(0).unwrap().device_share, Some(0.08));
    // Where ops do not say which way, both count.
    run.phases[0].ops[0].direction = None;
    let ledger = run.ledger(0).unwrap();
    assert_eq!((ledger.read, ledger.device_share), (None, Some(1.0)));
}

#[test]
fn memory_networks_and_layers_have_no_device_and_say_why() {
    for (kind, name, why, label) in [
        (
            TargetKind::Memory,
            "tmpfs",
            "tmpfs keeps its files in memory",
            Some(Label::Ram),
        ),
        (
            TargetKind::Network,
            "nfs4",
            "nfs4 is on another machine",
            None,
        ),
        (
            TargetKind::Overlay,
            "overlay",
            "overlay may read from layers on other devices",
            None,
        ),
    ] {
        let mut run = written();
        let target = run.target.as_mut().unwrap();
        target.kind = kind;
        target.filesystem.kind = Some(name.into());
        let ledger = run.ledger(0).unwrap();
        assert_eq!(ledger.device, DeviceBytes::Unknown { why: why.into() });
        assert_eq!((ledger.label, ledger.device_share), (label, None));
        let doubt = ledger.doubt().unwrap().to_string();
        assert_eq!(doubt, format!("device bytes unknown: {why}"));
    }
}

#[test]
fn counters_that_are_missing_or_switched_off_are_unknown_not_zero() {
    let mut run = written();
    run.phases[0].counters = None;
    let why = |run: &Run| match run.ledger(0).unwrap().device {
        DeviceBytes::Unknown { why } => why,
        known => panic!("{known:?}"),
    };
    assert_eq!(why(&run), "no counters were recorded");
    run.phases[0].counters = Some(CounterPair {
        before: Counters::default(),
        after: Counters::default(),
    });
    assert_eq!(
        why(&run),
        "the statistics of sda were not readable before and after"
    );
    run.target.as_mut().unwrap().stack[0].queue = Some(Queue {
        accounting: Some(false),
        ..Queue::default()
    });
    assert_eq!(
        why(&run),
        "sda does not count its requests (queue/iostats is 0)"
    );
    run.target.as_mut().unwrap().stack.clear();
    assert_eq!(why(&run), "no device is known below ext4");
}

#[test]
fn traffic_that_is_not_ours_is_told_where_tasks_are_counted() {
    let mut run = written();
    let task = |read, written| ProcessCounters {
        device_read_bytes: Some(read),
        device_write_bytes: Some(written),
        ..ProcessCounters::default()
    };
    let pair = run.phases[0].counters.as_mut().unwrap();
    pair.before.own = Some(task(0, 5 * MIB));
    pair.before.workers = [(7, task(0, 10 * MIB)), (8, task(0, 10 * MIB))].into();
    // Worker 7 was waited for: what it did counts as ours.
    pair.after.own = Some(task(0, 5 * MIB + 50 * MIB));
    pair.after.workers = [(8, task(0, 45 * MIB))].into();
    assert_eq!(run.ledger(0).unwrap().foreign_share, Some(0.25));
}

#[test]
fn a_file_below_the_device_is_pointed_out() {
    let mut run = written();
    let layer = &mut run.target.as_mut().unwrap().stack[0];
    layer.kind = LayerKind::Loop;
    layer.loop_device = Some(LoopDevice::default());
    assert_eq!(run.ledger(0).unwrap().notes.len(), 1);
    let layer = &mut run.target.as_mut().unwrap().stack[0];
    layer.loop_device = Some(LoopDevice {
        direct_io: Some(true),
        ..LoopDevice::default()
    });
    assert_eq!(run.ledger(0).unwrap().notes, [""; 0]);
}

#[test]
fn work_that_moves_no_bytes_or_has_no_target_has_no_ledger() {
    for run in fixtures::all() {
        for ledger in run.ledgers() {
            assert!(ledger.logical.0 > 0 && run.target.is_some());
        }
    }
    let mut run = written();
    run.target = None;
    assert_eq!(run.ledgers(), []);
}
