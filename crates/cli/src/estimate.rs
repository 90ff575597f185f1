//! How long the runs of a plan will take: as long as they mean to, and as much longer as those before took.

use std::collections::BTreeMap;

use kernmark_model::units::Nanos;

/// What is known of the runs of a plan.
#[derive(Debug)]
pub(crate) struct Estimate {
    runs: Vec<Planned>,
    /// What the finished runs of each workload took.
    finished: BTreeMap<String, Finished>,
}

#[derive(Debug)]
struct Planned {
    workload: String,
    /// `None` where its work ends it, not time.
    length: Option<Nanos>,
}

#[derive(Debug, Default)]
struct Finished {
    runs: u64,
    /// All that they took.
    took: Nanos,
    /// All that they meant to take.
    planned: Nanos,
}

impl Estimate {
    /// Of runs of these workloads and planned lengths.
    pub(crate) fn new(runs: impl Iterator<Item = (String, Option<Nanos>)>) -> Self {
        Self {
            runs: runs
                .map(|(workload, length)| Planned { workload, length })
                .collect(),
            finished: BTreeMap::new(),
        }
    }

    /// Run `index` took that long, set-up and clean-up included.
    pub(crate) fn finished(&mut self, index: usize, took: Nanos) {
        let Some(run) = self.runs.get(index) else {
            return;
        };
        let finished = self.finished.entry(run.workload.clone()).or_default();
        finished.runs += 1;
        finished.took += took;
        finished.planned += run.length.unwrap_or_default();
    }

    /// How long run `index` will take; `None` as long as nobody knows.
    pub(crate) fn of(&self, index: usize) -> Option<Nanos> {
        let run = self.runs.get(index)?;
        let finished = self.finished.get(&run.workload);
        match (run.length, finished) {
            (Some(length), None) => Some(length),
            (Some(length), Some(finished)) => {
                let more = finished.took - finished.planned;
                Some(length + Nanos(more.0 / finished.runs))
            }
            (None, finished) => finished.map(|finished| Nanos(finished.took.0 / finished.runs)),
        }
    }

    /// How long all from run `index` on will take; `None` if that of one is not known.
    pub(crate) fn from(&self, index: usize) -> Option<Nanos> {
        (index..self.runs.len()).map(|index| self.of(index)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(runs: &[(&str, Option<u64>)]) -> Estimate {
        let runs = runs.iter();
        Estimate::new(
            runs.map(|(workload, length)| ((*workload).to_owned(), length.map(Nanos::secs))),
        )
    }

    #[test]
    fn a_run_takes_what_it_means_to_and_what_the_last_took_beside() {
        let mut estimate = estimate(&[
            ("a", Some(60)),
            ("a", Some(10)),
            ("b", Some(5)),
            ("a", Some(1)),
        ]);
        assert_eq!(estimate.from(0), Some(Nanos::secs(76)));
        estimate.finished(0, Nanos::secs(64));
        assert_eq!(estimate.of(1), Some(Nanos::secs(14)));
        assert_eq!(estimate.of(2), Some(Nanos::secs(5)));
        estimate.finished(1, Nanos::secs(12));
        assert_eq!(estimate.from(2), Some(Nanos::secs(5 + 1 + 3)));
        assert_eq!(estimate.from(4), Some(Nanos(0)));
    }

    #[test]
    fn what_ends_by_its_work_is_unknown_until_one_was_seen() {
        let mut estimate = estimate(&[("a", None), ("a", None), ("b", Some(1))]);
        assert_eq!((estimate.of(0), estimate.from(0)), (None, None));
        estimate.finished(0, Nanos::secs(8));
        assert_eq!(estimate.from(1), Some(Nanos::secs(9)));
    }
}
