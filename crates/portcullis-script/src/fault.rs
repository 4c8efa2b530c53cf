//! Faults in a text, and their positions.

use std::cell::Cell;

/// Something in a policy file that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptFault {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// Lines and columns of a text.
#[derive(Debug)]
pub struct Places<'a> {
    text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
    /// A place, and how many characters stand before it in its line.
    last: Cell<(usize, usize)>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(after).collect(),
            last: Cell::new((0, 0)),
        }
    }

    /// Line of a byte of the text.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        number(self.lines.partition_point(|start| *start <= offset))
    }

    /// Line and column of a byte of the text. Quick if asked in the order of the text.
    pub fn at(&self, offset: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let (known, width) = match self.last.get() {
            (at, width) if (start..=offset).contains(&at) => (at, width),
            _ => (start, 0),
        };
        let rest = self.text.get(known..).unwrap_or_default();
        let before = rest
            .char_indices()
            .take_while(|(at, _)| known + at < offset);
        let width = width + before.count();
        if self.text.is_char_boundary(offset) {
            self.last.set((offset, width));
        }
        (number(line), number(width + 1))
    }

    pub(crate) fn fault(&self, offset: usize, message: impl Into<String>) -> ScriptFault {
        let (line, column) = self.at(offset);
        ScriptFault {
            line,
            column,
            message: message.into(),
        }
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let places = Places::new("aé𝒳b\r\nc\n");
        assert_eq!(places.at(0), (1, 1));
        assert_eq!(places.at(7), (1, 4));
        assert_eq!(places.at(3), (1, 3));
        assert_eq!(places.at(10), (2, 1));
        assert_eq!(places.at(11), (2, 2));
        assert_eq!(places.line(11), 2);
        assert_eq!(places.at(7), (1, 4));
        assert_eq!(places.at(12), (3, 1));
        assert_eq!(places.at(99), (3, 1));
    }
}
