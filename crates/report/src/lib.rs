//! Tables and words over runs and comparisons, fit for a mail: plain text, at most [`WIDTH`] columns wide, or Markdown.
//!
//! Everything here takes what the model holds and returns a text that ends with a line feed. Texts that came from
//! outside (labels, paths, imported names) are shown with control characters escaped, and shortened with `…` where a
//! table would grow too wide; what was shortened is spelled out below the table.
#![forbid(unsafe_code)]

mod comparison;
mod machine;
mod number;
mod run;
mod runs;
mod seconds;
mod table;
mod text;
mod tools;
pub mod words;

pub use comparison::{comparison_text, comparisons_text};
pub use machine::{machine_diff_text, machine_text};
pub use run::run_text;
pub use runs::{RunLine, run_in_short, runs_text};
pub use table::WIDTH;
pub use tools::{ParamLine, ToolLine, params_text, tools_text};

/// What a text is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// A terminal or a mail: aligned columns, at most [`WIDTH`] wide.
    #[default]
    Text,
    /// Markdown: tables with bars, nothing shortened.
    Markdown,
}

#[cfg(test)]
mod tests;
