//! A machine and a target in one line, for headings and mails.

use std::collections::BTreeSet;

use super::{Layer, Machine, Target};

/// One line: `AMD EPYC 2 cpus, 23.5 GiB, Linux 6.18.44, ext4 rw,relatime on loop0 (none) on vda (mq-deadline)`.
///
/// What is unknown is left out; the I/O scheduler stands in brackets where a device has one.
pub fn summary(machine: &Machine, target: Option<&Target>) -> String {
    let mut parts = Vec::new();
    let cpus = machine.cpu.topology.threads.map(|count| match count {
        1 => "1 cpu".to_owned(),
        many => format!("{many} cpus"),
    });
    parts.extend(spaced([machine.cpu.model_name.clone(), cpus]));
    parts.extend(machine.memory.total_bytes.map(gib));
    parts.extend(
        machine
            .kernel
            .release
            .as_ref()
            .map(|release| format!("Linux {release}")),
    );
    let place = &machine.virtualisation;
    parts.extend(
        place
            .hypervisor
            .as_ref()
            .map(|name| format!("under {name}")),
    );
    parts.extend(place.container.as_ref().map(|name| format!("in {name}")));
    parts.extend(target.and_then(describe));
    parts.join(", ")
}

fn describe(target: &Target) -> Option<String> {
    let options = (!target.mount.options.is_empty()).then(|| target.mount.options.join(","));
    let filesystem = spaced([target.filesystem.kind.clone(), options]);
    let top: Vec<&Layer> = target
        .stack
        .iter()
        .filter(|layer| layer.depth == 0)
        .collect();
    let devices = devices(target, &top, &mut BTreeSet::new());
    match (filesystem, devices) {
        (Some(filesystem), Some(devices)) => Some(format!("{filesystem} on {devices}")),
        (filesystem, devices) => filesystem.or(devices),
    }
}

/// The devices side by side, each with what lies below it.
///
/// A device that was `described` before is only named, so that a stack which meets itself ends.
fn devices<'a>(
    target: &'a Target,
    layers: &[&'a Layer],
    described: &mut BTreeSet<&'a str>,
) -> Option<String> {
    let chains: Vec<String> = layers
        .iter()
        .map(|layer| chain(target, layer, described))
        .collect();
    (!chains.is_empty()).then(|| chains.join(" + "))
}

fn chain<'a>(target: &'a Target, layer: &'a Layer, described: &mut BTreeSet<&'a str>) -> String {
    let mut text = layer.name.clone();
    if !described.insert(&layer.name) {
        return text;
    }
    if let Some(level) = layer
        .array
        .as_ref()
        .and_then(|array| array.level.as_deref())
    {
        text = format!("{text} [{level}]");
    }
    if let Some(scheduler) = layer
        .queue
        .as_ref()
        .and_then(|queue| queue.scheduler.as_deref())
    {
        text = format!("{text} ({scheduler})");
    }
    let below: Vec<&Layer> = layer
        .below
        .iter()
        .filter_map(|name| target.layer(name))
        .collect();
    if let Some(below) = devices(target, &below, described) {
        text = format!("{text} on {below}");
    }
    text
}

fn spaced(words: [Option<String>; 2]) -> Option<String> {
    let known: Vec<String> = words.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(" "))
}

/// Bytes in GiB with one decimal, rounded half up, without passing through a float.
fn gib(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10 + (1 << 29)) >> 30;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::super::{Array, Queue};
    use super::*;

    fn layer(name: &str, depth: u32, below: &[&str], scheduler: Option<&str>) -> Layer {
        Layer {
            name: name.into(),
            depth,
            below: below.iter().map(|&name| name.to_owned()).collect(),
            queue: scheduler.map(|scheduler| Queue {
                scheduler: Some(scheduler.into()),
                ..Queue::default()
            }),
            ..Layer::default()
        }
    }

    #[test]
    fn says_in_one_line_what_people_ask_first() {
        let mut machine = Machine::default();
        machine.cpu.model_name = Some("AMD EPYC".into());
        machine.cpu.topology.threads = Some(2);
        machine.memory.total_bytes = Some(24_684_092 * 1024);
        machine.kernel.release = Some("6.18.44".into());
        let mut target = Target::default();
        target.filesystem.kind = Some("ext4".into());
        target.mount.options = vec!["rw".into(), "relatime".into()];
        target.stack = vec![
            layer("loop0", 0, &["vda"], Some("none")),
            layer("vda", 1, &[], Some("mq-deadline")),
        ];
        assert_eq!(
            summary(&machine, Some(&target)),
            "AMD EPYC 2 cpus, 23.5 GiB, Linux 6.18.44, ext4 rw,relatime on loop0 (none) on vda (mq-deadline)"
        );
        assert_eq!(summary(&Machine::default(), Some(&Target::default())), "");
    }

    #[test]
    fn names_every_member_of_an_array_and_ends_on_a_loop() {
        let mut target = Target {
            stack: vec![
                layer("md0", 0, &["sda", "sdb"], None),
                layer("sda", 1, &[], Some("bfq")),
                layer("sdb", 1, &[], Some("bfq")),
            ],
            ..Target::default()
        };
        target.stack[0].array = Some(Array {
            level: Some("raid1".into()),
            ..Array::default()
        });
        assert_eq!(
            summary(&Machine::default(), Some(&target)),
            "md0 [raid1] on sda (bfq) + sdb (bfq)"
        );
        target.stack = vec![layer("a", 0, &["b"], None), layer("b", 1, &["a"], None)];
        assert_eq!(summary(&Machine::default(), Some(&target)), "a on b on a");
    }

    #[test]
    fn gib_is_rounded_half_up() {
        assert_eq!(gib(0), "0.0 GiB");
        assert_eq!(gib(1 << 30), "1.0 GiB");
        assert_eq!(gib((1 << 30) - 1), "1.0 GiB");
        assert_eq!(gib(u64::MAX), "17179869184.0 GiB");
    }
}
