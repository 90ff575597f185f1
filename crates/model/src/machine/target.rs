//! What is measured: a folder on a filesystem, or a bare device, and the stack below it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Layer;

/// The version that [`Target`] is written in.
pub const TARGET_VERSION: u32 = 1;

/// A folder or device under test.
///
/// `None` and empty lists mean unknown or not applicable, never zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Format of this record, [`TARGET_VERSION`]; 0 in a record nobody filled.
    pub version: u32,
    /// The path, absolute and without symbolic links.
    pub path: Option<String>,
    /// Where its data goes.
    pub kind: TargetKind,
    /// The filesystem; all unknown for a bare device.
    pub filesystem: Filesystem,
    /// The mount it is reached through.
    pub mount: Mount,
    /// The block devices below, see [`Layer`].
    pub stack: Vec<Layer>,
    /// Writeback and read-ahead of this filesystem alone.
    pub backing_device: BackingDevice,
    /// `/proc/sys/vm`: every setting that is one whole number.
    pub vm: BTreeMap<String, i64>,
    /// What changes without anybody changing a setting; [`super::facts_diff`] leaves it out.
    pub state: TargetState,
    /// What was there but could not be understood: path, line, item, reason.
    pub notes: Vec<String>,
}

/// Where the data of a target goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A filesystem on block devices.
    Filesystem,
    /// A block device without a filesystem between.
    BareDevice,
    /// Memory only: tmpfs, ramfs, hugetlbfs.
    Memory,
    /// Layers of other filesystems; the stack is that of the upper one.
    Overlay,
    /// Another machine's filesystem: NFS, SMB, Ceph.
    Network,
    /// The host's filesystem, seen from a virtual machine: virtiofs, 9p.
    Host,
    /// A program in user space.
    Fuse,
    /// The kernel's own interfaces: proc, sysfs, cgroup.
    Pseudo,
    /// A filesystem without block devices that we know of.
    Other,
    /// Not determined.
    #[default]
    Unknown,
}

/// A filesystem as it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filesystem {
    /// As mounted, e.g. `ext4`, `fuse.sshfs`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// What it was mounted from: a device, `server:/path`, a pool, or a mere word.
    pub source: Option<String>,
    /// Its label, unless empty.
    pub label: Option<String>,
    /// Allocation unit (`statfs`).
    pub block_bytes: Option<u64>,
    /// Features it was made with, in the words of its own tools where they exist.
    pub features: Vec<String>,
    /// Facts laid down by mkfs: inode size, group count, log size, checksum, …
    pub made: BTreeMap<String, String>,
    /// Tunables in force that are not mount options (`/sys/fs/ext4/DEV`).
    pub settings: BTreeMap<String, String>,
    /// How it spreads its blocks, where it has a choice: kind of block to profile (btrfs `data` to `raid1`).
    pub allocation: BTreeMap<String, String>,
}

/// A mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    /// Folder it is mounted on.
    pub point: Option<String>,
    /// Folder of the filesystem that is mounted; `/` unless it is a bind mount or a subvolume.
    pub root: Option<String>,
    /// Options of the mount and of the filesystem, in the kernel's order, each once.
    pub options: Vec<String>,
    /// Every option in force with the defaults spelled out, where the filesystem tells (`/proc/fs/ext4/DEV/options`).
    pub options_in_force: Vec<String>,
}

/// Writeback and read-ahead of one filesystem (`/sys/class/bdi`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackingDevice {
    /// Read-ahead in force for files.
    pub read_ahead_kib: Option<u64>,
    /// Share of the dirty limit it is sure of, percent.
    pub minimum_ratio: Option<u64>,
    /// Share of the dirty limit it may use, percent.
    pub maximum_ratio: Option<u64>,
    /// Whether its share is enforced even below the global limit.
    pub strict_limit: Option<bool>,
}

/// What changes on a target by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetState {
    /// The kernel's number of the mount; new at each mount.
    pub mount_id: Option<u64>,
    /// `major:minor` as `mountinfo` shows it; made up for filesystems without a device.
    pub device_number: Option<String>,
    /// The filesystem's name for itself; new with each mkfs.
    pub filesystem_uuid: Option<String>,
    /// Size of the filesystem.
    pub total_bytes: Option<u64>,
    /// Free space, that reserved for root included.
    pub free_bytes: Option<u64>,
    /// Free space for everybody.
    pub available_bytes: Option<u64>,
    /// Files it can hold; `None` where it makes them as needed.
    pub total_inodes: Option<u64>,
    /// Files it can still hold.
    pub free_inodes: Option<u64>,
    /// How old and worn it is: writes since mkfs, mounts, errors.
    pub age: BTreeMap<String, String>,
}

impl Target {
    /// Names of the devices whose statistics are this target's own: those the filesystem itself writes to.
    pub fn top_devices(&self) -> Vec<&str> {
        self.stack
            .iter()
            .filter(|layer| layer.depth == 0)
            .map(|layer| layer.name.as_str())
            .collect()
    }

    /// Names of all devices of the stack, top first.
    pub fn devices(&self) -> Vec<&str> {
        self.stack.iter().map(|layer| layer.name.as_str()).collect()
    }

    /// The layer called `name`.
    pub fn layer(&self, name: &str) -> Option<&Layer> {
        self.stack.iter().find(|layer| layer.name == name)
    }

    /// The layers at the bottom: what data ends up on.
    pub fn disks(&self) -> impl Iterator<Item = &Layer> {
        self.stack.iter().filter(|layer| layer.below.is_empty())
    }
}
