//! Targets: filesystems, devices, and the stacks below them.

use std::fs;
use std::path::Path;

use kernmark_engine::machine::{Root, Site, read_target};
use kernmark_model::machine::{LayerKind, Machine, TargetKind, select, summary};

use crate::tree::{Tree, assert_facts, names};
use crate::{LAPTOP, SERVER, VM};

#[test]
fn an_encrypted_root_leads_down_to_its_disk() {
    let tree = Tree::of(LAPTOP);
    let target = tree.target("/home-less/folder");
    assert_eq!(target.notes, Vec::<String>::new());
    assert_eq!(target.kind, TargetKind::Filesystem);
    assert_eq!(names(&target.stack), ["dm-0", "nvme0n1p3", "nvme0n1"]);
    assert_eq!(target.top_devices(), ["dm-0"]);
    let [mapped, partition, disk] = target.stack.as_slice() else {
        panic!("{:?}", target.stack);
    };
    assert_eq!(
        (mapped.kind, mapped.below.as_slice()),
        (LayerKind::DeviceMapper, &["nvme0n1p3".to_owned()][..])
    );
    assert_eq!((partition.kind, partition.depth), (LayerKind::Partition, 1));
    assert_eq!((disk.kind, disk.depth), (LayerKind::Disk, 2));
    assert_facts(
        &target.facts(),
        &[
            "kind=filesystem",
            "filesystem.type=ext4",
            "filesystem.source=/dev/mapper/kestrel",
            "state.filesystem_uuid=5d3c1f0e-0000-4000-8000-00000000abcd",
            "filesystem.label=root",
            "filesystem.settings.mb_stream_req=16",
            "mount.options=rw,relatime,errors=remount-ro",
            "mount.options_in_force=rw,delalloc,barrier,commit=5",
            "stack.dm-0.device_mapper.name=kestrel",
            "stack.nvme0n1p3.partition.number=3",
            "stack.nvme0n1p3.partition.start_bytes=2148532224",
            "stack.nvme0n1.disk.model=SAMSUNG MZVLB512HAJQ-000L7",
            "stack.nvme0n1.disk.firmware=4L2QEXA7",
            "stack.nvme0n1.disk.serial=S3TNNX0K123456",
            "stack.nvme0n1.disk.transport=nvme",
            "stack.nvme0n1.disk.driver=nvme",
            "stack.nvme0n1.queue.scheduler=none",
            "stack.nvme0n1.queue.schedulers_offered=none,mq-deadline",
            "stack.nvme0n1.queue.hardware_queues=2",
            "stack.nvme0n1.queue.writeback_throttle_usec=2000",
            "stack.nvme0n1.queue.forced_unit_access=true",
            "backing_device.read_ahead_kib=128",
            "vm.dirty_ratio=20",
            "vm.dirty_bytes=0",
            "state.age.lifetime_write_kbytes=1149945",
        ],
    );
    assert_eq!(disk.disk.as_ref().unwrap().numa_node, None);
    for action_or_list in ["drop_caches", "lowmem_reserve_ratio", "numa_zonelist_order"] {
        assert!(!target.vm.contains_key(action_or_list), "{action_or_list}");
    }
    let machine = tree.machine();
    assert_eq!(
        select(&machine, Some(&target), "scheduler").as_deref(),
        Some("none")
    );
    assert_eq!(
        summary(&machine, Some(&target)),
        "Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz 4 cpus, 15.5 GiB, Linux 6.12.41-amd64, ext4 \
         rw,relatime,errors=remount-ro on dm-0 (none) on nvme0n1p3 on nvme0n1 (none)"
    );
}

#[test]
fn a_btrfs_is_found_by_its_members() {
    let tree = Tree::of(LAPTOP);
    let target = tree.target("/home/me/test");
    assert_eq!(target.notes, Vec::<String>::new());
    assert_eq!(names(&target.stack), ["sda1", "sda"]);
    assert_facts(
        &target.facts(),
        &[
            "kind=filesystem",
            "filesystem.type=btrfs",
            "state.filesystem_uuid=7b0f7e0c-1111-4222-8333-444455556666",
            "filesystem.label=backup",
            "filesystem.features=free_space_tree,no_holes",
            "filesystem.made.nodesize=16384",
            "filesystem.allocation.data=single",
            "filesystem.allocation.metadata=dup",
            "filesystem.settings.read_policy=pid",
            "mount.root=/@home",
            "backing_device.read_ahead_kib=4096",
            "stack.sda.disk.vendor=WD",
            "stack.sda.disk.transport=usb",
            "stack.sda.queue.scheduler=bfq",
            "stack.sda.queue.scheduler_settings.slice_idle=8",
            "stack.sda.queue.rotational=true",
            "state.age.data_bytes_used=64424509440",
        ],
    );
    let queue = target.layer("sda").unwrap().queue.as_ref().unwrap();
    assert_eq!(queue.writeback_throttle_usec, None);
}

#[test]
fn filesystems_without_a_device_say_so() {
    let tree = Tree::of(LAPTOP);
    for (path, kind, filesystem) in [
        ("/tmp/scratch", TargetKind::Memory, "tmpfs"),
        ("/mnt/nas", TargetKind::Network, "nfs4"),
        ("/mnt/ssh/x", TargetKind::Fuse, "fuse.sshfs"),
        ("/sys/fs/cgroup", TargetKind::Pseudo, "cgroup2"),
    ] {
        let target = tree.target(path);
        assert_eq!(target.kind, kind, "{path}");
        assert_eq!(
            target.filesystem.kind.as_deref(),
            Some(filesystem),
            "{path}"
        );
        assert_eq!(target.stack, [], "{path}");
        assert_eq!(target.notes, Vec::<String>::new(), "{path}");
    }
    let nas = tree.target("/mnt/nas");
    assert_eq!(
        nas.filesystem.source.as_deref(),
        Some("nas:/export/my files")
    );
}

#[test]
fn a_bare_device_has_a_stack_and_no_filesystem() {
    let tree = Tree::of(LAPTOP);
    let site = Site {
        path: "/dev/nvme0n1".into(),
        block_device: Some("259:0".into()),
        ..Site::default()
    };
    let target = read_target(&tree.root(), &site);
    assert_eq!(target.kind, TargetKind::BareDevice);
    assert_eq!(target.filesystem.kind, None);
    assert_eq!(names(&target.stack), ["nvme0n1"]);
}

#[test]
fn a_loop_device_whose_file_is_hidden_says_so() {
    let tree = Tree::of(VM);
    fs::remove_file(tree.place("images/ext4.img")).unwrap();
    let target = tree.target("/mnt/test");
    assert_eq!(names(&target.stack), ["loop0"]);
    assert_eq!(target.notes.len(), 1, "{:?}", target.notes);
    assert!(
        target.notes[0].contains("/images/ext4.img: not visible from here"),
        "{:?}",
        target.notes
    );
}

#[test]
fn a_stack_that_meets_itself_ends() {
    let tree = Tree::of(SERVER);
    let disk = "sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sdb";
    let up = "../".repeat(disk.split('/').count() + 1);
    fs::create_dir_all(tree.place(&format!("{disk}/slaves"))).unwrap();
    let link = format!("{up}sys/devices/virtual/block/dm-2");
    std::os::unix::fs::symlink(link, tree.place(&format!("{disk}/slaves/dm-2"))).unwrap();
    let target = tree.target("/");
    assert_eq!(
        names(&target.stack),
        ["dm-2", "md127", "sda2", "sda", "sdb2", "sdb"]
    );
    assert_eq!(target.layer("sdb").unwrap().below, ["dm-2"]);
    assert!(summary(&Machine::default(), Some(&target)).ends_with("on dm-2"));
}

#[test]
fn links_do_not_lead_out_of_the_root() {
    let tree = Tree::of(VM);
    fs::remove_file(tree.place("sys/dev/block/7:0")).unwrap();
    std::os::unix::fs::symlink("/", tree.place("sys/dev/block/7:0")).unwrap();
    assert_eq!(tree.target("/mnt/test").stack, []);
}

#[test]
fn a_target_survives_garbage_below_a_good_mount_table() {
    let tree = Tree::of(SERVER);
    let mounts = tree.place("proc/self/mountinfo");
    tree.each_file(|file| {
        if !file.ends_with("proc/self/mountinfo") {
            fs::write(file, b"\xffbroken").unwrap();
        }
    });
    assert!(mounts.exists());
    let target = tree.target("/");
    assert_eq!(
        names(&target.stack),
        ["dm-2", "md127", "sda2", "sda", "sdb2", "sdb"]
    );
    let note = "/sys/devices/virtual/block/md127/md/chunk_size: value: expected a whole number, \
                found \"\u{fffd}broken\"";
    assert!(
        target.notes.iter().any(|found| found == note),
        "{:#?}",
        target.notes
    );
}

#[test]
fn superblocks_tell_what_mkfs_decided() {
    let tree = Tree::of(VM);
    let mut start = vec![0_u8; 4096];
    let mut put =
        |at: usize, bytes: &[u8]| start[1024 + at..][..bytes.len()].copy_from_slice(bytes);
    put(0x38, &0xef53_u16.to_le_bytes());
    put(0x18, &2_u32.to_le_bytes());
    put(0x58, &256_u16.to_le_bytes());
    put(0x5c, &(0x4_u32 | 0x20).to_le_bytes());
    put(0x60, &(0x4_u32 | 0x40 | 0x200).to_le_bytes());
    put(0x64, &0x400_u32.to_le_bytes());
    put(0x68, &[0xab; 16]);
    put(0x78, b"scratch");
    put(0x34, &7_u16.to_le_bytes());
    put(0x174, &[4]);
    tree.write("dev/loop0", &start);
    let target = tree.target("/mnt/test");
    assert_facts(
        &target.facts(),
        &[
            "state.filesystem_uuid=abababab-abab-abab-abab-abababababab",
            "filesystem.label=scratch",
            "filesystem.features=has_journal,dir_index,extent,flex_bg,metadata_csum",
            "filesystem.made.block_bytes=4096",
            "filesystem.made.inode_bytes=256",
            "filesystem.made.groups_per_flex_group=16",
            "state.age.mounts=7",
        ],
    );
}

#[test]
fn a_device_that_holds_another_filesystem_is_noted() {
    let tree = Tree::of(VM);
    for start in [&b"XFSB"[..], b"", &[0xff; 8192]] {
        tree.write("dev/loop0", start);
        let target = tree.target("/mnt/test");
        assert_eq!(target.state.filesystem_uuid, None);
        assert_eq!(
            target.notes,
            ["/dev/loop0: superblock: does not start like the filesystem mounted from it"]
        );
    }
}

#[test]
fn a_folder_of_this_machine_has_a_filesystem_and_room() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::of(folder.path()).unwrap();
    let target = read_target(&Root::real(), &site);
    assert_eq!(target.notes, Vec::<String>::new());
    let point = target.mount.point.unwrap();
    assert!(site.path.starts_with(&point), "{point}");
    assert!(target.filesystem.kind.is_some());
    assert!(target.filesystem.block_bytes.unwrap() > 0);
    assert!(target.state.total_bytes >= target.state.free_bytes);
    assert!(target.vm.contains_key("dirty_ratio"));
    assert!(Site::of(Path::new("/no/such/folder")).is_err());
}
