//! What a filesystem is, how it was made, and which devices it lies on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernmark_model::machine::{Filesystem, TargetKind};

use super::block;
use super::mounts::{self, MountLine};
use super::reading::Reading;
use super::superblock::{self, Superblock};

/// Where the data of a filesystem type goes.
///
/// Types that are not listed lie on devices if devices were found.
pub(super) fn kind(filesystem: &str, on_devices: bool) -> TargetKind {
    match filesystem {
        "tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs" | "rootfs" => TargetKind::Memory,
        "overlay" | "aufs" | "ecryptfs" => TargetKind::Overlay,
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "afs" | "lustre" | "gpfs" | "ocfs2"
        | "gfs2" | "beegfs" | "orangefs" => TargetKind::Network,
        "virtiofs" | "9p" | "vboxsf" | "prl_fs" | "hgfs" => TargetKind::Host,
        "proc" | "sysfs" | "cgroup" | "cgroup2" | "debugfs" | "tracefs" | "devpts"
        | "securityfs" | "configfs" | "bpf" | "mqueue" | "pstore" | "efivarfs" | "binfmt_misc"
        | "fusectl" | "autofs" => TargetKind::Pseudo,
        fuse if fuse == "fuse" || fuse.starts_with("fuse.") => TargetKind::Fuse,
        _ if on_devices => TargetKind::Filesystem,
        _ => TargetKind::Other,
    }
}

/// Sysfs folders of the devices that a mounted filesystem lies on.
///
/// Its device number names one device; filesystems of several have a made-up number and are looked
/// up by their own folder (btrfs) or by what they were mounted from.
pub(super) fn devices(
    reading: &mut Reading<'_>,
    mounts: &[MountLine],
    mount: &MountLine,
) -> Vec<PathBuf> {
    if mount.kind == "overlay" {
        return below_overlay(reading, mounts, mount);
    }
    if mount.kind == "btrfs"
        && let Some(folder) = btrfs_folder(reading, mount)
    {
        let members = reading.root.names(format!("{folder}/devices"));
        let member = |name| reading.root.resolve(format!("/sys/class/block/{name}"));
        return members.iter().filter_map(member).collect();
    }
    if let Some(folder) = block::by_number(reading, &mount.device) {
        return vec![folder];
    }
    // A network filesystem may be mounted from a path that looks like one of ours.
    if !mount.device.starts_with("0:") || kind(&mount.kind, true) != TargetKind::Filesystem {
        return Vec::new();
    }
    // Filesystems of several devices name them all, apart by colons.
    let sources = mount.source.split(':');
    sources
        .filter_map(|source| block::by_path(reading, source))
        .collect()
}

/// The devices below the upper folder, which takes all writes.
fn below_overlay(
    reading: &mut Reading<'_>,
    mounts: &[MountLine],
    overlay: &MountLine,
) -> Vec<PathBuf> {
    let Some(upper) = overlay.super_option("upperdir").map(str::to_owned) else {
        return Vec::new();
    };
    let path = Path::new(&upper);
    let mount = mounts::holding(mounts, path, None);
    let visible = path.is_absolute() && reading.root.place(path).exists();
    // An overlay on an overlay is refused by the kernel: then the folder is another of the same name.
    match mount.filter(|mount| visible && mount.kind != "overlay") {
        Some(mount) => devices(reading, mounts, mount),
        None => {
            let problem =
                "the upper folder is not visible from here: the device below it is unknown";
            reading.note("/proc/self/mountinfo", None, &upper, problem);
            Vec::new()
        }
    }
}

/// The folder of a btrfs: the one that holds its source, else the only one.
fn btrfs_folder(reading: &mut Reading<'_>, mount: &MountLine) -> Option<String> {
    const ALL: &str = "/sys/fs/btrfs";
    let names = reading.root.names(ALL);
    let folders: Vec<String> = names
        .into_iter()
        .filter(|name| name != "features")
        .map(|name| format!("{ALL}/{name}"))
        .collect();
    let device = block::by_path(reading, &mount.source);
    let device = device
        .as_deref()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    if let Some(device) = device {
        let mut holders = folders.iter();
        return holders
            .find(|folder| {
                reading
                    .root
                    .place(format!("{folder}/devices/{device}"))
                    .exists()
            })
            .cloned();
    }
    match folders.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// The sysfs folder with the writeback settings of a mounted filesystem.
pub(super) fn backing_device_folder(reading: &mut Reading<'_>, mount: &MountLine) -> String {
    // Btrfs registers under a name of its own, which its folder links to.
    let folder = (mount.kind == "btrfs")
        .then(|| btrfs_folder(reading, mount))
        .flatten();
    let linked = folder.and_then(|folder| reading.root.resolve(format!("{folder}/bdi")));
    match linked {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => format!("/sys/class/bdi/{}", mount.device),
    }
}

/// What is known of a filesystem beside its mount.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub(super) filesystem: Filesystem,
    pub(super) uuid: Option<String>,
    pub(super) options_in_force: Vec<String>,
    pub(super) age: BTreeMap<String, String>,
}

/// Describes a mounted filesystem; `device` is the sysfs folder of its first device.
pub(super) fn describe(
    reading: &mut Reading<'_>,
    mount: &MountLine,
    device: Option<&Path>,
) -> Description {
    let mut description = Description::default();
    let name = device
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    match (mount.kind.as_str(), name) {
        ("ext2" | "ext3" | "ext4", Some(name)) => {
            ext4(reading, name, &mut description);
            superblock(reading, name, superblock::ext4, &mut description);
        }
        ("xfs", Some(name)) => superblock(reading, name, superblock::xfs, &mut description),
        ("f2fs", Some(name)) => f2fs(reading, name, &mut description),
        ("btrfs", _) => btrfs(reading, mount, &mut description),
        _ => {}
    }
    let filesystem = &mut description.filesystem;
    if let (Some(device), None) = (device, &description.uuid) {
        let number = reading.word(&format!("{}/dev", device.display()));
        let mut udev = block::udev_properties(reading, number.as_deref());
        description.uuid = udev.remove("ID_FS_UUID");
        filesystem.label = filesystem
            .label
            .take()
            .or_else(|| udev.remove("ID_FS_LABEL"));
    }
    filesystem.kind = Some(mount.kind.clone());
    filesystem.source = Some(mount.source.clone());
    description
}

/// Files of `/sys/fs/ext4/DEV` that tell its age and health.
const EXT4_AGE: &[&str] = &[
    "lifetime_write_kbytes",
    "session_write_kbytes",
    "errors_count",
    "warning_count",
    "first_error_time",
    "last_error_time",
];

/// Beginnings of files there that neither set nor tell anything that we want.
const EXT4_SKIPPED: &[&str] = &[
    "delayed_allocation_blocks",
    "err_ratelimit",
    "first_error",
    "journal_task",
    "last_error",
    "last_trim",
    "msg_",
    "simulate_fail",
    "sra_exceeded",
    "test_",
    "trigger_",
    "warning_ratelimit",
];

fn ext4(reading: &mut Reading<'_>, name: &str, description: &mut Description) {
    let folder = format!("/sys/fs/ext4/{name}");
    for file in reading.root.names(&folder) {
        let is_age = EXT4_AGE.contains(&file.as_str());
        if !is_age && EXT4_SKIPPED.iter().any(|skipped| file.starts_with(skipped)) {
            continue;
        }
        let Some(value) = reading.word(&format!("{folder}/{file}")) else {
            continue;
        };
        if is_age {
            description.age.insert(file, value);
        } else {
            description.filesystem.settings.insert(file, value);
        }
    }
    let options = reading.text(&format!("/proc/fs/ext4/{name}/options"));
    let options = options.unwrap_or_default();
    description.options_in_force = options.lines().map(str::to_owned).collect();
}

/// Reads the start of the device, which only root may, for what the kernel does not tell.
fn superblock(
    reading: &mut Reading<'_>,
    name: &str,
    parse: fn(&[u8]) -> Option<Superblock>,
    description: &mut Description,
) {
    let path = format!("/dev/{}", name.replace('!', "/"));
    let Some(start) = reading.start(&path, superblock::START_BYTES) else {
        return;
    };
    let Some(found) = parse(&start) else {
        let problem = "does not start like the filesystem mounted from it";
        reading.note(&path, None, "superblock", problem);
        return;
    };
    let filesystem = &mut description.filesystem;
    description.uuid = Some(found.uuid);
    filesystem.label = found.label;
    filesystem.features = found.features;
    filesystem.made.extend(found.made);
    description.age.extend(found.age);
}

fn f2fs(reading: &mut Reading<'_>, name: &str, description: &mut Description) {
    let folder = format!("/sys/fs/f2fs/{name}");
    let features = reading
        .word(&format!("{folder}/features"))
        .unwrap_or_default();
    let features = features
        .split(',')
        .map(str::trim)
        .filter(|feature| !feature.is_empty());
    description.filesystem.features = features.map(str::to_owned).collect();
    let written = reading.word(&format!("{folder}/lifetime_write_kbytes"));
    let written = written.map(|kib| ("lifetime_write_kbytes".to_owned(), kib));
    description.age.extend(written);
}

/// Names that btrfs gives to ways of spreading blocks over devices.
const BTRFS_PROFILES: &[&str] = &[
    "single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6",
];

fn btrfs(reading: &mut Reading<'_>, mount: &MountLine, description: &mut Description) {
    let Some(folder) = btrfs_folder(reading, mount) else {
        return;
    };
    let uuid = Path::new(&folder)
        .file_name()
        .and_then(|name| name.to_str());
    description.uuid = uuid.map(str::to_owned);
    let filesystem = &mut description.filesystem;
    filesystem.label = reading.word(&format!("{folder}/label"));
    // A feature that could be switched on but is not reads 0.
    for feature in reading.root.names(format!("{folder}/features")) {
        let state = reading.word(&format!("{folder}/features/{feature}"));
        if state.is_some_and(|state| state != "0") {
            filesystem.features.push(feature);
        }
    }
    for name in ["nodesize", "sectorsize", "checksum"] {
        let value = reading.word(&format!("{folder}/{name}"));
        filesystem
            .made
            .extend(value.map(|value| (name.to_owned(), value)));
    }
    let policy = reading.choice(&format!("{folder}/read_policy"));
    let policy = policy.map(|(chosen, _)| ("read_policy".to_owned(), chosen));
    filesystem.settings.extend(policy);
    let threshold = reading.word(&format!("{folder}/bg_reclaim_threshold"));
    let threshold = threshold.map(|value| ("bg_reclaim_threshold".to_owned(), value));
    filesystem.settings.extend(threshold);
    for blocks in ["data", "metadata", "system", "mixed"] {
        let allocation = format!("{folder}/allocation/{blocks}");
        let names = reading.root.names(&allocation).into_iter();
        let profiles: Vec<String> = names
            .filter(|name| BTRFS_PROFILES.contains(&name.as_str()))
            .collect();
        if !profiles.is_empty() {
            filesystem
                .allocation
                .insert(blocks.to_owned(), profiles.join("+"));
        }
        for amount in ["total_bytes", "bytes_used"] {
            let value = reading.word(&format!("{allocation}/{amount}"));
            description
                .age
                .extend(value.map(|value| (format!("{blocks}_{amount}"), value)));
        }
    }
}
