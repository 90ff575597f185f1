//! Values that stand apart: flagged, never dropped.

use super::describe::{median, median_absolute_deviation};

/// Makes the median absolute deviation of normal values estimate their standard deviation: 1 / Φ⁻¹(3/4).
const NORMAL_CONSISTENCY: f64 = 1.4826;

/// Beyond this many robust standard deviations a value is flagged (Iglewicz and Hoaglin, How to Detect and Handle
/// Outliers, ASQC 1993).
pub const LIMIT: f64 = 3.5;

/// The indices of values that lie more than 3.5 robust standard deviations from the median.
///
/// A flag is a hint to look at the run, never a reason to drop it. Where more than half of the values are equal, the
/// robust deviation is zero and every other value is flagged.
pub fn flag_outliers(values: &[f64]) -> Vec<usize> {
    let (Some(centre), Some(deviation)) = (median(values), median_absolute_deviation(values))
    else {
        return Vec::new();
    };
    let reach = LIMIT * NORMAL_CONSISTENCY * deviation;
    (0..values.len())
        .filter(|&index| (values[index] - centre).abs() > reach)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_what_stands_apart_on_either_side() {
        let values = [10.0, 10.1, 9.9, 10.2, 9.8, 14.0, 10.0, 6.0];
        assert_eq!(flag_outliers(&values), [5, 7]);
    }

    #[test]
    fn a_quiet_sample_has_none() {
        assert!(flag_outliers(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_empty());
        assert!(flag_outliers(&[7.0; 5]).is_empty());
        assert!(flag_outliers(&[]).is_empty());
        assert_eq!(flag_outliers(&[7.0, 7.0, 7.0, 7.1]), [3]);
    }
}
