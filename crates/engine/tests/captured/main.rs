//! Machines, targets and counters read from captured trees, from nothing, from garbage, and from
//! this machine.

mod counters;
mod machine;
mod target;
mod tree;

/// A laptop: one socket, NVMe, encryption, a btrfs on USB, on battery.
const LAPTOP: &str = include_str!("../fixtures/laptop.tree");
/// A server: two sockets and NUMA nodes, LVM on a software mirror.
const SERVER: &str = include_str!("../fixtures/server.tree");
/// 72 CPUs under an old kernel.
const WIDE: &str = include_str!("../fixtures/wide.tree");
/// A container with limits, on an overlay.
const CONTAINER: &str = include_str!("../fixtures/container.tree");
/// A small virtual machine with a loop device.
const VM: &str = include_str!("../fixtures/vm.tree");
