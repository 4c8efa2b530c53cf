//! How values are shown: times, durations, sentences.

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A message as a sentence.
pub(crate) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    let rest = characters.as_str();
    let end = match rest.ends_with(['.', '!', '?']) || first.is_none() {
        true => "",
        false => ".",
    };
    format!("{}{rest}{end}", first.unwrap_or_default())
}

/// A time of the API, RFC 3339 in UTC, as people read it: `2026-11-18 12:30:05 UTC`.
pub(crate) fn time(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let Some((date, clock)) = text.split_once('T') else {
        return text.to_owned();
    };
    let clock = clock.trim_end_matches('Z');
    let clock = clock.split('.').next().unwrap_or_default();
    format!("{date} {clock} UTC")
}

/// A time in seconds since 1970, as the API has it in Zuul's shapes, in RFC 3339.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok();
    let text = time.and_then(|time| time.format(&Rfc3339).ok());
    text.unwrap_or_default()
}

/// So many microseconds.
pub(crate) fn micros(count: &u64) -> String {
    match *count {
        0..1_000 => format!("{count} µs"),
        1_000..1_000_000 => format!("{:.1} ms", *count as f64 / 1e3),
        _ => format!("{:.2} s", *count as f64 / 1e6),
    }
}

/// A word that begins a label.
pub(crate) fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), characters.as_str())
}

/// JSON as people read it.
pub(crate) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc_and_say_so() {
        assert_eq!(
            time("2026-11-18T12:30:05.123456Z"),
            "2026-11-18 12:30:05 UTC"
        );
        assert_eq!(time("2026-11-18T12:30:05Z"), "2026-11-18 12:30:05 UTC");
        assert_eq!(time("soon"), "soon");
    }

    #[test]
    fn seconds_are_times() {
        assert_eq!(rfc3339(1_795_006_612), "2026-11-18T12:56:52Z");
        assert_eq!(rfc3339(u64::MAX), "");
    }

    #[test]
    fn messages_become_sentences() {
        assert_eq!(sentence("no such job"), "No such job.");
        assert_eq!(sentence("Done!"), "Done!");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(micros(&7), "7 µs");
        assert_eq!(micros(&1_500), "1.5 ms");
        assert_eq!(micros(&2_500_000), "2.50 s");
    }
}
