//! Human-readable times.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Seconds since 1970 as a time like `2026-10-01T12:00:00Z`; as they are if that can't be said.
pub(in crate::commands) fn of_seconds(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok();
    let time = time.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let text = time.and_then(|time| time.format(&Rfc3339).ok());
    text.unwrap_or_else(|| seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_far_as_there_are_any() {
        assert_eq!(of_seconds(0), "1970-01-01T00:00:00Z");
        assert_eq!(of_seconds(1_790_856_000), "2026-10-01T12:00:00Z");
        assert_eq!(of_seconds(u64::MAX), u64::MAX.to_string());
    }
}
