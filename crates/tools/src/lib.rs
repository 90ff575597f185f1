//! The benchmarks, one folder each: all of it, and nothing of it elsewhere.
#![forbid(unsafe_code)]

use kernmark_engine::tool::Tool;

pub mod dbench;
pub mod null;

/// Every tool, one line each.
pub static ALL: &[Tool] = &[null::TOOL, dbench::TOOL];

/// The walk-through for authors, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-benchmark.md")]
struct AddingABenchmark;
