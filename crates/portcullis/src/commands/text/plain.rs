//! Plain text for terminals.

use portcullis_document::{Position, Source};
use portcullis_gate::offline::ConsoleLine;
use std::borrow::Cow;
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// About how long, in the two largest units: `399d 23h`, `1h 5m`, `42s`.
pub(in crate::commands) fn roughly(seconds: u64) -> String {
    let units = [(86_400, 'd'), (3600, 'h'), (60, 'm'), (1, 's')];
    let mut left = seconds;
    let parts = units.map(|(unit, name)| {
        let count = left / unit;
        left %= unit;
        (count, name)
    });
    let parts: Vec<String> = parts
        .iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count}{name}"))
        .collect();
    match parts.is_empty() {
        true => "0s".to_owned(),
        false => parts.join(" "),
    }
}

/// The columns that a text takes on a terminal.
pub(in crate::commands) fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.width(),
    }
}

/// The columns that a character takes.
pub(in crate::commands) fn character_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// A text in so many columns, cut if need be, and the columns that are left.
pub(in crate::commands) fn fitted(text: &str, most: usize) -> (Cow<'_, str>, usize) {
    let whole = width(text);
    if whole <= most {
        return (text.into(), most - whole);
    }
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        // The last column says that something is missing.
        if used + character_width(c) >= most {
            break;
        }
        used += character_width(c);
        shown.push(c);
    }
    shown.push('…');
    (shown.into(), most.saturating_sub(used + 1))
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

/// A frame in so many columns: of its line, what is around the caret.
pub(in crate::commands) fn fitted_frame(frame: &str, columns: Option<usize>) -> Cow<'_, str> {
    let lines: Vec<&str> = frame.lines().collect();
    let (Some(columns), [above, code, below]) = (columns, lines.as_slice()) else {
        return frame.into();
    };
    let Some((margin, text)) = code.split_once(" | ") else {
        return frame.into();
    };
    let room = columns.saturating_sub(margin.len() + 3).max(3);
    let caret = below.chars().count().saturating_sub(margin.len() + 4);
    let length = text.chars().count();
    if length <= room && caret < room {
        return frame.into();
    }
    let first = match caret + 1 < room {
        true => 0,
        false => caret.saturating_sub(room / 2),
    };
    let is_begun = first > 0;
    let taken = room - usize::from(is_begun);
    let mut shown: String = text.chars().skip(first).take(taken).collect();
    if first + taken < length {
        shown.pop();
        shown.push('…');
    }
    let (begin, indent) = match is_begun {
        true => ("…", " ".repeat(caret - first + 1)),
        false => ("", " ".repeat(caret)),
    };
    let gap = " ".repeat(margin.len());
    format!("{above}\n{margin} | {begin}{shown}\n{gap} | {indent}^").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_are_told_roughly() {
        for (seconds, expected) in [
            (0, "0s"),
            (42, "42s"),
            (60, "1m"),
            (75, "1m 15s"),
            (3900, "1h 5m"),
            (86_405, "1d"),
            (34_559_998, "399d 23h"),
        ] {
            assert_eq!(roughly(seconds), expected);
        }
    }

    #[test]
    fn a_frame_fits_and_its_caret_stays_where_it_is_meant() {
        let code: String = ('a'..='z').cycle().take(100).collect();
        for column in [1, 5, 30, 60, 100] {
            let text = Source::text_named("a", code.as_str());
            let whole = frame(&text, Some(1), Some(column)).unwrap();
            assert_eq!(fitted_frame(&whole, None), whole);
            assert_eq!(fitted_frame(&whole, Some(200)), whole);
            let fitted = fitted_frame(&whole, Some(40));
            let lines: Vec<Vec<char>> = fitted.lines().map(|line| line.chars().collect()).collect();
            assert!(lines.iter().all(|line| line.len() <= 40), "{fitted}");
            let at = lines[2].iter().position(|c| *c == '^').unwrap();
            let wanted = code.chars().nth(column as usize - 1);
            assert_eq!(lines[1].get(at).copied(), wanted, "{fitted}");
        }
    }

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
