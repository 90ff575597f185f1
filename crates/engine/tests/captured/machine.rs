//! Machines, and the targets that belong to their story.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use kernmark_engine::machine::{Root, read, this_build};
use kernmark_model::machine::{
    Limit, MACHINE_VERSION, Machine, Target, TargetKind, select, summary,
};

use crate::tree::{Tree, assert_facts, names};
use crate::{CONTAINER, LAPTOP, SERVER, VM, WIDE};

#[test]
fn a_laptop_tells_what_slows_it() {
    let tree = Tree::of(LAPTOP);
    let machine = tree.machine();
    assert_eq!(machine.notes, Vec::<String>::new());
    assert_facts(
        &machine.facts(),
        &[
            "hostname=kestrel",
            "cpu.model_name=Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz",
            "cpu.microcode=0xf6",
            "cpu.architecture=x86_64",
            "cpu.topology.sockets=1",
            "cpu.topology.cores=2",
            "cpu.topology.threads=4",
            "cpu.topology.isolated=3",
            "cpu.topology.nohz_full=",
            "cpu.topology.allowed=0-2",
            "cpu.caches.0.kind=Data",
            "cpu.caches.0.size_bytes=32768",
            "cpu.caches.0.shared_by=2",
            "cpu.caches.0.instances=2",
            "cpu.caches.1.level=3",
            "cpu.caches.1.size_bytes=6291456",
            "cpu.caches.1.instances=1",
            "cpu.frequency.turbo=true",
            "cpu.frequency.driver_mode=active",
            "cpu.frequency.policies.0.cpus=0,2",
            "cpu.frequency.policies.0.governor=powersave",
            "cpu.frequency.policies.0.energy_preference=balance_power",
            "cpu.frequency.policies.0.hardware_maximum_khz=3400000",
            "cpu.idle.driver=intel_idle",
            "cpu.idle.states.C1.disabled=true",
            "cpu.smt_active=true",
            "cpu.mitigations.meltdown=Mitigation: PTI",
            "memory.total_bytes=16605749248",
            "memory.nodes.0.total_bytes=16605749248",
            "memory.transparent_hugepages.enabled=madvise",
            "memory.transparent_hugepages.shmem_enabled=never",
            "memory.reserved_hugepages.2048=0",
            "memory.multi_generational_lru=0x0007",
            "memory.zswap=false",
            "memory.swaps./dev/zram0.size_bytes=1024454656",
            "kernel.release=6.12.41-amd64",
            "kernel.config.source=/boot/config-6.12.41-amd64",
            "kernel.config.options.HZ=250",
            "kernel.config.options.KASAN=n",
            "kernel.config.options.PREEMPT_DYNAMIC=y",
            "kernel.settings.nmi_watchdog=1",
            "clock_source.current=tsc",
            "clock_source.available=tsc,hpet,acpi_pm",
            "firmware.product_version=ThinkPad T480",
            "virtualisation.hypervisor_flag=false",
            "security_modules=lockdown,capability,landlock,yama,apparmor,tomoyo,bpf",
            "cgroup.version=v2",
            "cgroup.tasks_max=24576",
            "cgroup.memory_max_bytes=unlimited",
            "power.on_mains=false",
            "power.platform_profile=balanced",
            "state.uptime_centisec=4038725",
            "state.temperatures_millicelsius.acpitz 0=48000",
            "state.temperatures_millicelsius.coretemp 3 Package id 0=51000",
            "state.temperatures_millicelsius.nvme 4 temp1=-1850",
            "state.core_throttle_count=15",
            "state.package_throttle_count=80",
            "state.steal_ticks=0",
            "state.total_ticks=80471",
        ],
    );
    assert_eq!(machine.version, MACHINE_VERSION);
    assert_eq!(machine.virtualisation.hypervisor, None);
    assert!(!machine.kernel.config.unwrap().options.contains_key("USB"));
}

#[test]
fn a_server_shows_sockets_nodes_and_the_mirror_below() {
    let tree = Tree::of(SERVER);
    let machine = tree.machine();
    assert_facts(
        &machine.facts(),
        &[
            "cpu.topology.sockets=2",
            "cpu.topology.cores=4",
            "cpu.topology.threads=8",
            "cpu.frequency.turbo=false",
            "cpu.frequency.policies.0.cpus=0,2,4,6",
            "cpu.frequency.policies.1.cpus=1,3,5,7",
            "memory.nodes.0.cpus=0,2,4,6",
            "memory.nodes.1.total_bytes=33554432000",
            "memory.nodes.1.distances=21,10",
            "firmware.product_name=PowerEdge R540",
        ],
    );
    assert_eq!(machine.memory.swaps, Some(Vec::new()));
    let target = tree.target("/var/tmp");
    let stack = ["dm-2", "md127", "sda2", "sda", "sdb2", "sdb"];
    assert_eq!(names(&target.stack), stack);
    assert_facts(
        &target.facts(),
        &[
            "stack.md127.below=sda2,sdb2",
            "stack.md127.array.level=raid1",
            "stack.md127.array.disks=2",
            "stack.md127.array.sync_action=resync",
            "stack.md127.array.chunk_bytes=0",
            "stack.sda2.partition.alignment_offset_bytes=-1",
            "stack.sda.disk.transport=sas",
            "stack.sda.disk.queue_depth=254",
            "stack.sda.disk.cache_type=write through",
            "stack.sdb.disk.transport=ata",
            "stack.sdb.disk.model=Samsung_SSD_860_EVO_1TB",
            "stack.sdb.disk.serial=S3Z8NB0K123456",
            "stack.sdb.disk.firmware=RVT02B6Q",
        ],
    );
    let selected = |name| select(&machine, Some(&target), name);
    assert_eq!(selected("scheduler").as_deref(), Some("mq-deadline+none"));
    assert_eq!(
        selected("device").as_deref(),
        Some("HUC101860CSS200+Samsung_SSD_860_EVO_1TB")
    );
    assert_eq!(
        selected("governor").as_deref(),
        Some("performance+ondemand")
    );
}

#[test]
fn masks_of_more_than_32_cpus_are_read_where_lists_are_missing() {
    let tree = Tree::of(WIDE);
    let machine = tree.machine();
    assert_eq!(machine.notes, Vec::<String>::new());
    assert_facts(
        &machine.facts(),
        &[
            "cpu.topology.sockets=2",
            "cpu.topology.cores=2",
            "cpu.topology.threads=72",
            "cpu.caches.0.size_bytes=47185920",
            "cpu.caches.0.shared_by=36",
            "cpu.caches.0.instances=2",
            "memory.nodes.0.cpus=0-17,36-53",
        ],
    );
    assert_eq!(machine.cpu.caches.len(), 1);
}

#[test]
fn a_container_knows_its_limits_and_what_it_cannot_see() {
    let tree = Tree::of(CONTAINER);
    let machine = tree.machine();
    assert_facts(
        &machine.facts(),
        &[
            "virtualisation.hypervisor=amazon",
            "virtualisation.container=kubernetes",
            "cgroup.version=v2",
            "cgroup.memory_max_bytes=536870912",
            "cgroup.memory_high_bytes=unlimited",
            "cgroup.swap_max_bytes=0",
            "cgroup.cpu_quota_usec=150000",
            "cgroup.cpu_period_usec=100000",
            "cgroup.cpu_weight=79",
            "cgroup.cpus=0-15",
            "cgroup.tasks_max=4096",
            "cgroup.io_throttles=259:0 rbps=max wbps=10485760 riops=max wiops=max",
        ],
    );
    let root = tree.target("/work");
    assert_eq!(root.kind, TargetKind::Overlay);
    assert_eq!(root.stack, []);
    assert_eq!(
        root.notes,
        [
            "/proc/self/mountinfo: /var/lib/containerd/fs/3/fs: the upper folder is not visible from \
          here: the device below it is unknown"
        ]
    );
    let nested = tree.target("/mnt/nested/x");
    assert_eq!(nested.kind, TargetKind::Overlay);
    assert_eq!(names(&nested.stack), ["nvme0n1p1", "nvme0n1"]);
    assert_eq!(nested.notes, Vec::<String>::new());
    let data = tree.target("/data/x");
    assert_eq!(
        data.mount.root.as_deref(),
        Some("/var/lib/kubelet/pods/1/volumes/data")
    );
    assert_eq!(names(&data.stack), ["nvme0n1p1", "nvme0n1"]);
}

#[test]
fn a_loop_device_leads_through_its_file_to_the_disk() {
    let tree = Tree::of(VM);
    let machine = tree.machine();
    assert_facts(
        &machine.facts(),
        &[
            "cpu.microcode=0x1000065, 0x1000066",
            "virtualisation.hypervisor_flag=true",
            "virtualisation.hypervisor=kvm",
            "cgroup.version=hybrid",
            "cgroup.path=/batch/job1",
            "cgroup.memory_max_bytes=1073741824",
            "cgroup.cpu_quota_usec=unlimited",
            "cgroup.cpu_weight=1024",
            "state.steal_ticks=7",
            "state.total_ticks=80468",
        ],
    );
    assert_eq!(machine.virtualisation.container, None);
    let target = tree.target("/mnt/test/run");
    assert_eq!(target.notes, Vec::<String>::new());
    assert_eq!(names(&target.stack), ["loop0", "vda"]);
    assert_facts(
        &target.facts(),
        &[
            "stack.loop0.kind=loop",
            "stack.loop0.loop_device.backing_file=/images/ext4.img",
            "stack.loop0.loop_device.backing_filesystem=ext4",
            "stack.loop0.loop_device.autoclear=true",
            "stack.loop0.loop_device.direct_io=false",
            "stack.vda.disk.transport=virtio",
            "stack.vda.disk.driver=virtio_blk",
            "stack.vda.disk.serial=root",
            "stack.vda.queue.scheduler_settings.front_merges=1",
        ],
    );
    assert_eq!(
        target.layer("vda").unwrap().disk.as_ref().unwrap().vendor,
        None
    );
    assert_eq!(
        summary(&machine, Some(&target)),
        "AMD EPYC 2 cpus, 23.5 GiB, Linux 6.18.44, under kvm, ext4 rw,relatime on loop0 (none) on vda (mq-deadline)"
    );
    assert_eq!(
        select(&machine, Some(&target), "scheduler").as_deref(),
        Some("none")
    );
}

#[test]
fn build_options_are_unpacked_or_noted() {
    let tree = Tree::of(LAPTOP);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(b"CONFIG_HZ=1000\n# CONFIG_LOCKDEP is not set\n")
        .unwrap();
    tree.write("proc/config.gz", packed.finish().unwrap());
    let facts = tree.machine().facts();
    let options = [
        "options.HZ=1000",
        "options.LOCKDEP=n",
        "source=/proc/config.gz",
    ];
    let options = options.map(|option| format!("kernel.config.{option}"));
    assert_facts(&facts, &options.each_ref().map(String::as_str));
    tree.write("proc/config.gz", b"\x1f\x8b\x08\x00broken");
    let machine = tree.machine();
    assert!(
        machine.notes[0].starts_with("/proc/config.gz: file: is no gzip text: "),
        "{:?}",
        machine.notes
    );
    assert_eq!(
        machine.kernel.config.unwrap().source,
        "/boot/config-6.12.41-amd64"
    );
}

#[test]
fn nothing_at_all_is_known_of_an_empty_root() {
    let tree = Tree::empty();
    let machine = tree.machine();
    let expected = Machine {
        version: MACHINE_VERSION,
        ..Machine::default()
    };
    assert_eq!(machine, expected);
    let target = tree.target("/mnt");
    assert_eq!(target.facts().len(), 3, "{:?}", target.facts());
    assert_eq!(target.kind, TargetKind::Unknown);
    assert_eq!(summary(&machine, Some(&target)), "");
}

#[test]
fn garbage_in_every_file_becomes_notes() {
    let kinds: [&[u8]; 6] = [
        b"",
        b"\xff\xfe\x00\x80 \xc3(",
        b"-17",
        b"[",
        b"a - b (c) [d\n(:,=;\n\n",
        b"18446744073709551616 18446744073709551616\n",
    ];
    for fixture in [LAPTOP, SERVER, CONTAINER, VM] {
        for garbage in kinds {
            let tree = Tree::of(fixture);
            tree.each_file(|file| fs::write(file, garbage).unwrap());
            let machine = tree.machine();
            let target = tree.target("/mnt/test");
            let shown = String::from_utf8_lossy(&garbage[..garbage.len().min(20)]);
            assert_eq!(
                machine.cpu.topology.threads.filter(|_| garbage != b""),
                None,
                "{shown}"
            );
            assert_eq!(machine.memory.total_bytes, None, "{shown}");
            if !garbage.is_empty() {
                assert!(!machine.notes.is_empty(), "{shown}");
                assert!(!target.notes.is_empty(), "{shown}");
            }
            for note in machine.notes.iter().chain(&target.notes) {
                assert!(note.len() < 500, "{note}");
            }
        }
    }
}

#[test]
fn the_end_of_a_huge_file_is_ignored_with_a_note() {
    let tree = Tree::empty();
    let mut meminfo = "MemTotal: 1024 kB\n".to_owned();
    meminfo.push_str(&"9".repeat(5 << 20));
    tree.write("proc/meminfo", meminfo);
    let machine = tree.machine();
    assert_eq!(machine.memory.total_bytes, Some(1 << 20));
    let note = "/proc/meminfo: file: longer than 4 MiB, the rest is ignored";
    assert_eq!(machine.notes[0], note);
    assert_eq!(machine.notes.len(), 2, "{:?}", machine.notes);
}

#[test]
fn a_missing_last_newline_loses_nothing() {
    let tree = Tree::empty();
    tree.write("proc/meminfo", "MemFree: 5 kB\nMemTotal: 1024 kB");
    assert_eq!(tree.machine().memory.total_bytes, Some(1 << 20));
}

#[test]
fn records_survive_json() {
    let tree = Tree::of(LAPTOP);
    let machine = read(&tree.root(), this_build(Some("2.36".into())));
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
    let target = tree.target("/");
    let text = serde_json::to_string(&target).unwrap();
    assert_eq!(serde_json::from_str::<Target>(&text).unwrap(), target);
}

#[test]
fn this_machine_agrees_with_other_witnesses() {
    let root = Root::real();
    let machine = read(&root, this_build(None));
    let uname = std::process::Command::new("uname")
        .arg("-r")
        .output()
        .unwrap();
    let release = String::from_utf8(uname.stdout).unwrap();
    assert_eq!(machine.kernel.release.as_deref(), Some(release.trim()));
    assert_eq!(machine.notes, Vec::<String>::new());
    // A CPU taken from us (a cpuset) is online all the same.
    let usable = std::thread::available_parallelism().unwrap().get() as u64;
    let topology = &machine.cpu.topology;
    assert!(topology.threads.unwrap() >= usable, "{topology:?}");
    assert!(
        topology.allowed.as_ref().unwrap().count() >= usable,
        "{topology:?}"
    );
    assert!(machine.memory.total_bytes.unwrap() > 64 << 20);
    assert!(machine.memory.page_bytes.unwrap() >= 4096);
    assert!(machine.build.compiler.unwrap().starts_with("rustc "));
    assert!(!matches!(
        machine.cgroup.memory_max_bytes,
        Some(Limit::At(0))
    ));
}
