//! `kernmark link`: links by which this program is called under the originals' names.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Context, personality};
use crate::args::Link;
use crate::exit::{Exit, Failure};

pub(super) fn run(command: &Link, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::need(format_args!("cannot tell where this program lies: {error}"))
    })?;
    let folder = context.around.cwd.join(&command.folder);
    let missing = wanted(&folder, &program)?;
    for link in &missing {
        symlink(&program, link).map_err(|error| {
            Failure::need(format_args!("cannot make {}: {error}", link.display()))
        })?;
    }
    let quiet = context.common.quiet;
    context.print(|out| {
        if quiet {
            return Ok(());
        }
        missing
            .iter()
            .try_for_each(|link| writeln!(out, "{} -> {}", link.display(), program.display()))
    })?;
    Ok(Exit::Done)
}

/// The links that are not there yet. Whatever else has one of their names is not ours: then none is made.
fn wanted(folder: &Path, program: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut missing = Vec::new();
    for name in personality::names() {
        let link = folder.join(name);
        match fs::symlink_metadata(&link) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.is_dir() => {
                missing.push(link)
            }
            Err(error) => {
                return Err(Failure::need(format_args!(
                    "cannot make {}: {error}\n  name a folder that exists",
                    link.display()
                )));
            }
            Ok(_) if fs::read_link(&link).is_ok_and(|to| to == program) => {}
            Ok(_) => {
                return Err(Failure::need(format_args!(
                    "{} exists and does not lead to this program: it was left alone, and no link was made\n  move it away, or name another folder",
                    link.display()
                )));
            }
        }
    }
    Ok(missing)
}
