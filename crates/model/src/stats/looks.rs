//! When a session may be looked at, how many blocks it needs, and what it can see.

/// The only numbers of blocks at which a running session is judged.
pub const PLANNED: [usize; 5] = [8, 12, 18, 24, 30];

/// The two-sided level of each planned look: Pocock's constant for five looks and 5 % over all of them
/// (Biometrika 64, 1977). Pocock's looks are evenly spaced; for these five the constant is checked by simulation.
pub const PLANNED_LEVEL: f64 = 0.0158;

/// The planned looks that a session needing at least `minimum` blocks can use.
pub fn usable(minimum: usize) -> impl Iterator<Item = usize> {
    PLANNED.into_iter().filter(move |&look| look >= minimum)
}

/// The next look after `blocks` blocks; `None` after the last.
pub fn next(blocks: usize, minimum: usize) -> Option<usize> {
    usable(minimum).find(|&look| look > blocks)
}

/// The smallest change that `blocks` blocks find in four sessions of five, on the log scale: 3.96 s / √n for a
/// standard deviation s of one run, also on the log scale. `None` without blocks.
///
/// 3.96 is √2 (two runs in each difference) times 1.96 + 0.84, the normal quantiles of 5 % two-sided and of 80 % power.
/// Planned looks ask for a little more at each and repay it by stopping early.
pub fn detectable_change(run_deviation: f64, blocks: usize) -> Option<f64> {
    (blocks > 0).then(|| 3.96 * run_deviation / (blocks as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::*;

    #[test]
    fn minimum_blocks_are_those_of_the_formula() {
        let of = |rule: Rule| {
            [1, 3, 5, 9, 15, 45].map(|family| rule.with_family(family).minimum_blocks())
        };
        assert_eq!(of(Rule::planned()), [7, 9, 10, 11, 11, 13]);
        assert_eq!(of(Rule::fixed()), [6, 7, 8, 9, 10, 11]);
        for family in 1..500_usize {
            for rule in [Rule::planned(), Rule::fixed()] {
                let formula = (2.0 * family as f64 / rule.level()).log2().ceil();
                let minimum = rule.with_family(family).minimum_blocks();
                assert_eq!(minimum as f64, formula, "family {family}");
            }
        }
    }

    #[test]
    fn looks_below_the_minimum_are_skipped() {
        assert_eq!(usable(7).collect::<Vec<_>>(), PLANNED);
        assert_eq!(usable(13).collect::<Vec<_>>(), [18, 24, 30]);
        assert_eq!(next(8, 7), Some(12));
        assert_eq!(next(8, 13), Some(18));
        assert_eq!(next(30, 7), None);
    }

    #[test]
    fn the_detectable_change_shrinks_with_the_root_of_the_blocks() {
        assert_eq!(detectable_change(0.02, 16), Some(0.0198));
        assert_eq!(detectable_change(0.02, 0), None);
    }
}
