//! Strings written many bytes at a time: for answers that are written for every request.
//!
//! Everything else is written by `serde_json`, which looks at each byte.

use super::plain_end;

/// Adds a string with its quotes, of which these are the parts.
pub fn push_string(out: &mut Vec<u8>, parts: &[&str]) {
    out.reserve(parts.iter().map(|part| part.len()).sum::<usize>() + 16);
    out.push(b'"');
    for part in parts {
        push_escaped(out, part.as_bytes());
    }
    out.push(b'"');
}

fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut from = 0;
    loop {
        let end = plain_end(bytes, from);
        out.extend_from_slice(bytes.get(from..end).unwrap_or_default());
        let Some(special) = bytes.get(end) else {
            return;
        };
        let hex = |digit: u8| match digit {
            0..=9 => b'0' + digit,
            _ => b'a' + digit - 10,
        };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[hex(control >> 4), hex(control & 15)]);
            }
        }
        from = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::push_string;

    fn written(parts: &[&str]) -> String {
        let mut out = Vec::new();
        push_string(&mut out, parts);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_up_to_two_bytes_is_written_as_serde_does() {
        for c in (0..0x800).filter_map(char::from_u32) {
            for text in [format!("{c}"), format!("before{c}behind it and on{c}")] {
                assert_eq!(written(&[&text]), serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn parts_are_written_as_one_string(parts in proptest::collection::vec(any::<String>(), 0..4)) {
            let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
            prop_assert_eq!(written(&texts), serde_json::to_string(&parts.concat()).unwrap());
        }
    }
}
