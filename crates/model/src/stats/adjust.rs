//! Adjustment of p for how many questions were asked.

/// Holm's step-down adjustment (Scandinavian Journal of Statistics 6, 1979), in the order given: at most a share
/// `level` of families has any adjusted p below `level` by chance, whatever the tests have to do with each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![0.0; p.len()];
    let mut running = 0.0_f64;
    for (place, &index) in order.iter().enumerate() {
        running = running.max(p[index] * (p.len() - place) as f64).min(1.0);
        adjusted[index] = running;
    }
    adjusted
}

/// The share of false finds that a screen accepts: 5 %.
pub const SCREEN_RATE: f64 = 0.05;

/// Benjamini and Hochberg's step-up adjustment (JRSS B 57, 1995), in the order given. Calling everything with an
/// adjusted p of at most q a find makes, in expectation, a share q of the finds false: right for a screen, too
/// generous for a verdict.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![0.0; p.len()];
    let mut running = 1.0_f64;
    for (place, &index) in order.iter().enumerate().rev() {
        running = running.min(p[index] * (p.len() as f64 / (place + 1) as f64));
        adjusted[index] = running;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{found:?} against {expected:?}");
        }
    }

    #[test]
    fn holm_steps_down() {
        close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(&holm(&[0.6, 0.9]), &[1.0, 1.0]);
        close(&holm(&[]), &[]);
    }

    #[test]
    fn benjamini_and_hochberg_find_the_four_of_their_paper() {
        // The 15 p of the myocardial infarction trial in section 4.1 of their paper; at q = 0.05 it rejects the first
        // four, where Bonferroni rejects three.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        let found = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= SCREEN_RATE).count();
        assert_eq!(found(benjamini_hochberg(&p)), 4);
        assert_eq!(found(holm(&p)), 3);
    }

    proptest! {
        #[test]
        fn adjustment_keeps_order_and_never_helps(p in prop::collection::vec(0.0_f64..=1.0, 1..20)) {
            for adjusted in [holm(&p), benjamini_hochberg(&p)] {
                for i in 0..p.len() {
                    prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                    for j in 0..p.len() {
                        prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                    }
                }
            }
        }
    }
}
