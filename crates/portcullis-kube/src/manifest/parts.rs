//! The documents of a text, cut at their marks before anything is read.
//!
//! A document that can't be parsed then doesn't affect the others. YAML allows no line that begins
//! with such a mark inside anything.

/// A document's text, and how many lines are before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestText<'a> {
    /// The document.
    pub text: &'a str,
    /// How many lines of the whole text are before it.
    pub before: u64,
}

impl ManifestText<'_> {
    /// The line of the whole text, from 1, on which its content begins.
    #[must_use]
    pub fn line(&self) -> u64 {
        let first = self.text.lines().position(has_content).unwrap_or_default();
        self.before + 1 + u64::try_from(first).unwrap_or_default()
    }
}

/// The documents of a text, without those that hold nothing.
#[must_use]
pub fn parts(text: &str) -> Vec<ManifestText<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut starts, mut at, mut line) = (vec![(0, 0)], 0, 0);
    for one in text.split_inclusive('\n') {
        match marker(one) {
            Some("---") => starts.push((at, line)),
            Some(_) => starts.push((at + one.len(), line + 1)),
            None => {}
        }
        at += one.len();
        line += 1;
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|((start, before), end)| {
            let text = text.get(*start..end)?;
            let before = *before;
            text.lines()
                .any(has_content)
                .then_some(ManifestText { text, before })
        })
        .collect()
}

/// The mark of a document's begin or end, if the line has one.
fn marker(line: &str) -> Option<&str> {
    let (mark, rest) = line.split_at_checked(3)?;
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (ends && matches!(mark, "---" | "...")).then_some(mark)
}

/// Whether a line is more than a comment, a directive or a mark.
fn has_content(line: &str) -> bool {
    let rest = match marker(line) {
        Some(mark) => line.strip_prefix(mark).unwrap_or_default(),
        None if line.starts_with('%') => "",
        None => line,
    };
    let rest = rest.trim_start();
    !rest.is_empty() && !rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_without_content_are_none() {
        let text = "# nothing\n---\na: 1\n---\n# nothing\n---\n\nb: 2\n...\n--- {c: 3}\n";
        let found: Vec<_> = parts(text).iter().map(|p| (p.line(), p.before)).collect();
        assert_eq!(found, [(3, 1), (8, 5), (10, 9)]);
        assert!(parts("").is_empty());
        assert!(parts("\u{feff}# only\n---\n...\n").is_empty());
    }
}
