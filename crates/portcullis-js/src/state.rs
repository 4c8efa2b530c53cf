//! What a realm's native functions and its evaluation share.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use portcullis_core::clock;

use crate::global_context::Lease;
use crate::lazy::Nodes;
use crate::limits::Limit;

/// What a policy said by a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Allow,
    Deny {
        message: String,
        reason: Option<String>,
        code: Option<u16>,
    },
}

/// One line on the console: level, text, stack trace.
pub(crate) type RawLine = (&'static str, String, String);

/// What a thread is known by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    /// Its number, for what only one may hold.
    pub(crate) number: u64,
    /// Which policy it is in.
    pub(crate) policy: Arc<AtomicUsize>,
}

/// The state of the running evaluation. No JavaScript value is ever kept here.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The thread.
    pub(crate) thread: Thread,
    pub(crate) deadline: Cell<Option<Instant>>,
    hit: Cell<Option<Limit>>,
    pub(crate) output_left: Cell<usize>,
    pub(crate) said: RefCell<Option<(Said, String)>>,
    pub(crate) warnings: RefCell<Vec<String>>,
    pub(crate) console: RefCell<Vec<RawLine>>,
    pub(crate) lease: RefCell<Option<Lease>>,
    pub(crate) nodes: RefCell<Nodes>,
}

impl State {
    pub(crate) fn of(thread: Thread) -> Self {
        Self {
            thread,
            ..Self::default()
        }
    }

    /// Notes a limit. The first one counts, except that the deadline always does.
    pub(crate) fn note(&self, limit: Limit) {
        if self.hit.get().is_none() || limit == Limit::Deadline {
            self.hit.set(Some(limit));
        }
    }

    pub(crate) fn hit(&self) -> Option<Limit> {
        self.hit.get()
    }

    pub(crate) fn take_hit(&self) -> Option<Limit> {
        self.hit.take()
    }

    /// Whether the time is over; notes it if so.
    pub(crate) fn is_late(&self) -> bool {
        let late = self
            .deadline
            .get()
            .is_some_and(|deadline| clock::monotonic() >= deadline);
        if late {
            self.note(Limit::Deadline);
        }
        late
    }

    /// Takes from what may still be written; shortens the text to it, none if nothing is left.
    pub(crate) fn take_output(&self, mut text: String) -> Option<String> {
        /// What one line costs besides its text.
        const LINE: usize = 32;
        let left = self.output_left.get().checked_sub(LINE)?;
        let mut end = text.len().min(left);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        self.output_left.set(left - end);
        Some(text)
    }
}
