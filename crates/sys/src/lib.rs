//! The only unsafe code of kernmark: one file a subject, each call as the kernel has it.
#![expect(
    unsafe_code,
    reason = "this crate is the wall behind which all unsafe code lives"
)]
