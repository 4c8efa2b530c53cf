//! Untrusted text, made safe for one line of a log, a message or a terminal.
//!
//! Formats with their own syntax (JSON, HTML, Go's quotes) are escaped where they are written.

use std::borrow::Cow;

/// The text with everything escaped that could end a line, move the cursor, or make the line look other than
/// it is.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Most texts are plain ASCII; without an early end that is seen many bytes at a time.
    let is_plain = |all: bool, byte: u8| all & matches!(byte, b' '..=b'~');
    let is_plain = text.bytes().fold(true, is_plain);
    if is_plain || !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_odd(c) {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// The text on one line: control characters become spaces, everything else stays. For wires that take any
/// other character; [`printable`] is for logs and terminals.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.replace(char::is_control, " ").into(),
        false => text.into(),
    }
}

/// The plural of an English word in lower case, as resources of Kubernetes are named after their kinds.
#[must_use]
pub fn plural(word: &str) -> String {
    let before_y = word.strip_suffix('y');
    let is_after_vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match before_y {
        Some(stem) if !is_after_vowel(stem) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            format!("{word}es")
        }
        _ => format!("{word}s"),
    }
}

/// The beginning of a text: at most so many characters, with no sign that something is left out.
pub fn start(text: &str, most: usize) -> &str {
    // No text has more characters than bytes.
    if text.len() <= most {
        return text;
    }
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// A text of at most so many characters, the last of which is `…` if something is left out.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if start(text, most).len() == text.len() {
        return text.into();
    }
    format!("{}…", start(text, most.saturating_sub(1))).into()
}

/// Whether a character is not plainly visible: control characters, marks of the direction of
/// writing, and zero-width characters.
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_something_is_escaped_and_the_rest_stays() {
        assert_eq!(printable("a é 字"), "a é 字");
        assert_eq!(printable("a\n\u{1b}[31m"), "a\\n\\u{1b}[31m");
        assert_eq!(printable("x\u{202e}y\u{200b}"), "x\\u{202e}y\\u{200b}");
        assert_eq!(printable("\u{85}\u{e0041}"), "\\u{85}\\u{e0041}");
        assert!(matches!(printable("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn one_line_has_no_control_characters() {
        assert_eq!(one_line("a\r\n\u{1b}b\u{85}\u{200b}é"), "a   b \u{200b}é");
        assert!(matches!(one_line("a é"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
        assert_eq!(shortened("ab", 0), "…");
        assert_eq!(shortened("", 0), "");
        assert_eq!(start("äöüß", 3), "äöü");
        assert_eq!(start("äöüß", 4), "äöüß");
        assert_eq!(start("ab", 0), "");
        assert!(matches!(shortened("plain", 5), Cow::Borrowed(_)));
    }
}
