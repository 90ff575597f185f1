//! Text from outside made fit to print: cleaned, shortened, wrapped.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Form;
use crate::table::WIDTH;

/// Control characters, direction marks and other invisible ones as escapes; everything else as it is.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            // What is not printed as one mark of its own could hide, or turn round, what stands beside it.
            c if c.width().unwrap_or(0) == 0 => out.extend(c.escape_default()),
            c => out.extend(c.escape_debug()),
        }
    }
    out
}

/// Columns that a cleaned text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `most` columns, its end replaced by `…` where it is longer.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept) + 1 > most {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// Lines of at most [`WIDTH`] columns: `start`, which is never broken, then `text` (both cleaned); further lines are
/// indented by `hang`. A word that fills more than a line is cut.
pub(crate) fn wrap(start: &str, text: &str, hang: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = start.to_owned();
    let mut used = width(start);
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !empty && used + 1 + width(word) > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".repeat(hang)));
            (used, empty) = (hang, true);
        }
        if !empty {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > WIDTH {
                lines.push(std::mem::replace(&mut line, " ".repeat(hang)));
                used = hang;
            }
            line.push(c);
            used += wide;
        }
        empty = false;
    }
    lines.push(line);
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// A paragraph from parts that may come from outside.
pub(crate) fn paragraph(text: &str, form: Form) -> String {
    match form {
        Form::Text => wrap("", &clean(text), 0),
        Form::Markdown => format!("{}\n", markdown(&clean(text))),
    }
}

/// Entries of a list, one to a paragraph.
pub(crate) fn bullets(items: &[String], form: Form) -> String {
    items
        .iter()
        .map(|item| match form {
            Form::Text => wrap("- ", &clean(item), 2),
            Form::Markdown => format!("- {}\n", markdown(&clean(item))),
        })
        .collect()
}

/// A line that heads what follows.
pub(crate) fn heading(text: &str, form: Form) -> String {
    match form {
        Form::Text => wrap("", &clean(text), 2),
        Form::Markdown => format!("### {}\n\n", markdown(&clean(text))),
    }
}

/// Characters that Markdown would take for its own, escaped; for cleaned text.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '[' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Names and their meanings: the names in a column where they are short, the meanings wrapped beside it.
pub(crate) fn definitions(entries: &[(String, String)], form: Form) -> String {
    if form == Form::Markdown {
        return entries
            .iter()
            .map(|(name, meaning)| {
                let (name, meaning) = (markdown(&clean(name)), markdown(&clean(meaning)));
                format!("- **{name}**: {meaning}\n")
            })
            .collect();
    }
    const LONGEST_NAME: usize = 38;
    let entries: Vec<(String, String)> = entries
        .iter()
        .map(|(name, meaning)| (clean(name), clean(meaning)))
        .collect();
    let column = entries
        .iter()
        .map(|(name, _)| width(name))
        .filter(|width| *width <= LONGEST_NAME)
        .max()
        .unwrap_or(0)
        + 2;
    let mut out = String::new();
    for (name, meaning) in entries {
        let fits = width(&name) + 2 <= column;
        if !fits {
            out += &wrap("", &name, 2);
        }
        let start = if fits { name } else { String::new() };
        let gap = " ".repeat(column - width(&start));
        out += &wrap(&format!("{start}{gap}"), &meaning, column);
    }
    out
}
