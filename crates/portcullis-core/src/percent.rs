//! Percent-encoding (RFC 3986), for addresses.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// What may stand everywhere stays as it is.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A text for one segment of a path, or for a query: it can't mean anything there but itself.
pub fn encoded(text: &str) -> String {
    percent_encode(text.as_bytes(), RESERVED).to_string()
}

/// A path of many segments, whose slashes stay.
pub fn encoded_path(path: &[u8]) -> String {
    const ALL_BUT_SLASHES: &AsciiSet = &RESERVED.remove(b'/');
    percent_encode(path, ALL_BUT_SLASHES).to_string()
}

/// What a text means; `None` if a `%` is not followed by two digits, or if it isn't UTF-8.
pub fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let is_whole = text.split('%').skip(1).all(|rest| {
        let mut digits = rest.bytes().take(2).filter(u8::is_ascii_hexdigit);
        digits.next().and(digits.next()).is_some()
    });
    let meant = percent_decode_str(text).decode_utf8().ok()?;
    is_whole.then_some(meant)
}

/// What a text of a path or a form probably means: `+` is a space, and what makes no sense stays.
pub fn decoded_leniently(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let text = text.replace('+', " ");
    let meant = percent_decode_str(&text).decode_utf8_lossy();
    meant.into_owned().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_a_meaning_is_encoded() {
        assert_eq!(encoded("a b&c=d/é~-._"), "a%20b%26c%3Dd%2F%C3%A9~-._");
        assert_eq!(
            encoded_path(b"/a b/x?y#z%.db\xff"),
            "/a%20b/x%3Fy%23z%25.db%FF"
        );
    }

    #[test]
    fn what_makes_no_sense_is_not_decoded() {
        assert_eq!(decoded("a%20b+%c3%A9").as_deref(), Some("a b+é"));
        for wrong in ["%", "%4", "a%4g", "%%41", "%ff", "%c3"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
        assert_eq!(decoded_leniently("a+%2B%4g%41%"), "a +%4gA%");
        assert_eq!(decoded_leniently("%ff"), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn texts_stay_the_same(text in "\\PC{0,8}") {
            let encoded = encoded(&text);
            prop_assert_eq!(decoded(&encoded), Some(Cow::Borrowed(text.as_str())));
            prop_assert_eq!(decoded_leniently(&encoded), text);
        }
    }
}
