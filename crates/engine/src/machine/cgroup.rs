//! Our control groups: where they are, and what they allow.

use std::path::{Path, PathBuf};

use kernmark_model::machine::{Cgroup, Limit};

use super::cpu::cpu_list;
use super::mounts::MountLine;
use super::reading::Reading;

/// From here on a v1 limit means none: the kernel prints the largest multiple of a page below 2^63.
const V1_UNLIMITED: u64 = 1 << 62;

/// The folders of our control groups, from our own up to the last one visible.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Of the unified tree, if it is mounted.
    pub(crate) unified: Vec<PathBuf>,
    /// Of each v1 controller.
    v1: Vec<(String, Vec<PathBuf>)>,
    path: Option<String>,
}

impl Groups {
    /// Folders of a v1 controller; none if it is not mounted.
    pub(crate) fn v1(&self, controller: &str) -> &[PathBuf] {
        let found = self.v1.iter().find(|(name, _)| name == controller);
        found.map_or(&[], |(_, folders)| folders)
    }
}

/// Finds our groups from `/proc/self/cgroup` (`4:memory:/path`, `0::/path`) and the mounts.
pub(super) fn groups(reading: &mut Reading<'_>, mounts: &[MountLine]) -> Groups {
    const PATH: &str = "/proc/self/cgroup";
    let text = reading.text(PATH).unwrap_or_default();
    let mut groups = Groups::default();
    let mut memory_path = None;
    for (index, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.splitn(3, ':').collect();
        let &[_, controllers, path] = fields.as_slice() else {
            reading.note(
                PATH,
                Some(index + 1),
                "line",
                "expected number:controllers:path",
            );
            continue;
        };
        if controllers.is_empty() {
            groups.path = Some(path.to_owned());
            let mount = mounts.iter().find(|mount| mount.kind == "cgroup2");
            groups.unified = mount.map_or_else(Vec::new, |mount| folders(reading, mount, path));
            continue;
        }
        for controller in controllers.split(',') {
            let mount = mounts.iter().find(|mount| {
                mount.kind == "cgroup" && mount.super_options.iter().any(|o| o == controller)
            });
            if let Some(mount) = mount {
                let folders = folders(reading, mount, path);
                groups.v1.push((controller.to_owned(), folders));
            }
            if controller == "memory" {
                memory_path = Some(path.to_owned());
            }
        }
    }
    // Where version 1 has a controller, the unified tree has nothing to say about it.
    groups.path = memory_path.or(groups.path);
    groups
}

/// The folder of a group and those above it. In a container the path may start outside of what is
/// mounted: the mount itself is then our group.
fn folders(reading: &Reading<'_>, mount: &MountLine, path: &str) -> Vec<PathBuf> {
    let inside = Path::new(path)
        .strip_prefix(&mount.root)
        .unwrap_or(Path::new(""));
    let mut folder = mount.point.join(inside);
    if path.contains("..") || !reading.root.place(&folder).is_dir() {
        folder.clone_from(&mount.point);
    }
    let ancestors = folder
        .ancestors()
        .take_while(|above| above.starts_with(&mount.point));
    ancestors.map(Path::to_owned).collect()
}

pub(super) fn read(reading: &mut Reading<'_>, groups: &Groups) -> Cgroup {
    let version = match (groups.unified.is_empty(), groups.v1.is_empty()) {
        (true, true) => None,
        (false, true) => Some("v2"),
        (true, false) => Some("v1"),
        (false, false) => Some("hybrid"),
    };
    let unified = &groups.unified;
    let (memory, cpu) = (groups.v1("memory"), groups.v1("cpu"));
    let quota = quota(reading, groups);
    let weight = own_number(reading, unified, "cpu.weight");
    Cgroup {
        version: version.map(str::to_owned),
        path: groups.path.clone(),
        memory_max_bytes: tightest(reading, unified, "memory.max")
            .or_else(|| tightest(reading, memory, "memory.limit_in_bytes")),
        memory_high_bytes: tightest(reading, unified, "memory.high"),
        swap_max_bytes: tightest(reading, unified, "memory.swap.max"),
        cpu_quota_usec: quota.map(|quota| quota.0),
        cpu_period_usec: quota.and_then(|quota| quota.1),
        cpu_weight: weight.or_else(|| own_number(reading, cpu, "cpu.shares")),
        cpus: own(unified, "cpuset.cpus.effective")
            .and_then(|path| cpu_list(reading, &path))
            .or_else(|| {
                let path = own(groups.v1("cpuset"), "cpuset.effective_cpus")?;
                cpu_list(reading, &path)
            }),
        tasks_max: tightest(reading, unified, "pids.max")
            .or_else(|| tightest(reading, groups.v1("pids"), "pids.max")),
        io_throttles: throttles(reading, groups),
    }
}

/// A file of our own group.
fn own(folders: &[PathBuf], file: &str) -> Option<String> {
    Some(inside(folders.first()?, file))
}

fn inside(folder: &Path, file: &str) -> String {
    folder.join(file).to_string_lossy().into_owned()
}

fn own_number(reading: &mut Reading<'_>, folders: &[PathBuf], file: &str) -> Option<u64> {
    reading.number(&own(folders, file)?)
}

/// The tightest of a limit along the groups; `None` if none of them has the file.
fn tightest(reading: &mut Reading<'_>, folders: &[PathBuf], file: &str) -> Option<Limit> {
    let mut tightest: Option<Limit> = None;
    for folder in folders {
        let path = inside(folder, file);
        let Some(word) = reading.word(&path) else {
            continue;
        };
        if let Some(limit) = limit(reading, &path, &word) {
            tightest = Some(tightest.map_or(limit, |known| known.tighter(limit)));
        }
    }
    tightest
}

fn limit(reading: &mut Reading<'_>, path: &str, word: &str) -> Option<Limit> {
    if matches!(word, "max" | "-1") {
        return Some(Limit::Unlimited);
    }
    let value = reading.parsed(path, None, "limit", word, "a whole number or max")?;
    Some(if value >= V1_UNLIMITED {
        Limit::Unlimited
    } else {
        Limit::At(value)
    })
}

/// Quota and period of the group that allows the smallest part of a CPU.
fn quota(reading: &mut Reading<'_>, groups: &Groups) -> Option<(Limit, Option<u64>)> {
    let mut found = Vec::new();
    for folder in &groups.unified {
        let path = inside(folder, "cpu.max");
        // `max 100000` or `50000 100000`.
        if let Some(text) = reading.word(&path) {
            let (quota, period) = text.split_once(' ').unwrap_or((&text, "100000"));
            let quota = limit(reading, &path, quota);
            let period = reading.parsed(&path, None, "period", period, "a whole number");
            found.extend(quota.map(|quota| (quota, period)));
        }
    }
    for folder in groups.v1("cpu") {
        let path = inside(folder, "cpu.cfs_quota_us");
        if let Some(word) = reading.word(&path) {
            let quota = limit(reading, &path, &word);
            let period = reading.number(&inside(folder, "cpu.cfs_period_us"));
            found.extend(quota.map(|quota| (quota, period)));
        }
    }
    let limited = found
        .iter()
        .copied()
        .filter_map(|(quota, period)| match (quota, period) {
            (Limit::At(usec), Some(period)) if period > 0 => Some((usec, period)),
            _ => None,
        });
    let smallest = limited.min_by(|one, two| {
        let share =
            |(usec, _): (u64, u64), (_, period): (u64, u64)| u128::from(usec) * u128::from(period);
        share(*one, *two).cmp(&share(*two, *one))
    });
    match smallest {
        Some((usec, period)) => Some((Limit::At(usec), Some(period))),
        None => found.first().copied(),
    }
}

/// Lines of `io.max`, and of the v1 files with their name before them.
fn throttles(reading: &mut Reading<'_>, groups: &Groups) -> Vec<String> {
    let mut throttles = Vec::new();
    for folder in &groups.unified {
        let text = reading.text(&inside(folder, "io.max")).unwrap_or_default();
        throttles.extend(text.lines().map(str::to_owned));
    }
    for folder in groups.v1("blkio") {
        for limit in ["read_bps", "read_iops", "write_bps", "write_iops"] {
            let path = inside(folder, &format!("blkio.throttle.{limit}_device"));
            let text = reading.text(&path).unwrap_or_default();
            throttles.extend(text.lines().map(|line| format!("{limit} {line}")));
        }
    }
    throttles
}
