//! dbench: the file operations an SMB server makes for one office PC, replayed by N clients.

pub mod format;
