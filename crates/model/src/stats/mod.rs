//! How kernmark decides: slices in, numbers out.
//!
//! One method is used wherever a difference is stated; `docs/statistics.md` tells it in prose. No clock, no I/O and
//! no hidden randomness: what draws random numbers takes a seed, and the same input gives the same bytes.
//!
//! The functions most callers need are [`compare_blocked`], [`compare_unblocked`], [`compare_at_looks`],
//! [`compare_with_baseline`] and [`rank_contenders`]. The modules hold the parts they are made of.

pub mod adjust;
pub mod bootstrap;
pub mod changepoint;
pub mod compare;
pub mod describe;
pub mod friedman;
pub mod hodges_lehmann;
pub mod letters;
pub mod looks;
pub mod many;
pub mod outlier;
pub mod random;
pub mod rank_sum;
pub mod scale;
pub mod session;
pub mod signed_rank;
pub mod simulate;
pub mod steady;
pub mod trend;
pub mod verdict;

mod ranks;
mod tails;

#[cfg(test)]
mod acceptance;

pub use compare::{
    compare_blocked, compare_blocked_counts, compare_unblocked, compare_unblocked_counts,
};
pub use many::{compare_with_baseline, rank_contenders};
pub use scale::{Arm, Direction, InputError};
pub use session::{SessionVerdict, compare_at_looks, compare_with_baseline_at_looks};
pub use verdict::{Comparison, Design, Interval, Rule, Shortage, Verdict};
