//! Pages under `docs/` that are written from the code, and the check that they are current.

use anyhow::{Context, Result, bail};

use crate::command::root;

/// A page and what writes it.
struct Generated {
    path: &'static str,
    text: fn() -> String,
}

/// To add one, add a line.
const GENERATED: &[Generated] = &[Generated {
    path: "docs/schema.md",
    text: kernmark_store::schema_markdown,
}];

/// Writes every generated page.
pub(crate) fn write() -> Result<()> {
    for Generated { path, text } in GENERATED {
        std::fs::write(root().join(path), text()).with_context(|| format!("writing {path}"))?;
        println!("docs: wrote {path}");
    }
    Ok(())
}

/// Fails if a page on disk is not what the code would write now.
pub(crate) fn check() -> Result<()> {
    for Generated { path, text } in GENERATED {
        let text = text();
        let on_disk = std::fs::read_to_string(root().join(path))
            .with_context(|| format!("reading {path}"))?;
        if on_disk != text {
            let line = 1 + on_disk
                .lines()
                .zip(text.lines())
                .take_while(|(a, b)| a == b)
                .count();
            bail!("{path} is not current from line {line} on: run `cargo xtask docs`");
        }
    }
    Ok(())
}
