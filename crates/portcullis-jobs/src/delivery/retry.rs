//! When a delivery is tried again.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// The pauses after the first tries, in seconds; the last one is repeated.
const PAUSES: [u64; 6] = [1, 5, 30, 120, 300, 600];
/// How much a pause may differ either way, in thousandths.
const JITTER: u64 = 200;

/// When a delivery is tried again after so many failed tries; never if that would be at or after the deadline.
/// Any random number spreads the tries of several deliveries.
pub fn next_try(
    failed_tries: u32,
    now: Timestamp,
    deadline: Timestamp,
    retry_after: Option<Duration>,
    random: u64,
) -> Option<Timestamp> {
    let index = usize::try_from(failed_tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let [.., last] = PAUSES;
    let pause = PAUSES.get(index).copied().unwrap_or(last);
    let thousandths = 1000 - JITTER + random % (2 * JITTER + 1);
    let pause = Duration::from_millis(pause * thousandths);
    let pause = pause.max(retry_after.unwrap_or_default());
    Some(now.after(pause)).filter(|at| *at < deadline)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FAR: Timestamp = Timestamp::from_millis(1 << 40);

    #[test]
    fn pauses_grow_and_then_stay() {
        let start = Timestamp::from_millis(0);
        for (tries, seconds) in [
            (1, 1),
            (2, 5),
            (3, 30),
            (4, 120),
            (5, 300),
            (6, 600),
            (99, 600),
        ] {
            // 200 of 0 to 400 is the middle.
            let at = next_try(tries, start, FAR, None, 200).unwrap();
            assert_eq!(at.as_millis(), seconds * 1000, "{tries}");
        }
    }

    #[test]
    fn retry_after_is_honoured_unless_the_deadline_is_earlier() {
        // Case 32.
        let start = Timestamp::from_millis(0);
        let after = Some(Duration::from_secs(20));
        let at = next_try(1, start, FAR, after, 0).unwrap();
        assert_eq!(at.as_millis(), 20_000);
        let deadline = Timestamp::from_millis(20_000);
        assert_eq!(next_try(1, start, deadline, after, 0), None);
        assert!(next_try(1, start, deadline, None, 0).is_some());
        assert_eq!(next_try(1, start, FAR, Some(Duration::MAX), 0), None);
    }

    proptest! {
        #[test]
        fn a_try_is_near_its_pause_and_before_the_deadline(
            tries in 0_u32..20, now in 0_u64..10_000_000, left in 0_u64..2_000_000, random: u64,
        ) {
            let start = Timestamp::from_millis(now);
            let deadline = Timestamp::from_millis(now + left);
            let middle = next_try(tries, start, FAR, None, 200).unwrap().since(start);
            if let Some(at) = next_try(tries, start, deadline, None, random) {
                prop_assert!(at < deadline);
                let ratio = at.since(start).as_secs_f64() / middle.as_secs_f64();
                prop_assert!((0.799..=1.201).contains(&ratio), "{ratio}");
            } else {
                prop_assert!(middle.mul_f64(1.201) >= deadline.since(start));
            }
        }
    }
}
