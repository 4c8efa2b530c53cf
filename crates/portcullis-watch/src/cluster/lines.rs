//! The lines of a body that comes in pieces.

use bytes::{Buf, Bytes, BytesMut};

/// Longer lines are passed over: no object is that large.
const MAX_LINE: usize = 32 * 1024 * 1024;

/// Pieces of a body, cut into lines.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: BytesMut,
    /// How much of the buffer is known to have no line end.
    searched: usize,
    /// Whether the line that is coming in is too long already.
    overlong: bool,
    max: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            overlong: false,
            max: MAX_LINE,
        }
    }
}

/// A line, or that there was one which is too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Bytes),
    TooLong,
}

impl Lines {
    /// More of the body.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// The next line that is complete, without its end.
    pub(super) fn next(&mut self) -> Option<Line> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            if self.searched > self.max {
                self.overlong = true;
                self.buffer.clear();
                self.searched = 0;
            }
            return None;
        };
        let line = self.buffer.split_to(self.searched + end).freeze();
        self.buffer.advance(1);
        self.searched = 0;
        if std::mem::take(&mut self.overlong) || line.len() > self.max {
            return Some(Line::TooLong);
        }
        Some(Line::Whole(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_pieces() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in ["a", "b\nc\n\nd", "e", "\n", "f"] {
            lines.push(piece.as_bytes());
            while let Some(Line::Whole(line)) = lines.next() {
                found.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        assert_eq!(found, ["ab", "c", "", "de"]);
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut lines = Lines {
            max: 10,
            ..Lines::default()
        };
        for _ in 0..1000 {
            lines.push(b"12345");
            assert_eq!(lines.next(), None);
            assert!(lines.buffer.len() <= 15);
        }
        lines.push(b"6\nshort\n");
        assert_eq!(lines.next(), Some(Line::TooLong));
        assert_eq!(
            lines.next(),
            Some(Line::Whole(Bytes::from_static(b"short")))
        );
        lines.push(b"12345678901\n");
        assert_eq!(lines.next(), Some(Line::TooLong));
    }
}
