//! From words on the command line to a plan.

mod file;

use std::collections::BTreeMap;
use std::fs;

use kernmark_engine::plan::{self, PlanError};
use kernmark_engine::tool::Tool;
use kernmark_model::plan::{PLAN_VERSION, Plan, RunPlan, Step};
use kernmark_model::sweep;

use crate::args::Settings;
use crate::exit::Failure;
use crate::surroundings::Surroundings;

/// A plan that comes with the program.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    /// The file, as `kernmark plan NAME` prints it.
    pub(crate) text: &'static str,
}

/// Every one.
pub(crate) const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "smoke",
        text: include_str!("smoke.toml"),
    },
    BuiltIn {
        name: "quick",
        text: include_str!("quick.toml"),
    },
];

/// What `kernmark run` makes when it is not told.
const DEFAULT: &str = "quick";

/// The built-in plan of that name.
pub(crate) fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|plan| plan.name == name)
}

impl BuiltIn {
    /// Its comment's first line.
    pub(crate) fn about(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches('#').trim()
    }
}

/// The plan that `words` mean: a tool and its parameters, a built-in plan's name or a file's, in any order.
pub(crate) fn of_words(
    words: &[String],
    settings: &Settings,
    tools: &'static [Tool],
    around: &Surroundings,
) -> Result<Plan, Failure> {
    let (name, params) = sort(words)?;
    let mut plan = match name {
        Some(name) => named(name, params, tools, around)?,
        None if params.is_empty() => named(DEFAULT, params, tools, around)?,
        None => {
            return Err(Failure::wrong_use(format_args!(
                "{} is a parameter, and no tool is named that it belongs to\n  write kernmark run TOOL {}; `kernmark list` names the tools",
                words[0], words[0],
            )));
        }
    };
    for step in &mut plan.steps {
        settings.apply(step);
    }
    Ok(plan)
}

/// The plan that makes a stored run again.
pub(crate) fn like(run: &RunPlan, settings: &Settings) -> Plan {
    let mut step = Step {
        tool: run.selector(),
        params: run
            .params
            .0
            .iter()
            .map(|(name, value)| (name.clone(), vec![value.to_string()]))
            .collect(),
        on: run.on.clone(),
        label: run.label.clone(),
        repeat: 1,
        cache: run.cache,
        destroy: run.destroy.clone(),
    };
    settings.apply(&mut step);
    Plan {
        version: PLAN_VERSION,
        name: run.selector(),
        seed: Some(run.seed),
        steps: vec![step],
    }
}

type Params = BTreeMap<String, Vec<String>>;

/// Tells parameters from the one word that names something.
fn sort(words: &[String]) -> Result<(Option<&str>, Params), Failure> {
    let mut named = None;
    let mut params = Params::new();
    for word in words {
        match parameter(word) {
            Some((name, value)) => {
                let values = sweep::expand(value)
                    .map_err(|error| Failure::wrong_use(format_args!("{name}: {error}")))?;
                if params.insert(name.to_owned(), values).is_some() {
                    return Err(Failure::wrong_use(format_args!(
                        "{name} is given twice\n  write {name}=A,B to run with each of several values"
                    )));
                }
            }
            None => {
                if let Some(first) = named.replace(word.as_str()) {
                    return Err(Failure::wrong_use(format_args!(
                        "both \"{first}\" and \"{word}\" would be what shall run\n  parameters are written name=value; a plan file holds several tools"
                    )));
                }
            }
        }
    }
    Ok((named, params))
}

/// `name=value`; a path may hold an equals sign too, and begins with what no name holds.
fn parameter(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!name.is_empty() && name.chars().all(letter)).then_some((name, value))
}

fn named(
    name: &str,
    params: Params,
    tools: &'static [Tool],
    around: &Surroundings,
) -> Result<Plan, Failure> {
    let found = plan::find(tools, name);
    if found.is_ok() {
        return Ok(of_tool(name, params));
    }
    let (plan, what) = if let Some(plan) = built_in(name) {
        (file::read(name, plan.text)?, "a built-in plan")
    } else if name.ends_with(".toml") || name.contains('/') || around.cwd.join(name).is_file() {
        let text = fs::read_to_string(around.cwd.join(name)).map_err(|error| {
            Failure::wrong_use(format_args!(
                "cannot read the plan {name}: {error}\n  `kernmark plan {DEFAULT}` prints one to start from"
            ))
        })?;
        (file::read(name, &text)?, "a plan file")
    } else {
        let mut known = plan::selectors(tools);
        known.extend(BUILT_IN.iter().map(|plan| plan.name.to_owned()));
        let name = name.to_owned();
        return Err(PlanError::Tool { name, known }.into());
    };
    match params.keys().next() {
        None => Ok(plan),
        Some(param) => Err(Failure::wrong_use(format_args!(
            "{name} is {what} and has its own parameters: {param} cannot be given with it\n  edit a copy: kernmark plan {DEFAULT} > mine.toml"
        ))),
    }
}

fn of_tool(tool: &str, params: Params) -> Plan {
    Plan {
        version: PLAN_VERSION,
        name: tool.to_owned(),
        seed: None,
        steps: vec![Step {
            tool: tool.to_owned(),
            params,
            on: None,
            label: None,
            repeat: 1,
            cache: kernmark_model::plan::Cache::default(),
            destroy: None,
        }],
    }
}

#[cfg(test)]
mod tests {
    use kernmark_model::plan::{Cache, Program};
    use kernmark_tools::ALL;

    use super::*;

    fn around(cwd: &std::path::Path) -> Surroundings {
        Surroundings {
            variables: BTreeMap::new(),
            cwd: cwd.to_owned(),
            arguments: Vec::new(),
            user: 0,
            root: "/".into(),
        }
    }

    fn plan(words: &[&str]) -> Result<Plan, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        of_words(
            &words,
            &Settings::default(),
            ALL,
            &around("/nowhere".as_ref()),
        )
        .map_err(|failure| failure.error.unwrap().to_string())
    }

    #[test]
    fn words_mean_the_same_in_any_order() {
        let plans = [
            ["null", "workers=1,8", "seconds=60"],
            ["workers=1,8", "null", "seconds=60"],
            ["seconds=60", "workers=1,8", "null"],
        ];
        let plans = plans.map(|words| plan(&words).unwrap());
        assert_eq!(plans[0].steps[0].params["workers"], ["1", "8"]);
        assert!(plans.iter().all(|plan| *plan == plans[0]));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_message() {
        for (words, message) in [
            (&["workers=1"][..], "no tool is named"),
            (&["null", "null"], "both \"null\" and \"null\""),
            (&["null", "workers=1", "workers=2"], "given twice"),
            (&["null", "workers=8..1"], "never ends"),
            (&["null", "workers="], "empty value"),
            (&["nul"], "there is no tool \"nul\""),
            (&["missing.toml"], "cannot read the plan missing.toml"),
            (&["./missing"], "cannot read the plan ./missing"),
            (&["smoke", "workers=1"], "a built-in plan"),
            (&["=1"], "there is no tool \"=1\""),
        ] {
            let told = plan(words).unwrap_err();
            assert!(told.contains(message), "{words:?}: {told}");
        }
    }

    #[test]
    fn a_tool_goes_before_a_file_of_its_name_and_a_file_needs_no_ending() {
        let dir = tempfile::tempdir().unwrap();
        let text = "step = [{ tool = \"null\", label = \"from a file\" }]";
        for name in ["null", "mine", "x=y"] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let label = |word: &str| {
            let words = [word.to_owned()];
            let plan = of_words(&words, &Settings::default(), ALL, &around(dir.path())).unwrap();
            plan.steps[0].label.clone()
        };
        assert_eq!(label("null"), None);
        assert_eq!(label("mine").as_deref(), Some("from a file"));
        assert_eq!(label("./x=y").as_deref(), Some("from a file"));
    }

    #[test]
    fn every_built_in_plan_is_understood_and_says_what_it_is() {
        for built_in in BUILT_IN {
            assert!(built_in.about().len() > 10, "{}", built_in.name);
            let plan = plan(&[built_in.name]).unwrap();
            assert_eq!(plan.name, built_in.name);
            plan::resolve(&plan, ALL, &Program::default(), 1).unwrap();
        }
    }

    #[test]
    fn what_is_typed_beats_what_the_plan_says() {
        let settings = Settings {
            on: Some("/mnt/test".to_owned()),
            repeat: Some(3),
            cache: Some(Cache::Warm),
            ..Settings::default()
        };
        let words = ["smoke".to_owned()];
        let plan = of_words(&words, &settings, ALL, &around("/nowhere".as_ref())).unwrap();
        for step in &plan.steps {
            assert_eq!(step.on.as_deref(), Some("/mnt/test"));
            assert_eq!((step.repeat, step.cache), (3, Cache::Warm));
        }
    }

    #[test]
    fn a_run_made_again_has_every_value_of_the_first() {
        let first = plan(&[
            "null",
            "seconds=1500ms",
            "bytes=65537",
            "workers=2",
            "spawn=exec",
        ]);
        let resolved = plan::resolve(&first.unwrap(), ALL, &Program::default(), 7).unwrap();
        let again = like(&resolved[0], &Settings::default());
        let again = plan::resolve(&again, ALL, &Program::default(), 8).unwrap();
        assert_eq!(again, resolved);
    }
}
