//! Detects keys that were chosen to be slow.
//!
//! The engine's hash of a string has no secret, so that keys can be chosen that are all in one chain of
//! its table. Making an object with n of them takes n² steps, and so does giving it back. The first is
//! what takes long, whether a policy only reads the object or keeps it; it checks
//! the clock every few keys (`convert`). The second takes about a tenth of that, but can't be stopped, so
//! that there must be a bound. This finds such keys: it computes what the engine computes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// So many keys are harmless, whatever they are.
const FEW: usize = 8192;

/// As many different keys may be in one chain.
const MOST: usize = 1024;

/// The engine's tables have at least as many chains by the time that chains matter.
const CHAINS: usize = 1 << 16;

/// The keys of what an evaluation was given so far.
#[derive(Debug, Default)]
pub(crate) struct KeyCollisions {
    keys: usize,
    /// How many are in each chain. Empty as long as there are few.
    counts: Vec<usize>,
    /// The different ones of chains with many, by a hash that has a secret.
    different: HashMap<usize, HashSet<u64>>,
    secret: RandomState,
}

impl KeyCollisions {
    pub(crate) fn clear(&mut self) {
        self.keys = 0;
        self.counts = Vec::new();
        self.different.clear();
    }

    /// Whether there are so few keys that none is looked at.
    pub(crate) fn are_few(&self) -> bool {
        self.keys < FEW
    }

    /// Notes keys that are not looked at.
    pub(crate) fn note(&mut self, keys: usize) {
        self.keys += keys;
    }

    /// Notes a key. False if there are too many in its chain.
    pub(crate) fn admit(&mut self, key: &str) -> bool {
        self.keys += 1;
        if self.are_few() {
            return true;
        }
        if self.counts.is_empty() {
            self.counts = vec![0; CHAINS];
        }
        let mut hash = Hash::new();
        key.encode_utf16().for_each(|unit| hash.add(unit));
        let chain = hash.chain();
        let Some(count) = self.counts.get_mut(chain) else {
            return true;
        };
        *count += 1;
        if *count <= MOST {
            return true;
        }
        // One key in many objects is in the table once.
        let different = self.different.entry(chain).or_default();
        different.insert(self.secret.hash_one(key));
        different.len() <= MOST
    }
}

/// Whether so many keys of a JSON text share a chain that reading it would be slow.
pub(crate) fn collide(json: &str) -> bool {
    let mut counts = vec![0_usize; CHAINS];
    let mut is_suspect = false;
    for key in Keys(json) {
        if let Some(count) = counts.get_mut(chain(key)) {
            *count += 1;
            is_suspect |= *count > MOST;
        }
    }
    if !is_suspect {
        return false;
    }
    // One key in many objects is in the table once.
    let suspects = Keys(json).filter(|key| counts.get(chain(key)).is_some_and(|n| *n > MOST));
    let different: HashSet<&str> = suspects.collect();
    let mut counts = vec![0_usize; CHAINS];
    different.into_iter().any(|key| {
        counts.get_mut(chain(key)).is_some_and(|count| {
            *count += 1;
            *count > MOST
        })
    })
}

/// The engine's hash of a text, unit by unit of UTF-16.
struct Hash {
    hash: u32,
    length: u32,
}

impl Hash {
    fn new() -> Self {
        Self { hash: 1, length: 0 }
    }

    fn add(&mut self, unit: u16) {
        self.hash = self.hash.wrapping_mul(263).wrapping_add(u32::from(unit));
        self.length = self.length.wrapping_add(1);
    }

    fn chain(&self) -> usize {
        let hash = self.hash ^ self.length.wrapping_mul(0x61c8_8647);
        usize::try_from(hash).unwrap_or_default() % CHAINS
    }
}

/// The chain of a key, as it is written between its quotes.
fn chain(key: &str) -> usize {
    let mut hash = Hash::new();
    let mut add = |unit: u16| hash.add(unit);
    let mut rest = key.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            let mut pair = [0; 2];
            c.encode_utf16(&mut pair).iter().copied().for_each(&mut add);
            continue;
        }
        match rest.next() {
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                add(u16::from_str_radix(&digits, 16).unwrap_or_default());
            }
            Some('b') => add(8),
            Some('f') => add(12),
            Some('n') => add(10),
            Some('r') => add(13),
            Some('t') => add(9),
            Some(other) => add(u16::try_from(u32::from(other)).unwrap_or_default()),
            None => {}
        }
    }
    hash.chain()
}

/// The texts before a colon, as they are written between their quotes.
struct Keys<'a>(&'a str);

impl<'a> Iterator for Keys<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let (_, text) = self.0.split_once('"')?;
            let end = end_of_text(text)?;
            let (own, after) = text.split_at_checked(end)?;
            self.0 = after.get(1..)?;
            if self.0.trim_start().starts_with(':') {
                return Some(own);
            }
        }
    }
}

/// Where the quote is that ends a text.
fn end_of_text(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different texts with one hash: 263 more in a character makes up for one less before it.
    fn colliding(count: usize) -> Vec<String> {
        let pair = |bit: bool| {
            if bit {
                "\u{401}\u{507}"
            } else {
                "\u{402}\u{400}"
            }
        };
        let text = |number: usize| (0..16).map(|i| pair(number >> i & 1 == 1)).collect();
        (0..count).map(text).collect()
    }

    fn object<'a>(keys: impl IntoIterator<Item = &'a str>) -> String {
        let members: Vec<String> = keys
            .into_iter()
            .map(|key| format!("\"{key}\" : 1"))
            .collect();
        format!("{{{}}}", members.join(", "))
    }

    #[test]
    fn keys_of_one_chain_are_seen() {
        let many = colliding(MOST + 1);
        let keys = || many.iter().map(String::as_str);
        assert!(collide(&object(keys())));
        assert!(!collide(&object(keys().take(MOST))));
        let escaped: Vec<String> = keys()
            .map(|key| {
                key.chars()
                    .map(|c| format!("\\u{:04x}", u32::from(c)))
                    .collect()
            })
            .collect();
        assert!(collide(&object(escaped.iter().map(String::as_str))));
        // Strings that are not keys are in no table.
        assert!(!collide(&format!(
            "[{}]",
            object(keys()).replace(" : 1", "")
        )));
    }

    #[test]
    fn too_many_keys_of_one_chain_are_not_admitted() {
        let mut keys = KeyCollisions::default();
        let many = colliding(FEW + 3 * MOST);
        let admitted = many.iter().take_while(|key| keys.admit(key)).count();
        assert!((FEW..FEW + 2 * MOST + 1).contains(&admitted), "{admitted}");
        keys.clear();
        assert!((0..50_000).all(|i| keys.admit(&format!("name-{i}")) && keys.admit("name")));
    }

    #[test]
    fn ordinary_keys_are_not() {
        let names: Vec<String> = (0..50_000).map(|i| format!("name-{i}")).collect();
        assert!(!collide(&object(names.iter().map(String::as_str))));
        assert!(!collide(&object(std::iter::repeat_n("name", 50_000))));
        for broken in [
            "",
            "\"",
            "\"a",
            "\"\\",
            "{\"a\":",
            "\"\\\"\":",
            "{\"\\u\": 1}",
        ] {
            assert!(!collide(broken), "{broken}");
        }
    }
}
