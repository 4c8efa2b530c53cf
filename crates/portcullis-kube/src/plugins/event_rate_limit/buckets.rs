//! Token buckets by key, a limited number of them.
//!
//! Counting is exact, in billionths of a token. The bucket that was not used
//! for longest makes room for a new one, which starts full. Keys are whatever
//! callers send, so only their digests are kept: memory is bounded by the
//! number of buckets. Times are given; nothing here reads a clock or locks.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

/// How fast and how far a bucket fills.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Tokens per second.
    pub(super) per_second: u32,
    /// Most tokens in a bucket.
    pub(super) burst: u32,
}

/// Billionths of a token: what one nanosecond brings at one token per second.
const TOKEN: u64 = 1_000_000_000;

/// A key that can't be guessed into colliding with another.
type Digest = [u64; 2];

/// Buckets of one rate.
#[derive(Debug)]
pub(super) struct Buckets {
    rate: Rate,
    capacity: usize,
    hashers: [RandomState; 2],
    by_key: HashMap<Digest, Bucket>,
    /// Keys by when they were last used. INVARIANT: one entry for each bucket.
    by_use: BTreeMap<u64, Digest>,
    uses: u64,
}

#[derive(Debug)]
struct Bucket {
    tokens: u64,
    filled: Instant,
    used: u64,
}

impl Buckets {
    /// At most `capacity` buckets, and at least one.
    pub(super) fn new(rate: Rate, capacity: usize) -> Self {
        Self {
            rate,
            capacity: capacity.max(1),
            hashers: [RandomState::new(), RandomState::new()],
            by_key: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Takes a token out of the key's bucket, if there is one in it.
    pub(super) fn take(&mut self, key: &str, now: Instant) -> bool {
        let digest = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        self.uses += 1;
        let used = self.uses;
        let rate = self.rate;
        let bucket = match self.by_key.get_mut(&digest) {
            Some(bucket) => {
                self.by_use.remove(&bucket.used);
                bucket.used = used;
                bucket
            }
            None => {
                self.make_room();
                self.by_key.entry(digest).or_insert(Bucket {
                    tokens: rate.full(),
                    filled: now,
                    used,
                })
            }
        };
        self.by_use.insert(used, digest);
        bucket.take(rate, now)
    }

    fn make_room(&mut self) {
        while self.by_key.len() >= self.capacity
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.by_key.remove(&oldest);
        }
    }
}

impl Rate {
    fn full(self) -> u64 {
        u64::from(self.burst) * TOKEN
    }
}

impl Bucket {
    fn take(&mut self, rate: Rate, now: Instant) -> bool {
        // Requests on other threads may have come later and been counted first.
        let passed = now.saturating_duration_since(self.filled).as_nanos();
        let brought = passed.saturating_mul(u128::from(rate.per_second));
        let brought = u64::try_from(brought).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_add(brought).min(rate.full());
        self.filled = self.filled.max(now);
        match self.tokens.checked_sub(TOKEN) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use portcullis_core::clock;

    use super::*;

    fn buckets(per_second: u32, burst: u32, capacity: usize) -> Buckets {
        Buckets::new(Rate { per_second, burst }, capacity)
    }

    #[test]
    fn a_bucket_starts_full_and_fills_no_further() {
        let mut buckets = buckets(10, 3, 1);
        let start = clock::monotonic();
        for now in [start, start + Duration::from_secs(3600)] {
            let taken = (0..5).filter(|_| buckets.take("", now)).count();
            assert_eq!(taken, 3);
        }
    }

    #[test]
    fn tokens_come_back_at_the_rate() {
        let mut buckets = buckets(4, 1, 1);
        let start = clock::monotonic();
        assert!(buckets.take("", start));
        let at = |ms| start + Duration::from_millis(ms);
        assert!(!buckets.take("", at(249)));
        assert!(buckets.take("", at(250)));
        assert!(!buckets.take("", at(499)));
        assert!(buckets.take("", at(500)));
    }

    #[test]
    fn time_that_goes_back_brings_nothing() {
        let mut buckets = buckets(1, 1, 1);
        let start = clock::monotonic();
        let later = start + Duration::from_secs(1);
        assert!(buckets.take("", later));
        for now in [start, later, start, later] {
            assert!(!buckets.take("", now));
        }
    }

    #[test]
    fn the_least_recently_used_bucket_goes_first() {
        let mut buckets = buckets(1, 1, 2);
        let now = clock::monotonic();
        assert!(buckets.take("a", now));
        assert!(buckets.take("b", now));
        assert!(!buckets.take("a", now));
        assert!(buckets.take("c", now));
        assert!(!buckets.take("a", now), "used after b");
        assert!(buckets.take("b", now), "a new one");
    }

    #[test]
    fn there_are_never_more_buckets_than_allowed() {
        let mut buckets = buckets(1, 1, 10);
        let now = clock::monotonic();
        for i in 0..1000 {
            assert!(buckets.take(&i.to_string(), now));
            assert!(buckets.by_key.len() <= 10);
            assert_eq!(buckets.by_key.len(), buckets.by_use.len());
        }
    }

    #[test]
    fn the_largest_numbers_do_no_harm() {
        let max = i32::MAX.unsigned_abs();
        let mut buckets = buckets(max, max, usize::MAX);
        let start = clock::monotonic();
        assert!(buckets.take("", start));
        assert!(buckets.take("", start + Duration::from_secs(1 << 30)));
    }
}
