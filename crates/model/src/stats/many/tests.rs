use super::*;
use crate::stats::random::Random;
use crate::stats::scale::Direction::{HigherIsBetter, LowerIsBetter};

/// Twelve blocks with a spread of 10 % between and 0.5 % within; each contender has its level.
fn arms(levels: &[f64]) -> Vec<Vec<f64>> {
    let mut random = Random::new(11);
    let mut arms = vec![Vec::new(); levels.len()];
    for _ in 0..12 {
        let block = 0.1 * random.normal();
        for (arm, level) in arms.iter_mut().zip(levels) {
            arm.push(level * (block + 0.005 * random.normal()).exp());
        }
    }
    arms
}

fn slices(arms: &[Vec<f64>]) -> Vec<&[f64]> {
    arms.iter().map(Vec::as_slice).collect()
}

#[test]
fn one_contender_gets_the_verdict_of_two() {
    let arms = arms(&[100.0, 103.0]);
    let many = compare_with_baseline(&arms[0], &[&arms[1]], HigherIsBetter, &Rule::planned());
    let two = crate::stats::compare_blocked(&arms[0], &arms[1], HigherIsBetter, &Rule::planned());
    assert_eq!(many.unwrap(), [two.unwrap()]);
}

#[test]
fn each_contender_gets_its_own_verdict() {
    let arms = arms(&[100.0, 97.0, 100.0, 104.0]);
    let found = compare_with_baseline(
        &arms[0],
        &slices(&arms[1..]),
        LowerIsBetter,
        &Rule::planned(),
    )
    .unwrap();
    let verdicts: Vec<Verdict> = found.iter().map(|comparison| comparison.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::Different { better: true },
            Verdict::Equivalent,
            Verdict::Different { better: false }
        ]
    );
    for comparison in &found {
        assert!(comparison.adjusted_p >= comparison.p);
        assert_eq!(comparison.level, 0.0158 / 3.0);
    }
}

#[test]
fn rows_are_ranked_and_lettered_best_first() {
    let arms = arms(&[100.0, 110.0, 100.1, 104.0]);
    let ranking = rank_contenders(&slices(&arms), HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(ranking.order[..2], [1, 3]);
    assert_eq!(ranking.letters.unwrap(), ["c", "a", "c", "b"]);
    assert_eq!(ranking.pairs.len(), 6);
    let friedman = ranking.friedman.unwrap();
    assert_eq!(friedman.mean_ranks[1], 4.0);
    assert!(friedman.p < 0.001);
    // Were they times, the order would turn.
    let turned = rank_contenders(&slices(&arms), LowerIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(turned.order[2..], [3, 1]);
}

#[test]
fn nobody_and_one_alone_are_ranked_without_fuss() {
    let none = rank_contenders(&[], HigherIsBetter, &Rule::fixed()).unwrap();
    assert!(none.order.is_empty() && none.friedman.is_none());
    let alone = [3.0; 12];
    let one = rank_contenders(&[&alone], HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(one.letters.unwrap(), ["a"]);
    assert_eq!(
        compare_with_baseline(&alone, &[], HigherIsBetter, &Rule::fixed()),
        Ok(vec![])
    );
}

#[test]
fn a_contender_that_missed_a_block_is_named() {
    let error = rank_contenders(&[&[1.0, 2.0], &[1.0]], HigherIsBetter, &Rule::fixed());
    assert_eq!(
        error.unwrap_err().to_string(),
        "contender 2 has 1 values in 2 blocks: a block needs every arm once"
    );
    let error = compare_with_baseline(
        &[1.0, 2.0],
        &[&[1.0, 2.0], &[1.0]],
        HigherIsBetter,
        &Rule::fixed(),
    );
    assert_eq!(
        error,
        Err(InputError::BlocksDiffer {
            arm: Arm::Contender(1),
            found: 1,
            expected: 2
        })
    );
}

#[test]
fn one_value_an_arm_ranks_without_letters() {
    let ranking = rank_contenders(&[&[1.0], &[2.0]], HigherIsBetter, &Rule::fixed()).unwrap();
    assert_eq!(ranking.order, [1, 0]);
    assert_eq!(ranking.letters, Err(Shortage::NoSpreadGiven));
    let compared =
        compare_with_baseline(&[1.0], &[&[2.0], &[3.0]], HigherIsBetter, &Rule::fixed()).unwrap();
    assert!(
        compared
            .iter()
            .all(|c| c.verdict == Verdict::NoSpreadGiven && c.adjusted_p.is_none())
    );
}
