//! The benchmarks, one folder each: all of it, and nothing of it elsewhere.
#![forbid(unsafe_code)]

use kernmark_engine::tool::Tool;

pub mod dbench;
pub mod null;

/// Every tool, one line each.
pub static ALL: &[Tool] = &[null::TOOL, dbench::TOOL];
