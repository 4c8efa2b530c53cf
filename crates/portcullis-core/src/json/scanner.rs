//! The pass over the text. It is on the path of every request, so it compares keys by fingerprints,
//! keeps what it returns small, and allocates next to nothing.

mod scalars;
mod wrong;

use std::collections::HashSet;

use super::{Container, MAX_DEPTH};
use wrong::{What, Wrong};

/// How deep members are noted.
const NOTED_DEPTH: usize = 2;

/// Objects with more members look for repeated keys in a set.
const LINEAR_KEYS: usize = 32;

/// No place in [`Scanner::unescaped`].
const PLAIN: usize = usize::MAX;

/// A key, by what it takes to compare it.
#[derive(Clone, Copy)]
pub(super) struct Key {
    fingerprint: u64,
    /// Where it is in the text, without quotes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Place in [`Scanner::unescaped`] of what is meant, if it has escapes.
    pub(super) unescaped: usize,
}

/// What is known of the keys of an open object.
struct Object {
    /// Where they start in [`Scanner::keys`].
    first_key: usize,
    /// A bit for each sixty-fourth of the fingerprints that there is one of.
    drawers: u64,
    /// The keys themselves, once there are many, and how many of them are in.
    many: Option<HashSet<Vec<u8>>>,
    in_set: usize,
}

/// A member of one of the outermost objects.
pub(super) struct Noted {
    pub(super) depth: usize,
    pub(super) key: Key,
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Keys of all open objects, the outermost first.
    pub(super) keys: Vec<Key>,
    pub(super) unescaped: Vec<String>,
    pub(super) members: Vec<Noted>,
    pub(super) containers: Vec<Container>,
}

type Scan<T = ()> = Result<T, Wrong>;

impl Scanner<'_> {
    pub(super) fn document(&mut self) -> Scan {
        self.blanks();
        if self.peek().is_none() {
            return self.wrong(What::NoValue);
        }
        self.value(0, true)?;
        self.blanks();
        match self.peek() {
            None => Ok(()),
            Some(_) => self.wrong(What::After),
        }
    }

    /// A value inside `depth` lists and objects; `is_noted` if these are all objects.
    #[inline]
    fn value(&mut self, depth: usize, is_noted: bool) -> Scan {
        if self.take(b'"') {
            return self.string().map(|_| ());
        }
        self.other_value(depth, is_noted)
    }

    fn other_value(&mut self, depth: usize, is_noted: bool) -> Scan {
        match self.peek() {
            Some(b'{') => self.object(depth + 1, is_noted),
            Some(b'[') => self.list(depth + 1),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(_) => self.wrong(What::Value),
            None => self.wrong(What::Early),
        }
    }

    fn list(&mut self, depth: usize) -> Scan {
        let place = self.open(depth)?;
        if self.take(b']') {
            self.close(place);
            return Ok(());
        }
        loop {
            self.value(depth, false)?;
            self.blanks();
            if self.take(b']') {
                self.close(place);
                return Ok(());
            }
            self.comma(What::CommaOrBracket)?;
        }
    }

    fn object(&mut self, depth: usize, is_noted: bool) -> Scan {
        let place = self.open(depth)?;
        if self.take(b'}') {
            self.close(place);
            return Ok(());
        }
        let is_noted = is_noted && depth <= NOTED_DEPTH;
        let mut object = Object {
            first_key: self.keys.len(),
            drawers: 0,
            many: None,
            in_set: 0,
        };
        loop {
            let key = self.key()?;
            self.remember(key, &mut object)?;
            if is_noted {
                let place = self.members.len();
                self.members.push(Noted {
                    depth,
                    key,
                    start: self.at,
                    end: self.at,
                });
                self.value(depth, true)?;
                if let Some(member) = self.members.get_mut(place) {
                    member.end = self.at;
                }
            } else {
                self.value(depth, false)?;
            }
            self.blanks();
            if self.take(b'}') {
                self.keys.truncate(object.first_key);
                self.close(place);
                return Ok(());
            }
            self.comma(What::CommaOrBrace)?;
        }
    }

    /// Gives the place of the list or object in the index.
    fn open(&mut self, depth: usize) -> Scan<usize> {
        if depth > MAX_DEPTH {
            return self.wrong(What::Depth);
        }
        let place = self.containers.len();
        self.containers.push(Container {
            start: self.at as u32,
            end: 0,
            next: 0,
        });
        self.at += 1;
        self.blanks();
        Ok(place)
    }

    fn close(&mut self, place: usize) {
        let next = self.containers.len() as u32;
        if let Some(container) = self.containers.get_mut(place) {
            container.end = self.at as u32;
            container.next = next;
        }
    }

    fn comma(&mut self, otherwise: What) -> Scan {
        if self.take(b',') {
            self.blanks();
            return Ok(());
        }
        self.wrong(if self.peek().is_none() {
            What::Early
        } else {
            otherwise
        })
    }

    /// A key and its colon, up to where its value starts.
    fn key(&mut self) -> Scan<Key> {
        if !self.take(b'"') {
            return self.wrong(if self.peek().is_none() {
                What::Early
            } else {
                What::Key
            });
        }
        let start = self.at;
        let has_escapes = self.string()?;
        let end = self.at - 1;
        let mut key = Key {
            fingerprint: 0,
            start,
            end,
            unescaped: PLAIN,
        };
        if has_escapes {
            let quoted = self.bytes.get(start - 1..self.at).unwrap_or_default();
            let Ok(meant) = serde_json::from_slice::<String>(quoted) else {
                return Err(Wrong {
                    at: start - 1,
                    what: What::Escape,
                });
            };
            key.fingerprint = fingerprint(meant.as_bytes(), 0, meant.len());
            key.unescaped = self.unescaped.len();
            self.unescaped.push(meant);
        } else {
            key.fingerprint = fingerprint(self.bytes, start, end);
        }
        self.blanks();
        if !self.take(b':') {
            return self.wrong(What::Colon);
        }
        self.blanks();
        Ok(key)
    }

    /// Rejects a key its object already has.
    fn remember(&mut self, key: Key, object: &mut Object) -> Scan {
        // Sixty-four drawers, by fingerprint: a key whose drawer is empty is new.
        let drawer = 1_u64 << (key.fingerprint >> 58);
        let is_new = object.drawers & drawer == 0 || self.is_new(key, object);
        object.drawers |= drawer;
        self.keys.push(key);
        if is_new {
            return Ok(());
        }
        Err(Wrong {
            at: key.start - 1,
            what: What::Twice,
        })
    }

    fn is_new(&self, key: Key, object: &mut Object) -> bool {
        let known = self.keys.get(object.first_key..).unwrap_or_default();
        if known.len() < LINEAR_KEYS {
            let mut alike = known.iter().filter(|k| k.fingerprint == key.fingerprint);
            return !alike.any(|k| self.meant(*k) == self.meant(key));
        }
        // Many keys: each is put into a set once, so that hostile objects cost no more than others.
        let set = object.many.get_or_insert_default();
        for k in known.iter().skip(object.in_set) {
            set.insert(self.meant(*k).to_vec());
        }
        object.in_set = known.len();
        !set.contains(self.meant(key))
    }

    fn meant(&self, key: Key) -> &[u8] {
        match self.unescaped.get(key.unescaped) {
            Some(meant) => meant.as_bytes(),
            None => self.bytes.get(key.start..key.end).unwrap_or_default(),
        }
    }

    #[inline(always)]
    fn blanks(&mut self) {
        // Most of the time there are none.
        if self.peek() > Some(b' ') {
            return;
        }
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn wrong<T>(&self, what: What) -> Scan<T> {
        Err(Wrong { at: self.at, what })
    }
}

/// Differs for most different keys; equal for equal ones. Takes the first eight bytes, the last one
/// and the length.
#[inline]
fn fingerprint(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let eight = match bytes.get(start..).and_then(|b| b.first_chunk::<8>()) {
        Some(eight) => *eight,
        // At the very end of the text.
        None => {
            let mut eight = [0; 8];
            let key = bytes.get(start..end).unwrap_or_default();
            eight.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
            eight
        }
    };
    // What is behind the key's end is shifted out.
    let behind = 8_usize.saturating_sub(length) * 8;
    let first = u64::from_le_bytes(eight)
        .checked_shl(behind as u32)
        .unwrap_or(0);
    let last = bytes
        .get(end.wrapping_sub(1))
        .map_or(0, |b| u64::from(*b) << 32);
    (first ^ last ^ length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
