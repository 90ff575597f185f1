//! Hands the compiler's version, target and optimisation level to the program, which stores them
//! beside every number.
#![expect(
    clippy::disallowed_methods,
    reason = "the environment is how cargo talks to a build script"
)]

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    // A compiler that does not tell its version leaves it unknown.
    if let Ok(output) = Command::new(rustc).arg("--version").output()
        && let Ok(version) = String::from_utf8(output.stdout)
    {
        println!("cargo::rustc-env=KERNMARK_RUSTC={}", version.trim());
    }
    for (variable, name) in [
        ("TARGET", "KERNMARK_TARGET"),
        ("OPT_LEVEL", "KERNMARK_OPT_LEVEL"),
    ] {
        if let Ok(value) = env::var(variable) {
            println!("cargo::rustc-env={name}={value}");
        }
    }
}
