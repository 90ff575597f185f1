//! kernmark's nouns and arithmetic: plans, runs, units, statistics; no I/O, no clock, no global.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod counters;
pub mod derive;
pub mod disturbance;
pub mod event;
pub mod facts;
#[cfg(feature = "fixtures")]
pub mod fixtures;
pub mod histogram;
pub mod ledger;
pub mod machine;
pub mod plan;
pub mod run;
pub mod series;
pub mod stats;
pub mod sweep;
pub mod units;
mod varint;
