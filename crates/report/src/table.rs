//! Tables of aligned columns that fit a mail.

use std::collections::HashMap;

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid};

use crate::Form;
use crate::text::{clean, markdown, shorten, width, wrap};

/// Columns of a mail; no line of a text is wider.
pub const WIDTH: usize = 80;

/// Blanks between two columns.
const GAP: usize = 2;
/// A column of words is not shortened below this.
const NARROWEST: usize = 8;

/// How a column is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Words, to the left; shortened where the table is too wide.
    Words,
    /// Numbers and their units, to the right; never shortened.
    Number,
    /// Short words of ours, to the left; never shortened.
    Mark,
}

/// Rows in the making.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Column)]) -> Self {
        Self {
            heads: columns.iter().map(|(head, _)| clean(head)).collect(),
            columns: columns.iter().map(|(_, column)| *column).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows
            .push(cells.iter().map(|cell| clean(cell)).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table; below it what was shortened. Columns without any content are left out.
    pub(crate) fn print(mut self, form: Form) -> String {
        self.drop_empty_columns();
        match form {
            Form::Markdown => {
                for cell in self.rows.iter_mut().flatten() {
                    *cell = markdown(cell);
                }
                self.grid(form) + "\n"
            }
            Form::Text => {
                let legend = self.fit();
                let mut text = self.grid(form) + "\n";
                for (short, long) in legend {
                    text += &wrap(&format!("{short}: "), &long, 2);
                }
                text
            }
        }
    }

    fn drop_empty_columns(&mut self) {
        let filled: Vec<bool> = (0..self.columns.len())
            .map(|column| self.rows.iter().any(|row| !row[column].is_empty()))
            .collect();
        let mut kept = filled.iter();
        self.columns.retain(|_| kept.next() == Some(&true));
        for cells in self.rows.iter_mut().chain([&mut self.heads]) {
            let mut kept = filled.iter();
            cells.retain(|_| kept.next() == Some(&true));
        }
    }

    fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or(0).max(width(&self.heads[column]))
    }

    /// Shortens words until the table fits; what was shortened, and to what, each once.
    fn fit(&mut self) -> Vec<(String, String)> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|column| self.width_of(column))
            .collect();
        let gaps = GAP * widths.len().saturating_sub(1);
        loop {
            let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(WIDTH);
            // Always from the widest, so that no column starves another.
            let widest = (0..widths.len())
                .filter(|column| self.columns[*column] == Column::Words)
                .max_by_key(|column| widths[*column]);
            match widest {
                Some(column) if over > 0 && widths[column] > NARROWEST => widths[column] -= 1,
                _ => break,
            }
        }
        let mut legend = Legend::default();
        for (column, most) in widths.iter().enumerate() {
            self.heads[column] = shorten(&self.heads[column], *most);
            for row in &mut self.rows {
                if width(&row[column]) > *most {
                    row[column] = legend.short(&row[column], *most);
                }
            }
        }
        legend.entries
    }

    fn grid(&self, form: Form) -> String {
        let mut grid = Grid::new();
        grid.load_style(match form {
            Form::Markdown => ASCII_MARKDOWN,
            Form::Text => NOTHING,
        })
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(&self.heads);
        for row in &self.rows {
            grid.add_row(row);
        }
        for (column, kind) in grid.column_iter_mut().zip(&self.columns) {
            column.set_cell_alignment(match kind {
                Column::Number => CellAlignment::Right,
                Column::Words | Column::Mark => CellAlignment::Left,
            });
            if form == Form::Text {
                column.set_padding((0, 2));
            }
        }
        grid.lines()
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// What was shortened, and to what.
#[derive(Debug, Default)]
struct Legend {
    /// (short, long), each once.
    entries: Vec<(String, String)>,
    /// Long to place in `entries`.
    places: HashMap<String, usize>,
    /// How many long texts would have this short one.
    taken: HashMap<String, usize>,
}

impl Legend {
    /// `long` in at most `most` columns, so that no two long texts share a short one.
    fn short(&mut self, long: &str, most: usize) -> String {
        if let Some(place) = self.places.get(long) {
            return self.entries[*place].0.clone();
        }
        let plain = shorten(long, most);
        let taken = self.taken.entry(plain.clone()).or_default();
        *taken += 1;
        let short = if *taken == 1 {
            plain
        } else {
            let number = taken.to_string();
            format!(
                "{}{number}",
                shorten(long, most.saturating_sub(number.len()))
            )
        };
        self.places.insert(long.to_owned(), self.entries.len());
        self.entries.push((short.clone(), long.to_owned()));
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(label: &str) -> Table {
        let mut table = Table::new(&[
            ("kernel", Column::Words),
            ("n", Column::Number),
            ("empty", Column::Mark),
            ("ratio", Column::Number),
        ]);
        table.row(vec![
            label.into(),
            "12".into(),
            String::new(),
            "1.019".into(),
        ]);
        table.row(vec!["6.1".into(), "3".into(), String::new(), "1".into()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        assert_eq!(
            three("6.12.117").print(Form::Text),
            "kernel     n  ratio\n6.12.117  12  1.019\n6.1        3      1\n"
        );
        assert_eq!(
            three("a|b").print(Form::Markdown),
            "| kernel |  n | ratio |\n|--------|----|-------|\n| a\\|b   | 12 | 1.019 |\n| 6.1    |  3 |     1 |\n"
        );
    }

    #[test]
    fn what_is_shortened_is_spelled_out_below_and_stays_distinct() {
        let mut table = Table::new(&[("label", Column::Words), ("n", Column::Number)]);
        for end in ["one", "two", "one"] {
            table.row(vec![format!("{}{end}", "long ".repeat(20)), "1".into()]);
        }
        let text = table.print(Form::Text);
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
        let firsts: Vec<&str> = text.lines().skip(1).take(3).collect();
        assert_eq!(firsts[0], firsts[2]);
        assert_ne!(firsts[0], firsts[1]);
        let joined = text.replace("\n  ", " ");
        assert!(
            joined.contains("long one\n") && joined.contains("long two\n"),
            "{text}"
        );
    }
}
