//! Numbers as C reads them with base 0.

/// A whole number with an optional sign: `0x` is hexadecimal, a leading `0` octal, anything else
/// decimal.
///
/// `None` unless all of the text is a number, where C would take what it can and call the rest
/// zero.
pub(super) fn c_integer(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, digits),
        digits => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i128 = 0;
    for &byte in digits {
        let digit = (byte as char).to_digit(base)?;
        value = value
            .checked_mul(i128::from(base))?
            .checked_add(i128::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

/// A time stamp in seconds, as nanoseconds.
///
/// `None` for what is no decimal number or lies beyond [`MAX_STAMP_SECONDS`].
pub(super) fn stamp_nanos(text: &[u8]) -> Option<u64> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    if !(0.0..=MAX_STAMP_SECONDS).contains(&seconds) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10^18, checked above; a fraction of a nanosecond has no meaning"
    )]
    let nanos = (seconds * 1e9).round() as u64;
    Some(nanos)
}

/// The latest time stamp, in seconds: 31 years, and well inside a `u64` of nanoseconds.
const MAX_STAMP_SECONDS: f64 = 1e9;
