//! What the runner reads of the machine while it works.

use kernmark_model::counters::Counters;
use kernmark_model::machine::Target;

use crate::counters::{Reader, Request, sample_frequencies, sample_second};
use crate::machine::Root;

/// Machines with more frequency policies than this are not asked each second: each costs a file, and perhaps a wake-up.
const MOST_POLICIES: usize = 8;

/// A second's look at the machine; `None` where it does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// Dirty bytes.
    pub(crate) dirty: Option<u64>,
    /// Bytes under write-back.
    pub(crate) writeback: Option<u64>,
    /// Sum of the CPU frequencies that are told, in kHz.
    pub(crate) frequency_khz: Option<u64>,
    /// Writers were being slowed down by the kernel.
    pub(crate) throttled: bool,
}

/// Reads it. A scripted run looks at nothing: its results must not depend on the machine.
#[derive(Debug)]
pub(crate) struct Observer {
    eyes: Option<Eyes>,
}

#[derive(Debug)]
struct Eyes {
    root: Root,
    reader: Reader,
    devices: Vec<String>,
    frequencies: bool,
}

impl Observer {
    /// Watches the machine below `root` and the devices under `target`.
    pub(crate) fn new(root: &Root, target: Option<&Target>) -> Self {
        let policies = sample_frequencies(root).len();
        let devices = target.map_or_else(Vec::new, Target::devices);
        Self {
            eyes: Some(Eyes {
                root: root.clone(),
                reader: Reader::new(root.clone()),
                devices: devices.into_iter().map(str::to_owned).collect(),
                frequencies: (1..=MOST_POLICIES).contains(&policies),
            }),
        }
    }

    /// Watches nothing.
    pub(crate) const fn blind() -> Self {
        Self { eyes: None }
    }

    /// All counters, those of the workers named included.
    pub(crate) fn counters(&mut self, workers: &[i32]) -> Option<Counters> {
        let eyes = self.eyes.as_mut()?;
        let devices: Vec<&str> = eyes.devices.iter().map(String::as_str).collect();
        Some(eyes.reader.snapshot(&Request::now(&devices, workers)))
    }

    /// What is worth knowing each second.
    pub(crate) fn second(&self) -> Second {
        let Some(eyes) = &self.eyes else {
            return Second::default();
        };
        let sample = sample_second(&eyes.root);
        let bytes = |kib: Option<u64>| kib.map(|kib| kib << 10);
        Second {
            dirty: bytes(sample.memory.dirty_kib),
            writeback: bytes(sample.memory.writeback_kib),
            frequency_khz: eyes
                .frequencies
                .then(|| sample_frequencies(&eyes.root).values().sum()),
            throttled: sample.writers_throttled() == Some(true),
        }
    }
}
