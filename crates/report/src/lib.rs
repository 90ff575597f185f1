//! tables, charts and words over stored runs
#![forbid(unsafe_code)]
