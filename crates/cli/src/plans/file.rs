//! Plan files: TOML, values as people write them there.

use std::path::Path;

use kernmark_model::plan::{Cache, PLAN_VERSION, Plan, Step};
use kernmark_model::sweep;
use serde::Deserialize;
use toml::{Table, Value};

use crate::exit::Failure;

/// A plan as it stands in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    /// Looked at before the rest is.
    #[serde(rename = "version")]
    _version: Option<i64>,
    name: Option<String>,
    seed: Option<u64>,
    #[serde(default, rename = "step")]
    steps: Vec<StepFile>,
}

/// A step as it stands in a file; the fields are those of [`Step`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    tool: String,
    #[serde(default)]
    params: Table,
    on: Option<String>,
    label: Option<String>,
    repeat: Option<u32>,
    cache: Option<Cache>,
    destroy: Option<String>,
}

/// Reads the plan in `text`, which is called `name`: a file's name, or a built-in plan's.
pub(crate) fn read(name: &str, text: &str) -> Result<Plan, Failure> {
    let refused = |error: toml::de::Error| Failure::wrong_use(format_args!("{name}: {error}"));
    let table: Table = toml::from_str(text).map_err(refused)?;
    // Before unknown fields are complained of: a later version may have more.
    if let Some(version) = table.get("version").filter(|version| !is_known(version)) {
        return Err(Failure::wrong_use(format_args!(
            "{name}: this plan is of version {version}; this program knows version {PLAN_VERSION}"
        )));
    }
    let file: PlanFile = toml::from_str(text).map_err(refused)?;
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    Ok(Plan {
        version: PLAN_VERSION,
        name: file.name.unwrap_or_else(|| stem.unwrap_or(name).to_owned()),
        seed: file.seed,
        steps: file
            .steps
            .into_iter()
            .zip(1..)
            .map(|(step, number)| {
                step.understood()
                    .map_err(|why| Failure::wrong_use(format_args!("{name}: step {number}: {why}")))
            })
            .collect::<Result<_, _>>()?,
    })
}

fn is_known(version: &Value) -> bool {
    version.as_integer() == Some(i64::from(PLAN_VERSION))
}

impl StepFile {
    fn understood(self) -> Result<Step, String> {
        let mut step = Step {
            tool: self.tool,
            params: Default::default(),
            on: self.on,
            label: self.label,
            repeat: self.repeat.unwrap_or(1),
            cache: self.cache.unwrap_or_default(),
            destroy: self.destroy,
        };
        for (name, value) in self.params {
            let values = values(&value).map_err(|why| format!("{} {name}: {why}", step.tool))?;
            step.params.insert(name, values);
        }
        Ok(step)
    }
}

/// The values that a parameter takes, one run each. A text is read as on the command line; in a list each item is
/// taken as it stands.
fn values(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) => sweep::expand(text).map_err(|error| error.to_string()),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                item => single(item),
            })
            .collect(),
        value => Ok(vec![single(value)?]),
    }
}

fn single(value: &Value) -> Result<String, String> {
    match value {
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(on) => Ok((if *on { "yes" } else { "no" }).to_owned()),
        other => Err(format!(
            "a value is a number, a text, true or false, or a list of these, and not a {}",
            other.type_str()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let failure = read("x.toml", text).unwrap_err();
        failure.error.unwrap().to_string()
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        let plan = read(
            "plans/mine.toml",
            r#"
version = 1
seed = 7

[[step]]
tool = "null"
repeat = 3
cache = "cold"
on = "/mnt/test"
[step.params]
clients = [1, 8]
seconds = 60
rate = 1.5
fsync = true
size = "4k,64k"
range = "1..8*2"
word = ["a,b", "c"]
"#,
        )
        .unwrap();
        assert_eq!((plan.name.as_str(), plan.seed), ("mine", Some(7)));
        let step = &plan.steps[0];
        assert_eq!((step.repeat, step.cache), (3, Cache::Cold));
        let typed: Vec<(&str, String)> = step
            .params
            .iter()
            .map(|(name, values)| (name.as_str(), values.join(" | ")))
            .collect();
        let expected = [
            ("clients", "1 | 8"),
            ("fsync", "yes"),
            ("range", "1 | 2 | 4 | 8"),
            ("rate", "1.5"),
            ("seconds", "60"),
            ("size", "4k | 64k"),
            ("word", "a,b | c"),
        ];
        assert_eq!(
            typed,
            expected.map(|(name, values)| (name, values.to_owned()))
        );
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (text, message) in [
            ("[[step]]\ntool = 1", "line 2"),
            ("colour = 1", "unknown field `colour`"),
            ("version = 2\nnew = 1", "version 2"),
            ("version = \"x\"", "version \"x\""),
            ("[[step]]\ntool = \"null\"\ncolour = 1", "colour"),
            ("[[step]]\nlabel = \"x\"", "missing field `tool`"),
            ("[[step]]\ntool = \"null\"\nrepeat = -1", "line 3"),
            ("[[step]]\ntool = \"null\"\ncache = \"hot\"", "hot"),
            (
                "[[step]]\ntool = \"null\"\nparams.a = { b = 1 }",
                "step 1: null a: a value is",
            ),
            (
                "[[step]]\ntool = \"null\"\nparams.a = \"8..1\"",
                "step 1: null a: the range",
            ),
            ("not toml", "line 1"),
        ] {
            let told = refused(text);
            assert!(
                told.starts_with("x.toml: ") && told.contains(message),
                "{told}"
            );
        }
    }
}
