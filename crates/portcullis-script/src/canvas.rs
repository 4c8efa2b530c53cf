//! A text that is edited in place: every character stays at its line and column.

use std::ops::Range;

/// Characters with the byte offsets they had at first.
#[derive(Debug)]
pub(crate) struct Canvas {
    cells: Vec<(usize, char)>,
}

impl Canvas {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            cells: text.char_indices().collect(),
        }
    }

    fn cells(&mut self, bytes: &Range<usize>) -> &mut [(usize, char)] {
        let from = self.cells.partition_point(|(at, _)| *at < bytes.start);
        let to = self.cells.partition_point(|(at, _)| *at < bytes.end);
        self.cells.get_mut(from..to).unwrap_or_default()
    }

    /// Puts spaces in the place of characters; the ends of lines stay.
    pub(crate) fn blank(&mut self, bytes: &Range<usize>) {
        for (_, c) in self.cells(bytes) {
            if !is_line_end(*c) {
                *c = ' ';
            }
        }
    }

    /// Blanks a statement and leaves a semicolon, so that its neighbours stay apart.
    pub(crate) fn blank_statement(&mut self, bytes: &Range<usize>) {
        self.blank(bytes);
        self.write(bytes.start, ";");
    }

    /// Writes over the characters from a place on.
    pub(crate) fn write(&mut self, at: usize, text: &str) {
        let cells = self.cells(&(at..usize::MAX));
        for ((_, cell), c) in cells.iter_mut().zip(text.chars()) {
            *cell = c;
        }
    }

    /// Writes words, in their order, as far to the end of a blank part as they fit, each within a
    /// line and none touching another. False when there is no room.
    pub(crate) fn fit(&mut self, bytes: &Range<usize>, words: &[&str]) -> bool {
        let cells = self.cells(bytes);
        let mut end = cells.len();
        for word in words.iter().rev() {
            let width = word.chars().count();
            let Some(start) = (0..(end + 1).saturating_sub(width)).rev().find(|start| {
                let mut run = cells.iter().skip(*start).take(width);
                run.all(|(_, c)| !is_line_end(*c))
            }) else {
                return false;
            };
            for ((_, cell), c) in cells.iter_mut().skip(start).zip(word.chars()) {
                *cell = c;
            }
            end = start.saturating_sub(1);
        }
        true
    }

    pub(crate) fn text(&self) -> String {
        self.cells.iter().map(|(_, c)| c).collect()
    }
}

/// Whether a character is white space that stays within a line.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() || c == '\u{feff}') && !is_line_end(c)
}

/// What ends a line in JavaScript.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blanked_part_keeps_its_width_in_characters() {
        let mut canvas = Canvas::new("aé𝒳\r\nb c");
        canvas.blank_statement(&(0..9));
        assert_eq!(canvas.text(), ";  \r\nb c");
        canvas.blank(&(9..10));
        assert_eq!(canvas.text(), ";  \r\n  c");
    }

    #[test]
    fn words_fit_or_do_not() {
        let mut canvas = Canvas::new("      \n   ");
        assert!(canvas.fit(&(0..10), &["ab", "cde", "fgh"]));
        assert_eq!(canvas.text(), "ab cde\nfgh");
        let mut canvas = Canvas::new("   \n  ");
        assert!(!canvas.fit(&(0..6), &["ab", "cd", "ef"]));
    }
}
