use proptest::prelude::*;

use super::*;
use crate::stats::Verdict;
use crate::stats::scale::Direction::{HigherIsBetter, LowerIsBetter};

fn rates(d: &[f64]) -> (Vec<f64>, Vec<f64>) {
    (
        vec![100.0; d.len()],
        d.iter().map(|d| 100.0 * d.exp()).collect(),
    )
}

#[test]
fn halving_a_time_and_doubling_a_rate_are_the_same_gain() {
    let (slow, fast) = (
        [2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    );
    let times = compare_blocked(&slow, &fast, LowerIsBetter, &Rule::fixed()).unwrap();
    let rates = compare_blocked(&fast, &slow, HigherIsBetter, &Rule::fixed()).unwrap();
    assert!((times.estimate - 2.0).abs() < 1e-12);
    assert_eq!(times.verdict, Verdict::Different { better: true });
    assert_eq!(times.verdict, rates.verdict);
    assert_eq!(times.chance_better, rates.chance_better);
}

#[test]
fn a_gain_too_small_to_matter_is_equivalent_and_a_sure_one_is_different() {
    let (base, same) = rates(&[0.003, -0.002, 0.001, -0.004, 0.002, -0.001, 0.0035, -0.0025]);
    let found = compare_blocked(&base, &same, HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(found.verdict, Verdict::Equivalent);
    let (base, small) = rates(&[0.003, 0.002, 0.001, 0.004, 0.0021, 0.0011, 0.0035, 0.0025]);
    let found = compare_blocked(&base, &small, HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(found.verdict, Verdict::Different { better: true });
}

#[test]
fn too_few_runs_still_give_an_estimate() {
    let (base, better) = rates(&[0.1, 0.11, 0.12]);
    let found = compare_blocked(&base, &better, HigherIsBetter, &Rule::planned()).unwrap();
    assert_eq!(found.verdict, Verdict::TooFewRuns { needed: 7 });
    assert_eq!(found.interval, Err(Shortage::TooFewRuns { needed: 7 }));
    assert!((found.estimate - 0.11_f64.exp()).abs() < 1e-12);
    assert_eq!(found.p, Some(0.25));
    let unblocked = compare_unblocked(&base, &better, HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(unblocked.verdict, Verdict::TooFewRuns { needed: 4 });
    assert_eq!(unblocked.chance_better, 1.0);
}

#[test]
fn a_family_widens_the_interval() {
    let d: Vec<f64> = (1..=20)
        .map(|i| f64::from(i * 7 % 20) / 1000.0 + 0.001)
        .collect();
    let (base, better) = rates(&d);
    let width = |family| {
        let rule = Rule::planned().with_family(family);
        let found = compare_blocked(&base, &better, HigherIsBetter, &rule).unwrap();
        let interval = found.interval.unwrap();
        interval.upper - interval.lower
    };
    assert!(width(9) > width(3) && width(3) > width(1));
}

#[test]
fn runs_out_of_order_are_compared_all_with_all() {
    let found = compare_unblocked(
        &[100.0, 101.0, 99.0, 100.5, 99.5],
        &[110.0, 111.0, 109.0, 110.5],
        HigherIsBetter,
        &Rule::fixed(),
    )
    .unwrap();
    assert_eq!(found.runs, (5, 4));
    assert_eq!(found.verdict, Verdict::Different { better: true });
    assert_eq!(found.design.to_string(), "unblocked: drift not controlled");
    let interval = found.interval.unwrap();
    assert!(
        interval.lower > 1.08 && interval.upper < 1.13,
        "{interval:?}"
    );
    // 2 / C(9, 4)
    assert!((found.p.unwrap() - 2.0 / 126.0).abs() < 1e-12);
}

#[test]
fn a_sample_of_thousands_is_compared_without_storing_its_pairs() {
    let base: Vec<f64> = (0..5000)
        .map(|i| 100.0 + f64::from(i * 37 % 1000) / 100.0)
        .collect();
    let better: Vec<f64> = base.iter().map(|rate| rate * 1.05).collect();
    let found = compare_unblocked(&base, &better, HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(found.verdict, Verdict::Different { better: true });
    assert!((found.estimate - 1.05).abs() < 1e-3);
    let found = compare_blocked(&base, &better, HigherIsBetter, &Rule::fixed()).unwrap();
    assert!((found.estimate - 1.05).abs() < 1e-12);
}

proptest! {
    #[test]
    fn swapping_the_arms_turns_the_answer_over(
        pairs in prop::collection::vec((1.0_f64..1e6, 1.0_f64..1e6), 1..25),
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let compares = [compare_blocked, compare_unblocked];
        for compare in compares {
            let forth = compare(&a, &b, HigherIsBetter, &Rule::fixed()).unwrap();
            let back = compare(&b, &a, HigherIsBetter, &Rule::fixed()).unwrap();
            prop_assert!((forth.estimate * back.estimate - 1.0).abs() < 1e-9);
            prop_assert!((forth.chance_better + back.chance_better - 1.0).abs() < 1e-12);
            match (forth.verdict, back.verdict) {
                (Verdict::Different { better: up }, Verdict::Different { better: down }) => {
                    prop_assert_ne!(up, down);
                }
                (one, other) => prop_assert_eq!(one.is_decided(), other.is_decided()),
            }
            if let Ok(interval) = forth.interval {
                prop_assert!(interval.lower <= forth.estimate && forth.estimate <= interval.upper);
            }
        }
    }

    #[test]
    fn the_interval_excludes_no_change_exactly_when_p_says_so(
        differences in prop::collection::vec(-0.05_f64..0.08, 6..30),
    ) {
        // Without ties the interval is the test turned inside out.
        let (base, contender) = rates(&differences);
        let found = compare_blocked(&base, &contender, HigherIsBetter, &Rule::fixed()).unwrap();
        let different = matches!(found.verdict, Verdict::Different { .. });
        prop_assert_eq!(different, found.p.unwrap() <= 0.05);
    }

    #[test]
    fn nothing_that_is_fed_in_panics(
        baseline in prop::collection::vec(prop::num::f64::ANY, 0..8),
        contender in prop::collection::vec(prop::num::f64::ANY, 0..8),
    ) {
        for direction in [HigherIsBetter, LowerIsBetter] {
            for rule in [Rule::fixed(), Rule::planned().with_family(45)] {
                let _ = compare_blocked(&baseline, &contender, direction, &rule);
                let _ = compare_unblocked(&baseline, &contender, direction, &rule);
                let _ = compare_blocked_counts(&baseline, &contender, direction, &rule);
                let _ = compare_unblocked_counts(&baseline, &contender, direction, &rule);
                let _ = crate::stats::compare_at_looks(&baseline, &contender, direction, &rule);
            }
        }
    }
}
