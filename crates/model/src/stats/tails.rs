//! Tail probabilities of the few textbook distributions that the approximate parts need.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// P(Z <= z) of the standard normal.
pub(crate) fn normal_below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The z with P(Z <= z) = `probability`.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Two-sided p of a Student t with `freedom` degrees, which may be fractional (Welch).
///
/// No freedom, or a t that is not a number, tells nothing: 1.
pub(crate) fn student_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| 2.0 * student.sf(t.abs()))
}

/// P(chi-squared >= x) with the given degrees of freedom.
pub(crate) fn chi_squared_above(x: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(1.0, |chi| chi.sf(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_textbook_tables() {
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-6);
        assert!((normal_below(-1.644_854) - 0.05).abs() < 1e-6);
        // Fisher and Yates, Statistical Tables (1938): t of 10 degrees at 5 % is 2.228, at 0.1 % 4.587.
        assert!((student_two_sided(2.228, 10.0) - 0.05).abs() < 1e-4);
        assert!((student_two_sided(-4.587, 10.0) - 0.001).abs() < 1e-5);
        assert!((chi_squared_above(5.991, 2.0) - 0.05).abs() < 1e-4);
    }

    #[test]
    fn a_test_without_freedom_tells_nothing() {
        assert_eq!(student_two_sided(9.0, 0.0), 1.0);
        assert_eq!(student_two_sided(f64::NAN, 5.0), 1.0);
        assert_eq!(student_two_sided(f64::INFINITY, 5.0), 0.0);
    }
}
