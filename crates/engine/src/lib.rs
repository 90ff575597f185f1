//! Walks a plan: needs, workers, counters, conditions, clean-up.
//!
//! A tool says what it does ([`tool`]); a run of it is walked by [`runner::Runner`], which takes a directory
//! ([`place`]), makes workers that live through the phases of a stage (`crew`, `stage`), reads their shared memory every
//! second, and speaks through events only. A worker's own side, with the one place where an op is timed, is
//! [`worker::Worker`]. What is known of the machine and the target is read by [`machine`], what the kernel counts around
//! each phase by [`counters`]. Whatever is changed on the machine is in the undo journal first ([`journal`]).
#![forbid(unsafe_code)]

pub mod calls;
mod collect;
pub mod conditions;
pub mod counters;
pub mod crew;
mod emitter;
pub mod journal;
pub mod machine;
mod observe;
pub mod place;
pub mod plan;
pub mod preview;
pub mod runner;
pub mod script;
mod series;
mod stage;
pub mod tool;
pub mod worker;
