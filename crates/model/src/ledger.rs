//! Cache or device: where the bytes of a phase came from and went to.
//!
//! Three amounts are set side by side: the bytes that ops moved (logical), those that the target's device moved in the
//! same window, and those still dirty at its end. A rate over logical bytes is a figure of the device only if the first
//! two agree.

use serde::Serialize;

use crate::counters::{Counters, Delta, delta};
use crate::derive::SYNC_PHASE;
use crate::machine::{LayerKind, Target, TargetKind};
use crate::run::{Direction, Doubt, Phase, Run};
use crate::units::{Bytes, Nanos};

/// From this share of logical bytes on the device, a phase is labelled `device`.
pub const DEVICE_SHARE: f64 = 0.90;
/// Up to this share, it is labelled `RAM`; in between `mixed`.
pub const RAM_SHARE: f64 = 0.10;

/// The ledger of a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ledger {
    /// The phase's name.
    pub phase: String,
    /// Bytes that its ops moved, both ways.
    pub logical: Bytes,
    /// Of these, read; `None` if an op that moved bytes does not say which way.
    pub read: Option<Bytes>,
    /// Of these, written.
    pub written: Option<Bytes>,
    /// What the device did meanwhile.
    pub device: DeviceBytes,
    /// Part of the logical bytes that the device moved as well, 0 to 1. Read-ahead, metadata and the journal do not
    /// count beyond what ops moved in that direction.
    pub device_share: Option<f64>,
    /// What the phase's rate is a figure of.
    pub label: Option<Label>,
    /// Dirty or under write-back on the whole machine at the window's end.
    pub still_dirty: Option<Bytes>,
    /// Logical bytes up to the last call, in 10^6 bytes per second.
    pub rate: Option<f64>,
    /// Bytes that the device moved in the window, in 10^6 bytes per second.
    pub device_rate: Option<f64>,
    /// How long the sync took that was timed right after the phase.
    pub sync: Option<Nanos>,
    /// Logical bytes over the window and that sync, in 10^6 bytes per second.
    pub durable_rate: Option<f64>,
    /// Part of the device's traffic that our own tasks neither read nor dirtied, 0 to 1: other programs, the journal, and
    /// pages that others had left dirty. `None` if task I/O is not counted, or the device did nothing.
    pub foreign_share: Option<f64>,
    /// What else a reader must know of these numbers.
    pub notes: Vec<String>,
}

/// What the target's own devices did in a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceBytes {
    /// As the kernel counted it.
    Known {
        /// Bytes that came from it.
        read: Bytes,
        /// Bytes that reached it.
        written: Bytes,
    },
    /// It cannot be known.
    Unknown {
        /// Why.
        why: String,
    },
}

/// What a rate is a figure of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Memory: the device moved at most [`RAM_SHARE`] of the bytes.
    Ram,
    /// Both.
    Mixed,
    /// The device: it moved at least [`DEVICE_SHARE`] of the bytes.
    Device,
}

impl Label {
    /// `RAM`, `mixed`, `device`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ram => "RAM",
            Self::Mixed => "mixed",
            Self::Device => "device",
        }
    }
}

impl Ledger {
    /// Bytes that the device moved, both ways.
    pub fn device_bytes(&self) -> Option<Bytes> {
        match self.device {
            DeviceBytes::Known { read, written } => Some(read + written),
            DeviceBytes::Unknown { .. } => None,
        }
    }

    /// Part of the logical bytes that the page cache served or still held, 0 to 1.
    pub fn cache_share(&self) -> Option<f64> {
        match (self.device_share, self.label) {
            (Some(share), _) => Some(1.0 - share),
            (None, Some(Label::Ram)) => Some(1.0),
            _ => None,
        }
    }

    /// The doubt that must stand beside the phase's rate.
    pub fn doubt(&self) -> Option<Doubt> {
        match (&self.device, self.label) {
            (DeviceBytes::Unknown { why }, _) => Some(Doubt::DeviceUnknown { why: why.clone() }),
            (DeviceBytes::Known { read, written }, Some(Label::Ram)) => Some(Doubt::CacheMostly {
                phase: self.phase.clone(),
                logical: self.logical,
                device: *read + *written,
            }),
            _ => None,
        }
    }
}

impl Run {
    /// The ledgers of all phases that moved bytes to or from the target; the timed syncs are part of the phase before.
    pub fn ledgers(&self) -> Vec<Ledger> {
        (0..self.phases.len())
            .filter_map(|index| self.ledger(index))
            .collect()
    }

    /// The ledger of the phase of that index; `None` if it moved no bytes, or the run had no target.
    pub fn ledger(&self, index: usize) -> Option<Ledger> {
        let target = self.target.as_ref()?;
        let phase = self.phases.get(index)?;
        let total = phase.total(&[]);
        if phase.name == SYNC_PHASE || total.bytes.0 == 0 {
            return None;
        }
        let sync = (self.phases.get(index + 1))
            .filter(|next| next.name == SYNC_PHASE)
            .map(|next| next.elapsed);
        let ways = both_ways(phase);
        let counted = phase
            .counters
            .as_ref()
            .map(|pair| delta(&pair.before, &pair.after));
        let device = device_bytes(target, counted.as_ref());
        let (device_share, foreign_share) = match device {
            DeviceBytes::Known { read, written } => (
                Some(device_share(total.bytes, ways, read, written)),
                counted.and_then(|counted| foreign_share(&counted, read, written)),
            ),
            DeviceBytes::Unknown { .. } => (None, None),
        };
        let label = match device_share {
            Some(share) if share >= DEVICE_SHARE => Some(Label::Device),
            Some(share) if share <= RAM_SHARE => Some(Label::Ram),
            Some(_) => Some(Label::Mixed),
            None if target.kind == TargetKind::Memory => Some(Label::Ram),
            None => None,
        };
        let mut ledger = Ledger {
            phase: phase.name.clone(),
            logical: total.bytes,
            read: ways.map(|(read, _)| read),
            written: ways.map(|(_, written)| written),
            device,
            device_share,
            label,
            still_dirty: counted
                .and_then(|counted| counted.still_dirty_bytes())
                .map(Bytes),
            rate: rate(total.bytes, phase.elapsed),
            device_rate: None,
            sync,
            durable_rate: sync.and_then(|sync| rate(total.bytes, phase.elapsed + sync)),
            foreign_share,
            notes: notes(target),
        };
        ledger.device_rate = ledger
            .device_bytes()
            .and_then(|bytes| rate(bytes, phase.elapsed));
        Some(ledger)
    }
}

fn rate(bytes: Bytes, elapsed: Nanos) -> Option<f64> {
    (elapsed.0 > 0).then(|| bytes.as_mb() / elapsed.as_secs_f64())
}

/// Bytes read and written; `None` if an op that moved bytes does not say which way.
fn both_ways(phase: &Phase) -> Option<(Bytes, Bytes)> {
    let mut ways = (Bytes(0), Bytes(0));
    let counts = phase.workers.iter().flat_map(|worker| &worker.ops);
    for count in counts.filter(|count| count.bytes.0 > 0) {
        let op = phase.ops.get(usize::try_from(count.op).ok()?)?;
        match op.direction {
            _ if op.span => {}
            Some(Direction::Read) => ways.0 += count.bytes,
            Some(Direction::Write) => ways.1 += count.bytes,
            None => return None,
        }
    }
    Some(ways)
}

fn device_bytes(target: &Target, counted: Option<&Delta<'_>>) -> DeviceBytes {
    let unknown = |why: String| DeviceBytes::Unknown { why };
    let kind = target.filesystem.kind.as_deref().unwrap_or("the target");
    match target.kind {
        TargetKind::Filesystem | TargetKind::BareDevice => {}
        TargetKind::Memory => return unknown(format!("{kind} keeps its files in memory")),
        TargetKind::Overlay => {
            return unknown(format!("{kind} may read from layers on other devices"));
        }
        TargetKind::Network => return unknown(format!("{kind} is on another machine")),
        TargetKind::Host => {
            return unknown(format!("{kind} is the host's, behind a cache of its own"));
        }
        TargetKind::Fuse => return unknown(format!("{kind} is served by a program")),
        TargetKind::Pseudo => return unknown(format!("{kind} has no device")),
        TargetKind::Other | TargetKind::Unknown => {
            return unknown(format!("no device is known below {kind}"));
        }
    }
    let devices = target.top_devices();
    if devices.is_empty() {
        return unknown(format!("no device is known below {kind}"));
    }
    let uncounted = devices.iter().find(|name| {
        let queue = target.layer(name).and_then(|layer| layer.queue.as_ref());
        queue.is_some_and(|queue| queue.accounting == Some(false))
    });
    if let Some(name) = uncounted {
        return unknown(format!(
            "{name} does not count its requests (queue/iostats is 0)"
        ));
    }
    let Some(counted) = counted else {
        return unknown("no counters were recorded".to_owned());
    };
    let read = counted.devices_read_bytes(devices.iter().copied());
    let written = counted.devices_written_bytes(devices.iter().copied());
    match (read, written) {
        (Some(read), Some(written)) => DeviceBytes::Known {
            read: Bytes(read),
            written: Bytes(written),
        },
        _ => unknown(format!(
            "the statistics of {} were not readable before and after",
            devices.join(", ")
        )),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share between 0 and 1")]
fn device_share(logical: Bytes, ways: Option<(Bytes, Bytes)>, read: Bytes, written: Bytes) -> f64 {
    let moved = match ways {
        Some((wanted, given)) => read.min(wanted) + written.min(given),
        None => (read + written).min(logical),
    };
    moved.0 as f64 / logical.0 as f64
}

#[expect(clippy::cast_precision_loss, reason = "a share between 0 and 1")]
fn foreign_share(counted: &Delta<'_>, read: Bytes, written: Bytes) -> Option<f64> {
    let (before, after) = (task_io(counted.before)?, task_io(counted.after)?);
    let ours_read = Bytes(after.0.checked_sub(before.0)?);
    let ours_written = Bytes(after.1.checked_sub(before.1)?);
    let foreign = (read - ours_read) + (written - ours_written);
    let all = read + written;
    (all.0 > 0).then(|| foreign.0 as f64 / all.0 as f64)
}

/// Bytes that we and our workers had fetched and made dirty so far. A worker that was waited for counts as ours.
fn task_io(counters: &Counters) -> Option<(u64, u64)> {
    let own = counters.own.iter();
    let tasks = own.clone().chain(counters.workers.values());
    let mut sum = (0_u64, 0_u64);
    for task in tasks {
        sum.0 = sum.0.saturating_add(task.device_read_bytes?);
        sum.1 = sum.1.saturating_add(task.device_write_bytes?);
    }
    (own.len() > 0).then_some(sum)
}

fn notes(target: &Target) -> Vec<String> {
    target
        .stack
        .iter()
        .filter_map(|layer| match layer.kind {
            LayerKind::Loop
                if layer
                    .loop_device
                    .as_ref()
                    .is_some_and(|file| file.direct_io == Some(true)) =>
            {
                None
            }
            LayerKind::Loop => Some(format!(
                "{} is a file in another filesystem, whose page cache may hold what reached it",
                layer.name
            )),
            LayerKind::Memory => Some(format!("{} is memory dressed as a device", layer.name)),
            LayerKind::Network => Some(format!("{} is on another machine", layer.name)),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
