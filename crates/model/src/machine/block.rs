//! The block devices below a filesystem, from its own device down to the disks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One block device of a stack.
///
/// A stack is a list of layers, each device once, a device before what lies below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer {
    /// The kernel's name, e.g. `nvme0n1p2` (`!` stands for `/`, as in sysfs).
    pub name: String,
    /// What it does with the data.
    pub kind: LayerKind,
    /// Steps from the device that the filesystem uses; 0 is that device.
    pub depth: u32,
    /// Names of the layers directly below; empty at the bottom.
    pub below: Vec<String>,
    /// `major:minor`.
    pub device_number: Option<String>,
    /// Capacity.
    pub size_bytes: Option<u64>,
    /// Whether it refuses writes.
    pub read_only: Option<bool>,
    /// What makes it a partition.
    pub partition: Option<Partition>,
    /// What makes it a device-mapper device.
    pub device_mapper: Option<DeviceMapper>,
    /// What makes it a software array.
    pub array: Option<Array>,
    /// What makes it a loop device.
    pub loop_device: Option<LoopDevice>,
    /// What makes it hardware, or what poses as such.
    pub disk: Option<Disk>,
    /// Its request queue; partitions have none of their own.
    pub queue: Option<Queue>,
}

/// What a block device does with the data given to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// Hardware, or a hypervisor's imitation of it.
    Disk,
    /// A part of the device below.
    Partition,
    /// LVM, encryption, multipath: whatever device mapper was told.
    DeviceMapper,
    /// Software RAID.
    Array,
    /// A file dressed as a device.
    Loop,
    /// Memory dressed as a device (zram, ram disk).
    Memory,
    /// Another machine's device (nbd, rbd, drbd).
    Network,
    /// Another device without hardware behind it.
    Virtual,
    /// Not determined.
    #[default]
    Unknown,
}

/// A part of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Its number.
    pub number: Option<u64>,
    /// Where it starts on the disk.
    pub start_bytes: Option<u64>,
    /// Distance of its start from the next boundary that the disk prefers; 0 is aligned.
    pub alignment_offset_bytes: Option<i64>,
}

/// A device-mapper device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceMapper {
    /// The name below `/dev/mapper`.
    pub name: Option<String>,
    /// Starts with its maker: `LVM-`, `CRYPT-`, `mpath-`.
    pub uuid: Option<String>,
    /// Whether it holds requests back.
    pub suspended: Option<bool>,
}

/// A software array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Array {
    /// e.g. `raid1`.
    pub level: Option<String>,
    /// Disks it was made for; fewer may be present.
    pub disks: Option<u64>,
    /// Disks missing.
    pub degraded: Option<u64>,
    /// Length of a chunk on one disk; 0 where the level has none.
    pub chunk_bytes: Option<u64>,
    /// Layout code of the level.
    pub layout: Option<u64>,
    /// Format of the superblock, e.g. `1.2`.
    pub metadata_version: Option<String>,
    /// `resync`, `bitmap`, `journal`, `ppl`.
    pub consistency_policy: Option<String>,
    /// `idle`, or what the array does beside our work: `resync`, `recover`, `check`.
    pub sync_action: Option<String>,
    /// `clean`, `active`, …
    pub state: Option<String>,
}

/// A file dressed as a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopDevice {
    /// The file.
    pub backing_file: Option<String>,
    /// Filesystem that the file lies on, where it is visible to us.
    pub backing_filesystem: Option<String>,
    /// Where in the file the device starts.
    pub offset_bytes: Option<u64>,
    /// Size it is cut to; 0 means the whole file.
    pub size_limit_bytes: Option<u64>,
    /// Whether it vanishes with its last user.
    pub autoclear: Option<bool>,
    /// Whether it passes the page cache of the filesystem below by.
    pub direct_io: Option<bool>,
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Maker, where the bus tells it apart from the model.
    pub vendor: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Serial number, for telling two disks of one model apart.
    pub serial: Option<String>,
    /// World-wide name.
    pub wwid: Option<String>,
    /// `nvme`, `nvme-tcp`, `sata`, `sas`, `usb`, `virtio`, `iscsi`, `fc`, `mmc`, `scsi`, …
    pub transport: Option<String>,
    /// The kernel's driver.
    pub driver: Option<String>,
    /// NUMA node it hangs on; negative numbers (the kernel's "none") are unknown.
    pub numa_node: Option<u64>,
    /// Commands the device takes at once (SCSI).
    pub queue_depth: Option<u64>,
    /// Cache mode as the device reports it, e.g. `write back`.
    pub cache_type: Option<String>,
    /// Whether the medium can be taken out.
    pub removable: Option<bool>,
}

/// A request queue and its settings in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Queue {
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Schedulers that could be chosen, the one in force among them.
    pub schedulers_offered: Vec<String>,
    /// Settings of the scheduler in force (`queue/iosched`).
    pub scheduler_settings: BTreeMap<String, String>,
    /// Whether the kernel takes it for a spinning disk.
    pub rotational: Option<bool>,
    /// Whether the kernel flushes it: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether it takes forced unit access.
    pub forced_unit_access: Option<bool>,
    /// Smallest addressable unit.
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit written without a read-modify-write.
    pub physical_block_bytes: Option<u64>,
    /// Smallest request the device likes.
    pub minimum_io_bytes: Option<u64>,
    /// Best request size; 0 if the device has no preference.
    pub optimal_io_bytes: Option<u64>,
    /// Read-ahead of the page cache.
    pub read_ahead_kib: Option<u64>,
    /// Requests the scheduler may hold, each direction.
    pub requests: Option<u64>,
    /// Hardware queues.
    pub hardware_queues: Option<u64>,
    /// Largest request in force.
    pub maximum_io_kib: Option<u64>,
    /// Largest request the hardware takes.
    pub maximum_hardware_io_kib: Option<u64>,
    /// Target latency of writeback throttling; 0 is off.
    pub writeback_throttle_usec: Option<u64>,
    /// Smallest unit it can discard; 0 if it cannot.
    pub discard_granularity_bytes: Option<u64>,
    /// Most discarded in one request; 0 if discarding is off.
    pub discard_max_bytes: Option<u64>,
    /// `none`, `host-aware` or `host-managed`.
    pub zoned: Option<String>,
    /// Which CPU completes a request: 0 any, 1 same group, 2 same CPU.
    pub completion_affinity: Option<u64>,
    /// 0 merges, 1 simple merges only, 2 never.
    pub no_merges: Option<u64>,
    /// Whether polled completion is possible.
    pub polling: Option<bool>,
    /// Whether requests are counted: if not, the device's statistics stand still.
    pub accounting: Option<bool>,
}
