//! Loadfiles that are none, or nearly: one clear message each, nothing started, nothing left.
#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "a test that cannot go on ends"
)]

mod support;

use std::fs;

use support::World;

/// Runs dbench with a loadfile of these bytes; exit code and what stderr said.
fn replay(world: &World, bytes: &[u8]) -> (Option<i32>, String) {
    let path = world.work().join("load");
    fs::write(&path, bytes).unwrap();
    let words = [
        "run",
        "dbench",
        "passes=1",
        "drain=no",
        "loadfile=load",
        "--quiet",
    ];
    let output = world.command(&words).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    fs::remove_file(path).unwrap();
    let left: Vec<_> = fs::read_dir(world.work()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!told.contains("panicked"), "{told}");
    (output.status.code(), told)
}

#[test]
fn what_is_no_loadfile_is_refused_in_one_message() {
    let world = World::new();
    let cases: [(&str, Vec<u8>); 7] = [
        ("empty", Vec::new()),
        ("only comments", b"# nothing\n# more of it\n".to_vec()),
        (
            "binary",
            (0_u32..200_000)
                .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3])
                .collect(),
        ),
        ("one line of ten megabytes", vec![b'x'; 10 << 20]),
        (
            "gzip cut short",
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3],
        ),
        (
            "of dbench 1",
            b"SMBopenX REQUEST \\a\nSMBopenX REPLY Handle 1 Size 0\n".to_vec(),
        ),
        (
            "an absurd number",
            b"NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 99999999999999999999 NT_STATUS_OK\n"
                .to_vec(),
        ),
    ];
    for (what, bytes) in cases {
        let (code, told) = replay(&world, &bytes);
        assert_eq!(code, Some(2), "{what}: {told}");
        assert_eq!(told.matches("error: ").count(), 1, "{what}: {told}");
        assert!(told.contains("load"), "{what}: {told}");
    }
}

#[test]
fn a_loadfile_that_cannot_be_opened_is_named_with_the_reason() {
    let world = World::new();
    for (name, reason) in [
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
    ] {
        let words = ["run", "dbench", &format!("loadfile={name}"), "--quiet"];
        let (code, told) = world.refused(&words);
        assert!(code == 2 && told.contains(reason), "{told}");
    }
}

#[test]
fn line_ends_of_another_system_and_a_cut_last_line_change_nothing() {
    let world = World::new();
    let text = "Mkdir \"\\clients\" NT_STATUS_OK\r\n\
                NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\r\n\
                Close 1 NT_STATUS_OK\r\n\
                QUERY_PATH_INFORMATION \"\\clients\\client1\" 1004 NT_STATUS_OK";
    let (code, told) = replay(&world, text.as_bytes());
    assert_eq!(code, Some(0), "{told}");
}
