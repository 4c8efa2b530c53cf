//! The times below a plot: full hours or days, in UTC.

use time::OffsetDateTime;

use super::Course;

/// Times below a plot; more would not fit on a phone.
const MOST: u64 = 4;

/// Steps from one time to the next, in seconds.
const STEPS: [u64; 17] = [
    1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
];
const DAY: u64 = 86_400;

/// A time below a plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Where it is, in tenths of a percent from the left.
    place: u64,
    /// `18:00`, or `18 Nov` at midnight.
    pub(crate) text: String,
}

impl Mark {
    /// Where it is, in percent.
    pub(crate) fn percent(&self) -> String {
        format!("{}.{}%", self.place / 10, self.place % 10)
    }
}

/// Full hours, days or minutes in a time.
pub(crate) fn marks(course: &Course) -> Vec<Mark> {
    let span = course.until.saturating_sub(course.since);
    let fits = |step: &u64| span / step <= MOST;
    let days = || span.div_ceil(DAY * MOST).max(1) * DAY;
    let step = STEPS.into_iter().find(fits).unwrap_or_else(days);
    let first = course.since.div_ceil(step) * step;
    let times = (0..=MOST).map(|count| first.saturating_add(count * step));
    let inside = times.take_while(|time| *time < course.until);
    inside
        .filter_map(|time| {
            let place = u128::from(time - course.since) * 1000 / u128::from(span.max(1));
            let place = u64::try_from(place).unwrap_or(u64::MAX);
            // A text stands on both sides of its place.
            (30..=970).contains(&place).then(|| Mark {
                place,
                text: text(time, step),
            })
        })
        .collect()
}

fn text(seconds: u64, step: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let Ok(time) = OffsetDateTime::from_unix_timestamp(seconds) else {
        return String::new();
    };
    let (hour, minute, second) = time.to_hms();
    if (hour, minute, second) == (0, 0, 0) {
        let month = time.month().to_string();
        let month = month.get(..3).unwrap_or(&month);
        return format!("{} {month}", time.day());
    }
    match step < 60 {
        true => format!("{hour:02}:{minute:02}:{second:02}"),
        false => format!("{hour:02}:{minute:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(since: u64, span: u64) -> Vec<String> {
        let course = Course {
            since,
            until: since + span,
            parts: 1,
        };
        marks(&course).into_iter().map(|mark| mark.text).collect()
    }

    #[test]
    fn times_are_full_hours_or_days() {
        // 2026-11-18T21:30:00Z
        let now = 1_795_037_400;
        assert_eq!(
            texts(now - DAY, DAY),
            ["19 Nov", "06:00", "12:00", "18:00"].map(|t| {
                // The day before began the time.
                if t == "19 Nov" { "18 Nov" } else { t }
            })
        );
        assert_eq!(texts(now - 3600, 3600), ["21:00"]);
        assert_eq!(texts(now - 7 * DAY, 7 * DAY).len(), 3);
        assert_eq!(texts(now - 60, 60), ["21:29:30"]);
    }

    #[test]
    fn no_span_is_too_odd() {
        for (since, span) in [(0, 0), (7, 1), (u64::MAX / 4, u64::MAX / 2), (0, 400 * DAY)] {
            assert!(texts(since, span).len() <= 5, "{since} {span}");
        }
    }

    #[test]
    fn places_are_shares_of_the_width() {
        let course = Course {
            since: 0,
            until: 7200,
            parts: 120,
        };
        let places: Vec<String> = marks(&course).iter().map(Mark::percent).collect();
        assert_eq!(places, ["25.0%", "50.0%", "75.0%"]);
    }
}
