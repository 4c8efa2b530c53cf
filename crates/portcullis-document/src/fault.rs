//! What is wrong with a document, where, and what was probably meant.
//!
//! `{}` prints one line; `{:#}` adds the line of the file with a caret below.

use std::fmt;

use portcullis_core::text::{one_line, printable};

use super::{position::Position, suggest};

/// Characters of a long source line that are shown around the caret.
const FRAME_WIDTH: usize = 96;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// The file as the user named it, or the flag or environment variable; empty where only the path is known.
    pub file: String,
    /// The place in the file, if there is one.
    pub position: Option<Position>,
    /// The dotted path of the key, empty at the top.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
    /// What else would help, such as the known words.
    pub help: Option<String>,
    /// The line of the file, for the frame.
    pub source_line: Option<String>,
}

impl Fault {
    /// A fault at a path of a document that is known to the caller: see `Document::locate`.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            position: None,
            path: path.into(),
            message: message.into(),
            suggestion: None,
            help: None,
            source_line: None,
        }
    }

    /// A fault at a position of a text that is known to the caller.
    pub fn at_position(position: Position, message: impl Into<String>) -> Self {
        Self {
            position: Some(position),
            ..Self::at("", message)
        }
    }

    /// Adds what was probably meant, and the list of what is known.
    #[must_use]
    pub fn with_known<'a, K>(mut self, what: &str, written: &str, known: K) -> Self
    where
        K: IntoIterator<Item = &'a str>,
    {
        let known: Vec<&str> = known.into_iter().collect();
        self.suggestion = suggest::nearest(written, known.iter().copied());
        self.help = Some(format!("{what}: {}", suggest::list(known)));
        self
    }

    /// Adds a remark in brackets.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The line of the file with a caret, as compilers show it.
    pub fn frame(&self) -> Option<String> {
        let (at, line) = (self.position?, self.source_line.as_deref()?);
        let column = usize::try_from(at.column).ok()?.saturating_sub(1);
        let first = column.saturating_sub(FRAME_WIDTH / 2);
        let before = if first > 0 { "..." } else { "" };
        let after = if line.chars().nth(first + FRAME_WIDTH).is_some() {
            "..."
        } else {
            ""
        };
        let shown: String = line.chars().skip(first).take(FRAME_WIDTH).collect();
        let shown = one_line(&shown);
        let number = at.line.to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(before.len() + (column - first));
        let text = format!("{before}{shown}{after}");
        Some(format!(
            "{margin} |\n{number} | {}\n{margin} | {indent}^",
            text.trim_end()
        ))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        if !self.file.is_empty() {
            line += &format!("{}:", self.file);
            if let Some(Position { line: row, column }) = self.position {
                line += &format!("{row}:{column}:");
            }
            line += " ";
        }
        if !self.path.is_empty() {
            line += &format!("{}: ", self.path);
        }
        line += &self.message;
        if let Some(suggestion) = &self.suggestion {
            line += &format!(", did you mean `{suggestion}`?");
        }
        if let Some(help) = &self.help {
            line += &format!(" ({help})");
        }
        // What the user wrote may hold anything, but a fault is one line.
        formatter.write_str(&printable(&line))?;
        match self.frame() {
            Some(frame) if formatter.alternate() => write!(formatter, "\n{frame}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// Everything that is wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// The faults, unless there are none.
    pub fn from_list(faults: Vec<Fault>) -> Option<Self> {
        if faults.is_empty() {
            None
        } else {
            Some(Self(faults))
        }
    }

    /// All of them on one line.
    pub fn on_one_line(&self) -> String {
        let faults: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        faults.join("; ")
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl IntoIterator for Faults {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            fmt::Display::fmt(fault, formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault() -> Fault {
        Fault {
            file: "portcullis.yaml".to_owned(),
            position: Some(Position { line: 4, column: 3 }),
            path: "admission.ordre".to_owned(),
            message: "unknown key".to_owned(),
            suggestion: None,
            help: None,
            source_line: Some("  ordre: [AlwaysDeny]".to_owned()),
        }
        .with_known("known keys", "ordre", ["order", "configFile", "plugins"])
    }

    #[test]
    fn one_line_says_file_place_key_and_what_was_meant() {
        assert_eq!(
            fault().to_string(),
            "portcullis.yaml:4:3: admission.ordre: unknown key, did you mean `order`? \
             (known keys: configFile, order, plugins)"
        );
    }

    #[test]
    fn without_a_file_the_path_is_said() {
        let fault = Fault::at("defaults.enforce", "unknown level");
        assert_eq!(fault.to_string(), "defaults.enforce: unknown level");
        assert_eq!(
            Fault::at("", "must not be empty").to_string(),
            "must not be empty"
        );
    }

    #[test]
    fn a_fault_is_one_line_whatever_the_user_wrote() {
        let mut odd = fault();
        odd.file = "a\nb.yaml".to_owned();
        odd.message = "`a\nb\u{1b}[31m` is é\n2026 WARN forged\u{202e}".to_owned();
        let text = odd.to_string();
        assert!(text.starts_with("a\\nb.yaml:4:3: "), "{text}");
        let shown = "`a\\nb\\u{1b}[31m` is é\\n2026 WARN forged\\u{202e}";
        assert!(text.contains(shown), "{text}");
    }

    #[test]
    fn the_frame_points_at_the_place() {
        let text = format!("{:#}", fault());
        assert!(
            text.ends_with("\n  |\n4 |   ordre: [AlwaysDeny]\n  |   ^"),
            "{text}"
        );
    }

    #[test]
    fn the_frame_of_a_long_line_shows_its_surroundings_only() {
        let mut long = fault();
        long.source_line = Some(format!("{}X\u{7}{}", "é".repeat(500), "b".repeat(500)));
        long.position = Some(Position {
            line: 1,
            column: 501,
        });
        let frame = long.frame().unwrap();
        let lines: Vec<&str> = frame.lines().collect();
        assert!(lines[1].chars().count() < 120, "{frame}");
        let caret = lines[2]
            .chars()
            .position(|character| character == '^')
            .unwrap();
        assert_eq!(lines[1].chars().nth(caret), Some('X'), "{frame}");
        assert!(!frame.contains('\u{7}'));
    }
}
