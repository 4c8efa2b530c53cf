//! The lists and objects around a place in a text, and the pointers to what is in them.

use std::borrow::Cow;
use std::cell::Cell;

use portcullis_core::pointer;

use super::Header;
use super::text;

/// Where in its list or object a value is.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// An element.
    Index(usize),
    /// A member: where the content of its name is.
    Key {
        start: usize,
        end: usize,
        has_escapes: bool,
    },
}

/// A list or object around the place that is looked at.
pub(super) struct Frame<'p> {
    pub(super) parent: Option<&'p Frame<'p>>,
    pub(super) start: usize,
    pub(super) depth: usize,
    pub(super) is_list: bool,
    pub(super) step: Cell<Step>,
    pub(super) header: Cell<Option<Header>>,
    /// Where the value of the last `name` or `key` begins.
    pub(super) name: Cell<Option<usize>>,
    /// Whether one before that is the name of a secret.
    pub(super) has_secret_name: Cell<bool>,
}

impl<'p> Frame<'p> {
    /// The list or object that begins at `start`.
    pub(super) fn new(parent: Option<&'p Frame<'p>>, start: usize, is_list: bool) -> Self {
        Self {
            parent,
            start,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            is_list,
            step: Cell::new(Step::Index(0)),
            header: Cell::new(None),
            name: Cell::new(None),
            has_secret_name: Cell::new(false),
        }
    }

    /// The name of the member of an object that is looked at.
    pub(super) fn key<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.step.get() {
            Step::Index(_) => Cow::Borrowed(""),
            Step::Key {
                start,
                end,
                has_escapes,
            } => {
                let written = text.get(start..end).unwrap_or_default();
                match has_escapes {
                    true => text::unescaped(written),
                    false => Cow::Borrowed(written),
                }
            }
        }
    }

    fn push_step(&self, text: &str, pointer: &mut String) {
        match self.step.get() {
            Step::Index(index) => pointer::push_index(pointer, index),
            Step::Key { .. } => pointer::push(pointer, &self.key(text)),
        }
    }

    fn push_all(&self, text: &str, pointer: &mut String) {
        if let Some(parent) = self.parent {
            parent.push_all(text, pointer);
        }
        self.push_step(text, pointer);
    }
}

/// The pointer to the container two levels above the last value that was masked: the variables of one
/// environment share it.
#[derive(Default)]
pub(super) struct SharedPointer {
    /// Where the container begins.
    start: Option<usize>,
    pointer: String,
}

impl SharedPointer {
    /// The pointer to the value that is looked at, behind the prefix.
    pub(super) fn pointer(
        &mut self,
        text: &str,
        prefix: &str,
        parent: Option<&Frame<'_>>,
    ) -> String {
        let mut pointer = String::with_capacity(96);
        let Some((frame, around)) = parent.and_then(|frame| Some((frame, frame.parent?))) else {
            pointer.push_str(prefix);
            if let Some(frame) = parent {
                frame.push_step(text, &mut pointer);
            }
            return pointer;
        };
        if self.start != Some(around.start) {
            self.start = Some(around.start);
            self.pointer.clear();
            self.pointer.push_str(prefix);
            if let Some(above) = around.parent {
                above.push_all(text, &mut self.pointer);
            }
        }
        pointer.push_str(&self.pointer);
        around.push_step(text, &mut pointer);
        frame.push_step(text, &mut pointer);
        pointer
    }
}
