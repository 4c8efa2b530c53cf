//! Strings, numbers and words: passed over, and checked on the way.

use super::{Scan, Scanner, What, Wrong};
use crate::json::plain_end;

impl Scanner<'_> {
    /// The rest of a string, up to behind its closing quote; true if it has escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Scan<bool> {
        self.plain();
        if self.take(b'"') {
            return Ok(false);
        }
        self.escaped_string()
    }

    /// The same from the first thing in a string that does not mean itself.
    #[cold]
    fn escaped_string(&mut self) -> Scan<bool> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.wrong(What::Control),
                None => return self.wrong(What::EarlyInString),
            }
            self.plain();
        }
    }

    /// Passes over bytes that mean themselves, to the next quote, backslash or control character.
    #[inline]
    fn plain(&mut self) {
        self.at = plain_end(self.bytes, self.at);
    }

    fn escape(&mut self) -> Scan {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                return Ok(());
            }
            Some(b'u') => {}
            Some(_) => return self.wrong(What::Escape),
            None => return self.wrong(What::EarlyInString),
        }
        let unit = self.unit(start)?;
        self.at += 6;
        let is_high = (0xd800..0xdc00).contains(&unit);
        let is_low = |unit| (0xdc00..0xe000).contains(&unit);
        if is_high {
            let follows = self.bytes.get(self.at..self.at + 2) == Some(b"\\u");
            if !(follows && is_low(self.unit(self.at)?)) {
                return Err(Wrong {
                    at: start,
                    what: What::Surrogate,
                });
            }
            self.at += 6;
        } else if is_low(unit) {
            return Err(Wrong {
                at: start,
                what: What::Surrogate,
            });
        }
        Ok(())
    }

    /// The code unit that the four digits of a `\u` at this place stand for.
    fn unit(&self, start: usize) -> Scan<u32> {
        let digits = self.bytes.get(start + 2..start + 6).unwrap_or_default();
        let digit = |unit: Option<u32>, b: &u8| Some(unit? * 16 + char::from(*b).to_digit(16)?);
        match digits.iter().fold(Some(0), digit) {
            Some(unit) if digits.len() == 4 => Ok(unit),
            _ => Err(Wrong {
                at: start,
                what: What::Escape,
            }),
        }
    }

    pub(super) fn number(&mut self) -> Scan {
        let start = self.at;
        self.take(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.wrong(What::Number),
        }
        let mut is_float = false;
        match self.peek() {
            Some(b'0'..=b'9') => return self.wrong(What::LeadingZero),
            Some(b'.') => {
                is_float = true;
                self.at += 1;
                self.some_digits()?;
            }
            _ => {}
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_float = true;
            self.at += 1;
            let _ = self.take(b'+') || self.take(b'-');
            self.some_digits()?;
        }
        // Up to 18 digits fit every integer type; the rest is worth a real look.
        if is_float || self.at - start > 18 {
            let digits = self.bytes.get(start..self.at).unwrap_or_default();
            let value = std::str::from_utf8(digits)
                .ok()
                .and_then(|d| d.parse::<f64>().ok());
            if !value.is_some_and(f64::is_finite) {
                return Err(Wrong {
                    at: start,
                    what: What::Range,
                });
            }
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Scan {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.wrong(What::Digit);
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    pub(super) fn word(&mut self, word: &'static [u8]) -> Scan {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            return Ok(());
        }
        self.wrong(What::Value)
    }
}
