//! `/proc`, `/sys` and the firmware's tables, read into a [`Machine`] and a [`Target`].
//!
//! Every reader takes its [`Root`], so that tests feed captured trees. Absence is `None`; what is
//! there but makes no sense becomes a note with path, line and item, and nothing fails.
//!
//! The parsers are ours: those of procfs-core panic on a `/proc/pressure` line cut after its first
//! word, fail a whole file for one line, and know neither the line nor the item in their errors.
//!
//! [`Target`]: kernmark_model::machine::Target

mod block;
mod cgroup;
mod cpu;
mod filesystem;
mod kernel;
mod memory;
mod mounts;
mod reading;
mod superblock;
mod surroundings;
mod target;

use kernmark_model::machine::{Build, Libc, MACHINE_VERSION, Machine};

pub(crate) use cgroup::Groups;
pub use reading::Root;
pub(crate) use reading::{Reading, names_and_values};
pub(crate) use surroundings::throttle_counts;
pub use target::{Site, read_target};

/// Describes the machine from the files below a root.
///
/// `build` is about the program that measures, not about the root: see [`this_build`].
pub fn read(root: &Root, build: Build) -> Machine {
    let mut reading = Reading::new(root);
    let groups = own_groups(&mut reading);
    let firmware = surroundings::firmware(&mut reading);
    let mut machine = Machine {
        version: MACHINE_VERSION,
        hostname: reading.word("/proc/sys/kernel/hostname"),
        cpu: cpu::read(&mut reading),
        memory: memory::read(&mut reading),
        kernel: kernel::read(&mut reading),
        clock_source: kernel::clock_source(&mut reading),
        virtualisation: surroundings::virtualisation(&mut reading, &firmware),
        security_modules: surroundings::security_modules(&mut reading),
        cgroup: cgroup::read(&mut reading, &groups),
        power: surroundings::power(&mut reading),
        state: surroundings::state(&mut reading),
        firmware,
        build,
        notes: Vec::new(),
    };
    machine.notes = reading.into_notes();
    machine
}

/// Our control groups below a root.
pub(crate) fn own_groups(reading: &mut Reading<'_>) -> Groups {
    let mounts = mounts::read(reading);
    cgroup::groups(reading, &mounts)
}

/// How this program was built. The C library does not tell its version to the compiler: a caller that
/// can ask for it at run time passes it.
pub fn this_build(libc_version: Option<String>) -> Build {
    let family = if cfg!(target_env = "gnu") {
        Some("gnu")
    } else if cfg!(target_env = "musl") {
        Some("musl")
    } else {
        None
    };
    Build {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        commit: option_env!("KERNMARK_COMMIT").map(str::to_owned),
        compiler: option_env!("KERNMARK_RUSTC").map(str::to_owned),
        target: option_env!("KERNMARK_TARGET").map(str::to_owned),
        optimisation: option_env!("KERNMARK_OPT_LEVEL").map(str::to_owned),
        libc: Libc {
            family: family.map(str::to_owned),
            version: libc_version,
            linked_statically: Some(cfg!(target_feature = "crt-static")),
        },
    }
}
