//! Rests that become longer from failure to failure, none like the other.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How long to rest after a failure.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(super) fn new((first, longest): (Duration, Duration)) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// Something worked.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }

    /// Rests; at least `at_least`, if the API server asked for it.
    pub(super) async fn rest(&mut self, at_least: Option<Duration>) {
        let asked = at_least.unwrap_or_default().min(self.longest);
        let rest = self.advance().max(asked);
        tokio::time::sleep(rest).await;
    }

    fn advance(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(self.longest);
        spread(whole)
    }
}

/// Between a half and the whole, so that many who failed together don't come back together.
pub(super) fn spread(whole: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 1024;
    let random = u32::try_from(random).unwrap_or_default();
    whole / 2 + whole / 2 * random / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_up_to_a_limit() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new((second, 8 * second));
        for expected in [1, 2, 4, 8, 8] {
            let rest = backoff.advance();
            assert!(rest <= expected * second && rest >= expected * second / 2);
        }
        backoff.reset();
        assert!(backoff.advance() <= second);
    }
}
