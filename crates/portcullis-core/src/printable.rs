//! Text of others on one line of a log or terminal.

use std::borrow::Cow;

/// The text with everything escaped that ends a line, moves a cursor, or makes a line look other than it
/// is.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_odd(c) {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// Control characters of both sets, marks of the direction of writing, further ends of lines, and what has
/// no width.
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_odd_is_left() {
        assert_eq!(printable("a é 字"), "a é 字");
        assert_eq!(printable("a\n\u{1b}[31m\u{9b}"), "a\\n\\u{1b}[31m\\u{9b}");
        assert_eq!(printable("x\u{202e}y\u{200b}"), "x\\u{202e}y\\u{200b}");
        assert_eq!(printable("\u{2028}\u{7f}\t"), "\\u{2028}\\u{7f}\\t");
    }
}
