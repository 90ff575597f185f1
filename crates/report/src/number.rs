//! Numbers as people read them. A number that is none is shown as [`UNKNOWN`], never as `NaN`.

use kernmark_model::run::Clock;
use kernmark_model::units::Nanos;

/// Stands where nothing is known.
pub(crate) const UNKNOWN: &str = "-";

/// Four digits that matter: `0.5123`, `96.30`, `612.3`, `24484`.
pub(crate) fn figure(value: f64) -> String {
    digits(value, 4)
}

/// A figure that may not be there.
pub(crate) fn figure_or_unknown(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), figure)
}

/// So many digits that matter; whole numbers keep all before the point. Very large and small ones are written with a
/// power of ten.
fn digits(value: f64, most: usize) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        return format!("{value:.*e}", most - 1);
    }
    // What stands before the point, counted after rounding: 9.9996 is 10.00.
    let after = |places: usize| format!("{value:.places$}");
    #[expect(
        clippy::cast_possible_truncation,
        reason = "between -4 and 9 by the check above"
    )]
    let magnitude = size.log10().floor() as i32;
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    let places = usize::try_from(most - 1 - magnitude).unwrap_or(0);
    let text = after(places);
    let grown = text
        .trim_start_matches(['-', '0', '.'])
        .replace('.', "")
        .len();
    match places.checked_sub(1) {
        Some(fewer) if i32::try_from(grown).is_ok_and(|grown| grown > most) => after(fewer),
        _ => text,
    }
}

/// A ratio with three decimals, four where it says nearly nothing else.
pub(crate) fn ratio(value: f64) -> String {
    if !value.is_finite() {
        UNKNOWN.to_owned()
    } else if value == 1.0 {
        "1".to_owned()
    } else if (0.99..1.01).contains(&value) {
        format!("{value:.4}")
    } else if (0.001..100.0).contains(&value) {
        format!("{value:.3}")
    } else {
        digits(value, 4)
    }
}

/// 0.0194 as `1.9`: a share in percent with two digits that matter, at least one decimal below ten.
pub(crate) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if !value.is_finite() {
        UNKNOWN.to_owned()
    } else if value.abs() >= 10.0 {
        format!("{value:.0}")
    } else if value.abs() >= 0.1 || value == 0.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A duration on the run's clock.
pub(crate) fn duration(clock: Clock, nanos: Nanos) -> String {
    if clock == Clock::Instructions {
        count(nanos.0)
    } else {
        nanos.to_string()
    }
}

/// A mean duration on the run's clock, in nanoseconds or instructions.
pub(crate) fn mean_duration(clock: Clock, nanos: Option<f64>) -> String {
    match nanos {
        None => UNKNOWN.to_owned(),
        Some(nanos) if clock == Clock::Instructions || nanos < 100.0 => {
            let unit = if clock == Clock::Instructions {
                ""
            } else {
                " ns"
            };
            format!("{}{unit}", digits(nanos, 4))
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of durations is one, and a cast of floats saturates"
        )]
        Some(nanos) => Nanos(nanos.round() as u64).to_string(),
    }
}

/// A number of things; from ten million on with a power of ten.
pub(crate) fn count(count: u64) -> String {
    if count < 10_000_000 {
        return count.to_string();
    }
    #[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
    let value = count as f64;
    format!("{value:.3e}")
}

/// `1 client`, `8 clients`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (612.345, "612.3"),
            (24_484.2, "24484"),
            (96.3, "96.30"),
            (9.9996, "10.00"),
            (0.051_234, "0.05123"),
            (-3.5, "-3.500"),
            (999.97, "1000"),
            (1.5e12, "1.500e12"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn ratios_and_shares_say_no_more_than_they_know() {
        assert_eq!(ratio(1.019_4), "1.019");
        assert_eq!(ratio(1.000_21), "1.0002");
        assert_eq!(ratio(1.0), "1");
        assert_eq!(ratio(12_345.0), "12345");
        assert_eq!(ratio(f64::NAN), "-");
        assert_eq!(percent(0.0194), "1.9");
        assert_eq!(percent(0.000_2), "0.02");
        assert_eq!(percent(0.941), "94");
        assert_eq!(percent(f64::INFINITY), "-");
    }

    #[test]
    fn instructions_have_no_unit_of_time() {
        assert_eq!(duration(Clock::Wall, Nanos(5_048_000)), "5.05 ms");
        assert_eq!(duration(Clock::Instructions, Nanos(24_484)), "24484");
        assert_eq!(mean_duration(Clock::Wall, Some(5_048_000.4)), "5.05 ms");
        assert_eq!(mean_duration(Clock::Wall, Some(4.256)), "4.256 ns");
        assert_eq!(mean_duration(Clock::Wall, None), "-");
        assert_eq!(count(123_456_789), "1.235e8");
    }
}
