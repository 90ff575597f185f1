//! Files that nobody should write: none makes the reader panic, hang or grow without bound.

use proptest::prelude::*;

use super::*;
use crate::dbench::mix::Mix;

/// Lines as nobody should write them, mixed with good ones.
fn hostile_line() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "NTCreateX",
        "Close",
        "Rename",
        "Unlink",
        "Deltree",
        "Rmdir",
        "Mkdir",
        "WriteX",
        "ReadX",
        "LockX",
        "UnlockX",
        "Flush",
        "Sleep",
        "FIND_FIRST",
        "QUERY_PATH_INFORMATION",
        "QUERY_FILE_INFORMATION",
        "QUERY_FS_INFORMATION",
        "SET_FILE_INFORMATION",
        "LOOP",
        "ENDLOOP",
        "SMBopen",
        "#",
        "\"",
        "\"\"",
        "\"\\a",
        "\"\\a\\b\"",
        "/",
        "..",
        "\\",
        "0",
        "-1",
        "1",
        "0x",
        "0x7fffffffffffffff",
        "99999999999999999999",
        "1e308",
        "nan",
        "*",
        "*/4096",
        "+child",
        "NT_STATUS_OK",
        "NT_STATUS_",
        "0x0",
        "SUCCESS",
        "\t",
        "\r",
        "client1client1",
        "<.TMP",
        "1.5",
    ]);
    let words = prop::collection::vec(words, 0..24);
    let good_line = prop::sample::select(CLEAN.lines().collect::<Vec<_>>());
    let good_line = good_line.prop_map(|line| line.as_bytes().to_vec());
    prop_oneof![
        8 => words.prop_map(|words| words.join(" ").into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..80),
        1 => (any::<u8>(), 0..3_000usize).prop_map(|(byte, times)| vec![byte; times]),
        6 => good_line,
    ]
}

/// Lines that are right one by one, in an order nobody thought about.
fn plausible_line() -> impl Strategy<Value = String> {
    let path = || {
        prop::sample::select(vec![
            "/",
            "/a",
            "/b",
            "/a/b",
            "/a/b/c",
            "/a/*",
            "/d/client1/e",
        ])
    };
    let status = || prop::sample::select(vec!["NT_STATUS_OK", "NT_STATUS_NO_SUCH_FILE", "*"]);
    let handle = || 0..6i32;
    let on_path = prop::sample::select(vec![
        "Unlink",
        "Deltree",
        "Rmdir",
        "Mkdir",
        "QUERY_PATH_INFORMATION",
    ]);
    let on_handle = prop::sample::select(vec![
        "Close",
        "QUERY_FILE_INFORMATION",
        "SET_FILE_INFORMATION",
        "Flush",
    ]);
    let on_range = prop::sample::select(vec!["WriteX", "ReadX", "LockX", "UnlockX"]);
    prop_oneof![
        3 => (path(), 0..2u8, 0..7u8, handle(), status()).prop_map(
            |(path, options, how, handle, status)| {
                format!("NTCreateX \"{path}\" {options} {how} {handle} {status}")
            }
        ),
        2 => (on_path, path(), status()).prop_map(
            |(op, path, status)| format!("{op} \"{path}\" 6 {status}")
        ),
        1 => (path(), path(), status()).prop_map(
            |(old, new, status)| format!("Rename \"{old}\" \"{new}\" {status}")
        ),
        1 => (path(), status()).prop_map(
            |(path, status)| format!("FIND_FIRST \"{path}\" 260 1366 1 {status}")
        ),
        2 => (on_handle, handle(), status()).prop_map(
            |(op, handle, status)| format!("{op} {handle} 258 {status}")
        ),
        2 => (on_range, handle(), 0..1i64 << 62, 0..100_000u32, status()).prop_map(
            |(op, handle, offset, size, status)| {
                format!("{op} {handle} {offset} {size} {size} {status}")
            }
        ),
    ]
}

/// Whatever comes out is either whole or one message; slots stay inside their table.
fn survives(text: &[u8]) {
    match parse(text) {
        Ok(loadfile) => {
            assert_eq!(loadfile.ops.len(), loadfile.op_lines.len());
            assert!(
                loadfile.stamps_nanos.is_empty()
                    || loadfile.stamps_nanos.len() == loadfile.ops.len()
            );
            assert!(loadfile.slots <= MAX_HANDLES && loadfile.setup_end <= loadfile.ops.len());
            for slot in loadfile.ops.iter().filter_map(Op::slot) {
                assert!(slot.index() < loadfile.slots);
            }
            assert!(loadfile.warnings.len() < 40);
            let mix = Mix::of(&loadfile);
            assert_eq!(mix.ops(), loadfile.ops.len() as u64);
            for warning in &loadfile.warnings {
                assert!(warning.to_string().starts_with("line "));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn hostile_loadfiles_end_in_a_message(
        lines in prop::collection::vec(hostile_line(), 0..120),
        newline in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        packed in any::<bool>(),
        cut in 0..4usize,
    ) {
        let text = lines.join(newline.as_bytes());
        let text = if packed { gzip(&text) } else { text };
        survives(&text[..text.len() - cut.min(text.len())]);
    }

    #[test]
    fn lines_of_one_kind_of_fault_end_in_a_message(line in hostile_line(), times in 1..400usize) {
        let text = [CLEAN.as_bytes(), &[line, b"\n".to_vec()].concat().repeat(times)].concat();
        survives(&text);
    }

    #[test]
    fn lines_in_any_order_compile_and_can_be_walked(
        lines in prop::collection::vec(plausible_line(), 1..300),
    ) {
        let text = lines.join("\n");
        prop_assert!(parse(text.as_bytes()).is_ok());
        survives(text.as_bytes());
    }

    #[test]
    fn random_bytes_end_in_a_message(bytes in prop::collection::vec(any::<u8>(), 0..4_096)) {
        survives(&bytes);
        let mut magic = vec![0x1f, 0x8b];
        magic.extend(&bytes);
        survives(&magic);
    }
}
