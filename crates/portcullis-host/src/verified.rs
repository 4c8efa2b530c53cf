//! Signatures that were verified a short while ago, of images that are named by their digest.
//!
//! Only successes are kept, and only so long: a signature that is taken back counts no longer.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use portcullis_core::sync::Mutex;
use serde_json::Value;

/// How many are kept; the one that came first goes first.
const MOST: usize = 1024;

/// The most bytes of signatures that are kept.
const LARGEST: usize = 16 << 10;

/// How long they count.
const AGE: Duration = Duration::from_secs(60);

/// By key and image: what was found, and until when it counts.
#[derive(Debug, Default)]
pub(crate) struct Verified(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    found: HashMap<[u8; 32], (Value, Instant)>,
    order: VecDeque<[u8; 32]>,
}

impl Verified {
    /// What was found, if it still counts.
    pub(crate) fn get(&self, question: &[u8; 32], now: Instant) -> Option<Value> {
        let kept = self.0.lock();
        let (found, until) = kept.found.get(question)?;
        (now < *until).then(|| found.clone())
    }

    /// Keeps what was found.
    pub(crate) fn put(&self, question: [u8; 32], found: &Value, now: Instant) {
        if found.to_string().len() > LARGEST {
            return;
        }
        let Some(until) = now.checked_add(AGE) else {
            return;
        };
        let mut kept = self.0.lock();
        if kept
            .found
            .insert(question, (found.clone(), until))
            .is_none()
        {
            kept.order.push_back(question);
        }
        while kept.order.len() > MOST {
            if let Some(first) = kept.order.pop_front() {
                kept.found.remove(&first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_bounded_in_number_and_time() {
        let (verified, now) = (Verified::default(), clock::monotonic());
        for number in 0..=MOST {
            let mut question = [0; 32];
            question[..8].copy_from_slice(&number.to_le_bytes());
            verified.put(question, &json!(number), now);
        }
        assert_eq!(verified.get(&[0; 32], now), None);
        let mut last = [0; 32];
        last[..8].copy_from_slice(&MOST.to_le_bytes());
        assert_eq!(verified.get(&last, now), Some(json!(MOST)));
        assert_eq!(verified.get(&last, now + AGE), None);
    }
}
