//! What happened second by second, in at most twenty lines.

use kernmark_model::ledger::Label;
use kernmark_model::run::Phase;
use kernmark_model::series::SeriesKind;
use kernmark_model::stats::steady::{SteadyState, Tolerance, steady_state};
use kernmark_model::units::{Bytes, MB, Nanos};

use crate::Form;
use crate::number::{counted, figure};
use crate::table::{Column, Table};

/// Longer series are shown in this many stretches of equal length.
const MOST_LINES: usize = 20;
/// An interval shorter than this may be empty by chance.
const STALL_NANOS: u64 = 500_000_000;

/// A phase's series over all ops and workers.
struct Seconds<'run> {
    /// End of each interval.
    time: &'run [u64],
    count: &'run [u64],
    /// What the rates are of: bytes where any were moved, else ops.
    amount: &'run [u64],
    unit: &'static str,
    /// How much of the amount makes one of the unit.
    per_unit: f64,
    longest: Option<&'run [u64]>,
    dirty: Option<&'run [u64]>,
}

impl<'run> Seconds<'run> {
    /// `None` if the phase has no series, or they do not match.
    fn of(phase: &'run Phase) -> Option<Self> {
        let find = |kind| {
            phase
                .series
                .iter()
                .find(|series| {
                    series.kind == kind && series.op.is_none() && series.worker.is_none()
                })
                .map(|series| series.values.as_slice())
        };
        let time = find(SeriesKind::Time)?;
        let same = |values: &&[u64]| values.len() == time.len();
        let count = find(SeriesKind::Count).filter(same)?;
        let bytes = (find(SeriesKind::Bytes).filter(same))
            .filter(|bytes| bytes.iter().any(|bytes| *bytes > 0));
        let rising = time.windows(2).all(|pair| pair[0] < pair[1]);
        let (amount, unit, per_unit) = match bytes {
            #[expect(clippy::cast_precision_loss, reason = "a million is exact")]
            Some(bytes) => (bytes, "MB/s", MB as f64),
            None => (count, "ops/s", 1.0),
        };
        (!time.is_empty() && time[0] > 0 && rising).then_some(Self {
            time,
            count,
            amount,
            unit,
            per_unit,
            longest: find(SeriesKind::LongestNanos).filter(same),
            dirty: find(SeriesKind::DirtyBytes).filter(same),
        })
    }

    fn start(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |last| self.time[last])
    }

    /// The rate over intervals `from` to `to`, the latter not included.
    fn rate(&self, from: usize, to: usize) -> f64 {
        let amount: u64 = self.amount[from..to]
            .iter()
            .fold(0, |sum, part| sum.saturating_add(*part));
        let elapsed = Nanos(self.time[to - 1] - self.start(from));
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let amount = amount as f64;
        amount / self.per_unit / elapsed.as_secs_f64()
    }

    fn stalled(&self, index: usize) -> bool {
        self.time[index] - self.start(index) >= STALL_NANOS && self.count[index] == 0
    }
}

/// Whether the phase was steady; `None` if it was not watched by the second.
pub(crate) fn steady(phase: &Phase, label: Option<Label>) -> Option<SteadyState> {
    let seconds = Seconds::of(phase)?;
    let rates: Vec<f64> = (0..seconds.time.len())
        .map(|index| seconds.rate(index, index + 1))
        .collect();
    let tolerance = match label {
        Some(Label::Device | Label::Mixed) => Tolerance::DEVICE,
        Some(Label::Ram) | None => Tolerance::CACHED,
    };
    Some(steady_state(&rates, tolerance))
}

/// The rate of each second or stretch, and up to its end; stalled seconds flagged. Empty if there are no series.
pub(crate) fn seconds_text(phase: &Phase, form: Form) -> String {
    let Some(seconds) = Seconds::of(phase) else {
        return String::new();
    };
    let intervals = seconds.time.len();
    let stretch = intervals.div_ceil(MOST_LINES);
    let cumulative = format!("{} so far", seconds.unit);
    let least = if stretch > 1 { "least" } else { "" };
    let mut table = Table::new(&[
        ("until", Column::Number),
        (seconds.unit, Column::Number),
        (least, Column::Number),
        (&cumulative, Column::Number),
        ("longest op", Column::Number),
        ("dirty", Column::Number),
        ("", Column::Mark),
    ]);
    for from in (0..intervals).step_by(stretch) {
        let to = (from + stretch).min(intervals);
        let last = to - 1;
        let stalls = (from..to).filter(|index| seconds.stalled(*index)).count();
        let slowest = (from..to)
            .map(|index| seconds.rate(index, index + 1))
            .fold(f64::INFINITY, f64::min);
        let longest = seconds
            .longest
            .and_then(|longest| longest[from..to].iter().max());
        table.row(vec![
            Nanos(seconds.time[last]).to_string(),
            figure(seconds.rate(from, to)),
            if stretch > 1 {
                figure(slowest)
            } else {
                String::new()
            },
            figure(seconds.rate(0, to)),
            longest.map_or_else(String::new, |longest| Nanos(*longest).to_string()),
            seconds
                .dirty
                .map_or_else(String::new, |dirty| Bytes(dirty[last]).to_string()),
            match stalls {
                0 => String::new(),
                1 if stretch == 1 => "stalled".to_owned(),
                many => format!("stalled {}", counted(many, "second")),
            },
        ]);
    }
    table.print(form)
}
