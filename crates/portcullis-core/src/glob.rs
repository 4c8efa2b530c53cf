//! Patterns for names and paths: `*` stops at `/`, `**` doesn't, `?` is one character except `/`.
//!
//! Matching takes time in proportion to pattern and text, whatever the pattern.

use std::fmt;

/// How many places of a pattern a word has room for.
const BITS: usize = u64::BITS as usize;
/// How many words are enough for all but very long patterns.
const USUAL: usize = 4;

/// A pattern for a whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// This character.
    One(char),
    /// Any character but `/`.
    Any,
    /// Any characters but `/`.
    Star,
    /// Any characters.
    Stars,
}

impl Glob {
    /// The pattern of this text. Every text is a pattern.
    pub fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            parts.push(match character {
                '*' => {
                    let mut stars = 1;
                    while characters.next_if_eq(&'*').is_some() {
                        stars += 1;
                    }
                    if stars > 1 { Part::Stars } else { Part::Star }
                }
                '?' => Part::Any,
                other => Part::One(other),
            });
        }
        Self {
            text: text.to_owned(),
            parts,
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole text fits. Takes no memory, unless the pattern is very long.
    pub fn matches(&self, text: &str) -> bool {
        let words = self.parts.len() / BITS + 1;
        let (mut at, mut next) = ([0; USUAL], [0; USUAL]);
        match (at.get_mut(..words), next.get_mut(..words)) {
            (Some(at), Some(next)) => self.fits(text, at, next),
            _ => self.fits(text, &mut vec![0; words], &mut vec![0; words]),
        }
    }

    /// Follows the text. `at` has a bit for every place in the pattern that the text so far may have led to;
    /// both begin with none.
    fn fits<'p>(&self, text: &str, mut at: &'p mut [u64], mut next: &'p mut [u64]) -> bool {
        self.reach(at, 0);
        for character in text.chars() {
            next.fill(0);
            for index in places(at) {
                match self.parts.get(index) {
                    Some(Part::One(wanted)) if *wanted == character => self.reach(next, index + 1),
                    Some(Part::Any) if character != '/' => self.reach(next, index + 1),
                    Some(Part::Star) if character != '/' => self.reach(next, index),
                    Some(Part::Stars) => self.reach(next, index),
                    _ => {}
                }
            }
            if next.iter().all(|word| *word == 0) {
                return false;
            }
            std::mem::swap(&mut at, &mut next);
        }
        places(at).any(|index| index == self.parts.len())
    }

    /// Marks a place, and those that stars lead to without a character.
    fn reach(&self, at: &mut [u64], mut index: usize) {
        while let Some(word) = at.get_mut(index / BITS) {
            *word |= 1 << (index % BITS);
            match self.parts.get(index) {
                Some(Part::Star | Part::Stars) => index += 1,
                _ => return,
            }
        }
    }
}

/// The bits that are set, in order.
fn places(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(index, word)| {
        let some = |word: u64| (word != 0).then_some(word);
        let without_lowest = move |word: &u64| some(word & (word - 1));
        let lowest = move |word: u64| index * BITS + word.trailing_zeros() as usize;
        std::iter::successors(some(*word), without_lowest).map(lowest)
    })
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_stop_at_slashes_unless_doubled() {
        for (pattern, text, fits) in [
            ("prod-*", "prod-eu", true),
            ("prod-*", "prod-", true),
            ("prod-*", "dev-prod-eu", false),
            ("prod-*", "prod-a/b", false),
            ("group/*", "group/a", true),
            ("group/*", "group/a/b", false),
            ("group/**", "group/a/b", true),
            ("**/b", "a/c/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "a/b", false),
            ("*", "", true),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXcYYb", false),
            ("[a]", "[a]", true),
            ("é*", "éü", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_of_any_length_match() {
        for length in [62, 63, 64, 65, 255, 256, 257, 1000] {
            let text = "ab".repeat(length).split_off(length);
            let patterns = [text.clone(), format!("{text}*"), format!("**{text}")];
            for glob in patterns.map(|pattern| Glob::new(&pattern)) {
                assert!(glob.matches(&text), "{length}");
                assert!(!glob.matches(&format!("{text}/c")), "{length}");
                assert!(!glob.matches(text.get(1..).unwrap()), "{length}");
            }
            assert!(Glob::new(&"*".repeat(length)).matches(&text));
            assert!(Glob::new(&"?*".repeat(length)).matches(&text));
        }
    }

    /// The meaning of a pattern, in the plainest words.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', '*', rest @ ..] => {
                let rest_start = rest.iter().take_while(|c| **c == '*').count();
                (0..=text.len()).any(|n| naive(&rest[rest_start..], &text[n..]))
            }
            ['*', rest @ ..] => (0..=text.len())
                .take_while(|n| text[..*n].iter().all(|c| *c != '/'))
                .any(|n| naive(rest, &text[n..])),
            ['?', rest @ ..] => matches!(text, [c, tail @ ..] if *c != '/' && naive(rest, tail)),
            [c, rest @ ..] => matches!(text, [d, tail @ ..] if c == d && naive(rest, tail)),
        }
    }

    proptest! {
        #[test]
        fn every_answer_is_that_of_a_naive_search(pattern in "[ab/*?]{0,8}", text in "[ab/]{0,8}") {
            let characters = |s: &str| s.chars().collect::<Vec<_>>();
            prop_assert_eq!(
                Glob::new(&pattern).matches(&text),
                naive(&characters(&pattern), &characters(&text))
            );
        }
    }
}
