//! Users without the name service.
//!
//! A static program must not call getpwnam and its kin: the C library would load the host's name-service libraries into
//! it, and crash. What is needed is read from the files.

use std::fs;
use std::path::{Path, PathBuf};

/// Home directory of user number `uid` by `/etc/passwd` under `root`; `None` if the file does not name him.
pub fn home_of(root: &Path, uid: u32) -> Option<PathBuf> {
    let text = fs::read(root.join("etc/passwd")).ok()?;
    String::from_utf8_lossy(&text).lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        let id = fields.next()?.parse::<u32>().ok()?;
        let home = fields.nth(2)?;
        (id == uid && home.starts_with('/')).then(|| PathBuf::from(home))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_read_from_the_file() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        let text = b"root:x:0:0:root:/root:/bin/sh\n\nbroken\nj\xe9:x:1000:1000:J:/home/j:/bin/sh\nno:x:7:7:::\n";
        fs::write(root.path().join("etc/passwd"), text).unwrap();
        assert_eq!(home_of(root.path(), 1000), Some(PathBuf::from("/home/j")));
        assert_eq!(home_of(root.path(), 0), Some(PathBuf::from("/root")));
        assert_eq!(home_of(root.path(), 7), None);
        assert_eq!(home_of(root.path(), 8), None);
    }
}
