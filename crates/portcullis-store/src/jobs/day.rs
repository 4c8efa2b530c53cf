//! Days, as the archive counts them.

use portcullis_jobs::Timestamp;

/// Microseconds of a day.
const LENGTH: i64 = 86_400_000_000;

/// A day: so many days after the first of 1970, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

impl Day {
    /// The day of a time in microseconds.
    pub(super) fn of_number(microseconds: i64) -> Self {
        Self(microseconds.div_euclid(LENGTH))
    }

    /// The day of a time.
    pub(super) fn of(time: Timestamp) -> Self {
        Self::of_number(crate::times::to_number(time.into()))
    }

    /// The day after it.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The date without anything in between, like `20261118`.
    pub(super) fn date(self) -> String {
        let milliseconds = self.0.saturating_mul(LENGTH / 1000);
        let time = Timestamp::from_millis(milliseconds.try_into().unwrap_or(0));
        let date = time.to_string();
        let date = date.split('T').next().unwrap_or_default();
        date.replace('-', "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_date() {
        let at = |text: &str| Day::of(serde_json::from_value(text.into()).unwrap());
        let day = at("2026-11-18T23:59:59.999Z");
        assert_eq!((day.0, day.date().as_str()), (20_775, "20261118"));
        assert_eq!(at("2026-11-19T00:00:00Z"), day.next());
        assert_eq!(day.next().date(), "20261119");
        assert_eq!(Day::of_number(-1).0, -1);
    }
}
