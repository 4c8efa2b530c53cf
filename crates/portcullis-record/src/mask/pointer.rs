//! JSON pointers, piece by piece.

/// Adds a number.
pub(super) fn push_number(pointer: &mut String, number: usize) {
    if number >= 10 {
        push_number(pointer, number / 10);
    }
    pointer.push(char::from(b'0' + (number % 10) as u8));
}

/// Whether a byte of a key is the same in a JSON pointer.
pub(super) fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'~' | b'/' | b'\\')
}

/// A key in a JSON pointer.
pub(super) fn push_key(pointer: &mut String, key: &str) {
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}
