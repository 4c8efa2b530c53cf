//! Points in time, to the millisecond, as the models and their JSON have them.
//!
//! The clock is never read here: every function that depends on the time takes it as an argument.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The last millisecond of the year 9999, which RFC 3339 can still write.
const LATEST_MS: u64 = 253_402_300_799_999;

/// A point in time, in milliseconds since 1970. In JSON it is RFC 3339 in UTC: `2026-10-01T12:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// So many milliseconds after the beginning of 1970.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(if milliseconds > LATEST_MS {
            LATEST_MS
        } else {
            milliseconds
        })
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This long after, at most the end of the year 9999.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self::from_millis(self.0.saturating_add(milliseconds))
    }

    /// This long before, at least the beginning of 1970.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(milliseconds))
    }

    /// The time since an earlier point; zero if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(0).after(since)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_millis(time.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = OffsetDateTime::from(SystemTime::from(*self));
        let (year, month, day) = time.to_calendar_date();
        let (hour, minute, second) = time.to_hms();
        write!(
            f,
            "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
            u8::from(month),
            time.millisecond()
        )
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = OffsetDateTime::parse(&text, &Rfc3339).map_err(|_| {
            D::Error::custom(format!(
                "`{text}` is not a time: expected one like 2026-10-01T12:00:00Z"
            ))
        })?;
        Ok(SystemTime::from(time).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_rfc_3339_to_the_millisecond() {
        let time = Timestamp::from_millis(1_790_856_000_123);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(json, "\"2026-10-01T12:00:00.123Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        let other: Timestamp = serde_json::from_str("\"2026-10-01T14:00:00.123+02:00\"").unwrap();
        assert_eq!(other, time);
        let error = serde_json::from_str::<Timestamp>("\"noon\"").unwrap_err();
        assert!(error.to_string().contains("`noon` is not a time"));
    }

    #[test]
    fn times_stay_within_what_can_be_written() {
        let last = Timestamp::from_millis(u64::MAX);
        assert_eq!(last.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(last.after(Duration::MAX), last);
        assert_eq!(Timestamp::from_millis(5).since(last), Duration::ZERO);
    }
}
