//! What is shown of a run, derived from what was measured.

use crate::histogram::Histogram;
use crate::run::{Formula, Metric, Phase, Run, Statistic, Value};
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

    /// The metric's figure; `None` if the phase is missing, nothing happened, or no time passed.
    pub fn figure(&self, metric: &Metric) -> Option<f64> {
        let index = self
            .phases
            .iter()
            .position(|phase| phase.name == metric.phase)?;
        let phase = &self.phases[index];
        if metric.formula == Formula::Stored {
            return stored(phase, metric);
        }
        let total = phase.total(&metric.ops);
        let elapsed = phase.elapsed.as_secs_f64();
        let per = |amount: f64, seconds: f64| (seconds > 0.0).then(|| amount / seconds);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        match metric.formula {
            Formula::OpsPerSecond => per(total.count as f64, elapsed),
            Formula::MegabytesPerSecond => per(total.bytes.as_mb(), elapsed),
            Formula::MebibytesPerSecond => per(total.bytes.as_mib(), elapsed),
            Formula::DurableMegabytesPerSecond => {
                let sync = self.phases[index..]
                    .iter()
                    .find(|phase| phase.name == SYNC_PHASE)?;
                per(total.bytes.as_mb(), elapsed + sync.elapsed.as_secs_f64())
            }
            Formula::MeanMillis => total.mean_nanos().map(|nanos| nanos / 1e6),
            Formula::MeanNanos => total.mean_nanos(),
            Formula::QuantileMillis(q) => total.histogram.quantile(q).map(Nanos::as_millis_f64),
            Formula::Seconds => Some(elapsed),
            Formula::Stored => None,
        }
    }
}

/// The single stored sample of the metric's name (and op, where it names one).
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn stored(phase: &Phase, metric: &Metric) -> Option<f64> {
    let sample = phase.samples.iter().find(|sample| {
        sample.metric == metric.name
            && sample.worker.is_none()
            && (metric.ops.is_empty()
                || sample.op.as_ref().is_some_and(|op| metric.ops.contains(op)))
    })?;
    match &sample.value {
        Value::Count(count) | Value::Instructions(count) => Some(*count as f64),
        Value::Bytes(bytes) => Some(bytes.0 as f64),
        Value::Nanos(nanos) => Some(nanos.0 as f64),
        Value::Ratio(ratio) => Some(*ratio),
        // A sum of several runs is no figure of one.
        Value::Reported(reported) if reported.statistic == Statistic::Sum => None,
        Value::Reported(reported) => reported.text.replace(',', "").trim().parse().ok(),
    }
}
