//! Memory that all requests under way may use together: bodies while they are read and judged, and
//! answers until they are written.
//!
//! INVARIANT: a [`Share`] lives as long as the bytes it stands for. Large bodies and all answers own
//! theirs, so the holder of the bytes, the HTTP library's buffers included, holds the share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// What every request takes: its head, its place in queues, a small body and a small answer.
const BASE: u64 = 32 << 10;
/// Bodies and answers up to this size are part of [`BASE`].
pub(crate) const SMALL: usize = 8 << 10;

/// Memory that all requests under way may take together.
#[derive(Debug)]
pub(crate) struct Budget {
    in_use: AtomicU64,
    limit: AtomicU64,
}

/// The memory is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

/// What one request takes of it, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            in_use: AtomicU64::new(0),
            limit: AtomicU64::new(limit),
        })
    }

    /// Changes the limit. What is in use stays.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// The share of a new request.
    ///
    /// # Errors
    ///
    /// When the memory is used up.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<Share, OutOfMemory> {
        let mut share = self.nothing();
        share.grow(BASE)?;
        Ok(share)
    }

    /// A share that stands for nothing yet.
    pub(crate) fn nothing(self: &Arc<Self>) -> Share {
        Share {
            budget: Arc::clone(self),
            bytes: 0,
        }
    }

    /// Whether less than a quarter is in use.
    pub(crate) fn is_ample(&self) -> bool {
        self.in_use.load(Ordering::Relaxed) < self.limit.load(Ordering::Relaxed) / 4
    }
}

impl Share {
    /// Takes so much more.
    ///
    /// # Errors
    ///
    /// When the memory is used up; then nothing is taken.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        let before = self.budget.in_use.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget.limit.load(Ordering::Relaxed) {
            self.budget.in_use.fetch_sub(bytes, Ordering::Relaxed);
            return Err(OutOfMemory);
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Takes what an answer needs beyond a small one.
    ///
    /// # Errors
    ///
    /// When the memory is used up.
    pub(crate) fn grow_for_answer(&mut self, length: usize) -> Result<(), OutOfMemory> {
        match length.checked_sub(SMALL) {
            None | Some(0) => Ok(()),
            Some(more) => self.grow(more as u64),
        }
    }

    /// Whether less than a quarter of the whole is in use.
    pub(crate) fn is_ample(&self) -> bool {
        self.budget.is_ample()
    }

    /// The bytes, with this share for as long as a part of them is held.
    pub(crate) fn with(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Held {
            bytes,
            _share: self,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.in_use.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes and their share.
struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let budget = Budget::new(BASE + 100);
        let mut share = budget.begin().unwrap();
        assert!(budget.begin().is_err());
        share.grow(100).unwrap();
        assert!(share.grow(1).is_err());
        drop(share);
        budget.begin().unwrap().grow(100).unwrap();
        assert_eq!(budget.in_use.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn bytes_keep_their_share_until_the_last_part_is_gone() {
        let budget = Budget::new(1 << 20);
        let mut share = budget.nothing();
        share.grow(3).unwrap();
        let bytes = share.with(Bytes::from_static(b"abc"));
        let part = bytes.slice(1..2);
        drop(bytes);
        assert_eq!(budget.in_use.load(Ordering::Relaxed), 3);
        drop(part);
        assert_eq!(budget.in_use.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn small_answers_take_nothing_more() {
        let budget = Budget::new(BASE);
        let mut share = budget.begin().unwrap();
        share.grow_for_answer(SMALL).unwrap();
        assert!(share.grow_for_answer(SMALL + 1).is_err());
    }
}
