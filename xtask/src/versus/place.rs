//! Where the files of a run lie: a tmpfs of our own, or an ext4 image in it.
//!
//! The chore moves into a mount namespace of its own first, so nobody else sees these mounts, and the kernel drops
//! them, and the loop device under the image, with the last process.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::{fmt, fs};

use anyhow::{Context, Result, bail, ensure};
use kernmark_model::units::Bytes;
use kernmark_sys::process::effective_user;
use kernmark_sys::testing::program;

use crate::command::run as finish;

/// Where we mount, in our own namespace. Short, as the paths under it are part of the work.
const TOP: &str = "/run/kernmark-versus";

/// Set for the process inside of the namespace, so that it does not enter another.
const INSIDE: &str = "KERNMARK_VERSUS_INSIDE";

/// A kind of filesystem to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tmpfs,
    Ext4,
}

impl FromStr for Place {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "tmpfs" => Place::Tmpfs,
            "ext4" => Place::Ext4,
            _ => bail!("{text:?} is neither tmpfs nor ext4"),
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Tmpfs => "tmpfs",
            Place::Ext4 => "ext4",
        })
    }
}

/// Starts this process again in a private mount namespace; returns only there.
pub(super) fn enter() -> Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a message from this process to itself"
    )]
    if std::env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    ensure!(
        effective_user() == 0,
        "mounting a tmpfs and an ext4 image of our own needs root"
    );
    let unshare = program("unshare").context("no unshare here (Debian package util-linux)")?;
    let error = Command::new(unshare)
        .args(["--mount", "--propagation", "private"])
        .arg(std::env::current_exe().context("finding this program")?)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .exec();
    Err(error).context("starting unshare")
}

/// A mounted place; dropping it takes it away again.
pub(super) struct Mounted {
    /// What lies over [`TOP`], one on the other.
    layers: usize,
}

impl Mounted {
    /// Mounts it, empty, with room for so many bytes.
    pub(super) fn new(place: Place, room: Bytes) -> Result<Self> {
        fs::create_dir_all(TOP).with_context(|| format!("making {TOP}"))?;
        let mut mounted = Self { layers: 0 };
        match place {
            Place::Tmpfs => mounted.tmpfs(room)?,
            Place::Ext4 => {
                // The journal, the inode tables and what the allocator keeps free.
                let image_size = Bytes(room.0 + room.0 / 4 + Bytes::mib(256).0);
                mounted.tmpfs(Bytes(image_size.0 + Bytes::mib(64).0))?;
                mounted.ext4(image_size)?;
            }
        }
        Ok(mounted)
    }

    fn tmpfs(&mut self, size: Bytes) -> Result<()> {
        finish(Command::new("mount").args([
            "-t",
            "tmpfs",
            "-o",
            &format!("size={}", size.0),
            "kernmark-versus",
            TOP,
        ]))?;
        self.layers += 1;
        Ok(())
    }

    /// An image in the layer below, mounted over it.
    fn ext4(&mut self, size: Bytes) -> Result<()> {
        let image = Path::new(TOP).join("image");
        fs::File::create(&image)
            .and_then(|file| file.set_len(size.0))
            .with_context(|| format!("making {}", image.display()))?;
        let mkfs = program("mkfs.ext4").context("no mkfs.ext4 (Debian package e2fsprogs)")?;
        finish(
            // Nothing is left to initialise behind the measurement's back.
            Command::new(mkfs)
                .args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"])
                .arg(&image),
        )?;
        finish(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(&image)
                .arg(TOP),
        )?;
        self.layers += 1;
        Ok(())
    }

    /// Makes a fresh folder for one run; what an earlier run left goes first.
    pub(super) fn fresh_folder(&self) -> Result<PathBuf> {
        let folder = Path::new(TOP).join("run");
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("removing {}", folder.display()))?;
        }
        fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
        finish(Command::new("sync").args(["--file-system", TOP]))?;
        Ok(folder)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for _ in 0..self.layers {
            if let Err(error) = finish(Command::new("umount").arg(TOP)) {
                // The namespace ends with us, and the mount with it.
                eprintln!("warning: {error:#}");
            }
        }
        // Fails where somebody else's run is mounted too, who will remove it.
        let _ = fs::remove_dir(TOP);
    }
}

/// Takes so much memory, writes to every page and gives it back.
///
/// A virtual machine hands idle memory to its host and pays for it again at the first touch; the run that came first
/// would pay for both.
pub(super) fn touch_memory(room: Bytes) -> Result<()> {
    let mut memory = vec![0_u8; usize::try_from(room.0)?];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    std::hint::black_box(&memory);
    Ok(())
}
