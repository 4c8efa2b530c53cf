//! Untrusted text, made safe for a message.

use portcullis_core::text::is_odd;

/// The first part of foreign text: without control characters, white space collapsed, and at most
/// `limit` characters long.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    let most = limit.saturating_mul(4).saturating_add(4096);
    let start = bytes.get(..most).unwrap_or(bytes);
    let mut result = String::new();
    let mut length = 0;
    let mut gap = false;
    for c in String::from_utf8_lossy(start).chars() {
        if c.is_whitespace() {
            gap = length > 0;
            continue;
        }
        if is_odd(c) {
            continue;
        }
        let needed = 1 + usize::from(gap);
        if length + needed > limit {
            result.push('…');
            break;
        }
        if gap {
            result.push(' ');
            gap = false;
        }
        result.push(c);
        length += needed;
    }
    result
}

/// Whether text holds characters that no argument, path or address needs.
pub(crate) fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(b"  a\tb\r\n\n c\x1b[0m\0 ", 100), "a b c[0m");
        assert_eq!(excerpt("x\u{202e}y".as_bytes(), 100), "xy");
        assert_eq!(excerpt(b"abcdef", 3), "abc…");
        assert_eq!(excerpt(b"ab cd", 3), "ab…");
        assert_eq!(excerpt(b"\xff\xfe", 9), "\u{fffd}\u{fffd}");
        assert_eq!(excerpt(b"", 3), "");
    }

    #[test]
    fn a_long_text_is_cut() {
        let text = vec![b'x'; 10 << 20];
        assert_eq!(excerpt(&text, 1024).chars().count(), 1025);
    }
}
