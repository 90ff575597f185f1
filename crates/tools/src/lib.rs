//! the benchmarks, one folder each
#![forbid(unsafe_code)]
