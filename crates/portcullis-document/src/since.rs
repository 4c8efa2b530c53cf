//! Points in time as people give them: how long ago, a day, or an exact time.

use std::time::SystemTime;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::Duration;

/// Nothing was decided before.
const EARLIEST: SystemTime = SystemTime::UNIX_EPOCH;

/// The time that `24h` ago was, the beginning of a day like `2026-10-01` (UTC), or a time like
/// `2026-10-01T12:00:00Z`.
///
/// # Errors
///
/// When it has none of these forms; the text says so.
pub fn parse(text: &str, now: SystemTime) -> Result<SystemTime, String> {
    if let Ok(ago) = text.parse::<Duration>() {
        let time = now.checked_sub(ago.get());
        return Ok(time.unwrap_or(EARLIEST).max(EARLIEST));
    }
    const DAY: usize = "2026-10-01".len();
    let whole = match text.len() {
        DAY => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    let time = OffsetDateTime::parse(&whole, &Rfc3339).map(SystemTime::from);
    time.map(|time| time.max(EARLIEST)).map_err(|_| {
        "expected a duration like 30m, 24h or 7d, a day like 2026-10-01, or a time like 2026-10-01T12:00:00Z"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn durations_days_and_times_are_read() {
        let now = EARLIEST + Duration::from_secs(1_000_000);
        let seconds = |text: &str| {
            let at = parse(text, now).unwrap();
            at.duration_since(EARLIEST).unwrap().as_secs()
        };
        assert_eq!(seconds("90s"), 1_000_000 - 90);
        assert_eq!(seconds("24h"), 1_000_000 - 86_400);
        assert_eq!(seconds("7d"), 1_000_000 - 604_800);
        assert_eq!(seconds("36500d"), 0);
        assert_eq!(seconds("1970-01-02"), 86_400);
        assert_eq!(seconds("1970-01-02T01:00:00+01:00"), 86_400);
        assert_eq!(seconds("1960-01-02"), 0);
        for text in [
            "",
            "yesterday",
            "24",
            "-1h",
            "1h30m",
            "2026-13-01",
            "2026-10-01T12:00",
            "99999999d",
        ] {
            assert!(parse(text, now).is_err(), "{text}");
        }
    }
}
