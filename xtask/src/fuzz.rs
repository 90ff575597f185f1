//! Feeds a parser nonsense: cargo-fuzz over `fuzz/`, a workspace of its own that `ci` never builds.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use kernmark_sys::testing::program;

use crate::command::{cargo, root, run as finish};

/// Runs one target for so many seconds, beginning with every sample text of every tool.
pub(crate) fn run(target: &str, seconds: u64) -> Result<()> {
    if program("cargo-fuzz").is_none() {
        bail!("cargo-fuzz is not installed: `cargo install cargo-fuzz`");
    }
    let fuzz = root().join("fuzz");
    if !fuzz
        .join("fuzz_targets")
        .join(target)
        .with_extension("rs")
        .is_file()
    {
        bail!("no target is called {target:?}: see fuzz/fuzz_targets");
    }
    let corpus = fuzz.join("corpus").join(target);
    std::fs::create_dir_all(&corpus).with_context(|| format!("making {}", corpus.display()))?;
    finish(
        cargo(&["+nightly", "fuzz", "run", target])
            .arg(corpus)
            .args(samples()?)
            .args(["--", &format!("-max_total_time={seconds}")]),
    )
}

/// The folders of sample texts, and what is kept for fuzzing alone. All of them for every target: a text of another
/// format is good nonsense.
fn samples() -> Result<Vec<PathBuf>> {
    let tools = root().join("crates/tools/src");
    let mut folders = vec![root().join("fuzz/seeds")];
    for entry in tools
        .read_dir()
        .with_context(|| format!("listing {}", tools.display()))?
    {
        let samples = entry?.path().join("samples");
        if samples.is_dir() {
            folders.push(samples);
        }
    }
    Ok(folders)
}
