//! The standard mix, written anew: a loadfile with the proportions of the one that dbench 3 and 4
//! come with.
//!
//! The text that comes with dbench is not ours to give away, so this module writes another one of
//! the same kind from its published proportions: a set-up of 56 files, then iterations in which
//! eight office applications have one burst of work each, with bookkeeping between the bursts, then
//! the removal of everything. `Mix` measures the result; the tests hold it against the original's
//! figures, row by row.
//!
//! The same seed gives the same bytes, on every machine and in every build of one version.

mod applications;
mod desk;
mod pace;
mod random;
mod script;
mod setup;
mod steps;

#[cfg(test)]
mod tests;

use super::loadfile::{self, Loadfile, LoadfileError};
use desk::Office;

/// The iterations of the file that comes with dbench.
pub const STANDARD_ITERATIONS: u32 = 129;

/// The most iterations: 200 MB of text, inside what a loadfile may have.
pub const MAX_ITERATIONS: u32 = 1_000;

/// The seed of the standard loadfile.
pub const STANDARD_SEED: u64 = 1;

/// What decides a generated loadfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    iterations: u32,
    seed: u64,
}

/// A number of iterations that cannot be had.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "cannot generate a loadfile of {iterations} iterations\n  \
     the file is repeated until the time is over, so {STANDARD_ITERATIONS} do for any run\n  \
     give 1 to {MAX_ITERATIONS}"
)]
pub struct RecipeError {
    /// What was asked for.
    pub iterations: u32,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            iterations: STANDARD_ITERATIONS,
            seed: STANDARD_SEED,
        }
    }
}

impl Recipe {
    /// That many iterations, 1 to [`MAX_ITERATIONS`], of the mix with this seed.
    pub fn new(iterations: u32, seed: u64) -> Result<Recipe, RecipeError> {
        if (1..=MAX_ITERATIONS).contains(&iterations) {
            Ok(Recipe { iterations, seed })
        } else {
            Err(RecipeError { iterations })
        }
    }

    /// How many iterations it has.
    pub fn iterations(self) -> u32 {
        self.iterations
    }

    /// What the random choices begin from.
    pub fn seed(self) -> u64 {
        self.seed
    }

    /// The loadfile as text, which dbench 4 replays as well.
    pub fn text(self) -> Vec<u8> {
        let mut office = Office::new(self);
        office.set_up();
        for _ in 0..self.iterations {
            office.iteration();
        }
        office.finish()
    }

    /// The loadfile, compiled by the parser that reads everybody's.
    pub fn loadfile(self) -> Result<Loadfile, LoadfileError> {
        loadfile::parse(&self.text())
    }
}
