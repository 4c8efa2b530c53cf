//! Passes over the plain part of a string, eight bytes at a time. Most of a text is in strings.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Where the first byte at or after `at` is that does not mean itself in a string: a quote, a backslash
/// or a control character. Returns the length of the text if there is no such byte.
#[inline]
pub fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        // The top bit of each byte that is a backslash (zero after the first change), or a quote or control
        // character (below 0x21 after the second, which swaps 0x20 and 0x22). A borrow may set one too
        // many, but only behind one that is right: the first one counts.
        let backslash = eight ^ (ONES * 0x5c);
        let swapped = eight ^ (ONES * 0x02);
        let found = (backslash.wrapping_sub(ONES) & !backslash)
            | (swapped.wrapping_sub(ONES * 0x21) & !swapped);
        let found = found & TOPS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let special = |b: &u8| *b < 0x20 || matches!(b, b'"' | b'\\');
    at + rest.iter().position(special).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::plain_end;

    #[test]
    fn every_byte_at_every_place_is_told_apart() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=u8::MAX {
                    for around in [b'a', 0x7f, 0x80, 0xff, 0x20, 0x21, 0x23, 0x5b, 0x5d] {
                        let mut text = vec![around; length];
                        text[place] = byte;
                        let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
                        let end = if is_special { place } else { length };
                        assert_eq!(plain_end(&text, 0), end, "{byte} at {place} of {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_one_counts_wherever_the_search_begins() {
        let text = b"\"abc\\\x00defghijklmnop\"\"";
        for (at, end) in [
            (0, 0),
            (1, 4),
            (5, 5),
            (6, 19),
            (20, 20),
            (21, 21),
            (30, 30),
        ] {
            assert_eq!(plain_end(text, at), end, "{at}");
        }
    }
}
