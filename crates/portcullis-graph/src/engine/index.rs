//! From hashes to numbers, in buckets of one cache line each.
//!
//! Buckets are added one by one (linear hashing): whenever there are too many numbers for the buckets, the
//! next bucket in turn is divided in two. So no insertion moves more than a few numbers, and little room is
//! wasted. What doesn't fit into a bucket goes into an overflow bucket.

use super::slab::{NONE, Slab, Slot};

/// How many numbers a bucket has room for.
const ROOM: usize = 12;
/// How many numbers there are for each bucket, at most and at least, on average.
const MOST: usize = 8;
const FEWEST: usize = 3;
/// How many buckets a page has, as a power of two.
const PAGE_BITS: u32 = 8;
const PAGE: usize = 1 << PAGE_BITS;

/// Numbers by the hash of what they stand for.
#[derive(Debug, Default)]
pub(super) struct Index {
    pages: Vec<Box<[Bucket]>>,
    /// How many buckets there are in pages.
    buckets: usize,
    /// Where full buckets go on.
    further: Slab<Bucket>,
    len: usize,
}

/// A few numbers, each with a byte of its hash.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    tags: [u8; ROOM],
    /// `NONE` where there is room.
    numbers: [u32; ROOM],
    /// Where it goes on.
    next: u32,
}

/// The tag that marks a vacant place of `further`; in others a tag doesn't matter where there is no number.
const VACANT: [u8; ROOM] = [u8::MAX; ROOM];

impl Default for Bucket {
    fn default() -> Self {
        Self {
            tags: [0; ROOM],
            numbers: [NONE; ROOM],
            next: NONE,
        }
    }
}

impl Slot for Bucket {
    fn vacant(next: u32) -> Self {
        Self {
            tags: VACANT,
            next,
            ..Self::default()
        }
    }

    fn next_vacant(&self) -> Option<u32> {
        (self.tags == VACANT && self.is_empty()).then_some(self.next)
    }
}

impl Bucket {
    #[inline]
    fn find(&self, tag: u8, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut places = self.tags.iter().zip(&self.numbers);
        let found =
            places.find(|(other, number)| **other == tag && **number != NONE && is_it(**number));
        found.map(|(_, number)| *number)
    }

    /// Puts a number where there is room. Whether there was.
    fn put(&mut self, tag: u8, number: u32) -> bool {
        let mut places = self.tags.iter_mut().zip(&mut self.numbers);
        let free = places.find(|(_, place)| **place == NONE);
        if let Some((place_of_tag, place)) = free {
            (*place_of_tag, *place) = (tag, number);
            return true;
        }
        false
    }

    /// Takes a number out. Whether it was there.
    fn take(&mut self, number: u32) -> bool {
        let mut places = self.tags.iter_mut().zip(&mut self.numbers);
        let found = places.find(|(_, place)| **place == number);
        if let Some((tag, place)) = found {
            (*tag, *place) = (0, NONE);
            return true;
        }
        false
    }

    fn is_empty(&self) -> bool {
        self.numbers == [NONE; ROOM]
    }
}

#[inline]
fn tag(hash: u64) -> u8 {
    (hash >> 56) as u8
}

impl Index {
    /// The bucket of a hash: as many of its bits as there are buckets for, one less where the bucket isn't
    /// there yet.
    #[inline]
    fn bucket_of(&self, hash: u64) -> usize {
        let (_, wide) = self.masks();
        let hash = hash as u32 as usize;
        let bucket = hash & wide;
        if bucket < self.buckets {
            bucket
        } else {
            hash & (wide >> 1)
        }
    }

    /// The mask of the last bucket's buddy, and of the last bucket.
    #[inline]
    fn masks(&self) -> (usize, usize) {
        let wide = self.buckets.next_power_of_two() - 1;
        (wide >> 1, wide)
    }

    #[inline]
    fn bucket(&self, at: usize) -> Option<&Bucket> {
        self.pages.get(at >> PAGE_BITS)?.get(at & (PAGE - 1))
    }

    fn bucket_mut(&mut self, at: usize) -> Option<&mut Bucket> {
        self.pages
            .get_mut(at >> PAGE_BITS)?
            .get_mut(at & (PAGE - 1))
    }

    /// The number with this hash for which `is_it` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut bucket = self.bucket(self.bucket_of(hash))?;
        loop {
            if let Some(number) = bucket.find(tag(hash), &is_it) {
                return Some(number);
            }
            bucket = self.further.get(bucket.next)?;
        }
    }

    /// Adds a number that isn't there yet.
    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if self.len >= self.buckets * MOST {
            self.divide(hash_of);
        }
        self.put(self.bucket_of(hash), hash, number);
        self.len += 1;
    }

    fn put(&mut self, at: usize, hash: u64, number: u32) {
        let Some(bucket) = self.bucket_mut(at) else {
            debug_assert!(false, "no bucket");
            return;
        };
        if bucket.put(tag(hash), number) {
            return;
        }
        let mut next = bucket.next;
        while let Some(further) = self.further.get_mut(next) {
            if further.put(tag(hash), number) {
                return;
            }
            next = further.next;
        }
        // Another one, in front of the others.
        let next = self.bucket(at).map_or(NONE, |bucket| bucket.next);
        let mut further = Bucket {
            next,
            ..Bucket::default()
        };
        further.put(tag(hash), number);
        let next = self.further.insert(further);
        if let Some(bucket) = self.bucket_mut(at) {
            bucket.next = next;
        }
    }

    /// Takes a number out.
    pub(super) fn remove(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if !self.take(self.bucket_of(hash), number) {
            debug_assert!(false, "not there");
            return;
        }
        self.len -= 1;
        if self.len == 0 {
            *self = Self::default();
        } else if self.buckets > 1 && self.len < self.buckets * FEWEST {
            self.join(hash_of);
        }
    }

    fn take(&mut self, at: usize, number: u32) -> bool {
        let Some(bucket) = self.bucket_mut(at) else {
            return false;
        };
        if bucket.take(number) {
            return true;
        }
        let (mut previous, mut next) = (NONE, bucket.next);
        while let Some(further) = self.further.get_mut(next) {
            let after = further.next;
            if further.take(number) {
                if further.is_empty() {
                    self.further.remove(next);
                    let before = match previous {
                        NONE => self.bucket_mut(at),
                        previous => self.further.get_mut(previous),
                    };
                    if let Some(before) = before {
                        before.next = after;
                    }
                }
                return true;
            }
            (previous, next) = (next, after);
        }
        false
    }

    /// Takes all numbers out of a bucket and what it goes on in.
    fn drain(&mut self, at: usize) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(2 * ROOM);
        let Some(bucket) = self.bucket_mut(at) else {
            return numbers;
        };
        let bucket = std::mem::take(bucket);
        numbers.extend(bucket.numbers);
        let mut next = bucket.next;
        while let Some(further) = self.further.get(next).copied() {
            numbers.extend(further.numbers);
            self.further.remove(next);
            next = further.next;
        }
        numbers.retain(|number| *number != NONE);
        numbers
    }

    /// Adds a bucket and divides what is in its buddy among both.
    fn divide(&mut self, hash_of: impl Fn(u32) -> u64) {
        if self.buckets == self.pages.len() * PAGE {
            self.pages.push(vec![Bucket::default(); PAGE].into());
        }
        self.buckets += 1;
        let last = self.buckets - 1;
        let (narrow, _) = self.masks();
        let buddy = last & narrow;
        if buddy == last {
            return;
        }
        for number in self.drain(buddy) {
            let hash = hash_of(number);
            self.put(self.bucket_of(hash), hash, number);
        }
    }

    /// Takes the last bucket away and puts what is in it into its buddy.
    fn join(&mut self, hash_of: impl Fn(u32) -> u64) {
        let numbers = self.drain(self.buckets - 1);
        self.buckets -= 1;
        if self.buckets + PAGE <= self.pages.len() * PAGE {
            self.pages.pop();
        }
        for number in numbers {
            let hash = hash_of(number);
            self.put(self.bucket_of(hash), hash, number);
        }
    }

    /// How many numbers there is room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        (self.buckets + self.further.len() + self.pages.len()) * ROOM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash that looks like chance; every seventh number has one that many have.
    fn hash(number: u32) -> u64 {
        let number = if number.is_multiple_of(7) {
            number % 2
        } else {
            number
        };
        u64::from(number)
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(27)
    }

    fn is_there(index: &Index, number: u32) -> bool {
        index.find(hash(number), |other| other == number).is_some()
    }

    #[test]
    fn numbers_are_found_while_buckets_come_and_go() {
        let mut index = Index::default();
        const MANY: u32 = 5000;
        for number in 0..MANY {
            assert!(!is_there(&index, number));
            index.insert(hash(number), number, hash);
            assert!(is_there(&index, number));
        }
        assert!((0..MANY).all(|number| is_there(&index, number)));
        assert!(index.capacity() < 3 * MANY as usize);
        for number in (0..MANY).step_by(2) {
            index.remove(hash(number), number, hash);
        }
        for number in 0..MANY {
            assert_eq!(is_there(&index, number), number % 2 == 1, "{number}");
        }
        for number in (1..MANY).step_by(2) {
            index.remove(hash(number), number, hash);
            assert!(!is_there(&index, number));
        }
        assert_eq!(index.capacity(), 0);
    }

    #[test]
    fn a_bucket_is_a_cache_line() {
        assert_eq!(size_of::<Bucket>(), 64);
    }
}
