//! Patterns for names and paths: `*` stops at `/`, `**` doesn't, `?` is one character but `/`.
//!
//! Matching takes time in proportion to pattern and text, whatever the pattern.

use std::fmt;

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

    /// Whether the whole text fits.
    pub fn matches(&self, text: &str) -> bool {
        // The places in the pattern that the text so far may have led to.
        let mut at = vec![false; self.parts.len() + 1];
        self.reach(&mut at, 0);
        let mut next = at.clone();
        for character in text.chars() {
            next.fill(false);
            for (index, part) in self.parts.iter().enumerate() {
                if !at.get(index).copied().unwrap_or_default() {
                    continue;
                }
                match part {
                    Part::One(wanted) if *wanted == character => self.reach(&mut next, index + 1),
                    Part::Any if character != '/' => self.reach(&mut next, index + 1),
                    Part::Star if character != '/' => self.reach(&mut next, index),
                    Part::Stars => self.reach(&mut next, index),
                    _ => {}
                }
            }
            std::mem::swap(&mut at, &mut next);
        }
        at.last().copied().unwrap_or_default()
    }

    /// Marks a place, and those that stars lead to without a character.
    fn reach(&self, at: &mut [bool], mut index: usize) {
        while let Some(place) = at.get_mut(index) {
            *place = true;
            match self.parts.get(index) {
                Some(Part::Star | Part::Stars) => index += 1,
                _ => return,
            }
        }
    }
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
