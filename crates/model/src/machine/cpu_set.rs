//! A set of CPU numbers, in the two spellings the kernel uses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// CPU numbers as the kernel lists them: `0-3,8`.
///
/// Kept as ranges, so that a hostile `0-4294967295` costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet {
    /// First and last CPU of each range, ascending, neither touching nor overlapping.
    ranges: Vec<(u32, u32)>,
}

/// Text that is neither a list nor a mask of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {expected} of CPUs")]
pub struct CpuSetError {
    /// What was read.
    pub text: String,
    /// `list` or `mask`.
    pub expected: &'static str,
}

impl CpuSet {
    /// Reads the mask spelling (`ff,ffffffff`): words of 32 bits, the most significant first.
    pub fn from_mask(text: &str) -> Result<Self, CpuSetError> {
        let error = || CpuSetError {
            text: text.to_owned(),
            expected: "mask",
        };
        let mut ranges = Vec::new();
        for (position, word) in text.trim().rsplit(',').enumerate() {
            let first = u32::try_from(position)
                .ok()
                .and_then(|p| p.checked_mul(32))
                .ok_or_else(error)?;
            let bits = u32::from_str_radix(word, 16).map_err(|_| error())?;
            for bit in (0..32).filter(|bit| bits & (1 << bit) != 0) {
                let cpu = first.checked_add(bit).ok_or_else(error)?;
                ranges.push((cpu, cpu));
            }
        }
        Ok(Self::normalised(ranges))
    }

    /// How many CPUs are in the set.
    pub fn count(&self) -> u64 {
        self.ranges
            .iter()
            .map(|(first, last)| u64::from(last - first) + 1)
            .sum()
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the set holds `cpu`.
    pub fn contains(&self, cpu: u32) -> bool {
        self.ranges
            .iter()
            .any(|&(first, last)| (first..=last).contains(&cpu))
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }

    fn normalised(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => {
                    previous.1 = previous.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Self { ranges: merged }
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self::normalised(cpus.into_iter().map(|cpu| (cpu, cpu)).collect())
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    /// Reads the list spelling (`0-3,8`); nothing at all is the empty set, as in a memory-only node.
    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        let error = || CpuSetError {
            text: text.to_owned(),
            expected: "list",
        };
        let number = |word: &str| word.trim().parse::<u32>().map_err(|_| error());
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Ok(Self::default());
        }
        let mut ranges = Vec::new();
        for part in trimmed.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = (number(first)?, number(last)?);
            if range.0 > range.1 {
                return Err(error());
            }
            ranges.push(range);
        }
        Ok(Self::normalised(ranges))
    }
}

impl TryFrom<String> for CpuSet {
    type Error = CpuSetError;

    fn try_from(text: String) -> Result<Self, CpuSetError> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(set: CpuSet) -> Self {
        set.to_string()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.ranges.iter().enumerate() {
            if position > 0 {
                out.write_str(",")?;
            }
            if first == last {
                write!(out, "{first}")?;
            } else {
                write!(out, "{first}-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_the_list_spelling() {
        let set: CpuSet = "0-3,8,9,12-13\n".parse().unwrap();
        assert_eq!(set.to_string(), "0-3,8-9,12-13");
        assert_eq!(set.count(), 8);
        assert!(set.contains(9) && !set.contains(10));
        assert_eq!(set.iter().last(), Some(13));
        assert!("".parse::<CpuSet>().unwrap().is_empty());
    }

    #[test]
    fn reads_masks_wider_than_one_word() {
        let set = CpuSet::from_mask("ff,ffffffff").unwrap();
        assert_eq!(set.to_string(), "0-39");
        let set = CpuSet::from_mask("80000000,00000000,00000001").unwrap();
        assert_eq!(set.to_string(), "0,95");
    }

    #[test]
    fn a_huge_range_costs_nothing() {
        let set: CpuSet = "0-4294967295".parse().unwrap();
        assert_eq!(set.count(), 1 << 32);
    }

    #[test]
    fn refuses_what_is_neither() {
        for text in ["3-1", "a", "1-", "-1", "1,,2", "0-4294967296"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        for text in ["", "g", "1ffffffff", "f,,f"] {
            assert!(CpuSet::from_mask(text).is_err(), "{text}");
        }
    }

    #[test]
    fn travels_through_json_as_text() {
        let set: CpuSet = "0-1,4".parse().unwrap();
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(text, "\"0-1,4\"");
        assert_eq!(serde_json::from_str::<CpuSet>(&text).unwrap(), set);
    }
}
