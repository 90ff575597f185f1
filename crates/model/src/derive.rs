//! What is shown of a run, derived from what was measured.

use std::collections::BTreeSet;

use crate::histogram::Histogram;
use crate::run::{At, Better, Clock, Formula, Metric, Phase, Point, Run, Statistic, Take, Value};
use crate::stats::describe::median;
use crate::units::{Bytes, Nanos};

/// The name of the phase that the runner puts behind a measured one: a timed sync of the target, during which the
/// dirty bytes become durable.
pub const SYNC_PHASE: &str = "sync";

/// The ops of a phase taken together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Total {
    /// Ops that ended in the window.
    pub count: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Ops that did not end as they should.
    pub unexpected: u64,
    /// Sum of the latencies.
    pub total: Nanos,
    /// The longest, ops cut by the end of the window included.
    pub max: Nanos,
    /// Their spread.
    pub histogram: Histogram,
}

impl Total {
    /// Mean latency in nanoseconds; `None` if nothing was counted.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub fn mean_nanos(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total.0 as f64 / self.count as f64)
    }
}

impl Phase {
    /// The ops called `names` over all workers; of all ops that are no spans when `names` is empty.
    pub fn total(&self, names: &[String]) -> Total {
        let wanted = |op: u32| {
            self.ops.get(op as usize).is_some_and(|op| {
                if names.is_empty() {
                    !op.span
                } else {
                    names.contains(&op.name)
                }
            })
        };
        let mut sum = Total::default();
        for worker in &self.workers {
            for op in worker.ops.iter().filter(|op| wanted(op.op)) {
                sum.count += op.count;
                sum.bytes += op.bytes;
                sum.unexpected += op.unexpected;
                sum.total += op.total;
                sum.max = sum.max.max(op.max);
                sum.histogram.merge(&op.histogram);
            }
            if let Some(cut) = worker.cut.filter(|cut| wanted(cut.op)) {
                sum.max = sum.max.max(cut.nanos);
            }
        }
        sum
    }

    /// Jain's fairness index of the workers' op counts: 1 when all did the same, 1/n when one did everything. `None`
    /// for fewer than two workers or when nothing was done.
    #[expect(clippy::cast_precision_loss, reason = "an index between 0 and 1")]
    pub fn fairness(&self) -> Option<f64> {
        let counts: Vec<f64> = self
            .workers
            .iter()
            .map(|worker| self.worker_ops(worker) as f64)
            .collect();
        let sum: f64 = counts.iter().sum();
        let squares: f64 = counts.iter().map(|count| count * count).sum();
        (counts.len() > 1 && squares > 0.0).then(|| sum * sum / (counts.len() as f64 * squares))
    }

    /// Ops of one worker, spans left out.
    pub fn worker_ops(&self, worker: &crate::run::WorkerResult) -> u64 {
        worker
            .ops
            .iter()
            .filter(|op| self.ops.get(op.op as usize).is_some_and(|name| !name.span))
            .map(|op| op.count)
            .sum()
    }
}

impl Run {
    /// The first phase of that name.
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// The metric that decides.
    pub fn primary(&self) -> Option<&Metric> {
        self.metrics.first()
    }

    /// The metric's figure. `None` if the phase is missing, nothing happened, no time passed, or the run does not say
    /// it: a table of many points has no single figure, and instructions are no time.
    pub fn figure(&self, metric: &Metric) -> Option<f64> {
        match &metric.at {
            At::Only => {
                let mut points = self.points(&metric.phase);
                let only = points.next()?;
                points
                    .all(|other| other == only)
                    .then(|| self.figure_at(metric, only))?
            }
            At::Point(point) => self.figure_at(metric, point),
            At::Best => best(
                metric.better,
                self.curve(metric).into_iter().map(|(_, figure)| figure),
            ),
        }
    }

    /// The metric at every point of its phase that has a figure, in the order in which the points were first measured.
    pub fn curve(&self, metric: &Metric) -> Vec<(&Point, f64)> {
        let mut seen = BTreeSet::new();
        self.points(&metric.phase)
            .filter(|point| seen.insert(*point))
            .filter_map(|point| Some((point, self.figure_at(metric, point)?)))
            .collect()
    }

    /// The stored values that the metric's figure is taken from; none where it follows from counts.
    pub fn stored_values<'run>(&'run self, metric: &Metric) -> Vec<&'run Value> {
        if metric.formula != Formula::Stored {
            return Vec::new();
        }
        self.phases
            .iter()
            .filter(|phase| phase.name == metric.phase)
            .filter(|phase| match &metric.at {
                At::Point(point) => phase.point == *point,
                At::Only | At::Best => true,
            })
            .flat_map(|phase| stored_values(phase, metric))
            .collect()
    }

    fn points<'run>(&'run self, phase: &str) -> impl Iterator<Item = &'run Point> {
        self.phases
            .iter()
            .filter(move |candidate| candidate.name == phase)
            .map(|phase| &phase.point)
    }

    /// What stands for the repetitions at `point`.
    fn figure_at(&self, metric: &Metric, point: &Point) -> Option<f64> {
        let mut figures = Vec::new();
        for (index, phase) in self.phases.iter().enumerate() {
            if phase.name != metric.phase || phase.point != *point {
                continue;
            }
            if metric.formula == Formula::Stored {
                figures.extend(stored(self.clock, phase, metric));
            } else {
                figures.extend(self.derived(index, metric));
            }
        }
        match metric.take {
            Take::Median => median(&figures),
            Take::Best => best(metric.better, figures),
        }
    }

    /// The figure that follows from the phase of that index; not for stored ones.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn derived(&self, index: usize, metric: &Metric) -> Option<f64> {
        if (self.clock == Clock::Instructions) != (metric.formula == Formula::MeanInstructions) {
            return None;
        }
        let phase = &self.phases[index];
        let total = phase.total(&metric.ops);
        let elapsed = phase.elapsed.as_secs_f64();
        let per = |amount: f64, seconds: f64| (seconds > 0.0).then(|| amount / seconds);
        match metric.formula {
            Formula::OpsPerSecond => per(total.count as f64, elapsed),
            Formula::OpsPerMinute => per(60.0 * total.count as f64, elapsed),
            Formula::MegabytesPerSecond => per(total.bytes.as_mb(), elapsed),
            Formula::MebibytesPerSecond => per(total.bytes.as_mib(), elapsed),
            Formula::DurableMegabytesPerSecond => {
                let sync = self.phases[index..]
                    .iter()
                    .find(|phase| phase.name == SYNC_PHASE)?;
                per(total.bytes.as_mb(), elapsed + sync.elapsed.as_secs_f64())
            }
            Formula::MeanMillis => total.mean_nanos().map(|nanos| nanos / 1e6),
            Formula::MeanNanos | Formula::MeanInstructions => total.mean_nanos(),
            Formula::QuantileMillis(q) => total.histogram.quantile(q).map(Nanos::as_millis_f64),
            Formula::Seconds => Some(elapsed),
            Formula::Stored => None,
        }
    }
}

/// The figures stored under the metric's name (and op, where it names one), one for each repetition.
fn stored(clock: Clock, phase: &Phase, metric: &Metric) -> impl Iterator<Item = f64> {
    stored_values(phase, metric).filter_map(move |value| number(clock, value))
}

fn stored_values<'run>(phase: &'run Phase, metric: &Metric) -> impl Iterator<Item = &'run Value> {
    phase
        .samples
        .iter()
        .filter(|sample| {
            sample.metric == metric.name
                && sample.worker.is_none()
                && (metric.ops.is_empty()
                    || sample.op.as_ref().is_some_and(|op| metric.ops.contains(op)))
        })
        .map(|sample| &sample.value)
}

/// The value as a number; `None` where it must not be taken for one of a single run, or of that clock.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn number(clock: Clock, value: &Value) -> Option<f64> {
    match value {
        Value::Nanos(_) if clock == Clock::Instructions => None,
        Value::Count(count) | Value::Instructions(count) => Some(*count as f64),
        Value::Bytes(bytes) => Some(bytes.0 as f64),
        Value::Nanos(nanos) => Some(nanos.0 as f64),
        Value::Ratio(ratio) => Some(*ratio),
        // A sum of several runs is no figure of one.
        Value::Reported(reported) if reported.statistic == Statistic::Sum => None,
        // A text such as "nan" would be read as a number, which it says it is not.
        Value::Reported(reported) => (reported.text.replace(',', "").trim().parse().ok())
            .filter(|number: &f64| number.is_finite()),
    }
}

/// The best in the direction that is good; `None` if there is none or no direction is.
fn best(better: Better, figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let figures = figures.into_iter();
    match better {
        Better::Higher => figures.reduce(f64::max),
        Better::Lower => figures.reduce(f64::min),
        Better::Neither => None,
    }
}
