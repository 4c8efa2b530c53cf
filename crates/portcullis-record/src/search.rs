//! Finds any of many needles in a text.
//!
//! Searching costs a table look-up for each byte of the text. Whatever the needles are, it never costs more
//! than a few comparisons for each byte: long ones are recognized by their first [`LONGEST`] bytes. What is
//! searched for, and in which forms, is defined in `scrub`.

pub(crate) mod known;

use std::borrow::Cow;

/// Shortest value that is looked for.
pub(crate) const SHORTEST: usize = 4;

/// As much of a value is looked for.
pub(crate) const LONGEST: usize = 64;

/// Something to look for: at least [`SHORTEST`] bytes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Needle<'a> {
    pub(crate) text: Cow<'a, str>,
    /// More base64 may follow that belongs to it.
    pub(crate) is_base64: bool,
}

/// Words of the filter.
const WORDS: usize = 64;

/// All needles.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    /// Sorted.
    needles: Vec<Needle<'a>>,
    /// For each the place of the longest one of at most [`LONGEST`] bytes that it begins with.
    shorter: Vec<Option<usize>>,
    /// A bit for each beginning of a needle.
    filter: [u64; WORDS],
}

impl<'a> Search<'a> {
    /// The place of a beginning in a filter of 64 words.
    #[inline]
    pub(crate) fn bit(beginning: [u8; SHORTEST]) -> (usize, u64) {
        let hash = u32::from_le_bytes(beginning).wrapping_mul(0x9e37_79b1) >> 20;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    pub(crate) fn new(mut needles: Vec<Needle<'a>>) -> Self {
        needles.sort_unstable();
        needles.dedup_by(|a, b| a.text == b.text);
        let mut filter = [0; WORDS];
        for needle in &needles {
            if let Some(beginning) = needle.text.as_bytes().first_chunk() {
                let (word, bit) = Self::bit(*beginning);
                if let Some(word) = filter.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        Self {
            shorter: shorter(&needles),
            needles,
            filter,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Whether the whole text is a needle.
    pub(crate) fn is_needle(&self, text: &str) -> bool {
        let found = self
            .needles
            .binary_search_by(|needle| needle.text.as_ref().cmp(text));
        found.is_ok()
    }

    /// Whether a whole needle, or the first [`LONGEST`] bytes of a longer one, is at this place.
    pub(crate) fn is_whole_at(&self, bytes: &[u8], at: usize) -> bool {
        let text = up_to_longest(bytes.get(at..).unwrap_or_default());
        let place = self
            .needles
            .partition_point(|needle| up_to_longest(needle.text.as_bytes()) <= text);
        // Whatever the text begins with is the one before its place, or what that begins with.
        let mut before = place.checked_sub(1);
        while let Some(place) = before {
            let needle = self.needles.get(place).map(|needle| needle.text.as_bytes());
            if text.starts_with(up_to_longest(needle.unwrap_or_default())) {
                return true;
            }
            before = self.shorter.get(place).copied().flatten();
        }
        false
    }

    /// The text with something else for each needle; none if it has none.
    pub(crate) fn replaced(&self, text: &str, with: &str) -> Option<String> {
        if self.needles.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut result = String::new();
        // Behind what is written, and the part that is being masked.
        let (mut written, mut masked) = (0, None::<(usize, usize)>);
        for (at, beginning) in bytes.windows(SHORTEST).enumerate() {
            let Some(beginning) = beginning.first_chunk() else {
                break;
            };
            let (word, bit) = Self::bit(*beginning);
            if self.filter.get(word).is_none_or(|w| w & bit == 0) {
                continue;
            }
            // Far inside of what is masked anyway nothing new begins.
            if masked.is_some_and(|(_, end)| at + LONGEST < end) {
                continue;
            }
            let Some(end) = self.longest(bytes, at) else {
                continue;
            };
            masked = Some(match masked {
                Some((start, until)) if at <= until => (start, until.max(end)),
                Some((start, until)) => {
                    result.push_str(text.get(written..start).unwrap_or_default());
                    result.push_str(with);
                    written = until;
                    (at, end)
                }
                None => (at, end),
            });
        }
        let (start, until) = masked?;
        result.push_str(text.get(written..start).unwrap_or_default());
        result.push_str(with);
        result.push_str(text.get(until..).unwrap_or_default());
        Some(result)
    }

    /// Behind the longest needle, or beginning of one that was cut, that is at this place.
    fn longest(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let text = bytes.get(at..)?;
        let beginning = up_to_longest(text);
        // What is most like the text stands beside its place among the needles.
        let place = self
            .needles
            .partition_point(|needle| up_to_longest(needle.text.as_bytes()) <= beginning);
        let alike = |place: Option<usize>| {
            let needle = self.needles.get(place?)?;
            Some(common(needle.text.as_bytes(), beginning))
        };
        let before = place.checked_sub(1);
        let alike_before = alike(before).unwrap_or(0);
        let most = alike(Some(place)).unwrap_or(0).max(alike_before);
        if most < SHORTEST {
            return None;
        }
        if most == LONGEST {
            return Some(at + self.longest_common(text));
        }
        let rest = text.get(most..).unwrap_or_default();
        if rest.is_empty() || is_cut(rest) {
            return Some(at + most);
        }
        // Whole needles the text begins with are the one before it, or what that begins with.
        let mut whole = before;
        while let Some(needle) = whole.and_then(|place| self.needles.get(place)) {
            let length = needle.text.len();
            if length <= alike_before {
                let more = match needle.is_base64 {
                    true => rest_of_base64(text.get(length..).unwrap_or_default()),
                    false => 0,
                };
                return Some(at + length + more);
            }
            whole = whole.and_then(|place| self.shorter.get(place).copied().flatten());
        }
        None
    }

    /// How much a text has in common with the long needle that is most like it.
    fn longest_common(&self, text: &[u8]) -> usize {
        let place = self
            .needles
            .partition_point(|needle| needle.text.as_bytes() < text);
        let neighbours = [place.checked_sub(1), Some(place)];
        let neighbours = neighbours.into_iter().flatten();
        let lengths = neighbours.filter_map(|place| {
            let needle = &self.needles.get(place)?.text;
            let mut length = common(needle.as_bytes(), text);
            while !needle.is_char_boundary(length) {
                length -= 1;
            }
            Some(length)
        });
        lengths.max().unwrap_or(0)
    }
}

fn shorter(needles: &[Needle<'_>]) -> Vec<Option<usize>> {
    // Those that all that follow may begin with, each the beginning of the next.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut shorter = Vec::with_capacity(needles.len());
    for (place, needle) in needles.iter().enumerate() {
        while open
            .pop_if(|(_, last)| !needle.text.starts_with(*last))
            .is_some()
        {}
        shorter.push(open.last().map(|(place, _)| *place));
        if needle.text.len() <= LONGEST {
            open.push((place, &needle.text));
        }
    }
    shorter
}

fn up_to_longest(text: &[u8]) -> &[u8] {
    text.get(..LONGEST).unwrap_or(text)
}

/// How many bytes two texts have in common at their beginning.
fn common(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(a, b)| a == b).count()
}

/// Whether the text was cut here.
fn is_cut(rest: &[u8]) -> bool {
    rest.starts_with("…".as_bytes()) || rest.starts_with(b"...")
}

/// The last characters of base64, which depend on what follows, and its padding.
fn rest_of_base64(rest: &[u8]) -> usize {
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
    let letters = rest.iter().take(2).take_while(is_part).count();
    let padding = rest.iter().skip(letters).take(2);
    letters + padding.take_while(|b| **b == b'=').count()
}

#[cfg(test)]
mod tests;
