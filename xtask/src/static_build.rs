//! The program as it is handed out: one static file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::command::{cargo, output, root, run as finish};
use crate::elf;

/// The largest file we hand out.
const MOST_BYTES: u64 = 16 << 20;

/// What `--version` should take at most; told, never failed for, since it is a time on a machine that others may use.
const START: Duration = Duration::from_millis(5);

/// Builds it. Returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    let target = host()?;
    finish(
        cargo(&[
            "build",
            "--locked",
            "--release",
            "--package",
            "kernmark-cli",
        ])
        .args(["--target", &target, "--target-dir"])
        .arg(root().join("target"))
        // With --target given, build scripts and macros are spared these flags.
        .env("RUSTFLAGS", "-C target-feature=+crt-static"),
    )?;
    Ok(root().join("target").join(target).join("release/kernmark"))
}

/// Builds it, checks that it is static and small, tells its start time. Returns its path.
pub(crate) fn run() -> Result<PathBuf> {
    let program = build()?;
    let file = std::fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
    ensure!(
        !elf::has_interpreter(&file).with_context(|| program.display().to_string())?,
        "{} asks for a dynamic loader",
        program.display()
    );
    let size = u64::try_from(file.len())?;
    println!(
        "{}: static, {:.1} MiB",
        program.display(),
        kernmark_model::units::Bytes(size).as_mib()
    );
    ensure!(
        size <= MOST_BYTES,
        "{size} bytes are more than {MOST_BYTES}"
    );

    let start = start_time(&program)?;
    let verdict = if start > START {
        "slower than"
    } else {
        "within"
    };
    println!(
        "--version: {:.1} ms, {verdict} {} ms",
        start.as_secs_f64() * 1e3,
        START.as_millis()
    );
    Ok(program)
}

/// The shortest of 20 times from fork to exit of `--version`: what the program itself costs, less the neighbours.
pub(crate) fn start_time(program: &Path) -> Result<Duration> {
    let mut shortest = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        finish(Command::new(program).arg("--version").stdout(Stdio::null()))?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

/// The compiler's own target triple; the static program is built for the machine it is tested on.
fn host() -> Result<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("`rustc -vV` names no host")
}
