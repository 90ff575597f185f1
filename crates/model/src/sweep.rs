//! The small language of parameter values: `1,8,48`, `1..64`, `1..64*2`, `"a,b"`.

use thiserror::Error;

/// More values than this in one sweep are refused: nobody waits for them, and a typing error is likelier.
pub const MOST_VALUES: usize = 4096;

/// Why a sweep could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SweepError {
    /// A quoted value does not end.
    #[error("the quoted value in {0:?} has no closing quote")]
    Unclosed(String),
    /// Nothing stands between two commas.
    #[error("an empty value in {0:?}; write \"\" for an empty text")]
    Empty(String),
    /// `8..1`, `1..8*1` and the like.
    #[error(
        "the range {0:?} never ends; write it as low..high or low..high*factor with a factor of at least 2"
    )]
    Range(String),
    /// Too many values.
    #[error("{0:?} makes more than {MOST_VALUES} values")]
    TooMany(String),
}

/// The values that `text` stands for, in order; one value where nothing is swept.
///
/// A comma separates; `low..high` is every whole number, `low..high*factor` multiplies until `high` is passed;
/// a value in double quotes is taken as it is (`\"` and `\\` inside), one in single quotes to the letter.
pub fn expand(text: &str) -> Result<Vec<String>, SweepError> {
    let mut values = Vec::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Quoted(value) => values.push(value),
            Piece::Bare(value) if value.is_empty() => {
                return Err(SweepError::Empty(text.to_owned()));
            }
            Piece::Bare(value) => push_range(&value, &mut values)?,
        }
        if values.len() > MOST_VALUES {
            return Err(SweepError::TooMany(text.to_owned()));
        }
    }
    Ok(values)
}

enum Piece {
    Bare(String),
    Quoted(String),
}

fn pieces(text: &str) -> Result<Vec<Piece>, SweepError> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let quote = rest
            .trim_start()
            .chars()
            .next()
            .filter(|c| *c == '"' || *c == '\'');
        let (piece, after) = match quote {
            Some(quote) => quoted(text, rest.trim_start(), quote)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Piece::Bare(rest[..end].trim().to_owned()), &rest[end..])
            }
        };
        out.push(piece);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(out),
            None => return Err(SweepError::Unclosed(text.to_owned())),
        }
    }
}

/// Reads one quoted value; returns it and what follows, blanks skipped.
fn quoted<'t>(whole: &str, rest: &'t str, quote: char) -> Result<(Piece, &'t str), SweepError> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            c if c == quote => return Ok((Piece::Quoted(value), rest[at + 1..].trim_start())),
            c => value.push(c),
        }
    }
    Err(SweepError::Unclosed(whole.to_owned()))
}

fn push_range(value: &str, values: &mut Vec<String>) -> Result<(), SweepError> {
    let numbers = value.split_once("..").and_then(|(low, rest)| {
        let (high, factor) = match rest.split_once('*') {
            Some((high, factor)) => (high, Some(factor.parse::<u64>().ok()?)),
            None => (rest, None),
        };
        Some((low.parse::<u64>().ok()?, high.parse::<u64>().ok()?, factor))
    });
    let Some((low, high, factor)) = numbers else {
        values.push(value.to_owned());
        return Ok(());
    };
    if low > high || factor.is_some_and(|f| f < 2 || low == 0) {
        return Err(SweepError::Range(value.to_owned()));
    }
    let mut next = Some(low);
    while let Some(n) = next.filter(|n| *n <= high) {
        values.push(n.to_string());
        if values.len() > MOST_VALUES {
            return Err(SweepError::TooMany(value.to_owned()));
        }
        next = match factor {
            Some(factor) => n.checked_mul(factor),
            None => n.checked_add(1),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_expanded_in_order() {
        for (text, values) in [
            ("8", &["8"][..]),
            ("1,8,48", &["1", "8", "48"]),
            ("1..4", &["1", "2", "3", "4"]),
            ("1..64*2", &["1", "2", "4", "8", "16", "32", "64"]),
            ("3..20*4", &["3", "12"]),
            ("1..3,48", &["1", "2", "3", "48"]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("'..',\"\"", &["..", ""]),
            ("a..b", &["a..b"]),
            ("../x", &["../x"]),
            ("4k:64k", &["4k:64k"]),
        ] {
            assert_eq!(expand(text).unwrap(), values, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(expand("8..1"), Err(SweepError::Range("8..1".into())));
        assert_eq!(expand("1..8*1"), Err(SweepError::Range("1..8*1".into())));
        assert_eq!(expand("0..8*2"), Err(SweepError::Range("0..8*2".into())));
        assert_eq!(expand("1,,2"), Err(SweepError::Empty("1,,2".into())));
        assert_eq!(expand(""), Err(SweepError::Empty(String::new())));
        assert_eq!(expand("\"open"), Err(SweepError::Unclosed("\"open".into())));
        assert!(matches!(
            expand("0..18446744073709551615"),
            Err(SweepError::TooMany(_))
        ));
    }
}
