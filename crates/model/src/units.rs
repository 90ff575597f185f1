//! Quantities with their unit in the type, and how people write them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Bytes(pub u64);

/// A duration, or a monotonic instant as the time since a named start, in nanoseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

/// 10^6 bytes: the MB of dbench, dd and disk makers.
pub const MB: u64 = 1_000_000;
/// 2^20 bytes: the "MB" of hdparm and bonnie, here always written MiB.
pub const MIB: u64 = 1 << 20;

impl Bytes {
    /// `n` times 2^10 bytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` times 2^20 bytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// In units of 10^6 bytes.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for people: 53 bits are plenty"
    )]
    pub fn as_mb(self) -> f64 {
        self.0 as f64 / MB as f64
    }

    /// In units of 2^20 bytes.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for people: 53 bits are plenty"
    )]
    pub fn as_mib(self) -> f64 {
        self.0 as f64 / MIB as f64
    }

    /// The difference, or zero when `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Nanos {
    /// `n` seconds; saturates at about 584 years.
    pub const fn secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }

    /// `n` milliseconds; saturates.
    pub const fn millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// `n` microseconds; saturates.
    pub const fn micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// In seconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact to 104 days, and to 1e-16 of the value beyond"
    )]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact to 104 days, and to 1e-16 of the value beyond"
    )]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The difference, or zero when `other` is later.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// From seconds; `None` for a negative, endless or unheard-of number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked on the line before"
    )]
    pub fn from_secs_f64(seconds: f64) -> Option<Self> {
        (0.0..=1.8e10)
            .contains(&seconds)
            .then(|| Self((seconds * 1e9).round() as u64))
    }
}

macro_rules! arithmetic {
    ($name:ident) => {
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::default(), Add::add)
            }
        }
    };
}
arithmetic!(Bytes);
arithmetic!(Nanos);

impl fmt::Display for Bytes {
    /// Binary units with one decimal where the number is not whole: `64 KiB`, `1.5 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scale = 1_u64;
        let mut unit = "B";
        for (shift, name) in [(10, "KiB"), (20, "MiB"), (30, "GiB"), (40, "TiB")] {
            if self.0 >= 1 << shift {
                scale = 1 << shift;
                unit = name;
            }
        }
        if self.0.is_multiple_of(scale) {
            write!(f, "{} {unit}", self.0 / scale)
        } else {
            #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
            let value = self.0 as f64 / scale as f64;
            write!(f, "{value:.1} {unit}")
        }
    }
}

impl fmt::Display for Nanos {
    /// The unit that leaves one to three digits before the point: `850 ns`, `5.05 ms`, `12.3 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let nanos = self.0 as f64;
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => (nanos / 1e3, "us"),
            1_000_000..1_000_000_000 => (nanos / 1e6, "ms"),
            _ => (nanos / 1e9, "s"),
        };
        let digits = if value < 10.0 {
            2
        } else {
            usize::from(value < 100.0)
        };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// Why a quantity could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a number with a unit that is known here.
    #[error("\"{text}\" is not {what}")]
    Unreadable {
        /// What was typed.
        text: String,
        /// What was expected, with an example.
        what: &'static str,
    },
    /// Beyond 2^64 of the base unit.
    #[error("\"{text}\" is too large: more than 2^64 {unit}")]
    TooLarge {
        /// What was typed.
        text: String,
        /// The base unit.
        unit: &'static str,
    },
}

const SIZE: &str =
    "a size such as 4096, 64k, 1.5GiB (k m g and KiB MiB GiB are binary, kB MB GB decimal)";
const DURATION: &str = "a duration such as 15, 15s, 500ms, 10m, 2h (seconds where no unit stands)";

/// Splits `12.5kB` into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// `number` x `scale`, exactly for whole numbers, rounded for decimal fractions.
fn scaled(
    text: &str,
    number: &str,
    scale: u64,
    what: &'static str,
    unit: &'static str,
) -> Result<u64, UnitError> {
    let unreadable = || UnitError::Unreadable {
        text: text.to_owned(),
        what,
    };
    let too_large = || UnitError::TooLarge {
        text: text.to_owned(),
        unit,
    };
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty()
        || !fraction.bytes().all(|b| b.is_ascii_digit())
        || (number.contains('.') && fraction.is_empty())
    {
        return Err(unreadable());
    }
    if !whole.bytes().all(|b| b.is_ascii_digit()) {
        return Err(unreadable());
    }
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let mut total = u128::from(whole) * u128::from(scale);
    let digits = &fraction[..fraction.len().min(18)];
    if !digits.is_empty() {
        if scale == 1 {
            return Err(unreadable()); // no half bytes, no half clients
        }
        let part: u128 = digits.parse().map_err(|_| unreadable())?;
        let power = 10_u128.pow(u32::try_from(digits.len()).unwrap_or(18));
        total += (part * u128::from(scale) + power / 2) / power;
    }
    u64::try_from(total).map_err(|_| too_large())
}

impl std::str::FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text.trim());
        let scale = match unit {
            "" | "B" => 1,
            "k" | "K" | "KiB" => 1 << 10,
            "m" | "M" | "MiB" => 1 << 20,
            "g" | "G" | "GiB" => 1 << 30,
            "t" | "T" | "TiB" => 1 << 40,
            "kB" | "KB" => 1_000,
            "MB" => MB,
            "GB" => 1_000 * MB,
            "TB" => 1_000_000 * MB,
            _ => {
                return Err(UnitError::Unreadable {
                    text: text.to_owned(),
                    what: SIZE,
                });
            }
        };
        scaled(text, number, scale, SIZE, "bytes").map(Self)
    }
}

impl std::str::FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text.trim());
        let scale = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "" | "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => {
                return Err(UnitError::Unreadable {
                    text: text.to_owned(),
                    what: DURATION,
                });
            }
        };
        scaled(text, number, scale, DURATION, "nanoseconds").map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_contract_says() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64k", 65_536),
            ("64 KiB", 65_536),
            ("1.5GiB", 1_610_612_736),
            ("2kB", 2_000),
            ("1MB", 1_000_000),
            ("0.1MB", 100_000),
            ("1_000", 1_000),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        for text in [
            "",
            "k",
            "-1",
            "1e9",
            "12 parsecs",
            ".5k",
            "1.",
            "1.2.3",
            "99999999999999999999",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        assert!(matches!(
            "17179869184g".parse::<Bytes>(),
            Err(UnitError::TooLarge { .. })
        ));
    }

    #[test]
    fn durations_default_to_seconds() {
        for (text, nanos) in [
            ("15", Nanos::secs(15)),
            ("0.5", Nanos::millis(500)),
            ("500ms", Nanos::millis(500)),
            ("10m", Nanos::secs(600)),
            ("2h", Nanos::secs(7200)),
        ] {
            assert_eq!(text.parse::<Nanos>(), Ok(nanos), "{text}");
        }
        assert!("soon".parse::<Nanos>().is_err());
    }

    #[test]
    fn quantities_are_shown_with_their_unit() {
        assert_eq!(Bytes::kib(64).to_string(), "64 KiB");
        assert_eq!(Bytes(1_610_612_736).to_string(), "1.5 GiB");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Nanos(850).to_string(), "850 ns");
        assert_eq!(Nanos(5_048_000).to_string(), "5.05 ms");
        assert_eq!(Nanos::secs(600).to_string(), "600 s");
    }
}
