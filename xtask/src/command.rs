//! Other programs: found, run, and named in errors as a person would type them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The checkout's top folder.
pub(crate) fn root() -> &'static Path {
    let chores = Path::new(env!("CARGO_MANIFEST_DIR"));
    chores.parent().unwrap_or(chores)
}

/// A folder below `target` for what chores leave behind, made if absent.
pub(crate) fn scratch() -> Result<PathBuf> {
    let path = root().join("target/xtask");
    std::fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
    Ok(path)
}

/// Cargo, in the checkout.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments);
    command
}

/// Runs it to its end with our own streams; anything but exit code 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting `{}`", typed(command)))?;
    if !status.success() {
        bail!("`{}`: {status}", typed(command));
    }
    Ok(())
}

/// Runs it and returns what it printed on stdout; anything but exit code 0 is an error that shows its stderr.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting `{}`", typed(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}`: {}\n{}",
            typed(command),
            output.status,
            said.trim_end()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed what is not UTF-8", typed(command)))
}

/// The program and its arguments, without quoting: for messages.
fn typed(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}
