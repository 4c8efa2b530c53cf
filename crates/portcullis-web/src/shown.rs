//! How values are shown: times, durations, sentences.

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A message of the program as a sentence. What others wrote, like the reason of a policy, is shown as it is.
pub(crate) fn sentence(message: &str) -> String {
    let text = capitalized(message);
    match text.is_empty() || text.ends_with(['.', '!', '?']) {
        true => text,
        false => text + ".",
    }
}

/// The parts of a message: what stands in backticks is code.
pub(crate) fn marked(message: impl AsRef<str>) -> Vec<(bool, String)> {
    let message = message.as_ref();
    if message.matches('`').count() % 2 == 1 {
        return vec![(false, message.to_owned())];
    }
    let parts = message.split('`').enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    parts
        .map(|(place, part)| (place % 2 == 1, part.to_owned()))
        .collect()
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

/// A time of the API in seconds since 1970.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp()).ok()
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

/// A link of an author, if it leads to a page of the web: it could be a script.
pub(crate) fn safe_link(link: Option<&str>) -> Option<&str> {
    link.filter(|link| link.starts_with("https://") || link.starts_with("http://"))
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
        assert_eq!(seconds("2026-11-18T12:56:52.900Z"), Some(1_795_006_612));
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn messages_become_sentences() {
        assert_eq!(sentence("no such job"), "No such job.");
        assert_eq!(sentence("Done!"), "Done!");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn what_stands_in_backticks_is_code() {
        let parts = marked("none permits `read` here");
        let parts: Vec<(bool, &str)> = parts
            .iter()
            .map(|(is, part)| (*is, part.as_str()))
            .collect();
        assert_eq!(
            parts,
            [(false, "none permits "), (true, "read"), (false, " here")]
        );
        assert_eq!(marked("one ` only"), [(false, "one ` only".to_owned())]);
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(micros(&7), "7 µs");
        assert_eq!(micros(&1_500), "1.5 ms");
        assert_eq!(micros(&2_500_000), "2.50 s");
    }
}
