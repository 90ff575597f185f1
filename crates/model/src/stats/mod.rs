//! How kernmark decides: slices in, numbers out.
//!
//! One method is used wherever a difference is stated; `docs/statistics.md` tells it in prose. No clock, no I/O and
//! no hidden randomness: what draws random numbers takes a seed, and the same input gives the same bytes.

pub mod adjust;
pub mod changepoint;
pub mod describe;
pub mod friedman;
pub mod hodges_lehmann;
pub mod letters;
pub mod outlier;
pub mod random;
pub mod rank_sum;
pub mod signed_rank;
pub mod steady;
pub mod trend;

mod ranks;
mod tails;
