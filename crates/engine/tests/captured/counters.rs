//! Counters, and what a phase did.

use std::fs;
use std::io::Write;

use kernmark_engine::counters::{Reader, Request, processes, sample_memory, sample_second};
use kernmark_engine::machine::Root;
use kernmark_model::counters::{COUNTERS_VERSION, Counters, SharedCpu, Stamp, delta};

use crate::tree::Tree;
use crate::{CONTAINER, LAPTOP, VM};

fn snapshot(tree: &Tree, devices: &[&str]) -> Counters {
    let request = Request {
        devices,
        workers: &[77, 78],
        ..Request::default()
    };
    Reader::new(tree.root()).snapshot(&request)
}

#[test]
fn a_snapshot_has_every_counter() {
    let tree = Tree::of(VM);
    let counters = snapshot(&tree, &["loop0", "vda", "sdz"]);
    assert_eq!(counters.notes, Vec::<String>::new());
    assert_eq!(counters.version, COUNTERS_VERSION);
    let disk = &counters.devices["vda"];
    assert_eq!(disk.disk_sequence, Some(9));
    assert_eq!(
        (disk.reads, disk.sectors_read, disk.sectors_written),
        (Some(66188), Some(3687114), Some(2299872))
    );
    assert_eq!(
        (disk.discards, disk.flushes, disk.flush_msec),
        (Some(7352), Some(890), Some(27))
    );
    assert_eq!(counters.devices.len(), 2);
    let cpu = counters.cpu.as_ref().unwrap();
    assert_eq!(
        (cpu.user, cpu.iowait, cpu.steal, cpu.guest_nice),
        (Some(6662), Some(488), Some(7), Some(0))
    );
    assert_eq!(counters.cpus[&1].steal, Some(5));
    assert_eq!(counters.context_switches, Some(363_086));
    assert_eq!(counters.forks, Some(6552));
    assert_eq!(counters.interrupts, Some(199_242));
    assert_eq!(
        (
            counters.softirqs["hi"],
            counters.softirqs["block"],
            counters.softirqs["rcu"]
        ),
        (0, 74036, 24529)
    );
    assert_eq!(counters.vmstat["pgpgin"], 1_845_201);
    assert_eq!(
        (
            counters.meminfo["Dirty"],
            counters.meminfo["HugePages_Total"]
        ),
        (168, 0)
    );
    assert_eq!(counters.pressure.io.full_usec, Some(4_461_268));
    assert_eq!(counters.pressure.irq.full_usec, Some(77));
    assert_eq!(counters.pressure.memory.some_usec, None);
    let own = counters.own.as_ref().unwrap();
    assert_eq!(
        (own.user_ticks, own.system_ticks, own.children_user_ticks),
        (Some(55), Some(44), Some(33))
    );
    assert_eq!(
        (own.minor_faults, own.major_faults, own.block_delay_ticks),
        (Some(107), Some(2), Some(9))
    );
    assert_eq!(
        (own.read_call_bytes, own.device_write_bytes),
        (Some(6976), Some(8192))
    );
    assert_eq!(
        (own.run_nanos, own.wait_nanos, own.timeslices),
        (Some(123_456), Some(789), Some(12))
    );
    assert_eq!(own.start_ticks, Some(40387));
    assert_eq!(counters.workers.keys().collect::<Vec<_>>(), [&77]);
    assert_eq!(counters.cgroup["memory.failcnt"], 17);
    assert_eq!(counters.cgroup["cpu.stat:nr_throttled"], 0);
    assert_eq!(counters.clock_source.as_deref(), Some("tsc"));
    assert_eq!(counters.kernel_log, None);
}

#[test]
fn heat_frequency_and_limits_are_counted_where_they_exist() {
    let laptop = snapshot(&Tree::of(LAPTOP), &["dm-0"]);
    assert_eq!(laptop.core_throttle_count, Some(15));
    assert_eq!(
        laptop.frequency_khz.iter().collect::<Vec<_>>(),
        [(&0, &800_021), (&2, &3_391_207)]
    );
    assert_eq!(laptop.devices["dm-0"].flushes, Some(890));
    let container = snapshot(&Tree::of(CONTAINER), &[]);
    assert_eq!(container.cgroup["cpu.stat:throttled_usec"], 250_000);
    assert_eq!(container.cgroup["memory.events:high"], 3);
    assert_eq!(container.core_throttle_count, None);
}

#[test]
fn two_snapshots_say_what_a_phase_did() {
    let tree = Tree::of(VM);
    let mut reader = Reader::new(tree.root());
    let request = |nanos| Request {
        devices: &["loop0", "vda"],
        stamp: Stamp {
            monotonic_nanos: Some(nanos),
            ..Stamp::default()
        },
        ..Request::default()
    };
    let before = reader.snapshot(&request(1_000));
    tree.write(
        "sys/class/block/loop0/stat",
        "12 0 96 1 30 0 416 2 0 5 3 0 0 0 0 6 1\n",
    );
    tree.write(
        "proc/stat",
        "cpu  6762 0 2646 70694 488 0 61 17 0 0\nctxt 363100\n",
    );
    let after = reader.snapshot(&request(3_000));
    let delta = delta(&before, &after);
    assert_eq!(delta.elapsed_nanos(), Some(2_000));
    assert_eq!(delta.devices_read_bytes(["loop0"]), Some(16 * 512));
    assert_eq!(
        delta.devices_written_bytes(["loop0", "vda"]),
        Some(256 * 512)
    );
    assert_eq!(delta.device("loop0").unwrap().flushes, Some(2));
    assert_eq!(delta.context_switches(), Some(14));
    let cpu = delta.cpu().unwrap();
    assert_eq!(
        (cpu.user, cpu.steal, cpu.idle, cpu.total()),
        (100, 10, 90, 200)
    );
    assert_eq!(cpu.steal_share(), Some(0.05));
    assert_eq!(delta.forks(), None);
    assert_eq!(delta.still_dirty_bytes(), Some(168 * 1024));
}

#[test]
fn a_device_that_does_not_count_is_not_taken_for_idle() {
    let tree = Tree::of(VM);
    tree.write("sys/class/block/vda/queue/iostats", "0\n");
    assert!(!snapshot(&tree, &["vda"]).devices.contains_key("vda"));
}

#[test]
fn statistics_of_old_kernels_end_earlier() {
    let tree = Tree::of(VM);
    tree.write("sys/class/block/vda/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
    let counters = snapshot(&tree, &["vda"]);
    let disk = &counters.devices["vda"];
    assert_eq!(
        (disk.weighted_msec, disk.discards, disk.flushes),
        (Some(11), None, None)
    );
}

#[test]
fn the_kernel_log_is_read_on_from_where_it_was() {
    let tree = Tree::of(VM);
    tree.write("dev/kmsg", "3,1,100,-;an old error\n");
    let mut reader = Reader::new(tree.root());
    let log = |reader: &mut Reader| reader.snapshot(&Request::default()).kernel_log.unwrap();
    assert_eq!(log(&mut reader).lines, []);
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(tree.place("dev/kmsg"))
        .unwrap();
    let long = "x".repeat(20_000);
    write!(file, "6,2,200,-;eth0: link up\n4,3,300,c;task hung \\x0a\n SUBSYSTEM=block\n2,4,400,-;{long}\n12,5,500,-;not the kernel").unwrap();
    let lines = log(&mut reader).lines;
    let heads: Vec<_> = lines
        .iter()
        .map(|line| (line.level, line.facility, line.sequence))
        .collect();
    assert_eq!(heads, [(4, 0, 3), (2, 0, 4), (4, 1, 5)]);
    assert_eq!(lines[0].text, "task hung \\x0a");
    assert_eq!(lines[1].text.len(), 20_000);
    assert_eq!(log(&mut reader).lines, []);
}

#[test]
fn a_second_costs_two_files_and_says_whether_writers_wait() {
    let tree = Tree::of(VM);
    let second = sample_second(&tree.root());
    assert_eq!(
        (second.memory.dirty_kib, second.memory.writeback_kib),
        (Some(168), Some(0))
    );
    assert_eq!(second.memory.cached_kib, Some(221_524));
    assert_eq!(
        (second.dirty_pages, second.swapped_out_pages),
        (Some(30_000), Some(0))
    );
    assert_eq!(second.writers_throttled(), Some(true));
    let nothing = Tree::empty();
    assert_eq!(sample_memory(&nothing.root()).dirty_kib, None);
    assert_eq!(sample_second(&nothing.root()).writers_throttled(), None);
}

#[test]
fn processes_are_told_apart() {
    let found = processes(&Tree::of(VM).root());
    assert_eq!(found.keys().collect::<Vec<_>>(), [&2, &77]);
    assert!(found[&2].kernel_thread && !found[&77].kernel_thread);
    assert_eq!((found[&77].parent, found[&77].own_ticks), (6553, 11));
    assert_eq!(found[&77].name, "worker");
}

#[test]
fn nothing_is_counted_below_an_empty_root() {
    let counters = snapshot(&Tree::empty(), &["sda"]);
    let expected = Counters {
        version: COUNTERS_VERSION,
        ..Counters::default()
    };
    assert_eq!(counters, expected);
}

#[test]
fn garbage_in_every_file_becomes_notes() {
    let kinds: [&[u8]; 5] = [
        b"\xff\xfe\x00\x80 \xc3(",
        b"-17 -18 -19",
        b"some",
        b"cpu\ncpu0 x\nsoftirq\nfull avg10\n(",
        b") (",
    ];
    for fixture in [LAPTOP, VM] {
        for garbage in kinds {
            let tree = Tree::of(fixture);
            tree.write("dev/kmsg", "");
            tree.each_file(|file| fs::write(file, garbage).unwrap());
            let counters = snapshot(&tree, &["vda", "dm-0", "../../../../etc"]);
            let shown = String::from_utf8_lossy(&garbage[..garbage.len().min(20)]);
            assert!(!counters.notes.is_empty(), "{shown}");
            assert_eq!(counters.context_switches, None, "{shown}");
            assert_eq!(counters.own.and_then(|own| own.user_ticks), None, "{shown}");
            assert_eq!(sample_memory(&tree.root()).dirty_kib, None, "{shown}");
            assert!(processes(&tree.root()).is_empty(), "{shown}");
        }
    }
}

#[test]
fn this_machine_counts_our_own_work() {
    let root = Root::real();
    let own = kernmark_sys::process::id();
    let before_processes = processes(&root);
    let mut reader = Reader::new(root.clone());
    let before = reader.snapshot(&Request::now(&[], &[own]));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), vec![1; 1 << 20]).unwrap();
    let after = reader.snapshot(&Request::now(&[], &[own]));
    assert_eq!(before.notes, Vec::<String>::new());
    let written = |counters: &Counters| counters.own.as_ref().unwrap().write_call_bytes;
    // Without task I/O accounting there is nothing to compare.
    if let (Some(first), Some(second)) = (written(&before), written(&after)) {
        assert!(second - first >= 1 << 20, "{first} {second}");
    }
    let delta = delta(&before, &after);
    assert!(delta.context_switches().is_some());
    assert!(delta.elapsed_nanos().unwrap() > 0);
    assert_eq!(
        delta.asleep_nanos().map(|nanos| nanos / 1_000_000_000),
        Some(0)
    );
    assert_eq!(
        after.workers[&own].start_ticks,
        after.own.as_ref().unwrap().start_ticks
    );
    assert!(after.own_usage.unwrap().minor_faults > before.own_usage.unwrap().minor_faults);
    assert!(after.meminfo.contains_key("MemTotal"));
    assert!(after.vmstat.contains_key("nr_dirty"));
    let after_processes = processes(&root);
    assert!(after_processes.contains_key(&own));
    let shared = SharedCpu::between(&before_processes, &after_processes, own);
    assert!(
        shared
            .foreigners
            .iter()
            .all(|foreign| foreign.process != own)
    );
}
