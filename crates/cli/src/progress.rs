//! What is seen while runs are made: a line that moves on a terminal, a line for each phase elsewhere.
//!
//! It starts no thread: it moves with the engine's events, once a second.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use kernmark_model::event::{Event, EventBody, Tick};
use kernmark_model::run::{Phase, Point};
use kernmark_model::units::{Bytes, Nanos};
use kernmark_sys::clock;

use crate::exit::complain;

/// Shows how far a plan is.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Shown,
    /// When the first run began, on the monotonic clock.
    began: u64,
    /// How many runs there are.
    runs: usize,
    /// `[2/12] dbench clients=8:`
    heading: String,
    /// When this run will be over; `None` if nobody knows.
    run_ends: Option<u64>,
    /// How long the runs after it will take; `None` if nobody knows.
    rest: Option<Nanos>,
    /// Planned length of the phase.
    length: Option<Nanos>,
    point: String,
}

#[derive(Debug)]
enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl Progress {
    /// Of so many runs, on stderr.
    pub(crate) fn new(quiet: bool, runs: usize) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            let bar = ProgressBar::new(1);
            // The words are ours; a mistake in them leaves the default style.
            if let Ok(style) = ProgressStyle::with_template("{bar:12} {wide_msg}") {
                bar.set_style(style);
            }
            Shown::Bar(bar)
        } else {
            Shown::Lines
        };
        Self {
            shown,
            began: clock::monotonic(),
            runs,
            heading: String::new(),
            run_ends: None,
            rest: None,
            length: None,
            point: String::new(),
        }
    }

    /// Run `index`, from 0, begins; it and those after it will take so long.
    pub(crate) fn begin(
        &mut self,
        index: usize,
        what: &str,
        length: Option<Nanos>,
        rest: Option<Nanos>,
    ) {
        self.heading = if self.runs == 1 {
            format!("{what}:")
        } else {
            format!("[{}/{}] {what}:", index + 1, self.runs)
        };
        self.run_ends = length.map(|length| clock::monotonic().saturating_add(length.0));
        self.rest = rest;
        self.show("");
    }

    /// Shows what happened.
    pub(crate) fn event(&mut self, event: &Event) {
        match &event.body {
            EventBody::Note { text } => self.tell(text),
            EventBody::PhaseStarted {
                phase,
                point,
                length,
                ..
            } => {
                self.length = *length;
                self.point = place(point);
                self.show(&format!("{phase}{}", self.point));
            }
            EventBody::Tick(tick) => {
                let now = live(tick, &self.point, self.length);
                self.show(&now);
            }
            EventBody::PhaseFinished { phase } => {
                if matches!(self.shown, Shown::Lines) {
                    complain(format_args!("{} {}", self.heading, ended(phase)));
                }
            }
            EventBody::RunStarted { .. }
            | EventBody::Doubted { .. }
            | EventBody::RunFinished { .. } => {}
        }
    }

    /// Says a line that stays.
    pub(crate) fn tell(&self, line: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => complain(line),
            Shown::Bar(bar) => bar.println(line),
        }
    }

    /// Says a line that must be seen.
    pub(crate) fn warn(&self, line: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.println(line),
            Shown::Nothing | Shown::Lines => complain(line),
        }
    }

    fn show(&self, now: &str) {
        let Shown::Bar(bar) = &self.shown else {
            return;
        };
        let time = clock::monotonic();
        let elapsed = Nanos(time - self.began);
        let left = self
            .run_ends
            .zip(self.rest)
            .map(|(ends, rest)| Nanos(ends.saturating_sub(time)) + rest);
        // An unknown end leaves the bar empty.
        bar.set_length(left.map_or(u64::MAX, |left| (elapsed + left).0.max(1)));
        bar.set_position(elapsed.0);
        bar.set_message(format!("{} {} {now}", times(elapsed, left), self.heading));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// `execute 12 s of 60 s, 74,123 ops/s, 120.3 MB/s`
fn live(tick: &Tick, point: &str, length: Option<Nanos>) -> String {
    let mut text = format!("{}{point} {}", tick.phase, span(tick.elapsed));
    if tick.warm_up {
        text.push_str(" of warm-up");
    } else if let Some(length) = length {
        write!(text, " of {}", span(length)).ok();
    }
    let seconds = tick.interval.as_secs_f64();
    if seconds > 0.0 {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = tick.interval_ops as f64 / seconds;
        write!(text, ", {} ops/s", grouped(rate)).ok();
        if tick.interval_bytes.0 > 0 {
            write!(text, ", {:.1} MB/s", tick.interval_bytes.as_mb() / seconds).ok();
        }
    }
    if tick.running < tick.workers {
        write!(text, ", {} of {} workers left", tick.running, tick.workers).ok();
    }
    text
}

/// `execute, 60.0 s, 4,447,380 ops, 7.4 GB`
fn ended(phase: &Phase) -> String {
    let total = phase.total(&[]);
    let mut text = format!("{}{}, {}", phase.name, place(&phase.point), phase.elapsed);
    if total.count > 0 {
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let count = total.count as f64;
        write!(text, ", {} ops", grouped(count)).ok();
    }
    if total.bytes > Bytes(0) {
        write!(text, ", {}", total.bytes).ok();
    }
    text
}

/// ` size=64 KiB stride=128 B`
fn place(point: &Point) -> String {
    let axes = point.0.iter();
    axes.map(|(axis, value)| format!(" {axis}={value}"))
        .collect()
}

/// First in the line, as the end of it may not fit.
fn times(elapsed: Nanos, left: Option<Nanos>) -> String {
    match left {
        Some(left) => format!("{}, about {} left |", span(elapsed), span(left)),
        None => format!("{} |", span(elapsed)),
    }
}

/// A time that people wait for, to the nearest second: `12 s`, `1 min 5 s`, `2 h 10 min`.
pub(crate) fn span(time: Nanos) -> String {
    let seconds = (time + Nanos::millis(500)).0 / 1_000_000_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A whole number with commas: `4,447,380`.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (65, "1 min 5 s"),
            (7_800, "2 h 10 min"),
        ] {
            assert_eq!(span(Nanos::secs(seconds)), text);
        }
    }

    #[test]
    fn a_second_is_shown_with_its_rates() {
        let tick = Tick {
            phase: "execute".into(),
            warm_up: false,
            elapsed: Nanos::secs(12),
            interval: Nanos::secs(1),
            running: 8,
            workers: 8,
            active: 8,
            ops: 1_000_000,
            bytes: Bytes(0),
            interval_ops: 74_123,
            interval_bytes: Bytes(120_300_000),
            ops_in_all: 0,
            longest: Nanos(0),
            dirty: None,
        };
        assert_eq!(
            live(&tick, "", Some(Nanos::secs(60))),
            "execute 12 s of 1 min, 74,123 ops/s, 120.3 MB/s"
        );
        let idle = Tick {
            interval: Nanos(0),
            warm_up: true,
            running: 1,
            ..tick
        };
        assert_eq!(
            live(&idle, " tasks=3", None),
            "execute tasks=3 12 s of warm-up, 1 of 8 workers left"
        );
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [
            (0.0, "0"),
            (999.4, "999"),
            (1000.0, "1,000"),
            (4_447_380.0, "4,447,380"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
