//! `expire_in` of artifacts: durations as people write them in CI files.

use std::time::Duration;

/// The longest time that is counted: about a hundred years.
const LONGEST: Duration = Duration::from_secs(36_500 * 86_400);

/// How long artifacts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// As long as their job.
    Never,
    /// For this long, but no longer than their job.
    After(Duration),
}

/// Reads a time like `1 week`, `3 mins 4 sec`, `2h20min`, `never` or a number of seconds; nothing if it is none.
pub fn read_expiry(text: &str) -> Option<Expiry> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("never") {
        return Some(Expiry::Never);
    }
    let mut total = 0_u64;
    let mut rest = text;
    let mut is_empty = true;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let (number, after) = rest.split_at_checked(digits.unwrap_or(rest.len()))?;
        let number: u64 = number.parse().ok()?;
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = after.split_at_checked(letters.unwrap_or(after.len()))?;
        let is_alone = is_empty && after.is_empty();
        let seconds = match unit {
            "" if is_alone => 1,
            unit => seconds_of(unit)?,
        };
        total = total.checked_add(number.checked_mul(seconds)?)?;
        rest = after.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        is_empty = false;
    }
    let total = Duration::from_secs(total);
    (!is_empty && total <= LONGEST).then_some(Expiry::After(total))
}

fn seconds_of(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        "mo" | "mos" | "month" | "months" => 30 * 86_400,
        "y" | "yr" | "yrs" | "year" | "years" => 365 * 86_400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("42", 42),
            ("3 mins 4 sec", 184),
            ("2 hrs 20 min", 8400),
            ("2h20min", 8400),
            ("1 week", 604_800),
            ("6 mos 1 day", 181 * 86_400),
            ("1 day, 2 hours and 3 minutes", 93_780),
        ] {
            let wanted = Some(Expiry::After(Duration::from_secs(seconds)));
            assert_eq!(read_expiry(text), wanted, "{text}");
        }
        assert_eq!(read_expiry("never"), Some(Expiry::Never));
        for text in [
            "",
            "soon",
            "1 fortnight",
            "week",
            "1 2",
            "-1 day",
            "99999999999999999999",
            "18446744073709551615 years",
            "101 years",
            "ä",
        ] {
            assert_eq!(read_expiry(text), None, "{text}");
        }
    }
}
