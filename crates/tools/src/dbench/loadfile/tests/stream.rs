//! How the text comes in: gzip, limits, slow and failing sources.

use std::io::{self, BufReader, Read};

use super::*;

#[test]
fn gzip_is_told_by_its_content_and_gives_the_same_digest() {
    let plain = compile(CLEAN);
    let packed = parse(&gzip(CLEAN.as_bytes())).unwrap();
    assert_same_work(&packed, &plain);
    assert_eq!(packed.digest, plain.digest);
    let mut two_members = gzip(&CLEAN.as_bytes()[..300]);
    two_members.extend(gzip(&CLEAN.as_bytes()[300..]));
    assert_same_work(&parse(&two_members).unwrap(), &plain);
}

#[test]
fn the_digest_is_the_sha256_of_the_text() {
    // printf 'QUERY_FS_INFORMATION 1 0x0\n' | sha256sum
    let loadfile = compile("QUERY_FS_INFORMATION 1 0x0\n");
    assert_eq!(
        loadfile.digest_hex(),
        "1197e44274971de5ed4c05d35e5b07b865316f70b454b8c453f60c7c0b6dfaed"
    );
}

#[test]
fn a_gzip_file_that_is_cut_short_is_refused() {
    let packed = gzip(CLEAN.repeat(50).as_bytes());
    for length in [2, 3, 11, packed.len() / 2, packed.len() - 1] {
        let error = parse(&packed[..length]).unwrap_err();
        assert!(matches!(error, LoadfileError::Gzip(_)), "{length}: {error}");
    }
}

#[test]
fn a_line_may_have_1024_bytes_and_not_one_more() {
    let line = |length: usize| format!("Flush {:0>width$} 0x1", 7, width = length - 10);
    assert_eq!(line(1_024).len(), 1_024);
    for end in ["", "\n", "\r\n"] {
        assert!(parse((line(1_024) + end).as_bytes()).is_ok(), "{end:?}");
        let error = parse(format!("\n{}{end}", line(1_025)).as_bytes()).unwrap_err();
        assert!(
            matches!(error, LoadfileError::LineTooLong { line: 2 }),
            "{end:?}: {error}"
        );
    }
}

#[test]
fn ten_megabytes_without_a_newline_are_one_error() {
    for filler in [b'a', b' ', b'"', b'#', b'\r'] {
        let error = parse(&vec![filler; 10 << 20]).unwrap_err();
        assert!(
            matches!(error, LoadfileError::LineTooLong { line: 1 }),
            "{}: {error}",
            filler as char
        );
    }
}

/// Text without an end, as a pipe may give it.
struct Endless;

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = [b'#'; 1_000];
        let pieces = buffer.chunks_mut(line.len() + 1);
        for piece in pieces {
            let text = piece.len() - 1;
            piece[..text].copy_from_slice(&line[..text]);
            piece[text] = b'\n';
        }
        Ok(buffer.len())
    }
}

#[test]
fn a_stream_without_an_end_is_refused() {
    let error = read(BufReader::with_capacity(1 << 20, Endless)).unwrap_err();
    assert!(matches!(error, LoadfileError::TextTooLong), "{error}");
}

#[test]
fn a_source_that_fails_is_an_error_with_its_cause() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let error = read(BufReader::new(Failing)).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "the disk is gone"
    );
}

#[test]
fn a_source_that_gives_a_byte_at_a_time_is_the_same() {
    struct Slow<'a>(&'a [u8]);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }
    for text in [CLEAN.as_bytes().to_vec(), gzip(CLEAN.as_bytes())] {
        let slow = read(BufReader::with_capacity(1, Slow(&text))).unwrap();
        assert_same_work(&slow, &compile(CLEAN));
    }
}
