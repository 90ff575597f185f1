//! Files that are no store, no longer one, or out of reach: each gets one message, and none is changed.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kernmark_model::fixtures;
use kernmark_store::{Detail, Journal, Selection, Store, StoreError};
use kernmark_sys::testing;
use tempfile::TempDir;

/// A closed store of all fixtures.
fn closed() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).expect("a new store");
    let runs = fixtures::all().into_iter().map(Ok);
    store.insert_runs(runs).expect("fixtures can be stored");
    (folder, path)
}

/// What both ways of opening say, and that they leave the file as it was.
fn refusals(path: &Path) -> [StoreError; 2] {
    let before = fs::read(path).ok();
    let errors = [
        Store::open(path).expect_err("refused for writing"),
        Store::open_read_only(path).expect_err("refused for reading"),
    ];
    assert_eq!(fs::read(path).ok(), before);
    errors
}

#[test]
fn the_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one/two/store.db");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.path(), fs::canonicalize(&path).unwrap());
    assert_eq!(store.device(), Some(fs::metadata(&path).unwrap().dev()));
    assert_eq!(store.runs(&Selection::default()).unwrap(), []);
}

#[test]
fn names_that_mean_something_to_sqlite_are_files_here() {
    let folder = tempfile::tempdir().unwrap();
    for name in [":memory:", "file:x?mode=memory", "100%?#.db", "é 🦀.db"] {
        let path = folder.path().join(name);
        let mut store = Store::open(&path).unwrap();
        store.insert_run(&fixtures::corners()).unwrap();
        drop(store);
        assert!(Store::recognises(&fs::read(&path).unwrap()), "{name}");
        assert_eq!(
            Store::open_read_only(&path)
                .unwrap()
                .runs(&Selection::default())
                .unwrap()
                .len(),
            1
        );
    }
}

#[test]
fn a_store_behind_a_link_is_named_by_its_own_file() {
    let (folder, path) = closed();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for store in [
        Store::open_read_only(&link).unwrap(),
        Store::open(&link).unwrap(),
    ] {
        assert_eq!(store.path(), fs::canonicalize(&path).unwrap());
    }
}

#[test]
fn reading_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["store.db", "no/such/store.db"] {
        let path = folder.path().join(path);
        let error = Store::open_read_only(&path).unwrap_err();
        assert!(matches!(error, StoreError::Missing { .. }), "{error}");
        let message = error.to_string();
        assert!(
            message.contains("store.db") && message.contains("kernmark run"),
            "{message}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_empty_file_becomes_a_store_and_holds_nothing_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    fs::write(&path, "").unwrap();
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::Missing { .. })
    ));
    Store::open(&path).unwrap();
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .runs(&Selection::default())
            .unwrap(),
        []
    );
}

#[test]
fn a_text_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mail.txt");
    fs::write(&path, "Throughput 215.93 MB/sec 8 procs\n".repeat(100)).unwrap();
    for error in refusals(&path) {
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
        assert!(
            error.to_string().contains("mail.txt is no store"),
            "{error}"
        );
    }
    fs::write(&path, "x").unwrap();
    for error in refusals(&path) {
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.sqlite");
    for schema in [
        "CREATE TABLE moz_places (id INTEGER)",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 1234",
    ] {
        let _ = fs::remove_file(&path);
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(schema)
            .unwrap();
        for error in refusals(&path) {
            assert!(
                matches!(error, StoreError::Foreign { .. }),
                "{schema}: {error}"
            );
        }
    }
}

#[test]
fn a_later_schema_is_left_alone() {
    let (_folder, path) = closed();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99")
        .unwrap();
    drop(raw);
    for error in refusals(&path) {
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 99,
                    known: 1,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("schema 99"), "{error}");
    }
}

#[test]
fn a_folder_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    for error in [
        Store::open(folder.path()).unwrap_err(),
        Store::open_read_only(folder.path()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("it is a folder"), "{error}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("below/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    let error = Store::open(Path::new("/proc/kernmark/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    // Nobody, not even root, makes a file here.
    let error = Store::open(Path::new("/proc/store.db"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("/proc/store.db"), "{error}");
}

#[test]
fn damage_anywhere_is_a_message_and_never_a_panic() {
    let (folder, path) = closed();
    let whole = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut told = 0;
    let mut check = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        let read = Store::open_read_only(&damaged).and_then(|store| {
            store.runs(&Selection::default())?;
            store.load(&Selection::default(), Detail::Full)
        });
        match read {
            // Damage may lie where nothing is stored.
            Ok(runs) => assert!(runs.len() <= fixtures::all().len()),
            Err(error) => {
                told += 1;
                assert!(error.to_string().len() > 10, "{error:?}");
            }
        }
    };
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        for (place, byte) in bytes[page * 4096..(page + 1) * 4096].iter_mut().enumerate() {
            *byte ^= u8::try_from(place % 251).unwrap();
        }
        check(&bytes);
        check(&whole[..page * 4096 + 100]);
    }
    assert!(told > whole.len() / 4096, "{told}");
}

#[test]
fn a_damaged_page_is_called_damaged() {
    let (_folder, path) = closed();
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[4096..] {
        *byte = 0xff;
    }
    fs::write(&path, bytes).unwrap();
    let error = Store::open_read_only(&path)
        .and_then(|store| store.runs(&Selection::default()))
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("is damaged") && message.contains(".recover"),
        "{message}"
    );
}

#[test]
fn a_value_that_cannot_be_understood_names_its_run() {
    for (change, part) in [
        ("UPDATE op_count SET histogram = X'09'", "histogram of run"),
        ("UPDATE series SET data = X'0101'", "series of run"),
        ("UPDATE phase SET counters = X'07'", "counters of run"),
        ("UPDATE worker SET state = '{}'", "worker's end of run"),
        ("UPDATE run SET plan = '[]'", "plan of run"),
        ("UPDATE run SET outcome = 'glorious'", "outcome of run"),
    ] {
        let (_folder, path) = closed();
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute(change, [])
            .unwrap();
        let store = Store::open_read_only(&path).unwrap();
        let error = store
            .load(&Selection::default(), Detail::Full)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{change}: {error}");
    }
}

#[test]
#[ignore = "a child that others start: it opens a store as a user without rights"]
fn child_that_opens() {
    let mut path = String::new();
    std::io::stdin().read_to_string(&mut path).unwrap();
    let path = Path::new(path.trim());
    println!();
    match Store::open(path).and_then(|mut store| store.insert_run(&fixtures::corners())) {
        Ok(new) => println!("write: stored {new}"),
        Err(error) => println!("write: {}", error.to_string().replace('\n', " ")),
    }
    match Store::open_read_only(path).and_then(|store| store.runs(&Selection::default())) {
        Ok(runs) => println!("read: {} runs", runs.len()),
        Err(error) => println!("read: {}", error.to_string().replace('\n', " ")),
    }
}

/// What a user who owns nothing is told about `path`: for writing, for reading. `None` where this test cannot become one.
fn as_nobody(path: &Path) -> Option<[String; 2]> {
    const NOBODY: u32 = 65_534;
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args([
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
            "child_that_opens",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let is_root = fs::metadata("/proc/self").expect("this process").uid() == 0;
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let needs = format!("a test program that nobody may run ({error})");
            testing::skip("opening as nobody", &needs);
            return None;
        }
    };
    let mut input = child.stdin.take().expect("a pipe");
    input
        .write_all(path.as_os_str().as_encoded_bytes())
        .expect("the child listens");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let text = String::from_utf8(output.stdout).expect("text");
    Some(["write: ", "read: "].map(|lead| {
        let line = text.lines().find_map(|line| line.strip_prefix(lead));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    }))
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own file");
}

#[test]
fn a_read_only_folder_can_be_read_and_is_not_written() {
    let (folder, path) = closed();
    allow(folder.path(), 0o555);
    allow(&path, 0o444);
    let told = as_nobody(&path);
    allow(folder.path(), 0o755);
    let Some([write, read]) = told else { return };
    assert!(write.contains("can be read but not written"), "{write}");
    assert_eq!(read, format!("{} runs", fixtures::all().len()));
}

#[test]
fn a_writable_file_in_a_read_only_folder_is_not_written_either() {
    let (folder, path) = closed();
    allow(folder.path(), 0o555);
    allow(&path, 0o666);
    let told = as_nobody(&path);
    allow(folder.path(), 0o755);
    let Some([write, read]) = told else { return };
    // Root's folder is nobody's only to read; the owner of it, who runs the test himself, is refused alike.
    assert!(write.contains("can be read but not written"), "{write}");
    assert_eq!(read, format!("{} runs", fixtures::all().len()));
}

#[test]
fn a_store_of_another_user_is_a_matter_of_permission() {
    let (folder, path) = closed();
    allow(folder.path(), 0o755);
    allow(&path, 0o000);
    let Some([write, read]) = as_nobody(&path) else {
        return;
    };
    assert!(write.contains("no permission to open the store"), "{write}");
    assert!(read.contains("no permission to open the store"), "{read}");
}

#[test]
fn a_folder_of_another_user_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    allow(folder.path(), 0o555);
    let told = as_nobody(&folder.path().join("store.db"));
    allow(folder.path(), 0o755);
    let Some([write, read]) = told else { return };
    assert!(write.contains("its folder cannot be written"), "{write}");
    assert!(read.contains("there is no store"), "{read}");
}

#[test]
fn the_journal_is_told() {
    let (_folder, path) = closed();
    let store = Store::open(&path).unwrap();
    let expected = match store.filesystem() {
        Some("nfs" | "nfs4" | "9p" | "virtiofs") => Journal::Rollback,
        _ => Journal::Wal,
    };
    assert_eq!(store.journal(), expected);
    assert_eq!(Store::open_read_only(&path).unwrap().journal(), expected);
}
