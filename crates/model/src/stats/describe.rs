//! What a handful of numbers look like: centre, spread, extremes.

/// The usual figures of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: usize,
    /// Arithmetic mean, in the values' unit.
    pub mean: f64,
    /// Sample standard deviation (n - 1); `None` for one value, whose spread is not known to be zero.
    pub standard_deviation: Option<f64>,
    /// Smallest value.
    pub minimum: f64,
    /// The middle value, or the mean of the middle two.
    pub median: f64,
    /// Largest value.
    pub maximum: f64,
}

/// Describes a sample; `None` if it is empty.
pub fn describe(values: &[f64]) -> Option<Summary> {
    Some(Summary {
        count: values.len(),
        mean: mean(values)?,
        standard_deviation: standard_deviation(values),
        minimum: values.iter().copied().min_by(f64::total_cmp)?,
        median: median(values)?,
        maximum: values.iter().copied().max_by(f64::total_cmp)?,
    })
}

/// Arithmetic mean; `None` if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1); `None` below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The middle value, or the mean of the middle two; `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which a `share` (0 to 1) of the sample lies, interpolated between neighbours: type 7 of
/// Hyndman and Fan (The American Statistician 50, 1996), the default of R. `None` if there are no values or the
/// share is outside 0 to 1.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and len - 1 by the checks above"
    )]
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let weight = place - place.floor();
    if weight == 0.0 {
        return Some(sorted[below]);
    }
    Some(sorted[below] * (1.0 - weight) + sorted[above] * weight)
}

/// Median absolute deviation from the median, unscaled; `None` if there are no values.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&deviations)
}

/// The n-th root of the product; `None` if there are no values or one is not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| value.is_nan() || *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logs).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_known_sample() {
        let summary = describe(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.count, summary.mean, summary.median), (8, 5.0, 4.5));
        assert_eq!((summary.minimum, summary.maximum), (2.0, 9.0));
        let expected = (32.0_f64 / 7.0).sqrt();
        assert!((summary.standard_deviation.unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_spread() {
        assert_eq!(describe(&[3.0]).unwrap().standard_deviation, None);
        assert_eq!(describe(&[]), None);
    }

    #[test]
    fn quantiles_follow_type_seven() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&values, 1.5), None);
        assert_eq!(
            median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]),
            Some(1.0)
        );
    }

    #[test]
    fn geometric_mean_needs_positive_values() {
        assert!((geometric_mean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, f64::NAN]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
