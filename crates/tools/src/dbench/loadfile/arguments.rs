//! The arguments of one line, read as what they must be.

use super::number::c_integer;
use super::tokens::Tokens;
use super::{Lines, LoadfileError, MAX_TRANSFER_BYTES, OpCode};

/// The arguments of one line, counted from zero after the operation's name.
pub(super) struct Arguments<'a> {
    pub(super) tokens: &'a Tokens,
    pub(super) first: usize,
    pub(super) code: OpCode,
    pub(super) lines: Lines,
}

impl Arguments<'_> {
    /// The argument's text, empty if there is none.
    pub(super) fn get(&self, index: usize) -> &[u8] {
        // The last token is the status.
        if self.first + index + 1 < self.tokens.len() {
            self.tokens.get(self.first + index)
        } else {
            &[]
        }
    }

    pub(super) fn is_quoted(&self, index: usize) -> bool {
        self.tokens.is_quoted(self.first + index)
    }

    pub(super) fn required(
        &self,
        index: usize,
        argument: &'static str,
    ) -> Result<&[u8], LoadfileError> {
        match self.get(index) {
            [] => Err(LoadfileError::MissingArgument {
                line: self.lines.first,
                code: self.code,
                argument,
            }),
            text => Ok(text),
        }
    }

    fn integer(&self, index: usize, argument: &'static str) -> Result<i128, LoadfileError> {
        let text = self.required(index, argument)?;
        c_integer(text).ok_or_else(|| LoadfileError::NotANumber {
            line: self.lines.first,
            code: self.code,
            argument,
            text: lossy(text),
        })
    }

    pub(super) fn number(
        &self,
        index: usize,
        argument: &'static str,
        least: i64,
        most: i64,
    ) -> Result<i64, LoadfileError> {
        let value = self.integer(index, argument)?;
        i64::try_from(value)
            .ok()
            .filter(|value| (least..=most).contains(value))
            .ok_or_else(|| LoadfileError::OutOfRange {
                line: self.lines.first,
                code: self.code,
                argument,
                text: lossy(self.get(index)),
                least,
                most,
            })
    }

    pub(super) fn u32(&self, index: usize, argument: &'static str) -> Result<u32, LoadfileError> {
        let value = self.number(index, argument, 0, i64::from(u32::MAX))?;
        Ok(u32::try_from(value).expect("checked to be at most u32::MAX"))
    }

    pub(super) fn handle(&self, index: usize) -> Result<i32, LoadfileError> {
        let value = self.number(index, "handle", i64::from(i32::MIN), i64::from(i32::MAX))?;
        Ok(i32::try_from(value).expect("checked to be an i32"))
    }

    /// A number of bytes to move.
    pub(super) fn transfer(
        &self,
        index: usize,
        argument: &'static str,
    ) -> Result<u32, LoadfileError> {
        let size = self.integer(index, argument)?;
        if size > i128::from(MAX_TRANSFER_BYTES) {
            return Err(LoadfileError::TransferTooLarge {
                line: self.lines.first,
                code: self.code,
                size,
            });
        }
        self.u32(index, argument)
    }

    /// An offset from which `length` bytes can be counted.
    pub(super) fn offset(&self, index: usize, length: i64) -> Result<u64, LoadfileError> {
        Ok(self
            .number(index, "offset", 0, i64::MAX - length)?
            .unsigned_abs())
    }
}

/// Text for a message.
pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
