//! The one test command. What it runs is all that the pipeline runs.
//!
//! Every step runs, whatever failed before it; the workspace's tests come last, so that their summary stands right
//! above ours. Tests that cannot run here append their names to the file named by [`SKIP_LOG`]
//! (`kernmark_sys::testing::skip`); they are listed and counted at the end.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use kernmark_sys::testing::program;

use crate::command::{cargo, run as finish, scratch};
use crate::{docs, static_build};

/// Names the file that skipped tests append themselves to.
const SKIP_LOG: &str = "KERNMARK_SKIP_LOG";

/// Names the program that the command line's tests start. Without it they start the one that cargo built for them;
/// with it the same suite runs over the static program.
const TEST_PROGRAM: &str = "KERNMARK_TEST_PROGRAM";

struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step {
        name: "Cargo.lock is current",
        run: lock,
    },
    Step {
        name: "format",
        run: |_| finish(&mut cargo(&["fmt", "--all", "--check"])),
    },
    Step {
        name: "lints",
        run: |_| finish(&mut lints()),
    },
    Step {
        name: "generated pages are current",
        run: |_| docs::check(),
    },
    Step {
        name: "documentation",
        run: |_| finish(&mut documentation()),
    },
    Step {
        name: "documentation tests",
        run: documentation_tests,
    },
    Step {
        name: "static program",
        run: |_| static_build::run().map(drop),
    },
    Step {
        name: "command line, static program",
        run: static_suite,
    },
    Step {
        name: "tests",
        run: tests,
    },
];

/// Runs all steps; the exit code says whether all of them passed.
pub(crate) fn run() -> Result<ExitCode> {
    let skip_log = scratch()?.join("skipped.txt");
    std::fs::write(&skip_log, "").with_context(|| format!("emptying {}", skip_log.display()))?;

    let start = Instant::now();
    let mut summary = String::new();
    let mut failed = 0;
    for (index, step) in STEPS.iter().enumerate() {
        println!("\n== {}/{}: {}", index + 1, STEPS.len(), step.name);
        let step_start = Instant::now();
        let result = (step.run)(&skip_log);
        let seconds = step_start.elapsed().as_secs_f64();
        let line = match result {
            Ok(()) => format!("ok     {seconds:6.1} s  {}", step.name),
            Err(error) => {
                failed += 1;
                format!("FAILED {seconds:6.1} s  {}: {error:#}", step.name)
            }
        };
        println!("{line}");
        summary.push_str(&format!("  {line}\n"));
    }

    let log = std::fs::read_to_string(&skip_log)
        .with_context(|| format!("reading {}", skip_log.display()))?;
    // A test of the command line is skipped once for each program it would have started.
    let skipped: BTreeSet<&str> = log.lines().collect();
    println!("\n== tests skipped: {}", skipped.len());
    for line in &skipped {
        println!("  {line}");
    }
    println!(
        "\n== summary, {:.0} s\n{summary}",
        start.elapsed().as_secs_f64()
    );
    Ok(if failed == 0 {
        println!("ci: all {} steps ok", STEPS.len());
        ExitCode::SUCCESS
    } else {
        println!("ci: {failed} of {} steps FAILED", STEPS.len());
        ExitCode::FAILURE
    })
}

/// Resolves all dependencies as they are locked; unlike `cargo metadata` it fetches none of other platforms.
fn lock(_: &Path) -> Result<()> {
    finish(cargo(&["tree", "--locked", "--workspace"]).stdout(Stdio::null()))
}

fn lints() -> Command {
    let scope = ["clippy", "--locked", "--workspace", "--all-targets"];
    let mut command = cargo(&scope);
    command.args(["--", "-D", "warnings"]);
    command
}

fn documentation() -> Command {
    // Private items too: it is authors of this project who read it.
    let scope = [
        "--locked",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ];
    let mut command = cargo(&["doc"]);
    command.args(scope);
    // With private items documented, links to them lead somewhere.
    command.env(
        "RUSTDOCFLAGS",
        "-D warnings -A rustdoc::private_intra_doc_links",
    );
    command
}

fn documentation_tests(skip_log: &Path) -> Result<()> {
    finish(cargo(&["test", "--locked", "--doc", "--workspace"]).env(SKIP_LOG, skip_log))
}

fn static_suite(skip_log: &Path) -> Result<()> {
    let program = static_build::build()?;
    finish(
        suite(&["--package", "kernmark-cli", "--test", "*"])
            .env(TEST_PROGRAM, program)
            .env(SKIP_LOG, skip_log),
    )
}

fn tests(skip_log: &Path) -> Result<()> {
    finish(suite(&["--workspace", "--lib", "--bins", "--tests"]).env(SKIP_LOG, skip_log))
}

/// nextest over the scope, or cargo's own runner where nextest is not installed.
fn suite(scope: &[&str]) -> Command {
    let mut command = if program("cargo-nextest").is_some() {
        cargo(&["nextest", "run", "--locked"])
    } else {
        println!("cargo-nextest is not installed: running `cargo test` instead");
        cargo(&["test", "--locked", "--no-fail-fast"])
    };
    command.args(scope);
    command
}
