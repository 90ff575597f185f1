//! Whether a run has reached its steady state, and where it begins.

use super::describe::mean;

/// Seconds in a batch: MSER on means of five is the MSER-5 of White (Simulation 69, 1997; White, Cobb and Spratt, Winter
/// Simulation Conference 2000).
pub const BATCH: usize = 5;

/// The fewest seconds that can be judged: ten batches.
pub const SHORTEST: usize = 10 * BATCH;

/// Batches at the end where no cut is tried: over so few, the statistic is small by chance (Hoad, Robinson and Davies,
/// JORS 61, 2010).
const UNTRIED_BATCHES: usize = 5;

const WINDOWS: usize = 5;

/// How level the steady part must be, as shares of its mean; the two checks are those of storage test practice (SNIA
/// Solid State Storage Performance Test Specification, "steady state").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Largest minus smallest of the five window means.
    pub range: f64,
    /// What a straight line through the five window means climbs or falls from the first to the last.
    pub excursion: f64,
}

impl Tolerance {
    /// For runs whose data comes from or goes to a device.
    pub const DEVICE: Self = Self {
        range: 0.20,
        excursion: 0.10,
    };
    /// For runs served from memory.
    pub const CACHED: Self = Self {
        range: 0.10,
        excursion: 0.05,
    };
}

/// What a per-second series says about the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteadyState {
    /// Steady from second `from` on, counted from zero.
    Steady {
        /// Where the steady part begins.
        from: usize,
        /// Spread of the window means, as a share of their mean.
        range: f64,
        /// Climb or fall over the windows, as a share of their mean.
        excursion: f64,
    },
    /// Fewer seconds than can be judged.
    TooShort {
        /// How many are needed.
        needed: usize,
    },
    /// The best cut takes away more than half of the run: lengthen it.
    Lengthen,
    /// Past the best cut the run still wanders.
    Wandering {
        /// Where the best cut lies.
        from: usize,
        /// Spread of the window means, as a share of their mean.
        range: f64,
        /// Climb or fall over the windows, as a share of their mean.
        excursion: f64,
    },
}

/// Judges a series of one value a second, all of them finite.
///
/// Seconds at the end that fill no batch take no part in finding the cut; seconds that fill no fifth of the rest are
/// left out of the windows at their early end.
pub fn steady_state(per_second: &[f64], tolerance: Tolerance) -> SteadyState {
    if per_second.len() < SHORTEST {
        return SteadyState::TooShort { needed: SHORTEST };
    }
    let batches: Vec<f64> = per_second
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let cut = marginal_standard_error_cut(&batches);
    if 2 * cut > batches.len() {
        return SteadyState::Lengthen;
    }
    let from = cut * BATCH;
    let rest = &per_second[from..];
    let width = rest.len() / WINDOWS;
    let means: Vec<f64> = rest[rest.len() - WINDOWS * width..]
        .chunks_exact(width)
        .map(|window| window.iter().sum::<f64>() / width as f64)
        .collect();
    let (range, excursion) = levelness(&means);
    if range <= tolerance.range && excursion.abs() <= tolerance.excursion {
        SteadyState::Steady {
            from,
            range,
            excursion,
        }
    } else {
        SteadyState::Wandering {
            from,
            range,
            excursion,
        }
    }
}

/// The number of leading batches whose loss makes the mean of the rest surest: the d with the smallest
/// sum of squares about that mean over (n - d)².
fn marginal_standard_error_cut(batches: &[f64]) -> usize {
    let error = |rest: &[f64]| {
        let mean = mean(rest).unwrap_or_default();
        let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
        squares / (rest.len() as f64).powi(2)
    };
    (0..=batches.len() - UNTRIED_BATCHES)
        .min_by(|&a, &b| error(&batches[a..]).total_cmp(&error(&batches[b..])))
        .unwrap_or_default()
}

/// Range and climb of the window means as shares of their mean. A mean of zero is level only if all windows are zero.
fn levelness(means: &[f64]) -> (f64, f64) {
    let centre = mean(means).unwrap_or_default();
    let highest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = (means.len() - 1) as f64 / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (index, value) in means.iter().enumerate() {
        let place = index as f64 - middle;
        product += place * (value - centre);
        square += place * place;
    }
    let climb = product / square * (means.len() - 1) as f64;
    let share = |amount: f64| {
        if amount == 0.0 {
            0.0
        } else {
            amount / centre.abs()
        }
    };
    (share(highest - lowest), share(climb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    fn noisy(seconds: usize, noise: f64, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = Random::new(3);
        (0..seconds)
            .map(|second| level(second as f64) * (1.0 + noise * random.normal()))
            .collect()
    }

    #[test]
    fn a_warm_up_is_cut_off_where_it_ends() {
        let series = noisy(
            200,
            0.02,
            |second| if second < 40.0 { 50.0 + second } else { 100.0 },
        );
        let SteadyState::Steady { from, range, .. } = steady_state(&series, Tolerance::CACHED)
        else {
            panic!("{:?}", steady_state(&series, Tolerance::CACHED));
        };
        assert!((35..=45).contains(&from), "{from}");
        assert!(range < 0.03);
    }

    #[test]
    fn a_level_run_is_steady() {
        let level = noisy(120, 0.02, |_| 100.0);
        assert!(matches!(
            steady_state(&level, Tolerance::CACHED),
            SteadyState::Steady { .. }
        ));
        assert_eq!(
            steady_state(&[5.0; 60], Tolerance::CACHED),
            SteadyState::Steady {
                from: 0,
                range: 0.0,
                excursion: 0.0
            }
        );
    }

    #[test]
    fn a_level_reached_late_asks_for_a_longer_run() {
        let late = noisy(100, 0.02, |second| {
            if second < 70.0 {
                300.0 - 2.0 * second
            } else {
                100.0
            }
        });
        assert_eq!(
            steady_state(&late, Tolerance::DEVICE),
            SteadyState::Lengthen
        );
        // So does a climb that stands out of the noise: its end is always the levellest part.
        let climb = noisy(300, 0.02, |second| 100.0 + second / 30.0);
        assert_eq!(
            steady_state(&climb, Tolerance::DEVICE),
            SteadyState::Lengthen
        );
    }

    #[test]
    fn a_noisy_run_that_ends_on_another_level_wanders() {
        let series = noisy(
            300,
            0.2,
            |second| if second < 240.0 { 100.0 } else { 135.0 },
        );
        let found = steady_state(&series, Tolerance::DEVICE);
        assert!(
            matches!(found, SteadyState::Wandering { range, .. } if range > 0.2),
            "{found:?}"
        );
    }

    #[test]
    fn a_climb_within_the_noise_passes_for_a_device_but_not_for_memory() {
        let series = noisy(300, 0.1, |second| 100.0 + 9.0 * second / 300.0);
        let device = steady_state(&series, Tolerance::DEVICE);
        assert!(
            matches!(device, SteadyState::Steady { excursion, .. } if excursion > 0.05),
            "{device:?}"
        );
        let cached = steady_state(&series, Tolerance::CACHED);
        assert!(
            matches!(cached, SteadyState::Wandering { .. }),
            "{cached:?}"
        );
    }

    #[test]
    fn short_and_stalled_runs_are_told_apart() {
        assert_eq!(
            steady_state(&[1.0; 49], Tolerance::DEVICE),
            SteadyState::TooShort { needed: 50 }
        );
        assert_eq!(
            steady_state(&[0.0; 60], Tolerance::DEVICE),
            SteadyState::Steady {
                from: 0,
                range: 0.0,
                excursion: 0.0
            }
        );
    }

    #[test]
    fn the_climb_of_a_straight_line_is_its_whole_height() {
        let (range, climb) = levelness(&[8.0, 9.0, 10.0, 11.0, 12.0]);
        assert!((range - 0.4).abs() < 1e-12 && (climb - 0.4).abs() < 1e-12);
    }
}
