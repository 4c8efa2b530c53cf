//! The text of a policy, line by line, with which of its lines ran.

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CodeLine<'a> {
    pub(super) number: u32,
    /// `covered`, `missed`, or nothing for a line without statements.
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) text: &'a str,
}

/// The lines of a text.
pub(super) fn code_lines<'a>(text: &'a str, covered: &[u32], missed: &[u32]) -> Vec<CodeLine<'a>> {
    let line = |(number, text)| {
        let (class, sign, word) = if missed.contains(&number) {
            ("missed", "✕", "did not run")
        } else if covered.contains(&number) {
            ("covered", "✓", "ran")
        } else {
            ("", "", "")
        };
        CodeLine {
            number,
            class,
            sign,
            word,
            text,
        }
    };
    (1..).zip(text.lines()).map(line).collect()
}

/// Numbers of lines as an editor reads them: `1-3,7`.
pub(super) fn ranges(lines: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*line) => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let shown = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[u32::MAX]), "4294967295");
    }

    #[test]
    fn lines_say_in_words_whether_they_ran() {
        let words: Vec<_> = code_lines("a\nb\n\nc", &[1], &[2])
            .into_iter()
            .map(|line| (line.number, line.word))
            .collect();
        assert_eq!(words, [(1, "ran"), (2, "did not run"), (3, ""), (4, "")]);
    }
}
