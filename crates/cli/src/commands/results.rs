//! What is shown when runs were made.

use kernmark_model::plan::Params;
use kernmark_report::{Form, RunLine, run_in_short, run_text, runs_text};
use kernmark_store::{Detail, Selection, Store, StoreError};

use super::Context;
use crate::exit::{Failure, complain};
use crate::workshop::{Made, short};

/// More runs than this are shown as lines of a table only.
const MOST_IN_WORDS: usize = 12;

/// Shows the runs that were made, where they are stored, and what may be typed next. A stream of events has told all of
/// that.
pub(super) fn show(made: &Made, store: &Store, context: &mut Context<'_>) -> Result<(), Failure> {
    let [first, ..] = made.runs.as_slice() else {
        return Ok(());
    };
    let mut next = format!("kernmark run --like {} makes it again", short(*first));
    if made.runs.len() > 1 {
        let several = several(made, store)?;
        let by = several.varied.as_deref().unwrap_or("label");
        next =
            format!("kernmark compare --by {by} compares stored runs, kernmark show RUN shows one");
        if !context.common.json {
            context.print(|out| out.write_all(several.text.as_bytes()))?;
        }
    } else if !context.common.json {
        let text = run_text(&store.run(first)?, Form::Text);
        context.print(|out| out.write_all(text.as_bytes()))?;
    }
    if !context.common.quiet {
        // On a terminal the two streams are one, and this comes last.
        context.print(|out| out.flush())?;
        complain(format_args!(
            "stored in {}\n  {next}",
            store.path().display()
        ));
    }
    Ok(())
}

/// Several runs, as they are shown.
struct Several {
    /// A table, then each run in its headline and its doubts.
    text: String,
    /// A parameter that is not the same in all of them.
    varied: Option<String>,
}

fn several(made: &Made, store: &Store) -> Result<Several, Failure> {
    let selection = Selection {
        runs: made.runs.clone(),
        ..Selection::default()
    };
    let in_words = made.runs.len() <= MOST_IN_WORDS;
    let detail = if in_words {
        Detail::Full
    } else {
        Detail::Figures
    };
    let mut lines = Vec::new();
    let mut sentences = String::new();
    let mut first: Option<Params> = None;
    let mut varied = None;
    store.each(&selection, detail, |run| {
        lines.push(RunLine::of(&run));
        if in_words {
            sentences.push('\n');
            sentences.push_str(&run_in_short(&run, Form::Text));
        }
        let params = run.plan.params;
        let first = &first.get_or_insert_with(|| params.clone()).0;
        let other = params
            .0
            .iter()
            .find(|(name, value)| first.get(*name) != Some(*value));
        varied = varied.take().or_else(|| Some(other?.0.clone()));
        Ok::<(), StoreError>(())
    })?;
    Ok(Several {
        text: runs_text(&lines, Form::Text) + &sentences,
        varied,
    })
}
