//! Pauses between attempts: each twice as long as the one before, up to a limit, and spread at random.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How long to pause after each failure.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses from `first` to `longest`.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first.min(longest),
        }
    }

    /// Something worked: the next pause is the first one again.
    pub fn reset(&mut self) {
        self.next = self.first.min(self.longest);
    }

    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let whole = self.next;
        self.next = whole.saturating_mul(2).min(self.longest);
        spread(whole)
    }

    /// Pauses; at least `at_least`, if the other end asked for it, but no longer than the longest pause.
    pub async fn rest(&mut self, at_least: Option<Duration>) {
        let asked = at_least.unwrap_or_default().min(self.longest);
        tokio::time::sleep(self.pause().max(asked)).await;
    }
}

/// Between a half and the whole, so that clients that failed together don't come back together.
pub fn spread(whole: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 1024;
    let random = u32::try_from(random).unwrap_or_default();
    whole / 2 + whole / 2048 * random
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let mut backoff = Backoff::new(SECOND, 8 * SECOND);
        for expected in [1, 2, 4, 8, 8] {
            let pause = backoff.pause();
            assert!(pause <= expected * SECOND && pause >= expected * SECOND / 2);
        }
        backoff.reset();
        assert!(backoff.pause() <= SECOND);
        assert!(Backoff::new(9 * SECOND, SECOND).pause() <= SECOND);
        let mut endless = Backoff::new(Duration::MAX, Duration::MAX);
        assert!(endless.pause() <= Duration::MAX && endless.pause() >= Duration::MAX / 3);
    }

    #[test]
    fn pauses_differ() {
        let all: std::collections::BTreeSet<_> = (0..100).map(|_| spread(SECOND)).collect();
        assert!(all.len() > 1, "{all:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_other_end_may_ask_for_a_longer_pause_within_the_limit() {
        let mut backoff = Backoff::new(SECOND, 8 * SECOND);
        for (asked, least, most) in [(5, 5, 5), (3600, 8, 8)] {
            let began = tokio::time::Instant::now();
            backoff.reset();
            backoff.rest(Some(asked * SECOND)).await;
            let took = began.elapsed();
            assert!(took >= least * SECOND && took < (most + 1) * SECOND);
        }
    }
}
