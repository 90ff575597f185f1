//! Numbers as C's printf writes them.
//!
//! Both languages round the exact binary value, ties to even, so the digits are Rust's own; only the layout differs.

/// Significant digits of `%g` without a precision.
const SIGNIFICANT: i32 = 6;

/// `%.<decimals>f`.
pub fn fmt_f(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        // C shows the sign bit of what is no number; x86 sets it for 0/0.
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}nan");
    }
    format!("{value:.decimals$}")
}

/// `%g`: six significant digits without trailing zeros, with an exponent below 1e-4 and from 1e6 on.
pub fn fmt_g(value: f64) -> String {
    if !value.is_finite() {
        return fmt_f(value, 0);
    }
    // The exponent is that of the rounded value: 999999.5 is 1e+06.
    let rounded = format!("{value:.5e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if let Ok(decimals) = usize::try_from(SIGNIFICANT - 1 - exponent)
        && exponent >= -4
    {
        return without_trailing_zeros(&fmt_f(value, decimals)).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}e{sign}{:02}",
        without_trailing_zeros(mantissa),
        exponent.unsigned_abs()
    )
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// Half a unit of the last digit of a number printed with fixed decimals or an exponent; 0 for what is no number.
pub(super) fn half_unit(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    if !mantissa.ends_with(|c: char| c.is_ascii_digit()) {
        return 0.0;
    }
    let decimals = mantissa
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    let exponent: i64 = exponent.parse().unwrap_or(0);
    half_of_digit(exponent.saturating_sub_unsigned(decimals as u64))
}

/// Half a unit of the sixth significant digit of what `%g` printed, which is not shown where it is zero. 0 for zero
/// itself, which it prints exactly, and for what is no number.
pub(super) fn half_unit_g(text: &str) -> f64 {
    let value: f64 = text.parse().unwrap_or(0.0);
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scientific = format!("{value:e}");
    let exponent: i64 = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    // Nobody's %g, but more digits than six say more.
    half_of_digit(exponent - i64::from(SIGNIFICANT - 1)).min(half_unit(text))
}

/// 0.5 x 10^`place`, as near as a double comes.
fn half_of_digit(place: i64) -> f64 {
    format!("5e{}", place.saturating_sub(1))
        .parse()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What glibc 2.36 prints with `%g`, `%7.2f`, `%.03f` and `%3.0f` (the widths left out).
    const PRINTED: &[(f64, &str, &str, &str, &str)] = &[
        (0.0, "0", "0.00", "0.000", "0"),
        (-0.0, "-0", "-0.00", "-0.000", "-0"),
        (1.0, "1", "1.00", "1.000", "1"),
        (100_000.0, "100000", "100000.00", "100000.000", "100000"),
        (999_999.4, "999999", "999999.40", "999999.400", "999999"),
        (999_999.5, "1e+06", "999999.50", "999999.500", "1000000"),
        (
            1_234_567.0,
            "1.23457e+06",
            "1234567.00",
            "1234567.000",
            "1234567",
        ),
        (123_456.5, "123456", "123456.50", "123456.500", "123456"),
        (123_457.5, "123458", "123457.50", "123457.500", "123458"),
        (100_000.5, "100000", "100000.50", "100000.500", "100000"),
        (100_001.5, "100002", "100001.50", "100001.500", "100002"),
        (0.1, "0.1", "0.10", "0.100", "0"),
        (0.0001, "0.0001", "0.00", "0.000", "0"),
        (0.000_01, "1e-05", "0.00", "0.000", "0"),
        (0.000_012_345_678, "1.23457e-05", "0.00", "0.000", "0"),
        (0.000_123_456_78, "0.000123457", "0.00", "0.000", "0"),
        (0.000_099_999_951, "0.0001", "0.00", "0.000", "0"),
        (0.000_099_999_9, "9.99999e-05", "0.00", "0.000", "0"),
        (0.5, "0.5", "0.50", "0.500", "0"),
        (691.779, "691.779", "691.78", "691.779", "692"),
        (107.755, "107.755", "107.75", "107.755", "108"),
        (15.5956, "15.5956", "15.60", "15.596", "16"),
        (9.999_995, "10", "10.00", "10.000", "10"),
        (9.999_994_9, "9.99999", "10.00", "10.000", "10"),
        (1.0 / 3.0, "0.333333", "0.33", "0.333", "0"),
        (-2.5, "-2.5", "-2.50", "-2.500", "-2"),
        (
            -123_456_789.0,
            "-1.23457e+08",
            "-123456789.00",
            "-123456789.000",
            "-123456789",
        ),
        (
            1_000_015.0,
            "1.00002e+06",
            "1000015.00",
            "1000015.000",
            "1000015",
        ),
        (12_345.65, "12345.6", "12345.65", "12345.650", "12346"),
        (12_345.75, "12345.8", "12345.75", "12345.750", "12346"),
        (5e-324, "4.94066e-324", "0.00", "0.000", "0"),
        (f64::INFINITY, "inf", "inf", "inf", "inf"),
        (f64::NEG_INFINITY, "-inf", "-inf", "-inf", "-inf"),
        (f64::NAN.copysign(1.0), "nan", "nan", "nan", "nan"),
        (f64::NAN.copysign(-1.0), "-nan", "-nan", "-nan", "-nan"),
    ];

    #[test]
    fn numbers_look_as_the_c_library_prints_them() {
        for &(value, general, two, three, whole) in PRINTED {
            let ours = (
                fmt_g(value),
                fmt_f(value, 2),
                fmt_f(value, 3),
                fmt_f(value, 0),
            );
            assert_eq!(
                (
                    ours.0.as_str(),
                    ours.1.as_str(),
                    ours.2.as_str(),
                    ours.3.as_str()
                ),
                (general, two, three, whole),
                "{value:e}"
            );
        }
        assert_eq!(fmt_g(f64::MAX), "1.79769e+308");
        // 132 MB for each of 48 clients in 588 seconds, from a result of dbench 1.1.
        assert_eq!(fmt_g(132.0 * 48.0 / 588.0), "10.7755");
    }

    #[test]
    fn a_figure_hides_half_a_unit_of_its_last_digit() {
        for (text, half) in [
            ("575.27", 0.005),
            ("5.048", 0.0005),
            ("4", 0.5),
            ("1.5e+06", 50_000.0),
            ("-nan", 0.0),
            ("inf", 0.0),
            ("1e-300", 5e-301),
            ("1e-400", 0.0),
        ] {
            assert_eq!(half_unit(text), half, "{text}");
        }
        for (text, half) in [
            ("691.779", 0.0005),
            // 575.200 with its zeros cut.
            ("575.2", 0.0005),
            ("10", 0.000_05),
            ("1.5e+06", 5.0),
            ("0", 0.0),
            ("nan", 0.0),
            ("71.48610", 0.000_005),
        ] {
            assert_eq!(half_unit_g(text), half, "{text}");
        }
    }
}
