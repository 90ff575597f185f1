//! What shall run: the plan as typed, and one run of it with every default spelled out.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::units::{Bytes, Nanos, UnitError};

/// Version of the plan's written form.
pub const PLAN_VERSION: u32 = 1;

/// Several steps, as a file or a command line asked for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_VERSION`] of the program that wrote it.
    pub version: u32,
    /// `quick`, a file's name, or the tool's name for a plan typed as flags.
    pub name: String,
    /// Seed of everything that is shuffled or random; chosen and recorded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The steps in order.
    #[serde(default, rename = "step")]
    pub steps: Vec<Step>,
}

/// One workload, perhaps swept: a run for each combination of its parameters' values, times `repeat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// `dbench`, or `lmbench:lat_pipe` for one workload of a tool that has several.
    pub tool: String,
    /// Values of each parameter as typed, sweeps already expanded; a parameter not named has its default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Vec<String>>,
    /// Directory, file or device to measure on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// A word to find and compare these runs by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How often each run is made.
    #[serde(default = "once")]
    pub repeat: u32,
    /// What is done to the page cache before each run.
    #[serde(default)]
    pub cache: Cache,
    /// A device that may be overwritten, by the same name as in `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroy: Option<String>,
}

fn once() -> u32 {
    1
}

/// What is done to the page cache before a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Nothing: the workload does what it always did.
    #[default]
    Unchanged,
    /// Written back and dropped.
    Cold,
    /// Left warm on purpose.
    Warm,
}

/// One run, ready to be made, and stored as it ran: everything that is needed to make it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// [`PLAN_VERSION`] of the program that wrote it.
    pub version: u32,
    /// The tool's name.
    pub tool: String,
    /// The workload's name within the tool.
    pub workload: String,
    /// Every parameter, defaults filled in.
    pub params: Params,
    /// Directory, file or device to measure on; `None` for what needs none.
    pub on: Option<String>,
    /// A word to find and compare this run by.
    pub label: Option<String>,
    /// Which repetition this is, from 1.
    pub repetition: u32,
    /// How many there are.
    pub repetitions: u32,
    /// What is done to the page cache first.
    pub cache: Cache,
    /// A device that may be overwritten.
    pub destroy: Option<String>,
    /// Seed of everything random in this run.
    pub seed: u64,
    /// The program that made the run.
    pub program: Program,
}

impl RunPlan {
    /// `dbench`, or `lmbench:lat_pipe` where the workload is not called like its tool.
    pub fn selector(&self) -> String {
        if self.tool == self.workload {
            self.tool.clone()
        } else {
            format!("{}:{}", self.tool, self.workload)
        }
    }
}

/// Which program made a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The commit it was built from; `None` for a build outside a repository.
    pub commit: Option<String>,
}

/// The parameters of a run by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, ParamValue>);

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamValue {
    /// A whole number.
    Count(u64),
    /// A size.
    Bytes(Bytes),
    /// A duration.
    Duration(Nanos),
    /// Any number; finite.
    Number(f64),
    /// On or off.
    Flag(bool),
    /// A word or a path.
    Text(String),
    /// Several, written with colons.
    List(Vec<ParamValue>),
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A whole number from `least` to `most`.
    Count {
        /// Smallest value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// A size.
    Bytes,
    /// A duration.
    Duration,
    /// A finite number, not negative.
    Number,
    /// `yes` or `no`.
    Flag,
    /// A word or a path; may be empty.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Several sizes with colons.
    BytesList,
    /// Several whole numbers with colons.
    CountList,
}

/// Why a parameter's value was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParamError {
    /// Not of the parameter's kind.
    #[error("{0}")]
    Unit(#[from] UnitError),
    /// Not a whole number in range.
    #[error("\"{text}\" is not a whole number from {least} to {most}")]
    Count {
        /// What was typed.
        text: String,
        /// Smallest value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// Not a number.
    #[error("\"{0}\" is not a number of zero or more")]
    Number(String),
    /// Neither yes nor no.
    #[error("\"{0}\" is neither yes nor no")]
    Flag(String),
    /// Not one of the words.
    #[error("\"{text}\" is not one of {}", words.join(", "))]
    Choice {
        /// What was typed.
        text: String,
        /// What is offered.
        words: &'static [&'static str],
    },
}

impl ParamKind {
    /// Reads a value of this kind.
    pub fn parse(self, text: &str) -> Result<ParamValue, ParamError> {
        Ok(match self {
            Self::Count { least, most } => ParamValue::Count(count(text, least, most)?),
            Self::Bytes => ParamValue::Bytes(text.parse()?),
            Self::Duration => ParamValue::Duration(text.parse()?),
            Self::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => ParamValue::Number(number),
                _ => return Err(ParamError::Number(text.to_owned())),
            },
            Self::Flag => match text {
                "yes" | "true" | "on" | "1" => ParamValue::Flag(true),
                "no" | "false" | "off" | "0" => ParamValue::Flag(false),
                _ => return Err(ParamError::Flag(text.to_owned())),
            },
            Self::Text => ParamValue::Text(text.to_owned()),
            Self::Choice(words) => {
                if !words.contains(&text) {
                    return Err(ParamError::Choice {
                        text: text.to_owned(),
                        words,
                    });
                }
                ParamValue::Text(text.to_owned())
            }
            Self::BytesList => list(text, |item| Ok(ParamValue::Bytes(item.parse()?)))?,
            Self::CountList => list(text, |item| {
                Ok(ParamValue::Count(count(item, 0, u64::MAX)?))
            })?,
        })
    }
}

fn count(text: &str, least: u64, most: u64) -> Result<u64, ParamError> {
    let refused = || ParamError::Count {
        text: text.to_owned(),
        least,
        most,
    };
    // The same suffixes as sizes: `ops=10k` is what people type. Without one, "1.5" would be rounded to 2.
    if text.contains('.') && text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(refused());
    }
    let number = text.parse::<Bytes>().map_err(|_| refused())?.0;
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(refused())
    }
}

fn list(
    text: &str,
    item: impl Fn(&str) -> Result<ParamValue, ParamError>,
) -> Result<ParamValue, ParamError> {
    Ok(ParamValue::List(
        text.split(':').map(item).collect::<Result<_, _>>()?,
    ))
}

impl fmt::Display for ParamValue {
    /// As it would be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n}"),
            Self::Bytes(bytes) => match bytes.to_string().strip_suffix(" B") {
                Some(number) => write!(f, "{number}"),
                // A size that is no round number is typed in bytes.
                None if bytes.to_string().contains('.') => write!(f, "{}", bytes.0),
                None => write!(f, "{}", bytes.to_string().replace(' ', "")),
            },
            Self::Duration(nanos) => {
                let (value, unit) = match nanos.0 {
                    n if n % 1_000_000_000 == 0 => (n / 1_000_000_000, "s"),
                    n if n % 1_000_000 == 0 => (n / 1_000_000, "ms"),
                    n if n % 1_000 == 0 => (n / 1_000, "us"),
                    n => (n, "ns"),
                };
                write!(f, "{value}{unit}")
            }
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(on) => f.write_str(if *on { "yes" } else { "no" }),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_str(":")?;
                    }
                    write!(f, "{item}")?;
                }
                Ok(())
            }
        }
    }
}

/// A parameter that a workload asked for is not there or of another kind: a fault of the tool's own parameter list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("parameter \"{name}\" is no {kind}")]
pub struct MissingParam {
    /// The parameter's name.
    pub name: String,
    /// The kind that was asked for.
    pub kind: &'static str,
}

macro_rules! getter {
    ($(#[$doc:meta])* $get:ident, $variant:ident, $type:ty, $kind:literal) => {
        $(#[$doc])*
        pub fn $get(&self, name: &str) -> Result<$type, MissingParam> {
            match self.0.get(name) {
                Some(ParamValue::$variant(value)) => Ok(value.clone()),
                _ => Err(MissingParam {
                    name: name.to_owned(),
                    kind: $kind,
                }),
            }
        }
    };
}

impl Params {
    getter!(
        /// A whole number.
        count, Count, u64, "count"
    );
    getter!(
        /// A size.
        bytes, Bytes, Bytes, "size"
    );
    getter!(
        /// A duration.
        duration, Duration, Nanos, "duration"
    );
    getter!(
        /// A number.
        number, Number, f64, "number"
    );
    getter!(
        /// A flag.
        flag, Flag, bool, "flag"
    );
    getter!(
        /// A text.
        text, Text, String, "text"
    );
    getter!(
        /// A list.
        list, List, Vec<ParamValue>, "list"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_as_it_is_typed() {
        for (kind, text) in [
            (ParamKind::Count { least: 1, most: 9 }, "8"),
            (ParamKind::Bytes, "64KiB"),
            (ParamKind::Bytes, "65537"),
            (ParamKind::Bytes, "0"),
            (ParamKind::Duration, "1500ms"),
            (ParamKind::Duration, "60s"),
            (ParamKind::Number, "2.5"),
            (ParamKind::Flag, "yes"),
            (ParamKind::Text, ""),
            (ParamKind::Choice(&["time", "pass"]), "pass"),
            (ParamKind::BytesList, "4KiB:64KiB:1MiB"),
            (ParamKind::CountList, "1:2:96"),
        ] {
            assert_eq!(kind.parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn absurd_values_are_refused_with_what_is_wanted() {
        let clients = ParamKind::Count {
            least: 1,
            most: 100_000,
        };
        for text in [
            "0",
            "-1",
            "100001",
            "1.5",
            "many",
            "99999999999999999999",
            "",
        ] {
            let message = clients.parse(text).unwrap_err().to_string();
            assert!(message.contains("from 1 to 100000"), "{message}");
        }
        for text in ["nan", "inf", "-1", ""] {
            assert!(ParamKind::Number.parse(text).is_err(), "{text}");
        }
        assert!(ParamKind::Choice(&["a"]).parse("b").is_err());
    }

    #[test]
    fn a_plan_of_the_next_version_s_fields_is_refused_not_misread() {
        let text = r#"{"version":1,"name":"x","step":[{"tool":"dbench","colour":"red"}]}"#;
        let message = serde_json::from_str::<Plan>(text).unwrap_err().to_string();
        assert!(message.contains("colour"), "{message}");
    }
}
