//! Figures of our own that need no original: told, never judged.

use anyhow::Result;

use crate::static_build;
use crate::versus::null;

/// Start time and null engine rate.
pub(crate) fn run() -> Result<()> {
    let program = static_build::run()?; // which tells the start time
    let rate = null::our_rate(&program, 5)?;
    println!("null engine: {:.1} million ops/s", rate / 1e6);
    Ok(())
}
