//! What the runner reads of the machine while it works.

use kernmark_model::counters::Counters;

/// A second's look at the machine; `None` where it does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SecondSample {
    /// Dirty bytes.
    pub(crate) dirty: Option<u64>,
    /// Bytes under write-back.
    pub(crate) writeback: Option<u64>,
    /// Sum of the CPU frequencies that are told, in kHz.
    pub(crate) frequency_khz: Option<u64>,
}

/// Reads it.
#[derive(Debug)]
pub(crate) struct Observer {
    /// A scripted run looks at nothing: its results must not depend on the machine.
    pub(crate) blind: bool,
}

impl Observer {
    pub(crate) fn counters(&self, _workers: &[i32]) -> Option<Counters> {
        None
    }

    pub(crate) fn second(&self) -> SecondSample {
        SecondSample::default()
    }
}
