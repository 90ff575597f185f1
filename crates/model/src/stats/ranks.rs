//! Mid-ranks, doubled so that they stay whole numbers.

/// Twice the mid-rank of each value: equal values share the mean of the ranks they take up.
///
/// A mid-rank is a whole or half number, so its double is exact and the distributions of rank statistics can be
/// counted in integers.
pub(crate) fn doubled_mid_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let last = first + group.len() - 1;
        for &index in group {
            // Ranks count from one: (first + 1) + (last + 1).
            ranks[index] = first + last + 2;
        }
        first = last + 1;
    }
    ranks
}

/// Whether any two values share a rank.
pub(crate) fn any_tied(doubled_ranks: &[usize]) -> bool {
    let mut sorted = doubled_ranks.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Sum of t³ - t over groups of t equal values, the correction that ties bring to rank variances.
pub(crate) fn tie_correction(doubled_ranks: &[usize]) -> f64 {
    let mut sorted = doubled_ranks.to_vec();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|group| {
            let t = group.len() as f64;
            t * t * t - t
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_middle_of_their_ranks() {
        let ranks = doubled_mid_ranks(&[3.0, 1.0, 3.0, 2.0, 3.0, -0.0, 0.0]);
        assert_eq!(ranks, [12, 6, 12, 8, 12, 3, 3]);
        assert!(any_tied(&ranks));
        assert_eq!(tie_correction(&ranks), 24.0 + 6.0);
    }

    #[test]
    fn no_values_have_no_ranks() {
        assert!(doubled_mid_ranks(&[]).is_empty());
        assert!(!any_tied(&[]));
    }
}
