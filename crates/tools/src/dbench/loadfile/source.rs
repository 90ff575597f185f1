//! From a stream of bytes to lines: gzip told apart, limits kept, digest taken.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::LoadfileError;

/// The longest line, in bytes without its end: the original's buffer.
pub const MAX_LINE_BYTES: usize = 1024;

/// The longest text, in bytes: ten times the standard file.
///
/// It stands against streams without an end and against gzip files that unfold to one.
pub const MAX_TEXT_BYTES: u64 = 256 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Calls `line` with each line's number, from 1, and its bytes without the line end; returns the
/// text's SHA-256.
pub(super) fn each_line(
    mut source: impl BufRead,
    line: impl FnMut(u32, &[u8]) -> Result<(), LoadfileError>,
) -> Result<[u8; 32], LoadfileError> {
    let mut head = Vec::with_capacity(GZIP_MAGIC.len());
    source
        .by_ref()
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(LoadfileError::Read)?;
    let is_gzip = head == GZIP_MAGIC;
    let whole = head.as_slice().chain(source);
    if is_gzip {
        split(
            BufReader::new(MultiGzDecoder::new(whole)),
            LoadfileError::Gzip,
            line,
        )
    } else {
        split(whole, LoadfileError::Read, line)
    }
}

fn split(
    mut text: impl BufRead,
    read_error: fn(std::io::Error) -> LoadfileError,
    mut line: impl FnMut(u32, &[u8]) -> Result<(), LoadfileError>,
) -> Result<[u8; 32], LoadfileError> {
    let mut digest = Sha256::new();
    let mut total: u64 = 0;
    let mut number: u32 = 0;
    let mut begun = Vec::new(); // of the line that the chunk before left unfinished
    let mut finish_line = |bytes: &[u8]| {
        number += 1; // cannot overflow: MAX_TEXT_BYTES lines at most
        if bytes.strip_suffix(b"\r").unwrap_or(bytes).len() > MAX_LINE_BYTES {
            return Err(LoadfileError::LineTooLong { line: number });
        }
        line(number, bytes)
    };
    loop {
        let chunk = text.fill_buf().map_err(read_error)?;
        if chunk.is_empty() {
            break;
        }
        total += chunk.len() as u64;
        if total > MAX_TEXT_BYTES {
            return Err(LoadfileError::TextTooLong);
        }
        digest.update(chunk);
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            if begun.is_empty() {
                finish_line(&rest[..end])?;
            } else {
                begun.extend_from_slice(&rest[..end]);
                finish_line(&begun)?;
                begun.clear();
            }
            rest = &rest[end + 1..];
        }
        // Two bytes more than a line may have, one for a carriage return, are enough to be refused
        // as too many.
        let room = MAX_LINE_BYTES + 2 - begun.len();
        begun.extend_from_slice(&rest[..rest.len().min(room)]);
        if begun.len() == MAX_LINE_BYTES + 2 {
            finish_line(&begun)?;
        }
        let used = chunk.len();
        text.consume(used);
    }
    if !begun.is_empty() {
        finish_line(&begun)?;
    }
    Ok(digest.finalize().into())
}
