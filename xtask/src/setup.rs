//! Installs what tests would otherwise skip for: Debian's packages, as root, only those whose program is missing.

use std::process::{Command, Stdio};

use anyhow::Result;
use kernmark_sys::process::effective_user;
use kernmark_sys::testing::program;

use crate::command::run as finish;

/// A program that some test starts, and the Debian package it comes in.
const NEEDED: &[(&str, &str)] = &[
    ("strace", "strace"),
    ("unshare", "util-linux"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("dbench", "dbench"),
    ("fio", "fio"),
    ("sqlite3", "sqlite3"),
];

/// Never fails for want of root or apt: a test that lacks a program is skipped by name.
pub(crate) fn run() -> Result<()> {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(name, _)| program(name).is_none())
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        println!("setup: nothing to install");
        return Ok(());
    }
    let list = missing.join(" ");
    if program("apt-get").is_none() {
        println!("setup: no apt-get here; tests that need these packages are skipped: {list}");
        return Ok(());
    }
    if effective_user() != 0 {
        println!("setup: not root; tests that need these packages are skipped: {list}");
        return Ok(());
    }
    println!("setup: installing {list}");
    finish(apt_get().arg("update"))?;
    finish(
        apt_get()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(&missing),
    )
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command
        .arg("-qq")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    command
}
