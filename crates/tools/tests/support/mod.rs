//! What the tests of tools share: a runner in a folder of its own, and ears.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "each test file uses its part"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kernmark_engine::journal::Journal;
use kernmark_engine::plan::resolve;
use kernmark_engine::runner::{Manner, RunEnd, RunError, Runner};
use kernmark_engine::script::Script;
use kernmark_engine::tool::Invocation;
use kernmark_model::event::{Event, EventBody, Sink, SinkError, Tick};
use kernmark_model::plan::{Cache, PLAN_VERSION, Plan, Program, RunPlan, Step};
use kernmark_model::run::{Phase, Run};
use kernmark_tools::ALL;

/// Does something on hearing an event.
pub type Ear = Box<dyn FnMut(&Event)>;

/// Keeps everything that was told, and does something on hearing it.
#[derive(Default)]
pub struct Heard {
    pub events: Vec<Event>,
    pub on_event: Option<Ear>,
}

impl Sink for Heard {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        if let Some(act) = &mut self.on_event {
            act(event);
        }
        self.events.push(event.clone());
        Ok(())
    }
}

impl Heard {
    pub fn phases(&self) -> Vec<&Phase> {
        let bodies = self.events.iter().map(|event| &event.body);
        bodies
            .filter_map(|body| match body {
                EventBody::PhaseFinished { phase } => Some(&**phase),
                _ => None,
            })
            .collect()
    }

    pub fn phase(&self, name: &str) -> &Phase {
        self.phases()
            .into_iter()
            .find(|phase| phase.name == name)
            .unwrap_or_else(|| panic!("no phase {name}"))
    }

    pub fn ticks(&self) -> Vec<&Tick> {
        let bodies = self.events.iter().map(|event| &event.body);
        bodies
            .filter_map(|body| match body {
                EventBody::Tick(tick) => Some(tick),
                _ => None,
            })
            .collect()
    }

    pub fn notes(&self) -> Vec<&str> {
        let bodies = self.events.iter().map(|event| &event.body);
        bodies
            .filter_map(|body| match body {
                EventBody::Note { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub fn finished(&self) -> &Run {
        match &self.events.last().unwrap().body {
            EventBody::RunFinished { run } => run,
            other => panic!("the last event is {other:?}"),
        }
    }
}

/// The run that `text` means: `dbench clients=2 seconds=1`.
pub fn plan(text: &str, on: Option<&Path>) -> RunPlan {
    let mut words = text.split_whitespace();
    let tool = words.next().unwrap().to_owned();
    let params = words.map(|word| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), vec![value.to_owned()])
    });
    let step = Step {
        tool,
        params: params.collect(),
        on: on.map(|path| path.to_str().unwrap().to_owned()),
        label: None,
        repeat: 1,
        cache: Cache::Unchanged,
        destroy: None,
    };
    let plan = Plan {
        version: PLAN_VERSION,
        name: "test".into(),
        seed: Some(1),
        steps: vec![step],
    };
    resolve(&plan, ALL, &Program::default(), 0)
        .unwrap()
        .remove(0)
}

/// A folder with an undo journal and a directory to measure in; the directory must be empty in the end.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        Self { folder }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file beside the directory.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn runner(&self) -> Runner<'static> {
        let journal = Journal::open(&self.folder.path().join("undo")).unwrap();
        Runner::new(
            ALL,
            Program::default(),
            self.folder.path().to_owned(),
            journal,
        )
    }

    /// Makes a run and hears all of it.
    pub fn run(&self, text: &str) -> (RunEnd, Heard) {
        let mut heard = Heard::default();
        let end = self.run_with(text, None, &mut heard).unwrap();
        (end, heard)
    }

    pub fn run_with(
        &self,
        text: &str,
        script: Option<Script>,
        heard: &mut Heard,
    ) -> Result<RunEnd, RunError> {
        let mut runner = self.runner();
        runner.script = script;
        runner.run(
            &plan(text, Some(&self.data())),
            Manner::default(),
            &mut std::io::empty(),
            heard,
        )
    }

    /// Runs a personality; its exit code, stdout and stderr.
    pub fn personality(&self, name: &str, args: &str) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let main = ALL
            .iter()
            .flat_map(|tool| tool.personalities)
            .find(|personality| personality.names.contains(&name))
            .unwrap()
            .main;
        let mut call = Invocation {
            args: args.split_whitespace().map(OsString::from).collect(),
            env: Default::default(),
            cwd: self.folder.path().to_owned(),
            stdin: &mut std::io::empty(),
            out: &mut out,
            err: &mut err,
        };
        let code = main(&mut call, &mut self.runner());
        (
            code,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    }

    /// What is in the directory now.
    pub fn left(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.data())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
