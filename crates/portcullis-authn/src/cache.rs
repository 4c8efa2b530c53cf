//! A bounded cache of verified tokens: many shards, each of which evicts the least recently used entries.
//!
//! Entries are found by the digest of what was verified, so the time of a look-up reveals nothing about it.
//! The bound is on the number of entries and on their weight.

use std::collections::HashMap;

use portcullis_core::sync::{Mutex, MutexGuard};

use crate::encoding::Digest;

/// How many parts there are, each with a lock of its own.
const SHARDS: usize = 16;

/// A bounded cache.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    /// Limits of one shard.
    entries: usize,
    weight: usize,
}

#[derive(Debug)]
struct Shard<T> {
    places: HashMap<Digest, usize>,
    slots: Vec<Slot<T>>,
    /// Where to look next for an entry that may go.
    hand: usize,
    weight: usize,
}

#[derive(Debug)]
struct Slot<T> {
    key: Digest,
    value: T,
    weight: usize,
    /// Used since the hand passed.
    used: bool,
}

impl<T: Clone> Cache<T> {
    /// For at most this many entries, together of this weight.
    pub(crate) fn new(entries: usize, weight: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| {
                Mutex::new(Shard {
                    places: HashMap::new(),
                    slots: Vec::new(),
                    hand: 0,
                    weight: 0,
                })
            }),
            entries: (entries / SHARDS).max(1),
            weight: weight / SHARDS,
        }
    }

    /// What is kept under this digest.
    pub(crate) fn get(&self, key: &Digest) -> Option<T> {
        let mut shard = self.shard(key)?;
        let place = *shard.places.get(key)?;
        let slot = shard.slots.get_mut(place)?;
        slot.used = true;
        Some(slot.value.clone())
    }

    /// Keeps this; something else may go. What is too heavy is not kept.
    pub(crate) fn insert(&self, key: Digest, value: T, weight: usize) {
        if weight > self.weight {
            return;
        }
        let Some(mut shard) = self.shard(&key) else {
            return;
        };
        shard.remove(&key);
        while shard.slots.len() >= self.entries || shard.weight + weight > self.weight {
            shard.evict();
        }
        let place = shard.slots.len();
        shard.places.insert(key, place);
        shard.weight += weight;
        shard.slots.push(Slot {
            key,
            value,
            weight,
            used: false,
        });
    }

    /// How many entries there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let count = |shard: &Mutex<Shard<T>>| shard.lock().slots.len();
        self.shards.iter().map(count).sum()
    }

    fn shard(&self, key: &Digest) -> Option<MutexGuard<'_, Shard<T>>> {
        let number = usize::from(key.first()?.rem_euclid(16));
        self.shards.get(number).map(Mutex::lock)
    }
}

impl<T> Shard<T> {
    /// Lets one entry go: the first from the hand on that was not used since the hand passed.
    fn evict(&mut self) {
        loop {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            match self.slots.get_mut(self.hand) {
                Some(slot) if slot.used => {
                    slot.used = false;
                    self.hand += 1;
                }
                Some(slot) => {
                    let key = slot.key;
                    self.remove(&key);
                    return;
                }
                None => {
                    // Nothing is left, so nothing weighs anything.
                    self.weight = 0;
                    return;
                }
            }
        }
    }

    fn remove(&mut self, key: &Digest) {
        let Some(place) = self.places.remove(key) else {
            return;
        };
        if place >= self.slots.len() {
            return;
        }
        let gone = self.slots.swap_remove(place);
        self.weight = self.weight.saturating_sub(gone.weight);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key, place);
        }
    }
}

#[cfg(test)]
mod tests;
