//! The table of mounts, `/proc/self/mountinfo`.
//!
//! Read here rather than by procfs-core, which gives a whole file up for one line it does not
//! understand, forgets the order of options, and does not undo the kernel's escapes.

use std::path::{Path, PathBuf};

use super::reading::Reading;

const PATH: &str = "/proc/self/mountinfo";

/// One line: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountLine {
    pub(super) id: u64,
    /// `major:minor`.
    pub(super) device: String,
    /// Folder of the filesystem that is mounted.
    pub(super) root: String,
    /// Folder it is mounted on.
    pub(super) point: PathBuf,
    pub(super) kind: String,
    pub(super) source: String,
    pub(super) mount_options: Vec<String>,
    pub(super) super_options: Vec<String>,
}

impl MountLine {
    /// Options of the mount, then those of the filesystem that were not among them.
    ///
    /// What either of the two calls read-only is read-only.
    pub(super) fn options(&self) -> Vec<String> {
        let mut options = self.mount_options.clone();
        for option in &self.super_options {
            if option != "rw" && !options.contains(option) {
                options.push(option.clone());
            }
        }
        if options.iter().any(|option| option == "ro") {
            options.retain(|option| option != "rw");
        }
        options
    }

    /// The value of `name=value` among the filesystem's options.
    pub(super) fn super_option(&self, name: &str) -> Option<&str> {
        let mut options = self.super_options.iter();
        options.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// All mounts, in the order in which they were made.
pub(super) fn read(reading: &mut Reading<'_>) -> Vec<MountLine> {
    let text = reading.text(PATH).unwrap_or_default();
    let mut mounts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match parse(line) {
            Ok(mount) => mounts.push(mount),
            Err(item) => reading.note(PATH, Some(index + 1), item, "missing or not a number"),
        }
    }
    mounts
}

/// The mount that holds `path`: the one called `id`, else the deepest, of equally deep ones the last.
///
/// Without an `id` a mount that was later hidden by another above it would be found in its place.
pub(super) fn holding<'m>(
    mounts: &'m [MountLine],
    path: &Path,
    id: Option<u64>,
) -> Option<&'m MountLine> {
    if let Some(mount) = mounts.iter().find(|mount| Some(mount.id) == id) {
        return Some(mount);
    }
    let holders = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // The last of equals wins in max_by_key, as the last mount does.
    holders.max_by_key(|mount| mount.point.components().count())
}

/// Reads a line, or names the field that is wrong.
fn parse(line: &str) -> Result<MountLine, &'static str> {
    let (mount, filesystem) = line.split_once(" - ").ok_or("separator")?;
    let mut mount = mount.split(' ');
    let id = mount
        .next()
        .and_then(|id| id.parse().ok())
        .ok_or("mount id")?;
    let device = mount.nth(1).ok_or("device number")?.to_owned();
    let root = mount.next().ok_or("root")?;
    let point = mount.next().ok_or("mount point")?;
    let mount_options = mount.next().ok_or("mount options")?;
    let mut filesystem = filesystem.split(' ');
    let kind = filesystem
        .next()
        .filter(|kind| !kind.is_empty())
        .ok_or("filesystem type")?;
    let source = filesystem.next().ok_or("source")?;
    let super_options = filesystem.next().ok_or("filesystem options")?;
    let options = |text: &str| -> Vec<String> {
        let options = text.split(',').filter(|option| !option.is_empty());
        options.map(unescaped).collect()
    };
    Ok(MountLine {
        id,
        device,
        root: unescaped(root),
        point: unescaped(point).into(),
        kind: unescaped(kind),
        source: unescaped(source),
        mount_options: options(mount_options),
        super_options: options(super_options),
    })
}

/// Undoes the kernel's `\040` for a space, `\011` tab, `\012` newline, `\134` backslash.
pub(super) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| byte == b'\\');
        let digits = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[3..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(line: &str) -> MountLine {
        parse(line).unwrap()
    }

    #[test]
    fn reads_a_line_with_optional_fields_and_escapes() {
        let line = r"36 35 8:2 /sub\040dir /mnt/a\134b ro,noatime shared:1 master:2 - ext4 /dev/sda2 rw,data=ordered,noatime";
        let mount = mount(line);
        assert_eq!((mount.id, mount.device.as_str()), (36, "8:2"));
        assert_eq!(
            (mount.root.as_str(), mount.point.to_str().unwrap()),
            ("/sub dir", r"/mnt/a\b")
        );
        assert_eq!(mount.options(), ["ro", "noatime", "data=ordered"]);
        assert_eq!(mount.super_option("data"), Some("ordered"));
        assert_eq!(mount.super_option("dat"), None);
    }

    #[test]
    fn a_filesystem_that_refuses_writes_is_read_only_whatever_the_mount_says() {
        let remounted = mount("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 ro,errors=remount-ro");
        assert_eq!(remounted.options(), ["relatime", "ro", "errors=remount-ro"]);
    }

    #[test]
    fn an_empty_source_is_a_field_too() {
        let mount = mount("1 0 0:5 / / rw - tmpfs  rw");
        assert_eq!((mount.kind.as_str(), mount.source.as_str()), ("tmpfs", ""));
    }

    #[test]
    fn names_the_field_that_is_wrong() {
        for (line, field) in [
            ("", "separator"),
            ("x 0 0:5 / / rw - tmpfs none rw", "mount id"),
            ("1 0 - tmpfs none rw", "device number"),
            ("1 0 0:5 / - tmpfs none rw", "mount point"),
            ("1 0 0:5 / / rw - tmpfs none", "filesystem options"),
        ] {
            assert_eq!(parse(line), Err(field), "{line}");
        }
    }

    #[test]
    fn the_deepest_and_last_mount_holds_a_path() {
        let mounts = [
            mount("1 0 8:1 / / rw - ext4 /dev/sda1 rw"),
            mount("2 1 8:2 / /home rw - xfs /dev/sda2 rw"),
            mount("3 2 8:3 / /home rw - btrfs /dev/sda3 rw"),
            mount("4 1 8:4 / /homework rw - ext2 /dev/sda4 rw"),
        ];
        let held = |path: &str, id| holding(&mounts, Path::new(path), id).unwrap().id;
        assert_eq!(held("/home/me", None), 3);
        assert_eq!(held("/home/me", Some(2)), 2);
        assert_eq!(held("/homework", Some(77)), 4);
        assert_eq!(held("/etc", None), 1);
    }

    #[test]
    fn backslashes_that_escape_nothing_stay() {
        assert_eq!(unescaped(r"a\04"), r"a\04");
        assert_eq!(unescaped(r"a\999\"), r"a\999\");
        assert_eq!(unescaped(r"\303\244"), "ä");
    }
}
