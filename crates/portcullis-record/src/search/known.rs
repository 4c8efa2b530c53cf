//! Whether what was masked in one place occurs elsewhere in the same review.
//!
//! Stricter than scrubbing texts: a review is data that is replayed through policies, so only
//! values that are certainly secrets, and long enough not to be everyday words, are searched for, and
//! only as a whole. Where one is found, the string it is in is masked as a whole.
//!
//! Searching is done in two steps. The text of the review is sampled every few bytes: most reviews are done
//! with then. Only where something may be in it the review is read again.

use super::{LONGEST, Needle, Search};

/// Shortest value that is looked for in a review.
pub(crate) const SHORTEST_KNOWN: usize = 6;

/// Shortest one that has digits only: shorter ones are ports, users and sizes.
const SHORTEST_NUMBER: usize = 8;

/// Every so many bytes a text is looked at: whatever is looked for has a part that begins there.
const STRIDE: usize = SHORTEST_KNOWN - PART + 1;
const PART: usize = super::SHORTEST;

/// Words of the filter.
const WORDS: usize = 64;

/// The secrets of a request that must not stand anywhere in its review.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    search: Search<'a>,
    /// A bit for each part that a sample may hit.
    filter: [u64; WORDS],
    public: &'a [&'a str],
    /// There are too many to look for.
    is_blind: bool,
}

impl<'a> Known<'a> {
    /// Those of these needles that are long enough; blind when there are too many secrets to look for any.
    pub(crate) fn of_needles(
        mut needles: Vec<Needle<'a>>,
        public: &'a [&'a str],
        is_blind: bool,
    ) -> Self {
        needles.retain(|needle| counts(&needle.text));
        let mut filter = [0; WORDS];
        for needle in &needles {
            let parts = needle.text.as_bytes().windows(PART).take(STRIDE);
            for part in parts.filter_map(<[u8]>::first_chunk) {
                let (word, bit) = Search::bit(*part);
                if let Some(word) = filter.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        Self {
            search: Search::new(needles),
            filter,
            public,
            is_blind,
        }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.search.is_empty() && !self.is_blind
    }

    /// Whether one may stand in a piece of JSON. Escapes could hide one, so they count.
    pub(crate) fn may_be_in(&self, piece: &[u8]) -> bool {
        self.is_blind || self.finds(piece) || memchr::memchr(b'\\', piece).is_some()
    }

    /// Whether one stands in a text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        (self.is_blind && !text.is_empty()) || self.finds(text.as_bytes())
    }

    /// Whether a text of a review has to go. What is public stays.
    pub(crate) fn masks(&self, written: &str, meant: &str) -> bool {
        !self.public.contains(&meant)
            && (self.is_in(written) || (written != meant && self.is_in(meant)))
    }

    /// Whether a number is one of them.
    pub(crate) fn is_number(&self, written: &str) -> bool {
        self.is_blind || self.search.is_needle(written)
    }

    fn finds(&self, bytes: &[u8]) -> bool {
        let samples = bytes.windows(PART).enumerate().step_by(STRIDE);
        for (at, part) in samples {
            let Some(part) = part.first_chunk() else {
                break;
            };
            let (word, bit) = Search::bit(*part);
            if self.filter.get(word).is_none_or(|w| w & bit == 0) {
                continue;
            }
            let begins = |before: usize| {
                let start = at.checked_sub(before);
                start.is_some_and(|start| self.search.is_whole_at(bytes, start))
            };
            if (0..STRIDE).any(begins) {
                return true;
            }
        }
        false
    }
}

/// Whether a value is long enough to be looked for.
fn counts(text: &str) -> bool {
    let is_number = || text.bytes().all(|b| b.is_ascii_digit());
    text.len() >= SHORTEST_KNOWN && (text.len() >= SHORTEST_NUMBER || !is_number())
}

/// The value of an environment variable that is more than a word, an address or a name, whatever the
/// variable is called.
pub(crate) fn looks_random(value: &str) -> bool {
    const SHORTEST_RANDOM: usize = 16;
    if !(SHORTEST_RANDOM..=8 * LONGEST).contains(&value.len()) {
        return false;
    }
    let mut seen = 0;
    for byte in value.bytes() {
        match PARTS.get(usize::from(byte)) {
            None | Some(0) => return false,
            Some(part) => seen |= part,
        }
    }
    seen & (DIGIT | LETTER) == DIGIT | LETTER
}

/// What each byte is in a value that looks random; 0: none of its parts.
static PARTS: [u8; 256] = parts();
const DIGIT: u8 = 1;
const LETTER: u8 = 2;
const SIGN: u8 = 4;

#[expect(
    clippy::indexing_slicing,
    reason = "at compile time, inside the bounds"
)]
const fn parts() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'+' | b'-' | b'_' | b'=' | b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'@'
            | b'~' => SIGN,
            _ => 0,
        };
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_look_random_are_told_from_words_and_addresses() {
        for random in ["a8f3k29dk30sl1xq", "0f8fad5b-d9cb-469f-a165-70867728950e"] {
            assert!(looks_random(random), "{random}");
        }
        for word in [
            "registry.example/shop/web:1.2.3",
            "http://service:8080",
            "production-environment",
            "1234567890123456789",
            "short1",
        ] {
            assert!(!looks_random(word), "{word}");
        }
    }
}
