//! What somebody who mistyped a name may have meant.

/// The name nearest to `typed`; `None` if none is near.
pub(crate) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = typed.chars().count().div_ceil(3);
    names
        .map(|name| (strsim::damerau_levenshtein(typed, name), name))
        .filter(|(distance, _)| *distance <= near)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        let names = ["dbench", "null", "lmbench:lat_pipe"];
        for (typed, meant) in [
            ("dbnech", Some("dbench")),
            ("nul", Some("null")),
            ("lmbench:lat_pip", Some("lmbench:lat_pipe")),
            ("fio", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), meant, "{typed}");
        }
    }
}
