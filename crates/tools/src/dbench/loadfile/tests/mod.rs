mod hostile;
mod stream;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// One line of every operation, with everything that depends on it.
const CLEAN: &str = r#"# all operations
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 16 NT_STATUS_OK
Close 16 NT_STATUS_OK
NTCreateX "\clients\client1\a" 0x40 0x2 17 NT_STATUS_OK
WriteX 17 65534 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 17 258 NT_STATUS_OK
SET_FILE_INFORMATION 17 1004 NT_STATUS_OK
ReadX 17 0 4096 4096 NT_STATUS_OK
LockX 17 2147483538 1 NT_STATUS_OK
UnlockX 17 2147483538 1 NT_STATUS_OK
Flush 17 NT_STATUS_OK
Close 17 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\a" 1004 NT_STATUS_OK
QUERY_FS_INFORMATION 259 NT_STATUS_OK
FIND_FIRST "\clients\client1\*" 260 1366 3 NT_STATUS_OK
Rename "\clients\client1\a" "\clients\client1\b" NT_STATUS_OK
NTCreateX "\clients\client1\a" 0x40 0x1 18 NT_STATUS_OBJECT_NAME_NOT_FOUND
Unlink "\clients\client1\b" 0x6 NT_STATUS_OK
Sleep 500 NT_STATUS_OK
Rmdir "\clients\client1" NT_STATUS_OK
"#;

fn compile(text: &str) -> Loadfile {
    parse(text.as_bytes()).unwrap()
}

fn refusal(text: &[u8]) -> String {
    parse(text).unwrap_err().to_string()
}

/// The same work: operations, paths and slots, wherever the lines stand.
fn assert_same_work(got: &Loadfile, expected: &Loadfile) {
    assert_eq!(got.ops, expected.ops);
    let texts = |loadfile: &Loadfile| -> Vec<Vec<u8>> {
        loadfile
            .paths
            .iter()
            .map(|path| path.text().to_vec())
            .collect()
    };
    assert_eq!(texts(got), texts(expected));
    assert_eq!((got.slots, got.lines), (expected.slots, expected.lines));
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compiles_each_operation() {
    let loadfile = compile(CLEAN);
    assert_eq!(loadfile.warnings, []);
    assert_eq!(
        (loadfile.lines, loadfile.ops.len(), loadfile.slots),
        (21, 21, 1)
    );
    let codes: Vec<OpCode> = loadfile.ops.iter().map(Op::code).collect();
    for code in OpCode::ALL {
        assert!(codes.contains(&code), "{code:?}");
    }
    let path = |text: &[u8]| {
        let known = loadfile
            .paths
            .iter()
            .position(|path| path.text() == text)
            .unwrap();
        loadfile
            .ops
            .iter()
            .filter_map(Op::path)
            .find(|path| path.index() == known)
    };
    let a = path(b"/clients/client1/a").unwrap();
    let slot = Slot(0);
    let expect = Expect::Success;
    assert_eq!(
        loadfile.ops[4],
        Op::Create {
            path: a,
            slot: Some(slot),
            disposition: Disposition::Create,
            directory: false,
            expect,
            handle: 17
        }
    );
    assert_eq!(
        loadfile.ops[5],
        Op::Write {
            slot,
            offset: 65_534,
            size: 1,
            expected: 1,
            expect
        }
    );
    assert_eq!(
        loadfile.ops[8],
        Op::Read {
            slot,
            offset: 0,
            size: 4_096,
            expected: 4_096,
            expect
        }
    );
    assert_eq!(
        loadfile.ops[9],
        Op::Lock {
            slot,
            offset: 2_147_483_538,
            length: 1,
            expect
        }
    );
    let pattern = path(b"/clients/client1/*").unwrap();
    assert_eq!(
        loadfile.ops[15],
        Op::Find {
            pattern,
            wildcard: true,
            expect,
            max_count: 1_366,
            count: 3
        }
    );
    assert_eq!(
        loadfile.ops[17],
        Op::Create {
            path: a,
            slot: None,
            disposition: Disposition::Open,
            directory: false,
            expect: Expect::Failure,
            handle: 18
        }
    );
    assert_eq!(
        loadfile.op_lines[17], 19,
        "the comment counts as a line of the text"
    );
    assert_eq!(loadfile.due(17), None);
}

#[test]
fn prints_the_names_of_the_400_table_in_its_order() {
    let names: Vec<&str> = OpCode::ALL.into_iter().map(OpCode::table_name).collect();
    assert_eq!(
        names.join(" "),
        "NTCreateX Close Rename Unlink Deltree Rmdir Mkdir Qpathinfo Qfileinfo Qfsinfo Sfileinfo \
         Find WriteX ReadX LockX UnlockX Flush Sleep"
    );
    for (index, code) in OpCode::ALL.into_iter().enumerate() {
        assert_eq!(code.index(), index);
        assert_eq!(
            OpCode::from_loadfile_name(code.loadfile_name().as_bytes()),
            Some(code)
        );
    }
}

/// Acceptance: client 3 under a base directory that is called `client1` itself.
#[test]
fn the_client_is_put_into_the_loadfiles_part_alone() {
    let loadfile = compile("Unlink \"\\clients\\client1\\x\" 0x6 NT_STATUS_OK\n");
    let paths = loadfile.paths.for_client(b"/t/client1", 3);
    assert_eq!(paths, [b"/t/client1/clients/client3/x".to_vec()]);
}

#[test]
fn every_client1_is_replaced_and_nothing_else() {
    let loadfile = compile("Unlink \"\\client1\\client12\\Client1\\client\" 0 NT_STATUS_OK\n");
    let paths = loadfile.paths.for_client(b".", 10);
    assert_eq!(paths, [b"./client10/client102/Client1/client".to_vec()]);
}

/// Acceptance: files that were carried through other systems or written by hand.
#[test]
fn blemishes_do_not_change_the_work() {
    let clean = compile(CLEAN);
    let kinds = |loadfile: &Loadfile| -> Vec<(String, u32)> {
        let kind = |warning: &Warning| {
            format!("{warning:?}")
                .split(['(', ' '])
                .next()
                .unwrap()
                .to_owned()
        };
        loadfile
            .warnings
            .iter()
            .map(|warning| (kind(warning), warning.lines().first))
            .collect()
    };

    let crlf = compile(&CLEAN.replace('\n', "\r\n"));
    assert_same_work(&crlf, &clean);
    assert_eq!(kinds(&crlf), [("CarriageReturns".to_owned(), 1)]);

    let unfinished = compile(CLEAN.trim_end());
    assert_same_work(&unfinished, &clean);
    assert_eq!(unfinished.warnings, []);

    let tabs = compile(&CLEAN.replace(' ', "\t"));
    assert_same_work(&tabs, &clean);
    assert_eq!(kinds(&tabs), [("TabSeparators".to_owned(), 2)]);

    let unquoted = compile(&CLEAN.replace('"', ""));
    assert_same_work(&unquoted, &clean);
    assert_eq!(kinds(&unquoted), [("BarePath".to_owned(), 2)]);
    assert_eq!(unquoted.warnings[0].lines().count, 11);

    let relative = compile(&CLEAN.replace("\"\\", "\""));
    assert_same_work(&relative, &clean);
    assert_eq!(kinds(&relative), [("BarePath".to_owned(), 2)]);

    let spaced = compile(&CLEAN.replace(' ', "   ").replace('\n', "  \n\n x\n"));
    assert_same_work(&spaced, &compile(&CLEAN.replace('\n', "\n\n x\n")));
    assert_eq!(spaced.lines, clean.lines, "lines of one word do not count");
}

#[test]
fn an_unknown_operation_is_one_warning_and_the_rest_runs() {
    let loadfile = compile(
        "Flush 1 0x1\nFrob 1 2 NT_STATUS_OK\nFrob 3 NT_STATUS_OK\nQUERY_FS_INFORMATION 1 0x0\n",
    );
    assert_eq!(loadfile.ops.len(), 2);
    let unknown: Vec<&Warning> = loadfile
        .warnings
        .iter()
        .filter(|warning| matches!(warning, Warning::UnknownOperation { .. }))
        .collect();
    let lines = Lines { first: 2, count: 2 };
    assert_eq!(
        unknown,
        [&Warning::UnknownOperation {
            name: "Frob".into(),
            lines
        }]
    );
    assert!(
        unknown[0]
            .to_string()
            .starts_with("line 2 and 1 more of the loadfile: the operation `Frob` is unknown")
    );
}

#[test]
fn warnings_are_few_whatever_the_file() {
    let many: String = (0..5_000)
        .map(|number| format!("op{number} 1 NT_STATUS_OK\n"))
        .collect();
    let loadfile = compile(&(many + "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n"));
    assert_eq!(loadfile.warnings.len(), 21);
    assert_eq!(
        loadfile.warnings[20],
        Warning::MoreUnknownOperations(Lines {
            first: 21,
            count: 4_980
        })
    );
}

#[test]
fn statuses_of_all_generations() {
    let expects = |status: &str| -> Option<Expect> {
        parse(format!("QUERY_FS_INFORMATION 1 {status}\n").as_bytes())
            .ok()
            .map(|loadfile| loadfile.ops[0].expect())
    };
    for success in ["NT_STATUS_OK", "0x0", "0x00000000", "SUCCESS"] {
        assert_eq!(expects(success), Some(Expect::Success), "{success}");
    }
    for failure in ["NT_STATUS_NO_SUCH_FILE", "0xC0000034", "ERROR"] {
        assert_eq!(expects(failure), Some(Expect::Failure), "{failure}");
    }
    assert_eq!(expects("*"), Some(Expect::Either));
    for bad in ["OK", "0", "0xZZ", "0x", "NT_STATUS", "nt_status_ok", "7"] {
        assert_eq!(expects(bad), None, "{bad}");
    }
}

#[test]
fn a_badly_formed_status_skips_the_line_and_names_it() {
    let loadfile = compile("QUERY_FS_INFORMATION 1 NT_STATUS_OK\nFlush 1\nFlush 2\n");
    assert_eq!(loadfile.ops.len(), 1);
    let lines = Lines { first: 2, count: 2 };
    assert_eq!(
        loadfile.warnings,
        [Warning::BadStatus {
            status: "1".into(),
            lines
        }]
    );
}

#[test]
fn numbers_are_read_as_c_reads_them() {
    let sizes = |number: &str| {
        let text =
            format!("NTCreateX \"/f\" 0 2 1 0x0\nWriteX 1 {number} 010 0x10 0x0\nClose 1 0x0\n");
        let loadfile = parse(text.as_bytes())?;
        match loadfile.ops[1] {
            Op::Write {
                offset,
                size,
                expected,
                ..
            } => Ok((offset, size, expected)),
            other => panic!("{other:?}"),
        }
    };
    for (text, offset) in [
        ("0", 0),
        ("0x1F", 31),
        ("017", 15),
        ("+5", 5),
        ("9223372036854775799", (1 << 63) - 9),
    ] {
        assert_eq!(sizes(text).unwrap(), (offset, 8, 16), "{text}");
    }
    for bad in [
        "-1",
        "9223372036854775800",
        "99999999999999999999999999999999999999999999",
        "0xffffffffffffffff",
    ] {
        let error: LoadfileError = sizes(bad).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{bad}: {error}");
    }
    for bad in ["12a", "08", "0x", "*", "+child"] {
        let error: LoadfileError = sizes(bad).unwrap_err();
        assert!(
            matches!(error, LoadfileError::NotANumber { line: 2, .. }),
            "{bad}: {error}"
        );
    }
}

#[test]
fn transfers_above_the_buffer_are_refused_and_the_buffer_itself_is_not() {
    let write = |size: &str| {
        parse(format!("NTCreateX \"/f\" 0 2 1 0x0\nWriteX 1 0 {size} 0 0x0\n").as_bytes())
    };
    assert!(write("16777216").is_ok());
    for size in ["16777217", "4294967296", "99999999999999999999999"] {
        let error = write(size).unwrap_err();
        assert!(
            matches!(error, LoadfileError::TransferTooLarge { line: 2, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(size), "{error}");
    }
    let error = write("-5").unwrap_err();
    assert!(
        matches!(error, LoadfileError::OutOfRange { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn a_handle_that_is_not_open_breaks_the_run_at_its_line() {
    let loadfile = compile("QUERY_FS_INFORMATION 1 0x0\nReadX 9938 0 4096 4096 NT_STATUS_OK\n");
    let fault = HandleFault::Unknown;
    assert_eq!(
        loadfile.ops[1],
        Op::Broken {
            code: OpCode::ReadX,
            handle: 9_938,
            fault
        }
    );
    assert_eq!(loadfile.op_lines[1], 2);
    let told = loadfile.warnings[0].to_string();
    assert!(
        told.contains("line 2") && told.contains("unknown handle 9938"),
        "{told}"
    );
}

#[test]
fn a_handle_is_not_open_after_its_close_nor_after_an_open_that_fails() {
    let loadfile = compile(
        "NTCreateX \"/f\" 0 2 1 0x0\nClose 1 0x0\nFlush 1 0x0\nNTCreateX \"/g\" 0 1 2 0x1\nFlush 2 0x0\n",
    );
    let broken: Vec<usize> = (0..loadfile.ops.len())
        .filter(|&index| matches!(loadfile.ops[index], Op::Broken { .. }))
        .collect();
    assert_eq!(broken, [2, 4]);
}

#[test]
fn a_number_opened_twice_means_the_lower_slot_until_that_is_closed() {
    let loadfile = compile(
        "NTCreateX \"/f\" 0 2 7 0x0\nNTCreateX \"/g\" 0 2 7 0x0\nFlush 7 0x0\nClose 7 0x0\nFlush 7 0x0\n",
    );
    let slots: Vec<Option<Slot>> = loadfile.ops.iter().map(Op::slot).collect();
    assert_eq!(slots, [0, 1, 0, 0, 1].map(|slot| Some(Slot(slot))));
    assert_eq!(loadfile.left_open, [Slot(1)]);
    assert_eq!(
        loadfile.warnings,
        [
            Warning::DuplicateHandle {
                handle: 7,
                opened: 1,
                lines: Lines { first: 2, count: 1 }
            },
            Warning::LeftOpen {
                handle: 7,
                lines: Lines { first: 2, count: 1 }
            },
        ]
    );
}

#[test]
fn two_hundred_handles_can_be_open_and_not_one_more() {
    let open: String = (0..201)
        .map(|number| format!("NTCreateX \"/f{number}\" 0 2 {number} 0x0\n"))
        .collect();
    let loadfile = compile(&open);
    assert_eq!(loadfile.slots, 200);
    let fault = HandleFault::TableFull;
    assert_eq!(
        loadfile.ops[200],
        Op::Broken {
            code: OpCode::NtCreateX,
            handle: 200,
            fault
        }
    );
}

#[test]
fn time_stamps_stand_in_front_and_zero_is_none() {
    let loadfile = compile(
        "0.5 QUERY_FS_INFORMATION 1 0x0\nQUERY_FS_INFORMATION 1 0x0\n0 QUERY_FS_INFORMATION 1 0x0\n1.2 QUERY_FS_INFORMATION 1 0x0\n",
    );
    let due: Vec<Option<u64>> = (0..4).map(|index| loadfile.due(index)).collect();
    assert_eq!(due, [Some(500_000_000), None, None, Some(1_200_000_000)]);
    let bad = compile("QUERY_FS_INFORMATION 1 0x0\n1e300 Flush 1 0x0\n3com Flush 1 0x0\n");
    let lines = Lines { first: 2, count: 2 };
    assert_eq!(
        bad.warnings,
        [Warning::BadTimestamp {
            stamp: "1e300".into(),
            lines
        }]
    );
}

#[test]
fn the_setup_ends_with_the_close_of_what_was_written_last_before_the_first_read() {
    let setup = "NTCreateX \"/f\" 0 2 1 0x0\nWriteX 1 0 5 5 0x0\nClose 1 0x0\n";
    let work =
        "QUERY_FS_INFORMATION 1 0x0\nNTCreateX \"/f\" 0 1 1 0x0\nReadX 1 0 5 5 0x0\nClose 1 0x0\n";
    let end = |text: String| compile(&text).setup_end;
    assert_eq!(end(format!("{setup}{work}{work}")), 3);
    assert_eq!(end(setup.repeat(3)), 0, "nothing is read");
    assert_eq!(end(format!("{work}{work}")), 0, "nothing is written");
    assert_eq!(
        end(format!("{setup}{setup}{setup}{work}")),
        0,
        "longer than the rest"
    );
    let open = "NTCreateX \"/f\" 0 2 1 0x0\nWriteX 1 0 5 5 0x0\nReadX 1 0 5 5 0x0\nClose 1 0x0\n";
    assert_eq!(end(format!("{open}{work}")), 0, "read while still open");
}

#[test]
fn what_is_no_loadfile_is_refused_by_name() {
    assert!(refusal(b"").contains("it is empty"));
    assert!(refusal(b"# nothing\n\nword\n").contains("no operation"));
    assert!(refusal(b"\x7fELF\x02\x01\x01\0\0").contains("line 1 of the loadfile has a zero byte"));
    assert!(
        refusal(b"SMBopenX REQUEST \\CLIENTS\\CLIENT1\n")
            .contains("this is a dbench 1 load file: line 1")
    );
    assert!(refusal(b"LOOP 3\n").contains("LOOP, a directive of dbench 5.0"));
    assert!(refusal(b"Flush 1 0x1\nENDLOOP\n").contains("line 2"));
    assert!(
        refusal(b"Close 5\nClose 6\n").contains("the status `5` is badly formed"),
        "a loadfile of 2.x"
    );
    assert!(refusal(b"Deltree \"\\a\\..\\..\\home\" 0x0\n").contains("goes up by `..`"));
}

#[test]
fn a_missing_argument_is_named() {
    let told = refusal(b"NTCreateX \"/f\" 0 2 1 0x0\nWriteX 1 0 4096 NT_STATUS_OK\n");
    assert!(
        told.starts_with("line 2 of the loadfile: WriteX has no expected size"),
        "{told}"
    );
    let told = refusal(b"Rename \"/f\" NT_STATUS_OK\n");
    assert!(
        told.starts_with("line 1 of the loadfile: Rename has no new path"),
        "{told}"
    );
}
