//! Compact letter display: rows that share a letter are not told apart.

/// Letters for each of `rows` rows, given the pairs that differ.
///
/// Two rows share a letter exactly if they are not among the pairs that differ. Letters are dealt in row order, so the
/// best row of a ranked table has an `a`. This is insert-and-absorb (Piepho, Journal of Computational and Graphical
/// Statistics 13, 2004) without its sweeping step, which would thin the letters and tear ranges apart.
/// Pairs outside the rows, or of a row with itself, say nothing.
pub fn compact_letters(rows: usize, different: &[(usize, usize)]) -> Vec<String> {
    let mut columns = vec![vec![true; rows]];
    for &(one, other) in different {
        if one == other || one >= rows || other >= rows {
            continue;
        }
        let (connecting, mut kept): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .partition(|column| column[one] && column[other]);
        for column in connecting {
            for left_out in [one, other] {
                let mut split = column.clone();
                split[left_out] = false;
                kept.push(split);
            }
        }
        columns = absorb(kept);
    }
    columns.sort_by(|a, b| b.cmp(a));
    let mut letters = vec![String::new(); rows];
    for (place, column) in columns.iter().enumerate() {
        let letter = letter(place);
        for (row, _) in column.iter().enumerate().filter(|(_, member)| **member) {
            letters[row].push_str(&letter);
        }
    }
    letters
}

/// Drops columns that lie within another.
fn absorb(columns: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let mut kept: Vec<Vec<bool>> = Vec::with_capacity(columns.len());
    for column in columns {
        let within =
            |inner: &[bool], outer: &[bool]| inner.iter().zip(outer).all(|(i, o)| !i || *o);
        if kept.iter().any(|other| within(&column, other)) {
            continue;
        }
        kept.retain(|other| !within(other, &column));
        kept.push(column);
    }
    kept
}

/// a to z, then A to Z, then numbers in parentheses.
fn letter(place: usize) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    letters
        .chars()
        .nth(place)
        .map_or_else(|| format!("({})", place + 1), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_without_differences_share_one_letter() {
        assert_eq!(compact_letters(3, &[]), ["a", "a", "a"]);
        assert!(compact_letters(0, &[]).is_empty());
        assert_eq!(compact_letters(2, &[(0, 0), (0, 7)]), ["a", "a"]);
    }

    #[test]
    fn rows_that_all_differ_share_none() {
        assert_eq!(
            compact_letters(3, &[(0, 1), (0, 2), (1, 2)]),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn letters_do_not_run_out() {
        let all: Vec<(usize, usize)> = (0..60)
            .flat_map(|i| (i + 1..60).map(move |j| (i, j)))
            .collect();
        let letters = compact_letters(60, &all);
        assert_eq!((letters[26].as_str(), letters[52].as_str()), ("A", "(53)"));
    }

    proptest! {
        #[test]
        fn a_letter_is_shared_exactly_by_rows_not_told_apart(
            pairs in prop::collection::vec((0_usize..9, 0_usize..9), 0..25),
        ) {
            let letters = compact_letters(9, &pairs);
            for i in 0..9 {
                prop_assert!(!letters[i].is_empty());
                for j in 0..9 {
                    let different = i != j && (pairs.contains(&(i, j)) || pairs.contains(&(j, i)));
                    let shared = letters[i].chars().any(|letter| letters[j].contains(letter));
                    prop_assert_eq!(shared, !different, "rows {} and {}: {:?}", i, j, letters);
                }
            }
        }
    }
}
