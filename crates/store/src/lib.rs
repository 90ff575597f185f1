//! kernmark's SQLite store; every line of SQL lives here
#![forbid(unsafe_code)]
