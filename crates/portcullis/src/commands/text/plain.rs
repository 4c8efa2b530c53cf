//! Plain text for terminals.

use portcullis_config::{Position, Source};
use portcullis_gate::offline::ConsoleLine;
use std::time::Duration;

/// What the user wrote may hold anything, but a terminal gets one line of text.
pub(in crate::commands) use portcullis_core::text::{is_odd, printable, shortened};

/// How long something took: `812 µs`, `1.2 ms`, `3.45 s`.
pub(in crate::commands) fn lasted(duration: Duration) -> String {
    took(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

/// The same of microseconds.
pub(in crate::commands) fn took(microseconds: u64) -> String {
    let (whole, rest) = (microseconds / 1000, microseconds % 1000);
    match microseconds {
        0..1000 => format!("{microseconds} µs"),
        1000..1_000_000 => format!("{whole}.{} ms", rest / 100),
        _ => format!("{}.{:02} s", whole / 1000, whole % 1000 / 10),
    }
}

/// A length of time in the largest unit that measures it: `1d`, `90m`, `61s`.
pub(in crate::commands) fn span(seconds: u64) -> String {
    let units = [(86_400, 'd'), (3600, 'h'), (60, 'm')];
    let fits = |(unit, _): &&(u64, char)| seconds > 0 && seconds.is_multiple_of(*unit);
    match units.iter().find(fits) {
        Some((unit, name)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

/// `3 objects`, `1 policy`.
pub(in crate::commands) fn counted(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{count} {word}")
}

/// A line that a policy wrote, for standard error.
pub(in crate::commands) fn written(line: &ConsoleLine) -> String {
    let place = line.line.map_or(String::new(), |at| format!(":{at}"));
    let (policy, text) = (printable(&line.policy), printable(&line.text));
    format!("{policy}{place}: {}: {text}", line.level)
}

/// The line of a text with a caret, as compilers show it; without one if the column is not known.
pub(in crate::commands) fn frame(
    text: &Source,
    line: Option<u32>,
    column: Option<u32>,
) -> Option<String> {
    let position = Position {
        line: line?.into(),
        column: column.unwrap_or(1).into(),
    };
    let frame = text.fault(Some(position), "", "").frame()?;
    Some(match (column, frame.rsplit_once('\n')) {
        (None, Some((without, _))) => without.to_owned(),
        _ => frame,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_exact() {
        assert_eq!(
            [0, 1, 61, 60, 5400, 7200, 86_400, 172_800].map(span),
            ["0s", "1s", "61s", "1m", "90m", "2h", "1d", "2d"]
        );
    }

    #[test]
    fn times_are_written_for_people() {
        assert_eq!(
            [0, 999, 1000, 1290, 999_999, 1_000_000, 61_239_000].map(took),
            [
                "0 µs", "999 µs", "1.0 ms", "1.2 ms", "999.9 ms", "1.00 s", "61.23 s"
            ]
        );
    }
}
