//! Finds the repetition inside a loadfile.

use std::collections::HashMap;

use super::super::loadfile::{Disposition, Expect, Loadfile, Op, OpCode, PathId};

/// The repetitions of the work after the set-up part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iterations {
    /// How many there are.
    pub count: u64,
    /// Lines of the shortest, where both ends can be seen.
    pub least_lines: u64,
    /// Lines of the longest, where both ends can be seen.
    pub most_lines: u64,
}

/// What makes two operations the same step of two iterations.
type Step = (OpCode, PathId, Expect, Option<Disposition>);

/// The fewest repetitions that are called so.
const LEAST_COUNT: usize = 3;

/// A step is regular if its longest distance is at most this many percent of its shortest.
const REGULAR_PERCENT: u64 = 125;

/// Looks for operations that come back at a regular distance.
///
/// An operation on the same path that comes once in each iteration comes at a distance of about one
/// iteration; one that comes several times in each does not. Most of the regular ones agree on how
/// often they come: that is the number of iterations, and the first of them marks where each
/// begins.
pub(super) fn detect(loadfile: &Loadfile) -> Option<Iterations> {
    let mut places: HashMap<Step, Vec<usize>> = HashMap::new();
    for (index, op) in loadfile.ops.iter().enumerate().skip(loadfile.setup_end) {
        let Some(path) = op.path() else { continue };
        let disposition = match *op {
            Op::Create { disposition, .. } => Some(disposition),
            _ => None,
        };
        places
            .entry((op.code(), path, op.expect(), disposition))
            .or_default()
            .push(index);
    }
    let regular: Vec<Vec<usize>> = places
        .into_values()
        .filter(|places| is_regular(places))
        .collect();
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for places in &regular {
        *votes.entry(places.len()).or_default() += 1;
    }
    let (&count, _) = votes
        .iter()
        .max_by_key(|&(&count, &votes)| (votes, count))?;
    let marks = regular
        .iter()
        .filter(|places| places.len() == count)
        .min_by_key(|places| (spread(places), places[0]))?;
    let lines = distances(marks);
    Some(Iterations {
        count: count as u64,
        least_lines: lines.clone().min()?,
        most_lines: lines.max()?,
    })
}

fn is_regular(places: &[usize]) -> bool {
    let Some(least) = distances(places).min() else {
        return false;
    };
    places.len() >= LEAST_COUNT
        && least > 1
        && distances(places).all(|most| most * 100 <= least * REGULAR_PERCENT)
}

fn spread(places: &[usize]) -> Option<u64> {
    Some(distances(places).max()? - distances(places).min()?)
}

fn distances(places: &[usize]) -> impl Iterator<Item = u64> + Clone {
    places.windows(2).map(|pair| (pair[1] - pair[0]) as u64)
}
