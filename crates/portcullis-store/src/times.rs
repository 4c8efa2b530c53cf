//! Times in the tables of holds and states: microseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::database::{Value, number};

/// The time as a number; one that is too far away is the farthest there is.
pub(crate) fn to_number(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => number(since.as_micros()),
        Err(before) => -number(before.duration().as_micros()),
    }
}

/// The number as a time.
pub(crate) fn from_number(number: i64) -> SystemTime {
    let distance = Duration::from_micros(number.unsigned_abs());
    let time = match number < 0 {
        true => UNIX_EPOCH.checked_sub(distance),
        false => UNIX_EPOCH.checked_add(distance),
    };
    time.unwrap_or(UNIX_EPOCH)
}

/// A time for the database.
pub(crate) fn value(time: Option<SystemTime>) -> Value<'static> {
    time.map_or(Value::Null, |time| Value::Number(to_number(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_to_the_microsecond() {
        let time = UNIX_EPOCH + Duration::new(1_790_000_000, 123_456_789);
        assert_eq!(
            from_number(to_number(time)),
            UNIX_EPOCH + Duration::new(1_790_000_000, 123_456_000)
        );
        let before = UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(from_number(to_number(before)), before);
        assert_eq!(from_number(to_number(UNIX_EPOCH)), UNIX_EPOCH);
    }

    #[test]
    fn far_times_stay_far() {
        let far = UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert_eq!(to_number(far), i64::MAX);
        assert!(from_number(i64::MAX) > UNIX_EPOCH + Duration::from_secs(1 << 40));
        assert!(from_number(i64::MIN) < UNIX_EPOCH);
    }
}
