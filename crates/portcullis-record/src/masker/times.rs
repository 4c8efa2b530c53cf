//! Times in RFC 3339, UTC.

use std::fmt::Write;
use std::time::SystemTime;

use time::OffsetDateTime;

/// To the microsecond.
pub(super) fn to_microseconds(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time);
    let mut text = to_seconds(time);
    let _ = write!(text, ".{:06}Z", time.microsecond());
    text
}

/// To the nanosecond.
pub(super) fn to_nanoseconds(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time);
    let mut text = to_seconds(time);
    let _ = write!(text, ".{:09}Z", time.nanosecond());
    text
}

fn to_seconds(time: OffsetDateTime) -> String {
    let mut text = String::with_capacity(32);
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second) = time.to_hms();
    let _ = write!(
        text,
        "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}",
        u8::from(month)
    );
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_790_000_000, 7_000);
        assert_eq!(to_microseconds(time), "2026-09-21T14:13:20.000007Z");
        assert_eq!(to_nanoseconds(time), "2026-09-21T14:13:20.000007000Z");
    }
}
