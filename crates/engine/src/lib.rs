//! walks a plan: needs, workers, counters, conditions, clean-up
#![forbid(unsafe_code)]
