//! Times in the ids of decisions.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ulid::Ulid;

/// The latest time an id can name.
const LAST: u64 = (1 << Ulid::TIME_BITS) - 1;

/// The lowest id of this time, to the millisecond. Times outside what ids can name are taken to the
/// nearest they can.
pub(crate) fn lowest(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = u64::try_from(since.as_millis()).unwrap_or(LAST);
    Ulid::from_parts(milliseconds.min(LAST), 0).to_string()
}

/// When a decision of this id was made; the beginning of time for an invalid id.
pub(crate) fn time(id: &str) -> SystemTime {
    let milliseconds = Ulid::from_string(id).map_or(0, |id| id.timestamp_ms());
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_as_their_times() {
        let time = UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        let id = Ulid::from_parts(1_700_000_000_123, 77).to_string();
        assert!(lowest(time) <= id);
        assert!(id < lowest(time + Duration::from_millis(1)));
        assert_eq!(super::time(&id), time);
        assert_eq!(super::time("no id"), UNIX_EPOCH);
    }

    #[test]
    fn times_that_no_id_can_name_are_bounded() {
        assert_eq!(lowest(UNIX_EPOCH - Duration::from_secs(1)), "0".repeat(26));
        let far = UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert!(lowest(far).starts_with("7ZZZZZZZZZ"));
    }
}
