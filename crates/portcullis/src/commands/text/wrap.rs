//! Long texts on a terminal: wrapped between words, further lines below the first.

use super::plain::{character_width, width};

/// No line has less room than this, however narrow the terminal is.
const LEAST: usize = 20;

/// Where a text begins that has no room beside what stands before it.
const BELOW: usize = 8;

/// A text that begins in column `indent`; its further lines begin there too. Without a width it stays on
/// one line.
pub(crate) fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    if width < indent + LEAST && !text.is_empty() {
        // Beside what stands before it there is no room: it begins in the next line.
        let indent = width.saturating_sub(LEAST).min(BELOW);
        let gap = format!("\n{}", " ".repeat(indent));
        let room = width.saturating_sub(indent).max(LEAST);
        return lines(text, room)
            .iter()
            .map(|line| format!("{gap}{line}"))
            .collect();
    }
    let gap = format!("\n{}", " ".repeat(indent));
    lines(text, width.saturating_sub(indent)).join(&gap)
}

/// A line that begins in the first column with some spaces of its own; its further lines begin `hang` columns
/// later.
pub(in crate::commands) fn hanging(line: &str, hang: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return line.to_owned();
    };
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let room = width.saturating_sub(indent + hang).max(LEAST);
    // The first line has more room than the others.
    let mut pieces = lines(text, room + hang).into_iter();
    let first = pieces.next().unwrap_or_default();
    let rest = text
        .get(first.len()..)
        .unwrap_or_default()
        .trim_start_matches(' ');
    let mut made = format!("{}{first}", " ".repeat(indent));
    if !rest.is_empty() {
        let gap = format!("\n{}", " ".repeat(indent + hang));
        made.push_str(&gap);
        made.push_str(&lines(rest, room).join(&gap));
    }
    made
}

fn lines(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        let length = width(word.trim_end_matches(' '));
        if used > 0 && used + length > room {
            lines.push(line.trim_end().to_owned());
            (line, used) = (String::new(), 0);
        }
        for c in word.chars() {
            // A word that is longer than a line is broken wherever it must be.
            if used + character_width(c) > room && c != ' ' {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += character_width(c);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words() {
        let text = "one two three four five six seven eight";
        assert_eq!(wrapped(text, 2, None), text);
        assert_eq!(wrapped(text, 4, Some(80)), text);
        assert_eq!(
            wrapped(text, 4, Some(26)),
            "one two three four\n    five six seven eight"
        );
    }

    #[test]
    fn a_text_without_room_begins_in_the_next_line() {
        assert_eq!(
            wrapped("one two three four five six", 50, Some(30)),
            "\n        one two three four\n        five six"
        );
        assert_eq!(wrapped("", 50, Some(30)), "");
    }

    #[test]
    fn further_lines_hang_below_the_first() {
        let line = "  one two three four five six seven eight nine";
        assert_eq!(hanging(line, 4, None), line);
        assert_eq!(
            hanging(line, 4, Some(28)),
            "  one two three four five\n      six seven eight nine"
        );
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_nothing_is_lost() {
        let text = format!(
            "a {} b {} {}",
            "x".repeat(75),
            "é".repeat(40),
            "字".repeat(30)
        );
        let without = |text: &str| text.replace([' ', '\n'], "");
        let made = wrapped(&text, 10, Some(40));
        for (number, line) in made.lines().enumerate() {
            let first = if number == 0 { 10 } else { 0 };
            assert!(first + width(line) <= 40, "{made}");
        }
        assert_eq!(without(&made), without(&text));
        let made = hanging(&text, 10, Some(40));
        assert!(made.lines().all(|line| width(line) <= 40), "{made}");
        assert_eq!(without(&made), without(&text));
    }
}
