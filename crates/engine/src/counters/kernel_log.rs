//! Lines of the kernel log, of level warning and worse, since the last time we looked.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

use kernmark_model::counters::{KernelLog, LogLine};

use crate::machine::Root;

/// Levels up to this one are kept: 4 is warning, smaller is worse.
const WORST_KEPT_LEVEL: u8 = 4;

/// Lines kept of one look; a driver gone mad logs thousands.
const MOST_LINES: usize = 200;

/// Longer than any record (the kernel's own limit, 8 KiB).
const RECORD_BYTES: usize = 16 << 10;

/// Reads of one look: a log that is written faster than it is read must not hold us.
const MOST_READS: usize = 100_000;

/// The log, open at the place up to which it was read.
#[derive(Debug)]
pub(super) struct LogReader {
    file: File,
}

impl LogReader {
    /// Opens the log at its end; `None` if it may not be read.
    pub(super) fn at_end(root: &Root) -> Option<Self> {
        let mut file = kernmark_sys::kernel_log::open(&root.place("/dev/kmsg")).ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Self { file })
    }

    /// The lines since the last call.
    pub(super) fn since_last(&mut self) -> KernelLog {
        let mut log = KernelLog::default();
        let mut buffer = vec![0; RECORD_BYTES];
        // The kernel gives a record for each read; a captured file gives what fits, cut anywhere.
        let mut unfinished: Vec<u8> = Vec::new();
        for _ in 0..MOST_READS {
            match self.file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    unfinished.extend_from_slice(&buffer[..count]);
                    let end = unfinished.iter().rposition(|&byte| byte == b'\n');
                    let rest = unfinished.split_off(end.map_or(0, |end| end + 1));
                    add_lines(&unfinished, &mut log);
                    unfinished = rest;
                }
                // Overwritten before it was read: the next read goes on with what is left.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => log.overrun = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // At the end, or no longer readable: either way there is no more.
                Err(_) => break,
            }
        }
        add_lines(&unfinished, &mut log);
        log
    }
}

fn add_lines(bytes: &[u8], log: &mut KernelLog) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter_map(parse);
    for line in lines.filter(|line| line.level <= WORST_KEPT_LEVEL) {
        if log.lines.len() < MOST_LINES {
            log.lines.push(line);
        } else {
            log.more += 1;
        }
    }
}

/// `4,1234,5678901,-;text`: level and facility in one number, sequence, microseconds, flags.
///
/// Lines that begin with a space tell a program more of the record before; they are not for people.
fn parse(line: &str) -> Option<LogLine> {
    let (head, text) = line.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    Some(LogLine {
        level: u8::try_from(priority & 7).ok()?,
        facility: priority >> 3,
        sequence: fields.next()?.parse().ok()?,
        logged_usec: fields.next()?.parse().ok()?,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_and_facility_share_a_number() {
        let line = parse("30,5,900,-,caller=T1;systemd[1]: a; b").unwrap();
        assert_eq!((line.level, line.facility, line.sequence), (6, 3, 5));
        assert_eq!(
            (line.logged_usec, line.text.as_str()),
            (900, "systemd[1]: a; b")
        );
        for not_a_line in [" SUBSYSTEM=pci", "", "x,1,2,-;t", "4,1;t", "4;t"] {
            assert_eq!(parse(not_a_line), None, "{not_a_line}");
        }
    }

    #[test]
    fn a_driver_gone_mad_is_counted_not_kept() {
        let text = "3,1,1,-;again\n".repeat(MOST_LINES + 7);
        let mut log = KernelLog::default();
        add_lines(text.as_bytes(), &mut log);
        assert_eq!((log.lines.len(), log.more), (MOST_LINES, 7));
    }
}
