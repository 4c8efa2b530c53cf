//! How often a controller is called: a token bucket that holds one second's worth.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// A call costs so much, so that fractions of it can be counted in whole numbers.
const CALL: u64 = 1000;

/// A token bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Calls a second, at least one.
    rate: u32,
    /// Thousandths of calls.
    level: u64,
    filled_at: Timestamp,
}

impl TokenBucket {
    /// A full bucket for so many calls a second.
    pub fn full(rate: u32, now: Timestamp) -> Self {
        let rate = rate.max(1);
        Self {
            rate,
            level: u64::from(rate) * CALL,
            filled_at: now,
        }
    }

    /// Takes one call.
    ///
    /// # Errors
    ///
    /// When there is none, the time when there will be.
    pub fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        let rate = u64::from(self.rate);
        // A rate of one call a second is one thousandth a millisecond.
        let passed = now.as_millis().saturating_sub(self.filled_at.as_millis());
        let gained = passed.saturating_mul(rate);
        self.level = self.level.saturating_add(gained).min(rate * CALL);
        self.filled_at = self.filled_at.max(now);
        match self.level.checked_sub(CALL) {
            Some(rest) => {
                self.level = rest;
                Ok(())
            }
            None => {
                let missing = CALL - self.level;
                let wait = std::time::Duration::from_millis(missing.div_ceil(rate));
                Err(self.filled_at.after(wait))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_second_is_worth_the_rate() {
        let start = Timestamp::from_millis(5000);
        let mut bucket = TokenBucket::full(2, start);
        assert_eq!(bucket.take(start), Ok(()));
        assert_eq!(bucket.take(start), Ok(()));
        let next = Timestamp::from_millis(5500);
        assert_eq!(bucket.take(start), Err(next));
        assert_eq!(bucket.take(next), Ok(()));
        assert!(bucket.take(next).is_err());
        assert!(
            bucket.take(start).is_err(),
            "a clock that goes back gives nothing"
        );
    }

    proptest! {
        #[test]
        fn no_more_calls_than_the_rate_allows(
            rate in 1_u32..50, steps in proptest::collection::vec(0_u64..300, 1..200),
        ) {
            let mut now = Timestamp::from_millis(0);
            let mut bucket = TokenBucket::full(rate, now);
            let mut calls = 0;
            for step in steps {
                now = Timestamp::from_millis(now.as_millis() + step);
                match bucket.take(now) {
                    Ok(()) => calls += 1,
                    Err(next) => {
                        prop_assert!(next > now);
                        prop_assert_eq!(bucket.clone().take(next), Ok(()));
                    }
                }
            }
            let most = u64::from(rate) + now.as_millis() * u64::from(rate) / 1000;
            prop_assert!(calls <= most, "{calls} of {most}");
        }
    }
}
