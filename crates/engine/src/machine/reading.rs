//! Files below a root that tests replace, and what was wrong with them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// No file that we read is longer; the rest of a longer one is ignored, with a note.
const LONGEST_FILE_BYTES: u64 = 4 << 20;

/// Notes kept; what goes wrong a thousand times goes wrong in one way.
const MOST_NOTES: usize = 50;

/// The folder that holds `proc`, `sys`, `dev`, `etc` and the rest: `/`, or a captured tree.
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
}

impl Root {
    /// This machine.
    pub fn real() -> Self {
        Self { folder: "/".into() }
    }

    /// A tree captured from, or made up as, a machine.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        // Links are resolved to tell whether they stay inside, for which the folder must be resolved too.
        let folder = folder.canonicalize().unwrap_or(folder);
        Self { folder }
    }

    /// The place of an absolute path below this root.
    pub fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.folder.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The path that a path really is, links followed; `None` if it does not exist or lies outside.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let place = self.place(path).canonicalize().ok()?;
        let inside = place.strip_prefix(&self.folder).ok()?;
        Some(Path::new("/").join(inside))
    }

    /// Names in a folder, numbers inside them in the order of numbers; none if it cannot be read.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.place(path)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_by(|one, two| in_parts(one).cmp(&in_parts(two)));
        names
    }

    /// Names in a folder that are `prefix` and a number, in the order of the numbers, without the prefix.
    pub(crate) fn numbered<N: FromStr>(&self, path: impl AsRef<Path>, prefix: &str) -> Vec<N> {
        let names = self.names(path).into_iter();
        names
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect()
    }
}

/// Splits `sda10` into `sda` and 10, so that it sorts behind `sda9`.
fn in_parts(name: &str) -> (&str, u64, &str) {
    let start = name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len());
    let (word, rest) = name.split_at(start);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    (word, rest[..end].parse().unwrap_or(0), name)
}

/// One pass over a root: reads, and keeps a note of what was there but made no sense.
///
/// What does not exist or may not be read is `None` and no note: kernels differ in what they have.
#[derive(Debug)]
pub(crate) struct Reading<'r> {
    pub(crate) root: &'r Root,
    notes: Vec<String>,
    /// Notes beyond those kept.
    more: usize,
}

impl<'r> Reading<'r> {
    pub(crate) fn new(root: &'r Root) -> Self {
        Self {
            root,
            notes: Vec::new(),
            more: 0,
        }
    }

    /// The notes taken, ending in how many more there were.
    pub(crate) fn into_notes(mut self) -> Vec<String> {
        if self.more > 0 {
            self.notes
                .push(format!("and {} more like these", self.more));
        }
        self.notes
    }

    /// Keeps a note: where, which item, what is wrong with it. Lines count from 1.
    pub(crate) fn note(&mut self, path: &str, line: Option<usize>, item: &str, problem: &str) {
        if self.notes.len() == MOST_NOTES {
            self.more += 1;
            return;
        }
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        let item = shortened(item);
        self.notes.push(format!("{path}{line}: {item}: {problem}"));
    }

    /// A file's bytes.
    pub(crate) fn bytes(&mut self, path: &str) -> Option<Vec<u8>> {
        let file = File::open(self.root.place(path)).ok()?;
        let mut bytes = Vec::with_capacity(1024);
        file.take(LONGEST_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .ok()?;
        let longest = usize::try_from(LONGEST_FILE_BYTES).unwrap_or(usize::MAX);
        if bytes.len() > longest {
            bytes.truncate(longest);
            self.note(path, None, "file", "longer than 4 MiB, the rest is ignored");
        }
        Some(bytes)
    }

    /// The first bytes of a file or device, at most `count`.
    pub(crate) fn start(&mut self, path: &str, count: usize) -> Option<Vec<u8>> {
        let file = File::open(self.root.place(path)).ok()?;
        let mut bytes = Vec::with_capacity(count);
        let count = u64::try_from(count).ok()?;
        file.take(count).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// A file's text; bytes that are not UTF-8 become replacement characters.
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// A file that is one value, without white space around it; `None` if there is nothing else in it.
    pub(crate) fn word(&mut self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        // Firmware and device trees end their strings with a NUL.
        let word = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!word.is_empty()).then(|| word.to_owned())
    }

    /// A file that is one whole number.
    pub(crate) fn number(&mut self, path: &str) -> Option<u64> {
        let word = self.word(path)?;
        self.parsed(path, None, "value", &word, "a whole number")
    }

    /// A file that is one whole number, negative where the kernel means "none".
    pub(crate) fn signed(&mut self, path: &str) -> Option<i64> {
        let word = self.word(path)?;
        self.parsed(path, None, "value", &word, "a whole number")
    }

    /// A file that is yes or no: `1`, `Y` or `0`, `N`; numbers above 1 are yes as well.
    pub(crate) fn flag(&mut self, path: &str) -> Option<bool> {
        let word = self.word(path)?;
        match word.as_str() {
            "Y" | "y" => Some(true),
            "N" | "n" => Some(false),
            number => {
                let value: u64 = self.parsed(path, None, "value", number, "yes or no")?;
                Some(value != 0)
            }
        }
    }

    /// The bracketed word of a file that lists its choices: `none [mq-deadline] bfq`.
    pub(crate) fn choice(&mut self, path: &str) -> Option<(String, Vec<String>)> {
        let text = self.word(path)?;
        let words = text.split_whitespace();
        let plain = |word: &str| word.trim_matches(['[', ']']).to_owned();
        let mut offered: Vec<String> = words.clone().map(plain).collect();
        let chosen = match words.clone().find(|word| word.starts_with('[')) {
            Some(word) => plain(word),
            // A file with one choice only may leave the brackets out.
            None if offered.len() == 1 => offered[0].clone(),
            None => {
                self.note(
                    path,
                    None,
                    "value",
                    &format!("no choice in brackets: {}", quoted(&text)),
                );
                return None;
            }
        };
        offered.dedup();
        Some((chosen, offered))
    }

    /// A word as another type, or a note of what was expected.
    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        path: &str,
        line: Option<usize>,
        item: &str,
        word: &str,
        expected: &str,
    ) -> Option<T> {
        let value = word.parse().ok();
        if value.is_none() {
            self.note(
                path,
                line,
                item,
                &format!("expected {expected}, found {}", quoted(word)),
            );
        }
        value
    }

    /// A file of lines that are a name and a whole number, as `vmstat`, `meminfo` and `io` are.
    pub(crate) fn counts(&mut self, path: &str) -> Option<BTreeMap<String, u64>> {
        let text = self.text(path)?;
        let mut counts = BTreeMap::new();
        for (line, name, value) in names_and_values(&text) {
            let number = value.split_whitespace().next().unwrap_or("");
            let count = self.parsed(path, Some(line), name, number, "a whole number");
            if let Some(count) = count {
                counts.insert(name.to_owned(), count);
            }
        }
        Some(counts)
    }
}

/// Lines of a name and its value, apart by a colon or by white space, with their number from 1.
pub(crate) fn names_and_values(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim();
        let (name, value) = line
            .split_once(':')
            .or_else(|| line.split_once(char::is_whitespace))
            .unwrap_or((line, ""));
        (!line.is_empty()).then(|| (index + 1, name.trim(), value.trim()))
    })
}

/// A few words of hostile text, with nothing in them that a terminal obeys.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let mut names = ["cpu10", "cpu9", "cpufreq", "cpu1"];
        names.sort_by(|one, two| in_parts(one).cmp(&in_parts(two)));
        assert_eq!(names, ["cpu1", "cpu9", "cpu10", "cpufreq"]);
    }

    #[test]
    fn names_are_parted_from_values_by_colon_or_space() {
        let text = "Dirty:   168 kB\n\npgpgin 5\nalone\n";
        let lines: Vec<_> = names_and_values(text).collect();
        let expected = [(1, "Dirty", "168 kB"), (3, "pgpgin", "5"), (4, "alone", "")];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_note_has_path_line_item_and_an_end() {
        let root = Root::real();
        let mut reading = Reading::new(&root);
        let long = "x".repeat(10_000);
        reading.parsed::<u64>("/proc/vmstat", Some(3), "pgpgin", &long, "a whole number");
        let notes = reading.into_notes();
        assert!(
            notes[0].starts_with("/proc/vmstat:3: pgpgin: expected a whole number, found \"xxx")
        );
        assert!(notes[0].len() < 200, "{}", notes[0]);
    }

    #[test]
    fn notes_do_not_grow_without_end() {
        let root = Root::real();
        let mut reading = Reading::new(&root);
        for line in 0..1_000 {
            reading.note("/proc/x", Some(line), "item", "wrong");
        }
        let notes = reading.into_notes();
        assert_eq!(notes.len(), MOST_NOTES + 1);
        assert_eq!(notes[MOST_NOTES], "and 950 more like these");
    }
}
