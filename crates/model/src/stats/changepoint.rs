//! Where a series changed its level: E-divisive means, made deterministic.
//!
//! The statistic is that of Matteson and James (JASA 109, 2014) with exponent 1. As in Hunter (Fleming, Kołaczkowski,
//! Kumar, Das, McCarthy, Pattabhiraman and Ingo, ICPE 2023), a t-test takes the place of the permutations, so equal
//! series give equal answers; overlapping windows keep one change from hiding the next; and points found in a window
//! are tested again between their neighbours.

use super::describe::{mean, median, standard_deviation};
use super::tails::student_two_sided;

/// Points in a window; windows overlap by half.
pub const WINDOW: usize = 50;
/// The fewest points between two changes, and at either end.
pub const SMALLEST_SEGMENT: usize = 3;
/// The two-sided p of a change that is reported, after allowing for the search (see [`ChangePoint::p`]).
pub const LEVEL: f64 = 0.001;
/// The p at which a point becomes a candidate. Milder than `LEVEL`: a point that another change in its window
/// overshadows is judged only when both stand.
const CANDIDATE_LEVEL: f64 = 0.01;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first point of the new level.
    pub at: usize,
    /// Mean since the change before, in the series' unit.
    pub before: f64,
    /// Mean until the change after.
    pub after: f64,
    /// Two-sided p of the t-test between the two, times the number of places the change could have been put at.
    ///
    /// The place was chosen because the sides differ most there. Without the factor, "p 0.001" finds a change in 1.5 of
    /// 100 flat series of 60 points, fifteen times what it says.
    pub p: f64,
}

impl ChangePoint {
    /// How far the level moved.
    pub fn step(&self) -> f64 {
        self.after - self.before
    }
}

/// The smallest step worth telling for a series: the median absolute block difference of its null arms, that is, how
/// far two copies of the same thing usually lie apart. `None` without null arms.
pub fn noise_floor(null_differences: &[f64]) -> Option<f64> {
    let sizes: Vec<f64> = null_differences
        .iter()
        .map(|difference| difference.abs())
        .collect();
    median(&sizes)
}

/// Finds the changes of level in a series of finite values, in order.
///
/// Give logarithms where steps are meant as ratios. Steps smaller than `smallest_step`, in the unit of the series, are
/// not reported.
pub fn change_points(series: &[f64], smallest_step: f64) -> Vec<ChangePoint> {
    let mut places = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(series.len());
        candidates(series, start, end, &mut places);
        if end == series.len() {
            break;
        }
        start += WINDOW / 2;
    }
    places.sort_unstable();
    places.dedup();
    part_neighbours(series, &mut places);
    loop {
        let found = judge(series, &places);
        let weakest = found
            .iter()
            .enumerate()
            .filter(|(_, change)| change.p > LEVEL || change.step().abs() < smallest_step)
            .max_by(|(_, a), (_, b)| {
                a.p.total_cmp(&b.p)
                    .then(b.step().abs().total_cmp(&a.step().abs()))
            });
        match weakest {
            Some((index, _)) => places.remove(index),
            None => return found,
        };
    }
}

/// Splits `start..end` where the two sides differ most, and each side again, while the sides differ at all.
fn candidates(series: &[f64], start: usize, end: usize, places: &mut Vec<usize>) {
    let segment = &series[start..end];
    let Some(split) = most_divided(segment) else {
        return;
    };
    if t_test(&segment[..split], &segment[split..]) > CANDIDATE_LEVEL {
        return;
    }
    candidates(series, start, start + split, places);
    places.push(start + split);
    candidates(series, start + split, end, places);
}

fn most_divided(segment: &[f64]) -> Option<usize> {
    let energies = energies(segment);
    energies
        .into_iter()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(split, _)| split)
}

/// The energy between the two sides of every split that leaves enough on both: m n / (m + n) times twice the mean
/// distance across less the mean distances within.
fn energies(segment: &[f64]) -> Vec<(usize, f64)> {
    let distance = |point: f64, others: &[f64]| -> f64 {
        others.iter().map(|other| (point - other).abs()).sum()
    };
    let total: f64 = (0..segment.len())
        .map(|i| distance(segment[i], &segment[..i]))
        .sum();
    let (mut left, mut right) = (0.0, total);
    let mut energies = Vec::new();
    for split in 1..segment.len() {
        // Point split - 1 changes sides.
        left += distance(segment[split - 1], &segment[..split - 1]);
        right -= distance(segment[split - 1], &segment[split..]);
        let (m, n) = (split, segment.len() - split);
        if m < SMALLEST_SEGMENT || n < SMALLEST_SEGMENT {
            continue;
        }
        let (m, n) = (m as f64, n as f64);
        let across = (total - left - right) / (m * n);
        let within = left / (m * (m - 1.0)) + right / (n * (n - 1.0));
        energies.push((split, 2.0 * m * n / (m + n) * (across - within)));
    }
    energies
}

/// Overlapping windows may place one change twice, a point or two apart: the better place stays.
fn part_neighbours(series: &[f64], places: &mut Vec<usize>) {
    while let Some(index) = places
        .windows(2)
        .position(|pair| pair[1] - pair[0] < SMALLEST_SEGMENT)
    {
        let start = if index == 0 { 0 } else { places[index - 1] };
        let end = places.get(index + 2).copied().unwrap_or(series.len());
        // A neighbour may be far away; half a window on either side is all that either was judged by.
        let start = start.max(places[index].saturating_sub(WINDOW / 2));
        let end = end.min(places[index + 1] + WINDOW / 2);
        let energies = energies(&series[start..end]);
        let energy = |place: usize| {
            energies
                .iter()
                .find(|(split, _)| start + split == place)
                .map_or(f64::NEG_INFINITY, |(_, energy)| *energy)
        };
        let worse = if energy(places[index]) >= energy(places[index + 1]) {
            index + 1
        } else {
            index
        };
        places.remove(worse);
    }
}

/// Each place between its neighbours.
fn judge(series: &[f64], places: &[usize]) -> Vec<ChangePoint> {
    places
        .iter()
        .enumerate()
        .map(|(index, &at)| {
            let start = if index == 0 { 0 } else { places[index - 1] };
            let end = places.get(index + 1).copied().unwrap_or(series.len());
            let (left, right) = (&series[start..at], &series[at..end]);
            ChangePoint {
                at,
                before: mean(left).unwrap_or_default(),
                after: mean(right).unwrap_or_default(),
                p: (t_test(left, right) * places_between(left.len() + right.len())).min(1.0),
            }
        })
        .collect()
}

/// At how many places a stretch of so many points can be split.
fn places_between(points: usize) -> f64 {
    (points + 1).saturating_sub(2 * SMALLEST_SEGMENT) as f64
}

/// Two-sided p of Student's t-test with a common variance.
fn t_test(left: &[f64], right: &[f64]) -> f64 {
    let (Some(left_mean), Some(right_mean)) = (mean(left), mean(right)) else {
        return 1.0;
    };
    let squares = |values: &[f64]| {
        standard_deviation(values).map_or(0.0, |s| s * s * (values.len() - 1) as f64)
    };
    let (m, n) = (left.len() as f64, right.len() as f64);
    let freedom = m + n - 2.0;
    let variance = (squares(left) + squares(right)) / freedom;
    // Equal means of constants give 0 / 0, which tells nothing; different ones are infinitely far apart.
    let t = (right_mean - left_mean) / (variance * (1.0 / m + 1.0 / n)).sqrt();
    student_two_sided(t, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    fn noisy(seed: u64, levels: &[(usize, f64)]) -> Vec<f64> {
        let mut random = Random::new(seed);
        levels
            .iter()
            .flat_map(|&(points, level)| std::iter::repeat_n(level, points))
            .map(|level| level + 0.02 * random.normal())
            .collect()
    }

    #[test]
    fn two_changes_of_one_window_are_both_found() {
        let series = noisy(5, &[(15, 0.0), (15, 0.15), (15, 0.0)]);
        let places: Vec<usize> = change_points(&series, 0.0).iter().map(|c| c.at).collect();
        assert_eq!(places, [15, 30]);
    }

    #[test]
    fn changes_far_apart_are_found_in_a_long_series() {
        let series = noisy(6, &[(120, 0.0), (77, 0.08), (103, -0.02)]);
        let found = change_points(&series, 0.019);
        let places: Vec<usize> = found.iter().map(|c| c.at).collect();
        assert_eq!(places.len(), 2, "{found:?}");
        assert!(
            places[0].abs_diff(120) <= 2 && places[1].abs_diff(197) <= 2,
            "{found:?}"
        );
        assert!((found[0].step() - 0.08).abs() < 0.01);
    }

    #[test]
    fn steps_below_the_noise_floor_are_not_told() {
        let series = noisy(7, &[(40, 0.0), (40, 0.03)]);
        assert_eq!(change_points(&series, 0.01).len(), 1);
        assert!(change_points(&series, 0.06).is_empty());
    }

    #[test]
    fn constants_and_short_series_have_no_changes() {
        assert!(change_points(&[], 0.0).is_empty());
        assert!(change_points(&[1.0, 9.0, 1.0, 9.0, 9.0], 0.0).is_empty());
        assert!(change_points(&[4.0; 200], 0.0).is_empty());
    }

    #[test]
    fn a_clean_step_is_found_exactly() {
        let mut series = vec![1.0; 20];
        series.extend([2.0; 20]);
        let found = change_points(&series, 0.1);
        assert_eq!(
            found,
            [ChangePoint {
                at: 20,
                before: 1.0,
                after: 2.0,
                p: 0.0
            }]
        );
    }

    #[test]
    fn the_noise_floor_is_how_far_equal_things_lie_apart() {
        assert_eq!(noise_floor(&[0.01, -0.03, 0.02]), Some(0.02));
        assert_eq!(noise_floor(&[]), None);
    }
}
