//! One line cut into tokens.

/// The most tokens a line may have, as in dbench.
pub(super) const MAX_TOKENS: usize = 19;

/// The tokens of a line: quotes taken off, `\` turned into `/`.
///
/// Kept between lines, so that half a million of them cost one allocation.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    text: Vec<u8>,
    /// Where each token ends in `text`; it begins where the one before it ends.
    ends: Vec<usize>,
    /// Bit n: token n stood in quotes.
    quoted: u32,
    /// A tab separated two tokens somewhere.
    pub(super) tab: bool,
}

impl Tokens {
    /// Cuts a line at its blanks and tabs. `false` if it has more than [`MAX_TOKENS`].
    pub(super) fn split(&mut self, line: &[u8]) -> bool {
        self.text.clear();
        self.ends.clear();
        self.quoted = 0;
        self.tab = false;
        let mut quoting = false;
        let mut inside = false;
        for &byte in line {
            match byte {
                b' ' | b'\t' if !quoting => {
                    if inside && !self.end_token() {
                        return false;
                    }
                    inside = false;
                    self.tab |= byte == b'\t';
                }
                b'"' => {
                    quoting = !quoting;
                    inside = true;
                    self.quoted |= 1 << self.ends.len();
                }
                byte => {
                    inside = true;
                    self.text.push(if byte == b'\\' { b'/' } else { byte });
                }
            }
        }
        !inside || self.end_token()
    }

    fn end_token(&mut self) -> bool {
        self.ends.push(self.text.len());
        self.ends.len() <= MAX_TOKENS
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Token `index`, counted from zero; empty beyond the last.
    pub(super) fn get(&self, index: usize) -> &[u8] {
        let Some(&end) = self.ends.get(index) else {
            return &[];
        };
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..end]
    }

    pub(super) fn is_quoted(&self, index: usize) -> bool {
        self.quoted >> index & 1 == 1
    }
}
