//! A loadfile, plain or gzipped: whatever the bytes, a loadfile or one message, and no panic.
#![no_main]

use kernmark_tools::dbench::loadfile;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    if let Err(error) = loadfile::parse(text) {
        assert!(!error.to_string().is_empty());
    }
});
