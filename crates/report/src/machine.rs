//! A machine and a target, and what two of them differ in.

use kernmark_model::machine::{Difference, Fact, Machine, Target, summary};

use crate::Form;
use crate::table::WIDTH;
use crate::text::{clean, definitions, markdown, paragraph, width, wrap};

const NOT_RECORDED: &str = "(not recorded)";

/// Everything known of a machine, and of a target on it: one sentence, then a line for each fact.
pub fn machine_text(machine: &Machine, target: Option<&Target>, form: Form) -> String {
    let mut out = String::new();
    let sentence = summary(machine, target);
    if !sentence.is_empty() {
        out += &paragraph(&sentence, form);
        out.push('\n');
    }
    let named = |record: &str, facts: Vec<Fact>| {
        facts
            .into_iter()
            .map(|fact| (format!("{record}.{}", fact.key), fact.value))
            .collect::<Vec<_>>()
    };
    let mut entries = named("machine", machine.facts());
    entries.extend(
        target
            .map(|target| named("target", target.facts()))
            .unwrap_or_default(),
    );
    if entries.is_empty() {
        return paragraph("nothing is recorded of this machine", form);
    }
    out + &definitions(&entries, form)
}

/// The facts in which two machines or targets differ, called by these names.
pub fn machine_diff_text(
    first: &str,
    second: &str,
    differences: &[Difference],
    form: Form,
) -> String {
    let (first, second) = (clean(first), clean(second));
    if differences.is_empty() {
        let text = format!("{first} and {second} differ in no fact that both record");
        return paragraph(&text, form);
    }
    let known = |value: &Option<String>| clean(value.as_deref().unwrap_or(NOT_RECORDED));
    match form {
        Form::Markdown => {
            let row = |cells: [&str; 3]| {
                let cells = cells.map(markdown);
                format!("| {} | {} | {} |\n", cells[0], cells[1], cells[2])
            };
            let head = row(["fact", &first, &second]) + "|---|---|---|\n";
            let rows = differences.iter().map(|difference| {
                row([
                    &clean(&difference.key),
                    &known(&difference.first),
                    &known(&difference.second),
                ])
            });
            head + &rows.collect::<String>()
        }
        Form::Text => {
            let mut out = wrap("- ", &first, 2) + &wrap("+ ", &second, 2) + "\n";
            for difference in differences {
                let key = clean(&difference.key);
                let (from, to) = (known(&difference.first), known(&difference.second));
                let line = format!("{key}: {from} -> {to}");
                if width(&line) <= WIDTH {
                    out += &format!("{line}\n");
                } else {
                    out += &wrap("", &key, 2);
                    out += &wrap("  - ", &from, 4);
                    out += &wrap("  + ", &to, 4);
                }
            }
            out
        }
    }
}
