//! Latency histogram with logarithmic-linear buckets, and its stored form.
//!
//! 64 buckets to each power of two: a bucket is at most 1/64 = 1.6 % wide. Values below 64 ns are exact; 2^36 ns
//! (68.7 s) and more fall into the last bucket. Counts are 32 bits, as in the workers' shared memory.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::units::Nanos;
use crate::varint;

/// Buckets to an octave, and the number of exact values at the bottom.
const PER_OCTAVE: u64 = 64;
/// log2 of the first value that is not exact.
const FIRST_OCTAVE: u32 = 6;
/// log2 of the first value that no longer fits.
const LAST_OCTAVE: u32 = 36;
/// Number of buckets: 64 exact ones and 30 octaves of 64.
pub const BUCKETS: usize = 1984;

/// The bucket that counts a latency of `nanos`.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the index is below BUCKETS by construction"
)]
pub const fn bucket(nanos: u64) -> usize {
    if nanos < PER_OCTAVE {
        return nanos as usize;
    }
    let octave = 63 - nanos.leading_zeros();
    if octave >= LAST_OCTAVE {
        return BUCKETS - 1;
    }
    let shift = octave - FIRST_OCTAVE;
    ((shift as u64 + 1) * PER_OCTAVE + ((nanos >> shift) - PER_OCTAVE)) as usize
}

/// The smallest latency that falls into `bucket`, in nanoseconds.
pub const fn lower_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PER_OCTAVE {
        return bucket;
    }
    let shift = bucket / PER_OCTAVE - 1;
    (PER_OCTAVE + bucket % PER_OCTAVE) << shift
}

/// Counts of latencies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u32, u64)>", into = "Vec<(u32, u64)>")]
pub struct Histogram {
    /// (bucket, count), ascending, zero counts left out.
    counts: Vec<(u32, u64)>,
}

/// Why stored bytes are no histogram.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HistogramError {
    /// Written by a later version of this program.
    #[error("histogram of version {0}, which this program does not know")]
    Version(u8),
    /// Cut short or garbled.
    #[error("histogram damaged at byte {0}")]
    Damaged(usize),
    /// Buckets out of order or out of range.
    #[error("histogram bucket {0} is out of order or out of range")]
    Bucket(u32),
}

impl TryFrom<Vec<(u32, u64)>> for Histogram {
    type Error = HistogramError;

    fn try_from(counts: Vec<(u32, u64)>) -> Result<Self, HistogramError> {
        let mut last = None;
        for &(bucket, _) in &counts {
            if bucket as usize >= BUCKETS || last.is_some_and(|last| bucket <= last) {
                return Err(HistogramError::Bucket(bucket));
            }
            last = Some(bucket);
        }
        Ok(Self {
            counts: counts.into_iter().filter(|(_, count)| *count > 0).collect(),
        })
    }
}

impl From<Histogram> for Vec<(u32, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.counts
    }
}

impl Histogram {
    /// Version of the stored form.
    pub const VERSION: u8 = 1;

    /// From one count a bucket, in order, as the shared memory holds them; counts past [`BUCKETS`] are ignored.
    pub fn from_dense(counts: impl IntoIterator<Item = u64>) -> Self {
        let counts = (0_u32..)
            .zip(counts.into_iter().take(BUCKETS))
            .filter(|(_, count)| *count > 0)
            .collect();
        Self { counts }
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// (smallest latency of the bucket, count), ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.counts
            .iter()
            .map(|&(bucket, count)| (Nanos(lower_bound(bucket as usize)), count))
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        let mut merged = Vec::with_capacity(self.counts.len().max(other.counts.len()));
        let (mut left, mut right) = (
            self.counts.iter().copied().peekable(),
            other.counts.iter().copied().peekable(),
        );
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(l), Some(r)) if l.0 == r.0 => {
                    let sum = (l.0, l.1.saturating_add(r.1));
                    left.next();
                    right.next();
                    sum
                }
                (Some(l), Some(r)) if l.0 < r.0 => {
                    let l = *l;
                    left.next();
                    l
                }
                (_, Some(r)) => {
                    let r = *r;
                    right.next();
                    r
                }
                (Some(l), None) => {
                    let l = *l;
                    left.next();
                    l
                }
                (None, None) => break,
            };
            merged.push(next);
        }
        self.counts = merged;
    }

    /// The latency that a share `q` (0 to 1) of all ops did not exceed: the middle of the bucket of that rank, so
    /// within 0.8 % of the true value. `None` if nothing was counted.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank between 1 and the count"
    )]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let total = self.count();
        let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for &(bucket, count) in &self.counts {
            seen += count;
            if seen >= rank {
                let (low, high) = (
                    lower_bound(bucket as usize),
                    lower_bound(bucket as usize + 1),
                );
                return Some(Nanos(low + (high - low) / 2));
            }
        }
        None
    }

    /// The stored form: a version byte, the number of buckets, then (distance to the last bucket, count) as LEB128.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![Self::VERSION];
        varint::put(&mut out, self.counts.len() as u64);
        let mut last = 0;
        for &(bucket, count) in &self.counts {
            varint::put(&mut out, u64::from(bucket - last));
            varint::put(&mut out, count);
            last = bucket;
        }
        out
    }

    /// Reads the stored form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        let (&version, mut rest) = bytes.split_first().ok_or(HistogramError::Damaged(0))?;
        if version != Self::VERSION {
            return Err(HistogramError::Version(version));
        }
        let damaged = |rest: &[u8]| HistogramError::Damaged(bytes.len() - rest.len());
        let entries = varint::take(&mut rest).ok_or_else(|| damaged(rest))?;
        let mut counts = Vec::new();
        let mut bucket = 0_u32;
        for _ in 0..entries {
            let step = varint::take(&mut rest)
                .and_then(|step| u32::try_from(step).ok())
                .ok_or_else(|| damaged(rest))?;
            let count = varint::take(&mut rest).ok_or_else(|| damaged(rest))?;
            bucket = bucket.checked_add(step).ok_or_else(|| damaged(rest))?;
            counts.push((bucket, count));
        }
        if rest.is_empty() {
            Self::try_from(counts)
        } else {
            Err(damaged(rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_at_most_one_sixty_fourth_wide() {
        for nanos in [
            0,
            1,
            63,
            64,
            65,
            127,
            128,
            1_000,
            123_456_789,
            (1 << 36) - 1,
        ] {
            let low = lower_bound(bucket(nanos));
            assert!(
                low <= nanos && (nanos - low) * 64 <= nanos,
                "{nanos} fell into the bucket from {low}"
            );
        }
        assert_eq!(bucket((1 << 36) - 1), BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        for index in 1..BUCKETS {
            assert_eq!(bucket(lower_bound(index)), index);
            assert_eq!(bucket(lower_bound(index) - 1), index - 1);
        }
    }

    #[test]
    fn what_is_stored_reads_back() {
        let mut dense = vec![0; BUCKETS];
        dense[0] = 3;
        dense[700] = u64::from(u32::MAX);
        dense[BUCKETS - 1] = 1;
        let histogram = Histogram::from_dense(dense);
        assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
        assert_eq!(Histogram::from_bytes(&[9]), Err(HistogramError::Version(9)));
        assert_eq!(Histogram::from_bytes(&[]), Err(HistogramError::Damaged(0)));
        assert_eq!(
            Histogram::from_bytes(&[1, 1, 200]),
            Err(HistogramError::Damaged(3))
        );
    }

    #[test]
    fn quantiles_and_merging_agree_with_counting() {
        let mut a = Histogram::from_dense((0..64).map(|_| 1));
        let b = Histogram::from_dense((0..64).map(|n| u64::from(n >= 32)));
        a.merge(&b);
        assert_eq!(a.count(), 96);
        assert_eq!(a.quantile(0.0), Some(Nanos(0)));
        assert_eq!(a.quantile(0.5), Some(Nanos(39)));
        assert_eq!(a.quantile(1.0), Some(Nanos(63)));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
