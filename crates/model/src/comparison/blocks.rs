//! The figures of a session, block by block.

use std::collections::BTreeMap;

use super::Scale;
use super::sorting::WorkRuns;
use crate::stats::describe::{geometric_mean, mean};

/// The figures of good rows, block by block.
pub(super) struct Blocks {
    /// The blocks in which every good row has a run, in order.
    pub(super) names: Vec<u32>,
    /// How many.
    pub(super) count: usize,
    /// Row to its figure in each of these blocks.
    pub(super) values: BTreeMap<usize, Vec<f64>>,
    /// Blocks in which one has none.
    pub(super) incomplete: usize,
    /// A row has more than one run in a block.
    pub(super) several: bool,
}

impl Blocks {
    /// Of the rows `good`, all of whose `figures` are there.
    pub(super) fn of(
        work: &WorkRuns<'_>,
        figures: &[Vec<Option<f64>>],
        good: &[usize],
        scale: Scale,
    ) -> Self {
        let mut by_block: BTreeMap<u32, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for &row in good {
            let runs = &work.rows[row].runs;
            for (run, figure) in runs.iter().zip(&figures[row]) {
                if let (Some(place), Some(figure)) = (&run.session, figure) {
                    let rows = by_block.entry(place.block).or_default();
                    rows.entry(row).or_default().push(*figure);
                }
            }
        }
        let all = by_block.len();
        by_block.retain(|_, rows| rows.len() == good.len());
        let centre = |figures: &[f64]| match scale {
            Scale::Ratio => geometric_mean(figures),
            Scale::Difference => mean(figures),
        };
        let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for rows in by_block.values() {
            for (row, figures) in rows {
                let value = match figures.as_slice() {
                    [only] => Some(*only), // not through its own logarithm and back
                    _ => centre(figures),
                };
                values.entry(*row).or_default().extend(value);
            }
        }
        Self {
            count: by_block.len(),
            incomplete: all - by_block.len(),
            several: by_block
                .values()
                .any(|rows| rows.values().any(|figures| figures.len() > 1)),
            names: by_block.into_keys().collect(),
            values,
        }
    }
}
