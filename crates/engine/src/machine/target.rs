//! A folder or device under test, and everything below it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use kernmark_model::machine::{
    BackingDevice, Mount, TARGET_VERSION, Target, TargetKind, TargetState,
};
use kernmark_sys::storage::{Room, room};

use super::reading::{Reading, Root};
use super::{block, filesystem, mounts};

/// What only system calls tell of a path: the part of a target that no captured tree can replace.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The path, absolute and without symbolic links.
    pub path: PathBuf,
    /// `major:minor` of the block device that the path is, if it is one.
    pub block_device: Option<String>,
    /// The kernel's number of the mount that holds it.
    pub mount_id: Option<u64>,
    /// Size and free space of its filesystem.
    pub room: Option<Room>,
}

impl Site {
    /// Asks the running kernel about a path.
    pub fn of(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let metadata = path.metadata()?;
        if metadata.file_type().is_block_device() {
            return Ok(Self {
                block_device: Some(number_of(metadata.rdev())),
                path,
                ..Self::default()
            });
        }
        // Opening anything but these two may wait for somebody at the other end.
        let may_open = metadata.is_dir() || metadata.is_file();
        Ok(Self {
            mount_id: may_open.then(|| mount_id(&path)).flatten(),
            room: room(&path).ok(),
            block_device: None,
            path,
        })
    }
}

/// `major:minor` of a device number in the packing of the C library (`gnu_dev_major`).
fn number_of(device: u64) -> String {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & 0xffff_f000);
    let minor = (device & 0xff) | ((device >> 12) & 0xffff_ff00);
    format!("{major}:{minor}")
}

/// The mount of an open file: it is right where comparing paths is not, under mounts that hide others.
fn mount_id(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let line = facts
        .lines()
        .find_map(|line| line.strip_prefix("mnt_id:"))?;
    line.trim().parse().ok()
}

/// Describes a target from the files below a root.
pub fn read_target(root: &Root, site: &Site) -> Target {
    let mut reading = Reading::new(root);
    let mounts = mounts::read(&mut reading);
    let mut target = Target {
        version: TARGET_VERSION,
        path: Some(site.path.to_string_lossy().into_owned()),
        vm: vm_settings(&mut reading),
        ..Target::default()
    };
    match &site.block_device {
        Some(number) => {
            target.kind = TargetKind::BareDevice;
            target.state.device_number = Some(number.clone());
            let folder = format!("/sys/class/bdi/{number}");
            target.backing_device = backing_device(&mut reading, &folder);
            let folder = block::by_number(&reading, number);
            target.stack = block::stack(&mut reading, &mounts, folder.into_iter().collect());
        }
        None => on_filesystem(&mut reading, &mounts, site, &mut target),
    }
    target.notes = reading.into_notes();
    target
}

fn on_filesystem(
    reading: &mut Reading<'_>,
    mounts: &[mounts::MountLine],
    site: &Site,
    target: &mut Target,
) {
    target.state = state(site.room);
    target.filesystem.block_bytes = site.room.map(|room| room.block);
    let Some(mount) = mounts::holding(mounts, &site.path, site.mount_id) else {
        return;
    };
    let devices = filesystem::devices(reading, mounts, mount);
    // What the overlay's own name says of the devices below it is not so: it has none.
    let own_device = devices.first().filter(|_| mount.kind != "overlay").cloned();
    let described = filesystem::describe(reading, mount, own_device.as_deref());
    target.kind = filesystem::kind(&mount.kind, !devices.is_empty());
    target.filesystem = kernmark_model::machine::Filesystem {
        block_bytes: target.filesystem.block_bytes,
        ..described.filesystem
    };
    target.mount = Mount {
        point: Some(mount.point.to_string_lossy().into_owned()),
        root: Some(mount.root.clone()),
        options: mount.options(),
        options_in_force: described.options_in_force,
    };
    target.state.mount_id = Some(mount.id);
    target.state.device_number = Some(mount.device.clone());
    target.state.filesystem_uuid = described.uuid;
    target.state.age = described.age;
    let folder = filesystem::backing_device_folder(reading, mount);
    target.backing_device = backing_device(reading, &folder);
    target.stack = block::stack(reading, mounts, devices);
}

fn state(room: Option<Room>) -> TargetState {
    TargetState {
        total_bytes: room.map(|room| room.total),
        free_bytes: room.map(|room| room.free),
        available_bytes: room.map(|room| room.available),
        total_inodes: room.and_then(|room| room.total_files),
        free_inodes: room.and_then(|room| room.files),
        ..TargetState::default()
    }
}

fn backing_device(reading: &mut Reading<'_>, folder: &str) -> BackingDevice {
    BackingDevice {
        read_ahead_kib: reading.number(&format!("{folder}/read_ahead_kb")),
        minimum_ratio: reading.number(&format!("{folder}/min_ratio")),
        maximum_ratio: reading.number(&format!("{folder}/max_ratio")),
        strict_limit: reading.flag(&format!("{folder}/strict_limit")),
    }
}

/// Files of `/proc/sys/vm` that act when they are read or written, and set nothing.
const VM_ACTIONS: &[&str] = &["compact_memory", "drop_caches", "stat_refresh"];

fn vm_settings(reading: &mut Reading<'_>) -> BTreeMap<String, i64> {
    const FOLDER: &str = "/proc/sys/vm";
    let names = reading.root.names(FOLDER).into_iter();
    let settings = names.filter(|name| !VM_ACTIONS.contains(&name.as_str()));
    settings
        .filter_map(|name| {
            // Lists and words are among them, and are no error.
            let value = reading.word(&format!("{FOLDER}/{name}"))?.parse().ok()?;
            Some((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_unpacked_as_the_c_library_packs_them() {
        assert_eq!(number_of(0x0801), "8:1");
        assert_eq!(number_of(0x0010_0103), "1:259");
        let packed = 0xab | (0x345 << 8) | (0x1_ff00 << 12) | (0x1_2000 << 32);
        let unpacked = format!("{}:{}", 0x1_2345, 0x1_ffab);
        assert_eq!(number_of(packed), unpacked);
    }
}
