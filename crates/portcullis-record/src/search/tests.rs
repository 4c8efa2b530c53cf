//! The search finds what a naive one finds.

use std::borrow::Cow;

use proptest::prelude::*;

use super::{LONGEST, Needle, SHORTEST, Search};

/// What the search must find, byte by byte: whole needles, beginnings of long ones, and beginnings that
/// were cut.
fn naive(needles: &[String], text: &str) -> String {
    let mut is_masked = vec![false; text.len()];
    for start in 0..text.len() {
        for needle in needles {
            let rest = text.as_bytes().get(start..).unwrap();
            let pairs = needle.as_bytes().iter().zip(rest);
            let common = pairs.take_while(|(a, b)| a == b).count();
            let behind = rest.get(common..).unwrap();
            let is_cut = behind.is_empty() || behind.starts_with(b"...");
            if common >= LONGEST || common == needle.len() || (common >= SHORTEST && is_cut) {
                let part = is_masked.get_mut(start..start + common).unwrap();
                part.fill(true);
            }
        }
    }
    let mut result = String::new();
    let mut was_masked = false;
    for (c, is_masked) in text.chars().zip(is_masked) {
        match (is_masked, was_masked) {
            (true, false) => result.push_str("(masked)"),
            (true, true) => {}
            (false, _) => result.push(c),
        }
        was_masked = is_masked;
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_found(
        needles in proptest::collection::vec("[ab]{4,9}|[ab]{3}c[ab]{4,80}|a{60,70}b?", 0..8),
        text in "([abc.]{0,12}|a{55,75}b?|\\.\\.\\.){0,6}",
        planted in any::<prop::sample::Index>(),
        length in 0..100_usize,
    ) {
        let mut text = text;
        if !needles.is_empty() {
            let needle = planted.get(&needles);
            text.push_str(needle.get(..length).unwrap_or(needle));
            text.push_str(if length % 3 == 0 { "..." } else { "" });
        }
        let search = Search::new(needles.iter().map(|needle| Needle {
            text: Cow::Borrowed(needle),
            is_base64: false,
        }).collect());
        let found = search.replaced(&text, "(masked)").unwrap_or_else(|| text.clone());
        let expected = naive(&needles, &text);
        if needles.iter().all(|needle| needle.len() <= LONGEST) || expected == text {
            prop_assert_eq!(found, expected, "{}", text);
        } else {
            // The end of a long one may be left where another one overlaps its beginning.
            for needle in &needles {
                let beginning = needle.get(..LONGEST).unwrap_or(needle);
                prop_assert!(!found.contains(beginning), "{}", text);
            }
        }
    }
}
