//! What a poll of a directory found, and what is wrong there.

use portcullis_document::Fault;

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many files there are.
    pub files: usize,
    /// How many objects count.
    pub objects: usize,
    /// What can't be used as it is now, by file and place. Nothing but kinds and names is quoted: a file may hold
    /// secrets.
    pub malformed: Vec<Fault>,
    /// What of that was fine, or wrong in another way, at the last look.
    pub news: Vec<Fault>,
    /// Whether anything was read or removed.
    pub changed: bool,
}
