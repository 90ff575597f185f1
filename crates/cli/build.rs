//! Hands the program its version with the commit it is built from.
#![expect(
    clippy::disallowed_methods,
    reason = "the environment is how cargo talks to a build script"
)]

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // Built from an archive, or without git: the commit stays unknown.
    let shown = match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) => {
            println!("cargo::rustc-env=KERNMARK_COMMIT={commit}");
            format!("{version} ({commit})")
        }
        None => version,
    };
    println!("cargo::rustc-env=KERNMARK_VERSION={shown}");
    // The log changes with every commit and check-out; HEAD and its branch do where no log is kept.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["logs/HEAD", "HEAD"].into_iter().chain(branch.as_deref()) {
        // A file that is not there would make cargo run this every time.
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
