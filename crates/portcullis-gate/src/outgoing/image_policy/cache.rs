//! Answers of a backend, for as long as they count.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use portcullis_core::sync::Mutex;
use portcullis_host::ImageReviewStatus;

/// The most answers that are kept, as in Kubernetes; the one that came first goes first.
const MOST: usize = 1024;

/// The most bytes of an answer that is kept.
const LARGEST: usize = 8 << 10;

/// What is known of a question: the digest of its text.
pub(super) type Question = [u8; 32];

/// An answer, or why there was none.
pub(super) type Known = Result<ImageReviewStatus, String>;

/// Answers by question.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    known: HashMap<Question, (Known, Instant)>,
    /// In the order they came.
    order: VecDeque<Question>,
}

impl Cache {
    /// The answer, if it still counts.
    pub(super) fn get(&self, question: &Question, now: Instant) -> Option<Known> {
        let answers = self.0.lock();
        let (known, until) = answers.known.get(question)?;
        (now < *until).then(|| known.clone())
    }

    /// Keeps an answer for so long.
    pub(super) fn put(&self, question: Question, known: &Known, ttl: Duration, now: Instant) {
        if ttl.is_zero() || size(known) > LARGEST {
            return;
        }
        let Some(until) = now.checked_add(ttl) else {
            return;
        };
        let mut answers = self.0.lock();
        if answers
            .known
            .insert(question, (known.clone(), until))
            .is_none()
        {
            answers.order.push_back(question);
        }
        while answers.order.len() > MOST {
            if let Some(first) = answers.order.pop_front() {
                answers.known.remove(&first);
            }
        }
    }
}

fn size(known: &Known) -> usize {
    match known {
        Ok(status) => {
            let annotations = status.audit_annotations.iter();
            let annotations = annotations.map(|(key, value)| key.len() + value.len());
            status.reason.len() + annotations.sum::<usize>()
        }
        Err(why) => why.len(),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;

    use super::*;

    fn question(number: usize) -> Question {
        let mut question = [0; 32];
        question[..8].copy_from_slice(&number.to_le_bytes());
        question
    }

    fn reason(text: &str) -> Known {
        Ok(ImageReviewStatus {
            reason: text.to_owned(),
            ..ImageReviewStatus::default()
        })
    }

    #[test]
    fn answers_count_for_their_time() {
        let (cache, now) = (Cache::default(), clock::monotonic());
        let second = Duration::from_secs(1);
        cache.put(question(1), &reason("a"), second, now);
        assert_eq!(cache.get(&question(1), now), Some(reason("a")));
        assert_eq!(cache.get(&question(1), now + second), None);
        assert_eq!(cache.get(&question(2), now), None);
        cache.put(question(2), &reason("a"), Duration::ZERO, now);
        assert_eq!(cache.get(&question(2), now), None);
    }

    #[test]
    fn it_is_bounded() {
        let (cache, now) = (Cache::default(), clock::monotonic());
        let second = Duration::from_secs(1);
        for number in 0..MOST + 10 {
            cache.put(question(number), &reason(""), second, now);
            cache.put(question(number), &reason("again"), second, now);
        }
        assert_eq!(cache.0.lock().known.len(), MOST);
        assert_eq!(cache.get(&question(9), now), None);
        assert_eq!(cache.get(&question(10), now), Some(reason("again")));
        cache.put(question(1), &reason(&"x".repeat(LARGEST + 1)), second, now);
        assert_eq!(cache.get(&question(1), now), None);
    }
}
