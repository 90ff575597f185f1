//! kernmark's nouns and arithmetic: plans, runs, units, statistics; no I/O
#![forbid(unsafe_code)]
