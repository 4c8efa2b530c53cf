//! Strict JSON: one pass that checks everything a door must reject.
//!
//! [`scan`] rejects what lenient parsers let through and attackers use: duplicate keys, trailing
//! text, invalid UTF-8, numbers out of range, unbounded nesting. It also notes where the
//! members of the two outermost objects are, so that a door can read them without a second pass
//! over the whole text. It builds no tree.

mod index;
mod run;
mod scanner;
mod write;

use std::borrow::Cow;

pub(crate) use index::Container;
pub use index::Index;
pub use run::plain_end;
use scanner::{Noted, Scanner};
pub use write::push_string;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct JsonFault {
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// How deep lists and objects may be nested: below what `serde_json` reads.
pub const MAX_DEPTH: usize = 120;

/// A member of one of the outermost objects.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    depth: usize,
    key: Cow<'a, str>,
    start: usize,
    end: usize,
}

/// A text that was found to be strict JSON.
#[derive(Debug, Clone)]
pub struct Scanned<'a> {
    text: &'a str,
    members: Vec<Member<'a>>,
    index: Index,
}

impl<'a> Scanned<'a> {
    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Where its lists and objects are.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Where a part of it begins. The text must be a part of the scanned one.
    pub fn offset_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Whether the text is an object.
    pub fn is_object(&self) -> bool {
        self.text.trim_start().starts_with('{')
    }

    /// The text of the outermost object's member of this name.
    pub fn member(&self, key: &str) -> Option<&'a str> {
        self.members
            .iter()
            .find(|m| m.depth == 1 && m.key == key)
            .map(|m| self.of(m))
    }

    /// Name and text of the members of the object that is the outermost object's member `outer`.
    pub fn members_of(&self, outer: &str) -> impl Iterator<Item = (&str, &'a str)> {
        let parent = self.members.iter().find(|m| m.depth == 1 && m.key == outer);
        let (start, end) = parent.map_or((0, 0), |p| (p.start, p.end));
        let inside = move |m: &&Member<'a>| m.depth == 2 && m.start > start && m.end < end;
        self.members
            .iter()
            .filter(inside)
            .map(|m| (m.key.as_ref(), self.of(m)))
    }

    /// A fault of the value whose text this is. The text must be a part of the scanned one.
    pub fn fault_at(&self, part: &str, message: &str) -> JsonFault {
        fault(self.text.as_bytes(), self.offset_of(part), message)
    }

    /// A fault of the whole.
    pub fn fault(&self, message: &str) -> JsonFault {
        self.fault_at(self.text.trim_start(), message)
    }

    fn of(&self, member: &Member<'a>) -> &'a str {
        self.text.get(member.start..member.end).unwrap_or_default()
    }
}

/// Checks the whole text.
///
/// # Errors
///
/// At the first fault.
pub fn scan(bytes: &[u8]) -> Result<Scanned<'_>, JsonFault> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => return Err(fault(bytes, e.valid_up_to(), "invalid UTF-8")),
    };
    let mut scanner = Scanner {
        bytes,
        at: 0,
        keys: Vec::with_capacity(64),
        unescaped: Vec::new(),
        members: Vec::with_capacity(24),
        containers: Vec::with_capacity(128),
    };
    match scanner.document() {
        Ok(()) => {
            let Scanner {
                members,
                unescaped,
                containers,
                ..
            } = scanner;
            let member = |m: Noted| Member {
                depth: m.depth,
                key: match unescaped.get(m.key.unescaped) {
                    Some(key) => Cow::Owned(key.clone()),
                    None => Cow::Borrowed(text.get(m.key.start..m.key.end).unwrap_or_default()),
                },
                start: m.start,
                end: m.end,
            };
            let members = members.into_iter().map(member).collect();
            Ok(Scanned {
                text,
                members,
                // Places are kept in four bytes.
                index: match u32::try_from(text.len()) {
                    Ok(_) => Index::new(containers),
                    Err(_) => Index::default(),
                },
            })
        }
        Err(wrong) => Err(fault(bytes, wrong.at, &scanner.message(wrong.what))),
    }
}

fn fault(bytes: &[u8], at: usize, message: &str) -> JsonFault {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line_start = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1);
    let on_line = before.get(line_start..).unwrap_or_default();
    JsonFault {
        message: message.to_owned(),
        line: before.iter().filter(|b| **b == b'\n').count() + 1,
        column: String::from_utf8_lossy(on_line).chars().count() + 1,
    }
}

#[cfg(test)]
mod tests;
