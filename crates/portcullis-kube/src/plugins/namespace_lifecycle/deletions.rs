//! The namespaces whose deletion was requested a moment ago.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use portcullis_core::sync::Mutex;

/// How long a deletion is remembered.
const FOR: Duration = Duration::from_secs(30);
/// So many are remembered by name. After more, every namespace counts as deleted for a while.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Deletions(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    until: HashMap<Box<str>, Instant>,
    all_until: Option<Instant>,
}

impl Deletions {
    /// The deletion of a namespace was requested.
    pub(super) fn note(&self, namespace: &str, now: Instant) {
        let Some(until) = now.checked_add(FOR) else {
            return;
        };
        let mut remembered = self.0.lock();
        remembered.until.retain(|_, until| *until > now);
        if remembered.until.len() < MOST || remembered.until.contains_key(namespace) {
            remembered.until.insert(namespace.into(), until);
        } else {
            remembered.all_until = Some(until);
        }
    }

    /// Whether the deletion of a namespace may have been requested a moment ago.
    pub(super) fn is_recent(&self, namespace: &str, now: Instant) -> bool {
        let remembered = self.0.lock();
        let of_it = remembered.until.get(namespace).copied();
        let mut all = [of_it, remembered.all_until].into_iter().flatten();
        all.any(|until| until > now)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;

    use super::*;

    #[test]
    fn deletions_are_remembered_for_a_while() {
        let (deletions, now) = (Deletions::default(), clock::monotonic());
        deletions.note("shop", now);
        assert!(deletions.is_recent("shop", now + FOR / 2));
        assert!(!deletions.is_recent("shop", now + FOR));
        assert!(!deletions.is_recent("other", now));
    }

    #[test]
    fn after_too_many_all_count_as_deleted() {
        let (deletions, now) = (Deletions::default(), clock::monotonic());
        for number in 0..MOST {
            deletions.note(&number.to_string(), now);
        }
        assert!(!deletions.is_recent("other", now));
        deletions.note("one more", now);
        assert!(deletions.is_recent("other", now));
        assert!(!deletions.is_recent("other", now + FOR));
        // What is over makes room.
        deletions.note("later", now + FOR);
        assert!(deletions.0.lock().until.len() == 1);
    }
}
