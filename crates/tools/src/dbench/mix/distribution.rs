//! How often each value occurred.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Exact counts of every value: the standard file has fewer than a hundred distinct sizes of each
/// kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: BTreeMap<u64, u64>,
}

impl Distribution {
    pub(super) fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_default() += 1;
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many different values there are.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// All values added up, `u64::MAX` if it is more.
    pub fn sum(&self) -> u64 {
        sum(self.counts.iter())
    }

    /// The largest value, `None` of nothing.
    pub fn max(&self) -> Option<u64> {
        self.counts.keys().next_back().copied()
    }

    /// Their mean, `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        ratio(self.sum(), self.count())
    }

    /// How many values lie in the range.
    pub fn count_in(&self, range: RangeInclusive<u64>) -> u64 {
        self.counts.range(range).map(|(_, count)| count).sum()
    }

    /// Which part of the values lies in the range, 0 to 1; `None` of nothing.
    pub fn share_in(&self, range: RangeInclusive<u64>) -> Option<f64> {
        ratio(self.count_in(range), self.count())
    }

    /// Which part of the sum the values in the range make, 0 to 1; `None` of a sum of zero.
    pub fn sum_share_in(&self, range: RangeInclusive<u64>) -> Option<f64> {
        let inside = sum(self.counts.range(range));
        ratio(inside, self.sum())
    }

    /// The smallest value that at least `percent` of the values do not exceed; `None` of nothing.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = (self.count() * percent).div_ceil(100);
        let mut below = 0;
        self.counts.iter().find_map(|(&value, count)| {
            below += count;
            (below >= wanted).then_some(value)
        })
    }
}

fn sum<'a>(counts: impl Iterator<Item = (&'a u64, &'a u64)>) -> u64 {
    counts.fold(0, |sum, (value, count)| {
        sum.saturating_add(value.saturating_mul(*count))
    })
}

impl Extend<u64> for Distribution {
    fn extend<T: IntoIterator<Item = u64>>(&mut self, values: T) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

/// `part` of `whole`, `None` of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
