//! Standard input that every run of a plan may read from its beginning: a sweep over `loadfile=-` has one input.

use std::io::{self, Read};

/// Standard input, kept as soon as somebody reads it.
#[derive(Debug, Default)]
pub(crate) struct Input {
    kept: Option<Vec<u8>>,
}

/// Reads from the beginning.
pub(crate) struct Reader<'i> {
    input: &'i mut Input,
    at: usize,
}

impl Input {
    /// A reader for one run.
    pub(crate) fn reader(&mut self) -> Reader<'_> {
        Reader { input: self, at: 0 }
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let kept = match &mut self.input.kept {
            Some(kept) => kept,
            empty => {
                let mut all = Vec::new();
                io::stdin().lock().read_to_end(&mut all)?;
                empty.insert(all)
            }
        };
        let read = (&kept[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_reads_all_of_it() {
        let mut input = Input {
            kept: Some(b"load".to_vec()),
        };
        for _ in 0..2 {
            let mut text = String::new();
            input.reader().read_to_string(&mut text).unwrap();
            assert_eq!(text, "load");
        }
    }
}
