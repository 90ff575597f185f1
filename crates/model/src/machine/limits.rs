//! What the control groups allow this process.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::CpuSet;

/// A limit that may be absent on purpose, which is not the same as unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Limit {
    /// The kernel says that there is none.
    Unlimited,
    /// At most this many, in the unit of the field.
    At(u64),
}

impl Limit {
    /// The tighter of two.
    pub fn tighter(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.min(two)),
            (Self::Unlimited, limit) | (limit, Self::Unlimited) => limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => out.write_str("unlimited"),
            Self::At(value) => write!(out, "{value}"),
        }
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> Self {
        limit.to_string()
    }
}

/// Text that is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither `unlimited` nor a whole number")]
pub struct LimitError {
    /// What was read.
    pub text: String,
}

impl TryFrom<String> for Limit {
    type Error = LimitError;

    fn try_from(text: String) -> Result<Self, LimitError> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        match text.parse() {
            Ok(value) => Ok(Self::At(value)),
            Err(_) => Err(LimitError { text }),
        }
    }
}

/// Limits of our control group and of every visible one above it: the tightest counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// `v1`, `v2`, or `hybrid` where controllers sit in both.
    pub version: Option<String>,
    /// Our path in the hierarchy that has the memory controller.
    pub path: Option<String>,
    /// `memory.max` or `memory.limit_in_bytes`: beyond it the group is reclaimed, then killed.
    pub memory_max_bytes: Option<Limit>,
    /// `memory.high`: beyond it the group is slowed down.
    pub memory_high_bytes: Option<Limit>,
    /// `memory.swap.max`.
    pub swap_max_bytes: Option<Limit>,
    /// CPU time allowed in each period; `unlimited` if no quota is set.
    pub cpu_quota_usec: Option<Limit>,
    /// The period that `cpu_quota_usec` refers to.
    pub cpu_period_usec: Option<u64>,
    /// `cpu.weight` (v2, default 100) or `cpu.shares` (v1, default 1024) of our own group.
    pub cpu_weight: Option<u64>,
    /// CPUs the cpuset controller grants.
    pub cpus: Option<CpuSet>,
    /// Tasks the group may hold.
    pub tasks_max: Option<Limit>,
    /// Throttles on devices: `8:0 rbps=1048576 wbps=max`, or the v1 file's name and line.
    pub io_throttles: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_limit_wins_and_travels_as_text() {
        let five = Limit::At(5);
        assert_eq!(Limit::Unlimited.tighter(five), five);
        assert_eq!(five.tighter(Limit::At(3)), Limit::At(3));
        for limit in [Limit::Unlimited, five] {
            let text = serde_json::to_string(&limit).unwrap();
            assert_eq!(serde_json::from_str::<Limit>(&text).unwrap(), limit);
        }
        let error = serde_json::from_str::<Limit>("\"-1\"").unwrap_err();
        assert!(error.to_string().contains("\"-1\""), "{error}");
    }
}
