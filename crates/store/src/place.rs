//! Which filesystem a file lies on, and whether a write-ahead log works there.

use std::fs;
use std::path::Path;

/// Type of the filesystem that `path` (absolute, no symbolic links) lies on; `None` where the kernel does not tell.
pub(crate) fn filesystem(path: &Path) -> Option<String> {
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    filesystem_in(&String::from_utf8_lossy(&mounts), path)
}

/// Processes that map the same file see each other's changes, and locks hold for all of them. Not so across a network,
/// to a host, or through a program in user space: the log would be damaged silently.
pub(crate) fn shares_memory(filesystem: &str) -> bool {
    let remote = [
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "drvfs", "gfs2", "lustre", "ncpfs", "nfs",
        "nfs4", "ocfs2", "orangefs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
    ];
    !(remote.contains(&filesystem) || filesystem.starts_with("fuse"))
}

/// Fields of a line of mountinfo: number, parent, device, root, mount point, options, tags up to a hyphen, type, source.
fn filesystem_in(mounts: &str, path: &Path) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(point), Some(kind)) = (fields.nth(4), fields.skip_while(|f| *f != "-").nth(1))
        else {
            continue;
        };
        let point = unescaped(point);
        // Of mounts on the same folder, the last one covers the others.
        if path.starts_with(&point) && best.is_none_or(|(length, _)| point.len() >= length) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind.to_owned())
}

/// The kernel writes blank, tab, line feed and backslash as `\` and three octal digits.
fn unescaped(point: &str) -> String {
    point
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:25 / /home rw,nosuid - nfs4 server:/home rw,vers=4.2
31 30 0:26 /x /home/with\\040blank rw shared:2 master:1 - fuse.sshfs box:/x rw
32 22 0:27 / /homes rw - tmpfs tmpfs rw
33 32 0:28 / /homes rw - 9p host rw
cut short
";

    #[test]
    fn the_innermost_and_last_mount_counts() {
        for (path, kind) in [
            ("/var/lib/x.db", "ext4"),
            ("/home/anna/x.db", "nfs4"),
            ("/home/with blank/x.db", "fuse.sshfs"),
            ("/homes/x.db", "9p"),
            ("/homesick/x.db", "ext4"),
        ] {
            let found = filesystem_in(MOUNTS, Path::new(path));
            assert_eq!(found.as_deref(), Some(kind), "{path}");
        }
        assert_eq!(filesystem_in("", Path::new("/x")), None);
    }

    #[test]
    fn remote_and_user_space_filesystems_share_no_memory() {
        for kind in [
            "nfs",
            "nfs4",
            "9p",
            "cifs",
            "fuse.sshfs",
            "fuseblk",
            "virtiofs",
        ] {
            assert!(!shares_memory(kind), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs"] {
            assert!(shares_memory(kind), "{kind}");
        }
    }
}
