//! Long texts on a terminal: wrapped between words, further lines below the first.

/// No line has less room than this, however narrow the terminal is.
const LEAST: usize = 20;

/// A text that begins in column `indent`; its further lines begin there too. Without a width it stays on
/// one line.
pub(in crate::commands) fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let room = width.saturating_sub(indent).max(LEAST);
    let gap = format!("\n{}", " ".repeat(indent));
    lines(text, room).join(&gap)
}

fn lines(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        let length = word.trim_end_matches(' ').chars().count();
        if used > 0 && used + length > room {
            lines.push(line.trim_end().to_owned());
            (line, used) = (String::new(), 0);
        }
        for c in word.chars() {
            // A word that is longer than a line is broken wherever it must be.
            if used == room && c != ' ' {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += 1;
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
    fn no_line_is_longer_than_the_terminal_and_nothing_is_lost() {
        let text = format!("a {} b {}", "x".repeat(75), "é".repeat(40));
        let made = wrapped(&text, 10, Some(40));
        for (number, line) in made.lines().enumerate() {
            let first = if number == 0 { 10 } else { 0 };
            assert!(first + line.chars().count() <= 40, "{made}");
        }
        let without = |text: &str| text.replace([' ', '\n'], "");
        assert_eq!(without(&made), without(&text));
    }
}
