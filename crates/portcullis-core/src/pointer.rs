//! JSON pointers (RFC 6901), written and taken apart.

use std::borrow::Cow;

/// Adds the member of an object.
pub fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    // Without an early end this is done many bytes at a time.
    let is_special = |byte: u8| (byte == b'~') | (byte == b'/');
    if !key.bytes().fold(false, |any, byte| any | is_special(byte)) {
        pointer.push_str(key);
        return;
    }
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Adds the element of a list.
pub fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    push_digits(pointer, index);
}

fn push_digits(pointer: &mut String, number: usize) {
    if number >= 10 {
        push_digits(pointer, number / 10);
    }
    pointer.push(char::from(b'0' + (number % 10) as u8));
}

/// The key that a part of a pointer stands for.
pub fn unescaped(part: &str) -> Cow<'_, str> {
    match part.contains('~') {
        true => part.replace("~1", "/").replace("~0", "~").into(),
        false => part.into(),
    }
}

/// A pointer to what holds the place, and the last key. `None` for the whole document, and for a text that is
/// not a pointer.
pub fn split_last(pointer: &str) -> Option<(&str, Cow<'_, str>)> {
    let (above, last) = pointer.rsplit_once('/')?;
    (above.is_empty() || above.starts_with('/')).then(|| (above, unescaped(last)))
}

/// The keys of a pointer, from the outermost to the innermost.
pub fn keys(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// The index of an element, as pointers write it: digits alone, and no zero before others.
pub fn index(key: &str) -> Option<usize> {
    let is_plain = key == "0" || !key.starts_with(['0', '+']);
    key.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_with_slashes_and_tildes_are_escaped() {
        let mut pointer = String::new();
        push(&mut pointer, "a/b~c");
        push_index(&mut pointer, 10);
        push(&mut pointer, "");
        push(&mut pointer, "~1");
        assert_eq!(pointer, "/a~1b~0c/10//~01");
        assert_eq!(
            keys(&pointer).collect::<Vec<_>>(),
            ["a/b~c", "10", "", "~1"]
        );
    }

    #[test]
    fn the_last_key_is_taken_off() {
        assert_eq!(split_last("/a/b~1c"), Some(("/a", "b/c".into())));
        assert_eq!(split_last("/a"), Some(("", "a".into())));
        assert_eq!(split_last("/"), Some(("", "".into())));
        for none in ["", "a", "a/b"] {
            assert_eq!(split_last(none), None, "{none}");
        }
    }

    #[test]
    fn an_index_is_written_in_one_way() {
        assert_eq!([index("0"), index("12")], [Some(0), Some(12)]);
        for wrong in [
            "",
            "-",
            "-1",
            "+1",
            "01",
            "00",
            "1a",
            "99999999999999999999",
        ] {
            assert_eq!(index(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn others_find_what_is_pointed_at(path in proptest::collection::vec("[ab/~01é]{0,4}", 0..4)) {
            let mut pointer = String::new();
            let mut document = json!("here");
            for key in path.iter().rev() {
                document = json!({key: document});
            }
            for key in &path {
                push(&mut pointer, key);
            }
            prop_assert_eq!(document.pointer(&pointer), Some(&json!("here")));
            prop_assert_eq!(keys(&pointer).collect::<Vec<_>>(), path);
        }
    }
}
