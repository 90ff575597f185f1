//! `kernmark compare`: stored runs against each other.

use kernmark_model::comparison::{Comparison, Metrics, Question, Verdict, compare};
use kernmark_report::{Form, comparisons_text};
use kernmark_store::Detail;

use super::Context;
use crate::args::Compare;
use crate::exit::{Exit, Failure};
use crate::output::json_line;

pub(super) fn run(command: &Compare, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let store = context.store()?;
    let selection = command.which.selection(&store)?;
    let runs = store.load(&selection, Detail::Figures)?;
    let question = Question {
        by: command.by.clone(),
        baseline: command.baseline.clone(),
        metrics: match command.metric.as_slice() {
            [] => Metrics::Primary,
            [all] if all == "all" => Metrics::All,
            named => Metrics::Named(named.to_vec()),
        },
        margin: command.margin,
    };
    let comparisons = compare(&runs, &question)?;
    let json = context.common.json;
    context.print(|out| {
        if json {
            return comparisons
                .iter()
                .try_for_each(|table| json_line(out, table));
        }
        out.write_all(comparisons_text(&comparisons, Form::Text).as_bytes())
    })?;
    Ok(match command.fail_if {
        Some(_) => judged(&comparisons),
        None => Exit::Done,
    })
}

/// Is a row worse? Only the deciding metric counts; done means that each row is as good as the baseline, or better.
fn judged(comparisons: &[Comparison]) -> Exit {
    let deciding = comparisons.iter().filter(|table| !table.screen);
    let mut vouched = false;
    let mut open = false;
    for verdict in deciding
        .flat_map(|table| &table.rows)
        .map(|row| &row.verdict)
    {
        match verdict {
            Verdict::Worse => return Exit::Worse,
            Verdict::Better | Verdict::Equivalent => vouched = true,
            Verdict::Baseline => {}
            _ => open = true,
        }
    }
    if vouched && !open {
        Exit::Done
    } else {
        Exit::Inconclusive
    }
}
