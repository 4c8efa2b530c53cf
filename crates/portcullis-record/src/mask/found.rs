//! What was found in a text, and the text without it.

use super::Secret;

/// A part of a text to be put something else for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) with: &'static str,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Found<'t> {
    /// What to change, in order.
    pub(super) edits: Vec<Edit>,
    /// The same places as JSON pointers behind a prefix.
    pub(crate) pointers: Vec<String>,
    /// The values.
    pub(crate) secrets: Vec<Secret<'t>>,
}

impl Found<'_> {
    /// How long the text is with its secrets masked.
    pub(crate) fn length_of(&self, text: &str) -> usize {
        let edits = self.edits.iter();
        edits.fold(text.len(), |length, edit| {
            (length + edit.with.len()).saturating_sub(edit.end - edit.start)
        })
    }

    /// Puts something for a value that is left out. Gives its pointer; those below it are gone.
    pub(crate) fn leave_out(
        &mut self,
        (start, end): (usize, usize),
        with: &'static str,
        pointer: &str,
    ) -> String {
        let is_inside = |edit: &Edit| start <= edit.start && edit.end <= end;
        let place = self.edits.partition_point(|edit| edit.start < start);
        self.edits.retain(|edit| !is_inside(edit));
        self.edits.insert(place, Edit { start, end, with });
        let is_below = |other: &str| {
            let rest = other.strip_prefix(pointer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.pointers.retain(|other| !is_below(other));
        pointer.to_owned()
    }

    /// Writes the text with its secrets masked, on one line.
    pub(crate) fn write(&self, text: &str, to: &mut Vec<u8>) {
        let start = to.len();
        let mut from = 0;
        for edit in &self.edits {
            let kept = text.get(from..edit.start).unwrap_or_default();
            to.extend_from_slice(kept.as_bytes());
            to.extend_from_slice(edit.with.as_bytes());
            from = edit.end;
        }
        to.extend_from_slice(text.get(from..).unwrap_or_default().as_bytes());
        // In strict JSON the ends of lines are between values only.
        let written = to.get_mut(start..).unwrap_or_default();
        if memchr::memchr2(b'\n', b'\r', written).is_some() {
            let ends = written.iter_mut().filter(|b| matches!(b, b'\n' | b'\r'));
            ends.for_each(|b| *b = b' ');
        }
    }
}
