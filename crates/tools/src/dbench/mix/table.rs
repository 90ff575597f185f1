//! The mix as a table for people.

use std::fmt;

use super::super::loadfile::OpCode;
use super::distribution::ratio;
use super::{Distribution, Mix};

/// What cannot be told is a dash.
const UNKNOWN: &str = "-";

impl fmt::Display for Mix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for code in OpCode::ALL.into_iter().filter(|&code| self.count(code) > 0) {
            writeln!(
                out,
                "{:<24}{:>12}{:>10}",
                code.loadfile_name(),
                self.count(code),
                percent(self.share(code))
            )?;
        }
        for (label, value) in self.rows() {
            writeln!(out, "{label:<48}{value:>24}")?;
        }
        for unexpected in &self.unexpected {
            writeln!(out, "{unexpected}")?;
        }
        Ok(())
    }
}

impl Mix {
    /// Everything but the counts of the operations, as label and value.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("operations", self.ops().to_string()),
            ("set-up: operations", self.setup_ops.to_string()),
            ("set-up: bytes in files", self.setup_bytes.to_string()),
            (
                "iterations",
                optional(self.iterations.map(|iterations| iterations.count)),
            ),
            (
                "lines per iteration",
                self.iterations.map_or(UNKNOWN.into(), |found| {
                    format!("{} to {}", found.least_lines, found.most_lines)
                }),
            ),
            ("bytes read", self.read_sizes.sum().to_string()),
            ("bytes written", self.write_sizes.sum().to_string()),
            ("read share of the bytes", percent(self.read_byte_share())),
            (
                "bytes per operation after the set-up",
                number(self.steady_bytes_per_op()),
            ),
            ("peak files per client", self.peak_files.to_string()),
            ("peak bytes per client", self.peak_bytes.to_string()),
            (
                "largest directory, files",
                self.largest_directory.to_string(),
            ),
            ("peak open handles", self.peak_handles.to_string()),
            (
                "fsync per 1,000 operations",
                number(self.flushes_per_thousand()),
            ),
        ];
        rows.extend(self.name_rows());
        rows.extend(self.transfer_rows());
        rows
    }

    fn name_rows(&self) -> Vec<(&'static str, String)> {
        let (opens, queries, lives) = (&self.opens, &self.queries, &self.handles);
        let of_opens = |part| percent(ratio(part, self.count(OpCode::NtCreateX)));
        let of_lives = |part| {
            percent(ratio(
                part,
                lives.idle + lives.read + lives.written + lives.both,
            ))
        };
        vec![
            ("opens: existing file", of_opens(opens.existing)),
            ("opens: none there", of_opens(opens.failed)),
            ("opens: new file", of_opens(opens.new)),
            ("opens: directory", of_opens(opens.directories)),
            ("handles: neither read nor written", of_lives(lives.idle)),
            ("handles: read", of_lives(lives.read)),
            ("handles: written", of_lives(lives.written)),
            ("handles: both", of_lives(lives.both)),
            ("path queries that find a file", queries.file.to_string()),
            (
                "path queries that find a directory",
                queries.directory.to_string(),
            ),
            (
                "path queries that find nothing",
                percent(ratio(queries.missing, self.count(OpCode::QueryPath))),
            ),
            (
                "searches that match nothing",
                percent(ratio(self.finds.unmatched, self.count(OpCode::Find))),
            ),
            (
                "entries of a searched directory, mean",
                number(self.finds.entries.mean()),
            ),
            (
                "entries of a searched directory, most",
                optional(self.finds.entries.max()),
            ),
            (
                "file size at close, p50 p75 p95",
                percentiles(&self.close_sizes),
            ),
            (
                "file size at unlink, p50 p75 p95",
                percentiles(&self.unlink_sizes),
            ),
            (
                "unlinked files that are empty",
                percent(self.unlink_sizes.share_in(0..=0)),
            ),
            ("distinct paths", self.distinct_paths.to_string()),
            (
                "path length with . as base, mean",
                number(self.path_lengths.mean()),
            ),
            (
                "path length with . as base, longest",
                optional(self.path_lengths.max()),
            ),
            ("path depth, deepest", optional(self.path_depths.max())),
        ]
    }

    fn transfer_rows(&self) -> Vec<(&'static str, String)> {
        let (reads, writes, at) = (&self.read_sizes, &self.write_sizes, &self.positions);
        let of_writes = |part| percent(ratio(part, writes.count()));
        let shares = |sizes: &Distribution, range: std::ops::RangeInclusive<u64>| {
            format!(
                "{} / {}",
                percent(sizes.share_in(range.clone())),
                percent(sizes.sum_share_in(range))
            )
        };
        vec![
            (
                "sequential reads",
                percent(ratio(self.sequential_reads, reads.count())),
            ),
            (
                "sequential writes",
                percent(ratio(self.sequential_writes, writes.count())),
            ),
            (
                "reads up to 512 B, of count / bytes",
                shares(reads, 0..=512),
            ),
            ("reads up to 2 KiB", shares(reads, 513..=2048)),
            ("reads up to 4 KiB", shares(reads, 2049..=4096)),
            ("reads of 4 KiB", shares(reads, 4096..=4096)),
            ("reads up to 8 KiB", shares(reads, 4097..=8192)),
            ("reads up to 16 KiB", shares(reads, 8193..=16_384)),
            ("reads up to 32 KiB", shares(reads, 16_385..=32_768)),
            ("reads up to 64 KiB", shares(reads, 32_769..=65_536)),
            ("reads of 60 KiB", shares(reads, 61_440..=61_440)),
            ("distinct read sizes", reads.distinct().to_string()),
            ("writes of 1 B, of count / bytes", shares(writes, 1..=1)),
            ("writes up to 512 B", shares(writes, 2..=512)),
            ("writes up to 2 KiB", shares(writes, 513..=2048)),
            ("writes up to 4 KiB", shares(writes, 2049..=4096)),
            ("writes up to 8 KiB", shares(writes, 4097..=8192)),
            ("writes up to 16 KiB", shares(writes, 8193..=16_384)),
            ("writes up to 32 KiB", shares(writes, 16_385..=32_768)),
            ("writes below 64 KiB", shares(writes, 32_769..=65_535)),
            ("writes of 64 KiB", shares(writes, 65_536..=65_536)),
            ("distinct write sizes", writes.distinct().to_string()),
            ("writes: one byte beyond the end", of_writes(at.hole)),
            ("writes: farther beyond the end", of_writes(at.beyond)),
            ("writes: at the end", of_writes(at.at_end)),
            ("writes: crossing the end", of_writes(at.crossing)),
            ("writes: inside the file", of_writes(at.overwrite)),
            (
                "runs of reads: one, of all",
                percent(self.read_runs.share_in(1..=1)),
            ),
            (
                "operations against their status",
                self.unexpected_count.to_string(),
            ),
        ]
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or(UNKNOWN.into(), |share| format!("{:.2} %", share * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or(UNKNOWN.into(), |value| format!("{value:.2}"))
}

fn optional(value: Option<u64>) -> String {
    value.map_or(UNKNOWN.into(), |value| value.to_string())
}

fn percentiles(sizes: &Distribution) -> String {
    [50, 75, 95]
        .map(|percent| optional(sizes.percentile(percent)))
        .join(" ")
}
