//! dbench on real filesystems: loop images, made and mounted here. Needs root, loop devices and mkfs programs.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod support;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernmark_engine::runner::{Manner, RunError};
use kernmark_model::event::EventBody;
use kernmark_model::run::Outcome;
use kernmark_model::units::Bytes;
use kernmark_sys::skip_unless;
use kernmark_sys::testing::program;
use support::{Bench, Heard, plan};

/// A filesystem in a file, mounted until dropped; the loop device goes with the mount.
struct Mounted {
    folder: tempfile::TempDir,
}

impl Mounted {
    fn new(filesystem: &str, mib: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(mib << 20).unwrap();
        std::fs::create_dir(folder.path().join("mnt")).unwrap();
        let mkfs = program(&format!("mkfs.{filesystem}")).unwrap();
        done(Command::new(mkfs).arg("-q").arg(&image));
        let mounted = Self { folder };
        done(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(image)
                .arg(mounted.path()),
        );
        mounted
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        Command::new("umount")
            .arg("-l")
            .arg(self.path())
            .status()
            .ok();
    }
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn is_root() -> bool {
    kernmark_sys::process::effective_user() == 0
}

/// Entries of a directory but for what mkfs made.
fn left(path: &Path) -> Vec<String> {
    let names = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lost+found").collect()
}

/// Case 19, the replay: one pass of the generated loadfile by two clients.
fn replays_without_an_unexpected_status(directory: &Path) {
    let bench = Bench::new();
    let mut heard = Heard::default();
    let run = plan("dbench clients=2 passes=1 iterations=20", Some(directory));
    let end = bench
        .runner()
        .run(&run, Manner::default(), &mut std::io::empty(), &mut heard)
        .unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    let execute = heard.phase("execute");
    let total = execute.total(&[]);
    assert_eq!(total.unexpected, 0);
    assert_eq!(execute.total(&["pass".into()]).count, 2);
    assert_eq!(left(directory), Vec::<String>::new());
}

#[test]
fn case_19_the_generated_loadfile_replays_on_tmpfs() {
    skip_unless!(Path::new("/dev/shm").is_dir(), "a tmpfs at /dev/shm");
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    replays_without_an_unexpected_status(folder.path());
}

macro_rules! on_image {
    ($name:ident, $filesystem:literal, $mib:literal) => {
        #[test]
        fn $name() {
            skip_unless!(is_root(), "root");
            skip_unless!(
                program(concat!("mkfs.", $filesystem)).is_some(),
                concat!("mkfs.", $filesystem)
            );
            replays_without_an_unexpected_status(&Mounted::new($filesystem, $mib).path());
        }
    };
}
on_image!(case_19_the_generated_loadfile_replays_on_ext4, "ext4", 512);
on_image!(case_19_the_generated_loadfile_replays_on_xfs, "xfs", 512);
on_image!(
    case_19_the_generated_loadfile_replays_on_btrfs,
    "btrfs",
    512
);

/// Debian's own loadfile: counts per pass are those of the published table, and every op ends as its status says.
#[test]
fn the_loadfile_of_the_package_replays_with_the_published_counts() {
    const PACKAGED: &str = "/usr/share/dbench/client.txt";
    skip_unless!(Path::new(PACKAGED).is_file(), "the package dbench");
    let bench = Bench::new();
    let (end, heard) = bench.run(&format!("dbench clients=1 passes=1 loadfile={PACKAGED}"));
    assert_eq!(end.outcome, Outcome::Complete);
    let execute = heard.phase("execute");
    let count = |op: &str| execute.total(&[op.into()]).count;
    let published = [
        ("ReadX", 124_199),
        ("NTCreateX", 79_230),
        ("Qpathinfo", 71_814),
        ("Close", 58_200),
        ("WriteX", 39_502),
        ("Find", 27_765),
        ("Unlink", 16_000),
        ("Qfsinfo", 13_168),
        ("Qfileinfo", 12_585),
        ("Sfileinfo", 6_454),
        ("Flush", 5_553),
        ("Rename", 3_355),
        ("LockX", 258),
        ("UnlockX", 258),
        ("Deltree", 2),
        ("Mkdir", 1),
        ("Rmdir", 0),
    ];
    let counted: Vec<(&str, u64)> = published.iter().map(|(op, _)| (*op, count(op))).collect();
    assert_eq!(counted, published);
    let total = execute.total(&[]);
    assert_eq!(total.unexpected, 0);
    assert_eq!(total.bytes, Bytes(1_472_088_767 + 1_015_974_170));
}

#[test]
fn what_cannot_fit_on_the_filesystem_is_refused_with_the_space_it_needs() {
    skip_unless!(is_root(), "root");
    let image = Mounted::new("ext4", 64);
    let run = plan("dbench clients=1000", Some(&image.path()));
    let refused = Bench::new().runner().run(
        &run,
        Manner::default(),
        &mut std::io::empty(),
        &mut Heard::default(),
    );
    let Err(RunError::Place(error)) = refused else {
        panic!("{refused:?}")
    };
    let text = error.to_string();
    assert!(
        text.contains("this run needs 22.") && text.contains("GiB"),
        "{text}"
    );
    assert_eq!(left(&image.path()), Vec::<String>::new());
}

#[test]
fn a_filesystem_that_fills_up_fails_the_run_and_is_left_empty() {
    skip_unless!(is_root(), "root");
    let image = Mounted::new("ext4", 64);
    let bench = Bench::new();
    // Somebody else takes the room after it was checked.
    let ballast = image.path().join("ballast");
    let load = bench.file(
        "load",
        "Mkdir \"\\clients\" NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\n\
         Close 1 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\a\" 0x40 0x5 7 NT_STATUS_OK\n\
         WriteX 7 0 1048576 1048576 NT_STATUS_OK\n\
         WriteX 7 1048576 1048576 1048576 NT_STATUS_OK\n\
         Close 7 NT_STATUS_OK\n",
    );
    let run = plan(
        &format!(
            "dbench clients=2 seconds=60 warmup=0 loadfile={}",
            load.display()
        ),
        Some(&image.path()),
    );
    let mut filled = false;
    let mut heard = Heard {
        on_event: Some(Box::new(move |event| {
            if matches!(event.body, EventBody::Tick(_)) && !std::mem::replace(&mut filled, true) {
                let zeros = vec![0; 1 << 20];
                let mut file = File::create(&ballast).unwrap();
                while std::io::Write::write_all(&mut file, &zeros).is_ok() {}
            }
        })),
        ..Heard::default()
    };
    let end = bench
        .runner()
        .run(&run, Manner::default(), &mut std::io::empty(), &mut heard)
        .unwrap();
    assert!(
        matches!(&end.outcome, Outcome::Failed(why) if why.contains("WriteX") && why.contains("No space left on device")),
        "{:?}",
        end.outcome
    );
    assert!(heard.phase("execute").total(&[]).count > 0);
    assert_eq!(left(&image.path()), ["ballast"]);
}

#[test]
fn a_filesystem_that_turns_read_only_fails_the_run() {
    skip_unless!(is_root(), "root");
    let image = Mounted::new("ext4", 64);
    let bench = Bench::new();
    let load = bench.file(
        "load",
        "Mkdir \"\\clients\" NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\n\
         Close 1 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK\n\
         Close 7 NT_STATUS_OK\n\
         Unlink \"\\clients\\client1\\a\" 0x6 NT_STATUS_OK\n\
         Sleep 100000 NT_STATUS_OK\n",
    );
    let run = plan(
        &format!("dbench seconds=60 warmup=0 loadfile={}", load.display()),
        Some(&image.path()),
    );
    let path = image.path();
    let mut turned = false;
    let mut heard = Heard {
        on_event: Some(Box::new(move |event| {
            if matches!(event.body, EventBody::Tick(_)) && !std::mem::replace(&mut turned, true) {
                // Refused while a file is open for writing: tried until it falls into a gap.
                for _ in 0..1_000 {
                    let remount = Command::new("mount")
                        .args(["-o", "remount,ro"])
                        .arg(&path)
                        .output()
                        .unwrap();
                    if remount.status.success() {
                        return;
                    }
                }
                panic!("never between two files");
            }
        })),
        ..Heard::default()
    };
    let end = bench
        .runner()
        .run(&run, Manner::default(), &mut std::io::empty(), &mut heard)
        .unwrap();
    assert!(
        matches!(&end.outcome, Outcome::Failed(why) if why.contains("Read-only file system")),
        "{:?}",
        end.outcome
    );
    let troubles: Vec<String> = heard
        .finished()
        .doubts
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        troubles.iter().any(|text| text.contains("cannot undo")),
        "what could not be removed is said: {troubles:?}"
    );
}
