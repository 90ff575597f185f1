//! Standard output, through which results go. What cannot be written is an error and no panic.

use std::io::{self, BufWriter, Stdout, Write};

use serde::Serialize;

use crate::exit::Failure;

/// Buffered until flushed.
pub(crate) struct Output(BufWriter<Stdout>);

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(io::stdout()))
    }

    /// Writes what is left.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.flush().map_err(Failure::output)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a value as one line of JSON.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes what stands for what, the second column aligned.
pub(crate) fn columns(out: &mut dyn Write, rows: &[(String, String)]) -> io::Result<()> {
    let widths = rows.iter().map(|(first, _)| first.chars().count());
    let width = widths.max().unwrap_or(0);
    rows.iter()
        .try_for_each(|(first, second)| writeln!(out, "{first:width$}  {second}"))
}
