//! The only unsafe code of kernmark: one file a subject, each call as the kernel has it.
//!
//! It offers calls and does not decide to make them. Calls that a workload times are in [`call`], by kernel number,
//! because `std` and the C library would change them; everything around the measurement uses whatever is simplest.
#![expect(
    unsafe_code,
    reason = "this crate is the wall behind which all unsafe code lives"
)]

pub mod buffer;
pub mod call;
pub mod clock;
pub mod errno;
pub mod kernel_log;
pub mod lock;
pub mod names;
pub mod process;
pub mod region;
pub mod signal;
pub mod storage;
pub mod usage;
pub mod wait;

#[doc(hidden)]
pub mod testing;
