//! What happened in each second of a phase, and its stored form.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::varint;

/// What the numbers of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// End of each interval, in nanoseconds since the phase's window opened.
    Time,
    /// Ops that ended in the interval.
    Count,
    /// Bytes that those ops moved.
    Bytes,
    /// Longest op that ended or was in flight in the interval, in nanoseconds.
    LongestNanos,
    /// Dirty pages of the whole machine at the interval's end, in bytes.
    DirtyBytes,
    /// Pages under write-back at the interval's end, in bytes.
    WritebackBytes,
    /// Sum of the CPU frequencies at the interval's end over the CPUs that tell, in kHz.
    FrequencyKhz,
}

impl SeriesKind {
    /// The name under which it is stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::LongestNanos => "longest_nanos",
            Self::DirtyBytes => "dirty_bytes",
            Self::WritebackBytes => "writeback_bytes",
            Self::FrequencyKhz => "frequency_khz",
        }
    }

    /// The kind stored under `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Time,
            Self::Count,
            Self::Bytes,
            Self::LongestNanos,
            Self::DirtyBytes,
            Self::WritebackBytes,
            Self::FrequencyKhz,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// One number for each interval of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// What is counted.
    pub kind: SeriesKind,
    /// Of one op only; `None` for all ops together.
    pub op: Option<String>,
    /// Of one worker only; `None` for all workers together.
    pub worker: Option<u32>,
    /// One value for each interval.
    pub values: Vec<u64>,
}

/// Why stored bytes are no series.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SeriesError {
    /// Written by a later version of this program.
    #[error("series of version {0}, which this program does not know")]
    Version(u8),
    /// Cut short or garbled.
    #[error("series damaged")]
    Damaged,
}

/// Version of the stored form.
pub const VERSION: u8 = 1;

/// No phase is longer than this many intervals (a year of seconds): a damaged blob must not eat the memory.
const MOST_VALUES: u64 = 32_000_000;

/// The stored form: a version byte, then deflated LEB128: the number of values, then each value's difference to the one
/// before, zig-zag coded.
pub fn to_bytes(values: &[u64]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(values.len() * 2 + 2);
    varint::put(&mut plain, values.len() as u64);
    let mut last = 0_u64;
    for &value in values {
        let step = value.wrapping_sub(last).cast_signed();
        varint::put(&mut plain, ((step << 1) ^ (step >> 63)).cast_unsigned());
        last = value;
    }
    let mut encoder = DeflateEncoder::new(vec![VERSION], Compression::default());
    // Writing into a Vec cannot fail; an empty result would be read as damaged.
    encoder
        .write_all(&plain)
        .and_then(|()| encoder.finish())
        .unwrap_or_default()
}

/// Reads the stored form.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u64>, SeriesError> {
    let (&version, packed) = bytes.split_first().ok_or(SeriesError::Damaged)?;
    if version != VERSION {
        return Err(SeriesError::Version(version));
    }
    let mut plain = Vec::new();
    DeflateDecoder::new(packed)
        .take(MOST_VALUES * 10)
        .read_to_end(&mut plain)
        .map_err(|_| SeriesError::Damaged)?;
    let mut rest = plain.as_slice();
    let count = varint::take(&mut rest)
        .filter(|count| *count <= MOST_VALUES)
        .ok_or(SeriesError::Damaged)?;
    let mut values = Vec::new();
    let mut last = 0_u64;
    for _ in 0..count {
        let coded = varint::take(&mut rest).ok_or(SeriesError::Damaged)?;
        let step = (coded >> 1).cast_signed() ^ -((coded & 1).cast_signed());
        last = last.wrapping_add(step.cast_unsigned());
        values.push(last);
    }
    if rest.is_empty() {
        Ok(values)
    } else {
        Err(SeriesError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_reads_back() {
        for values in [
            vec![],
            vec![0],
            vec![5, 4, u64::MAX, 0, 1 << 40],
            (0..1000).collect(),
        ] {
            assert_eq!(from_bytes(&to_bytes(&values)), Ok(values));
        }
    }

    #[test]
    fn damage_is_told_from_data() {
        assert_eq!(from_bytes(&[]), Err(SeriesError::Damaged));
        assert_eq!(from_bytes(&[7, 1]), Err(SeriesError::Version(7)));
        let mut cut = to_bytes(&[1, 2, 3, 4, 5, 1000, 2000]);
        cut.truncate(cut.len() - 3);
        assert_eq!(from_bytes(&cut), Err(SeriesError::Damaged));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for kind in [
            SeriesKind::Time,
            SeriesKind::Count,
            SeriesKind::Bytes,
            SeriesKind::LongestNanos,
            SeriesKind::DirtyBytes,
            SeriesKind::WritebackBytes,
            SeriesKind::FrequencyKhz,
        ] {
            assert_eq!(SeriesKind::from_name(kind.name()), Some(kind));
        }
    }
}
