//! The `kernmark` program.
#![forbid(unsafe_code)]

fn main() {}
