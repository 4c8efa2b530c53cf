//! What a look at a directory found, and what is wrong there.

use std::fmt;
use std::path::PathBuf;

use portcullis_core::text::printable;

/// Something in a file that can't be used as it is, or a file or directory that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Malformed {
    /// The file, or a directory that can't be read.
    pub file: PathBuf,
    /// Where in it, and what is wrong.
    pub fault: Fault,
}

/// What is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Line and column, from 1, if it is at a certain place.
    pub place: Option<(u64, u64)>,
    /// What is wrong. It quotes nothing but kinds and names: a file may hold secrets.
    pub words: String,
}

impl Fault {
    /// A fault of the file as a whole.
    pub(super) fn whole(words: impl Into<String>) -> Self {
        Self {
            place: None,
            words: words.into(),
        }
    }

    /// A fault at a place.
    pub(super) fn at(line: u64, column: u64, words: impl Into<String>) -> Self {
        Self {
            place: Some((line, column)),
            words: words.into(),
        }
    }
}

impl fmt::Display for Malformed {
    /// One line, whatever the file and its contents are called.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.file.to_string_lossy()))?;
        if let Some((line, column)) = self.fault.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", printable(&self.fault.words))
    }
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many files there are.
    pub files: usize,
    /// How many objects count.
    pub objects: usize,
    /// What can't be used as it is now, by file and place.
    pub malformed: Vec<Malformed>,
    /// What of that was fine, or wrong in another way, at the last look.
    pub news: Vec<Malformed>,
    /// Whether anything was read or removed.
    pub changed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line_whatever_the_names_are() {
        let told = Malformed {
            file: PathBuf::from("a\nb/c.yaml"),
            fault: Fault::at(3, 1, "Pod x\n2026 WARN forged\u{202e}: why"),
        };
        assert_eq!(
            told.to_string(),
            "a\\nb/c.yaml:3:1: Pod x\\n2026 WARN forged\\u{202e}: why"
        );
        let whole = Malformed {
            file: PathBuf::from("c.yaml"),
            fault: Fault::whole("permission denied"),
        };
        assert_eq!(whole.to_string(), "c.yaml: permission denied");
    }
}
