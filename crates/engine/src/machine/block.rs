//! The block devices below a filesystem, from `/sys/class/block` and `/sys/dev/block`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kernmark_model::machine::{
    Array, DeviceMapper, Disk, Layer, LayerKind, LoopDevice, Partition, Queue,
};

use super::filesystem;
use super::mounts::{self, MountLine, unescaped};
use super::reading::Reading;

/// Bytes in a sector of sysfs, whatever the device's own blocks.
const SECTOR_BYTES: u64 = 512;

/// More layers than any stack has: a bound for one that is made up.
const MOST_LAYERS: usize = 4096;

/// The sysfs folder of a device, by `major:minor`.
pub(super) fn by_number(reading: &Reading<'_>, number: &str) -> Option<PathBuf> {
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == ':');
    plain.then(|| reading.root.resolve(format!("/sys/dev/block/{number}")))?
}

/// The sysfs folder of a device, by its path below `/dev`; names of device mapper are looked up.
pub(super) fn by_path(reading: &mut Reading<'_>, path: &str) -> Option<PathBuf> {
    let name = path.strip_prefix("/dev/")?;
    if let Some(mapped) = name.strip_prefix("mapper/") {
        let candidates = reading.root.names("/sys/class/block").into_iter();
        let found = candidates
            .filter(|name| name.starts_with("dm-"))
            .find(|name| {
                let known = reading.word(&format!("/sys/class/block/{name}/dm/name"));
                known.as_deref() == Some(mapped)
            });
        return reading.root.resolve(format!("/sys/class/block/{}", found?));
    }
    // A slash in a kernel name is an exclamation mark in sysfs; two dots would lead out of it.
    let name = name.replace('/', "!");
    (name != "..").then(|| reading.root.resolve(format!("/sys/class/block/{name}")))?
}

/// Reads the stack below the devices whose sysfs folders are given.
pub(super) fn stack(
    reading: &mut Reading<'_>,
    mounts: &[MountLine],
    tops: Vec<PathBuf>,
) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // Last in, first out; reversed, so that a device's members come in their order.
    let mut waiting: Vec<(PathBuf, u32)> = tops.into_iter().rev().map(|top| (top, 0)).collect();
    while let Some((folder, depth)) = waiting.pop() {
        if layers.len() == MOST_LAYERS || !seen.insert(folder.clone()) {
            continue;
        }
        let (mut layer, below) = layer(reading, mounts, &folder);
        layer.depth = depth;
        layer.below = below.iter().map(|folder| name_of(folder)).collect();
        layers.push(layer);
        waiting.extend(below.into_iter().rev().map(|folder| (folder, depth + 1)));
    }
    layers
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// One device, and the folders of those directly below it.
fn layer(reading: &mut Reading<'_>, mounts: &[MountLine], folder: &Path) -> (Layer, Vec<PathBuf>) {
    let path = folder.to_string_lossy();
    let name = name_of(folder);
    let has = |entry: &str| reading.root.place(folder).join(entry).exists();
    let (is_partition, is_mapped) = (has("partition"), has("dm"));
    let (is_array, is_loop) = (has("md"), has("loop"));
    let kind = match (is_partition, is_mapped, is_array, is_loop) {
        (true, ..) => LayerKind::Partition,
        (_, true, ..) => LayerKind::DeviceMapper,
        (_, _, true, _) => LayerKind::Array,
        (.., true) => LayerKind::Loop,
        _ => kind_of_disk(&path, &name),
    };
    let number = reading.word(&format!("{path}/dev"));
    let mut layer = Layer {
        kind,
        size_bytes: sectors(reading, &format!("{path}/size")),
        read_only: reading.flag(&format!("{path}/ro")),
        queue: (!is_partition).then(|| queue(reading, &path)),
        ..Layer::default()
    };
    let mut below: Vec<PathBuf> = Vec::new();
    match kind {
        LayerKind::Partition => {
            layer.partition = Some(partition(reading, &path));
            below.extend(folder.parent().map(Path::to_owned));
        }
        LayerKind::DeviceMapper => layer.device_mapper = Some(device_mapper(reading, &path)),
        LayerKind::Array => layer.array = Some(array(reading, &path)),
        LayerKind::Loop => {
            let (device, devices) = loop_device(reading, mounts, &path);
            layer.loop_device = Some(device);
            below.extend(devices);
        }
        LayerKind::Disk => layer.disk = Some(disk(reading, &path, number.as_deref())),
        _ => {}
    }
    for member in reading.root.names(format!("{path}/slaves")) {
        below.extend(reading.root.resolve(format!("{path}/slaves/{member}")));
    }
    layer.name = name;
    layer.device_number = number;
    (layer, below)
}

fn kind_of_disk(path: &str, name: &str) -> LayerKind {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["zram", "ram"]) {
        LayerKind::Memory
    } else if starts(&["nbd", "rbd", "drbd"]) {
        LayerKind::Network
    } else if path.contains("/virtual/block/") {
        LayerKind::Virtual
    } else {
        LayerKind::Disk
    }
}

fn sectors(reading: &mut Reading<'_>, path: &str) -> Option<u64> {
    reading.number(path)?.checked_mul(SECTOR_BYTES)
}

fn partition(reading: &mut Reading<'_>, path: &str) -> Partition {
    Partition {
        number: reading.number(&format!("{path}/partition")),
        start_bytes: sectors(reading, &format!("{path}/start")),
        alignment_offset_bytes: reading.signed(&format!("{path}/alignment_offset")),
    }
}

fn device_mapper(reading: &mut Reading<'_>, path: &str) -> DeviceMapper {
    DeviceMapper {
        name: reading.word(&format!("{path}/dm/name")),
        uuid: reading.word(&format!("{path}/dm/uuid")),
        suspended: reading.flag(&format!("{path}/dm/suspended")),
    }
}

fn array(reading: &mut Reading<'_>, path: &str) -> Array {
    let mut word = |name: &str| reading.word(&format!("{path}/md/{name}"));
    let array = Array {
        level: word("level"),
        metadata_version: word("metadata_version"),
        consistency_policy: word("consistency_policy"),
        sync_action: word("sync_action"),
        state: word("array_state"),
        ..Array::default()
    };
    // `2`, or `2 (3)` while it is being reshaped.
    let disks = word("raid_disks");
    let disks = disks
        .as_deref()
        .and_then(|text| text.split_whitespace().next());
    Array {
        disks: disks.and_then(|number| {
            let path = format!("{path}/md/raid_disks");
            reading.parsed(&path, None, "disks", number, "a whole number")
        }),
        degraded: reading.number(&format!("{path}/md/degraded")),
        chunk_bytes: reading.number(&format!("{path}/md/chunk_size")),
        layout: reading.number(&format!("{path}/md/layout")),
        ..array
    }
}

/// A loop device, and the devices that its file lies on.
fn loop_device(
    reading: &mut Reading<'_>,
    mounts: &[MountLine],
    path: &str,
) -> (LoopDevice, Vec<PathBuf>) {
    let backing_file = reading.word(&format!("{path}/loop/backing_file"));
    let mut device = LoopDevice {
        offset_bytes: reading.number(&format!("{path}/loop/offset")),
        size_limit_bytes: reading.number(&format!("{path}/loop/sizelimit")),
        autoclear: reading.flag(&format!("{path}/loop/autoclear")),
        direct_io: reading.flag(&format!("{path}/loop/dio")),
        ..LoopDevice::default()
    };
    let mut devices = Vec::new();
    if let Some(file) = backing_file.as_deref().map(unescaped) {
        let on_device = by_path(reading, &file);
        // A file of another mount namespace may have the name of one of ours; a missing one says so.
        let visible = reading.root.place(&file).exists();
        let mount = mounts::holding(mounts, Path::new(&file), None).filter(|_| visible);
        match (on_device, mount) {
            (Some(folder), _) => devices.push(folder),
            (None, Some(mount)) => {
                device.backing_filesystem = Some(mount.kind.clone());
                devices = filesystem::devices(reading, mounts, mount);
            }
            (None, None) => {
                let problem = "not visible from here: the device below it is unknown";
                reading.note(&format!("{path}/loop/backing_file"), None, &file, problem);
            }
        }
    }
    device.backing_file = backing_file;
    (device, devices)
}

fn disk(reading: &mut Reading<'_>, path: &str, number: Option<&str>) -> Disk {
    let udev = udev_properties(reading, number);
    let mut first = |places: &[&str]| {
        let mut words = places
            .iter()
            .filter_map(|place| reading.word(&format!("{path}/{place}")));
        words.next()
    };
    let known = |name: &str| udev.get(name).cloned();
    // Virtio puts the number of its vendor here, which names nobody.
    let vendor = first(&["device/vendor"]).filter(|vendor| !vendor.starts_with("0x"));
    // SCSI cuts a model of ATA to 16 bytes; udev asked the disk itself.
    let is_ata = vendor.as_deref() == Some("ATA");
    let whole_model = known("ID_MODEL").filter(|_| is_ata);
    let model = whole_model.or_else(|| first(&["device/model", "device/name"]));
    let firmware = first(&["device/firmware_rev", "device/rev", "device/fwrev"]);
    let serial = first(&["device/serial", "serial"]);
    let wwid = first(&["wwid", "device/wwid"]);
    let scsi = reading.root.names(format!("{path}/device/scsi_disk"));
    let cache_type = match scsi.first() {
        Some(address) => reading.word(&format!("{path}/device/scsi_disk/{address}/cache_type")),
        None => reading.word(&format!("{path}/cache_type")),
    };
    let mut numa_node = |place: &str| {
        let node = reading.signed(&format!("{path}/{place}"))?;
        u64::try_from(node).ok()
    };
    let numa_node = numa_node("device/numa_node").or_else(|| numa_node("device/device/numa_node"));
    let driver = ["device/driver", "device/device/driver"];
    let driver = driver
        .iter()
        .find_map(|link| reading.root.resolve(format!("{path}/{link}")));
    Disk {
        model: model.or_else(|| known("ID_MODEL")),
        firmware: firmware.or_else(|| known("ID_REVISION")),
        serial: serial
            .or_else(|| serial_page(reading, path))
            .or_else(|| known("ID_SERIAL_SHORT")),
        transport: transport(reading, path),
        driver: driver.map(|folder| name_of(&folder)),
        queue_depth: reading.number(&format!("{path}/device/queue_depth")),
        removable: reading.flag(&format!("{path}/removable")),
        vendor,
        wwid,
        numa_node,
        cache_type,
    }
}

/// What udev found out about a device: lines `E:NAME=VALUE`.
pub(super) fn udev_properties(
    reading: &mut Reading<'_>,
    number: Option<&str>,
) -> BTreeMap<String, String> {
    let path = number.map(|number| format!("/run/udev/data/b{number}"));
    let text = path
        .and_then(|path| reading.text(&path))
        .unwrap_or_default();
    let properties = text
        .lines()
        .filter_map(|line| line.strip_prefix("E:")?.split_once('='));
    properties
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// SCSI keeps the serial number in a page of its own, behind four bytes of head.
fn serial_page(reading: &mut Reading<'_>, path: &str) -> Option<String> {
    let page = reading.bytes(&format!("{path}/device/vpd_pg80"))?;
    let serial = String::from_utf8_lossy(page.get(4..)?).into_owned();
    let serial = serial.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!serial.is_empty()).then(|| serial.to_owned())
}

/// Names of folders on the way to a disk, each followed by a number, and the bus that they betray.
/// The nearer to the disk, the later in the path: the first of this list that occurs decides.
const BUSES: &[(&str, &str)] = &[
    ("usb", "usb"),
    ("session", "iscsi"),
    ("rport-", "fc"),
    ("end_device-", "sas"),
    ("ata", "ata"),
    ("mmc", "mmc"),
    ("vbd-", "xen"),
    ("pmem", "pmem"),
];

fn transport(reading: &mut Reading<'_>, path: &str) -> Option<String> {
    if path.contains("/nvme") {
        // A disk of several paths hangs on a subsystem, which has the controllers below it.
        let device = format!("{path}/device");
        let controllers = reading.root.names(&device).into_iter();
        let controllers = controllers.filter(|name| is_numbered(name, "nvme"));
        let places: Vec<String> = std::iter::once(format!("{device}/transport"))
            .chain(controllers.map(|name| format!("{device}/{name}/transport")))
            .collect();
        let kind = places.iter().find_map(|place| reading.word(place));
        return Some(match kind.as_deref() {
            None | Some("pcie") => "nvme".to_owned(),
            Some(fabric) => format!("nvme-{fabric}"),
        });
    }
    let parts: Vec<&str> = path.split('/').collect();
    let has = |prefix: &str| parts.iter().any(|part| is_numbered(part, prefix));
    if let Some((_, bus)) = BUSES.iter().find(|(prefix, _)| has(prefix)) {
        return Some((*bus).to_owned());
    }
    if parts.iter().any(|part| part.starts_with("VMBUS:")) {
        return Some("hyper-v".to_owned());
    }
    match (has("virtio"), has("host")) {
        (true, true) => Some("virtio-scsi".to_owned()),
        (true, false) => Some("virtio".to_owned()),
        (false, true) => Some("scsi".to_owned()),
        (false, false) => None,
    }
}

fn is_numbered(part: &str, prefix: &str) -> bool {
    let rest = part.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn queue(reading: &mut Reading<'_>, path: &str) -> Queue {
    let folder = format!("{path}/queue");
    let scheduler = reading.choice(&format!("{folder}/scheduler"));
    let (scheduler, schedulers_offered) = scheduler.unzip();
    let mut settings = BTreeMap::new();
    for name in reading.root.names(format!("{folder}/iosched")) {
        if let Some(value) = reading.word(&format!("{folder}/iosched/{name}")) {
            settings.insert(name, value);
        }
    }
    let hardware_queues = reading.root.numbered::<u32>(format!("{path}/mq"), "").len();
    let mut number = |name: &str| reading.number(&format!("{folder}/{name}"));
    let queue = Queue {
        scheduler,
        schedulers_offered: schedulers_offered.unwrap_or_default(),
        scheduler_settings: settings,
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        minimum_io_bytes: number("minimum_io_size"),
        optimal_io_bytes: number("optimal_io_size"),
        read_ahead_kib: number("read_ahead_kb"),
        requests: number("nr_requests"),
        hardware_queues: u64::try_from(hardware_queues)
            .ok()
            .filter(|&count| count > 0),
        maximum_io_kib: number("max_sectors_kb"),
        maximum_hardware_io_kib: number("max_hw_sectors_kb"),
        discard_granularity_bytes: number("discard_granularity"),
        discard_max_bytes: number("discard_max_bytes"),
        completion_affinity: number("rq_affinity"),
        no_merges: number("nomerges"),
        ..Queue::default()
    };
    // Negative where the device has no such throttling; not readable where the kernel has none.
    let throttle = reading.signed(&format!("{folder}/wbt_lat_usec"));
    Queue {
        writeback_throttle_usec: throttle.and_then(|usec| u64::try_from(usec).ok()),
        rotational: reading.flag(&format!("{folder}/rotational")),
        forced_unit_access: reading.flag(&format!("{folder}/fua")),
        polling: reading.flag(&format!("{folder}/io_poll")),
        accounting: reading.flag(&format!("{folder}/iostats")),
        write_cache: reading.word(&format!("{folder}/write_cache")),
        zoned: reading.word(&format!("{folder}/zoned")),
        ..queue
    }
}
