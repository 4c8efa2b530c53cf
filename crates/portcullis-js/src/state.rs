//! What a realm's native functions and its evaluation share.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Instant;

use portcullis_core::{HostCallStep, PolicyLimit, Tree, clock};

use crate::deferred::DeferredParts;
use crate::evaluation_thread::EvaluationThread;
use crate::global_context::Lease;
use crate::input::Input;
use crate::key_collisions::KeyCollisions;
use crate::limits::Limits;
use crate::replay::{KEPT, Missing};

/// How many host calls one evaluation may make.
pub(crate) const CALLS: usize = 256;

/// A verdict that a policy gave by calling `allow` or `deny`, or one that has none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum VerdictCall {
    /// It ended without an opinion.
    Exit,
    Allow {
        message: String,
    },
    Deny {
        message: String,
        reason: Option<String>,
        code: Option<u16>,
    },
}

/// One line on the console: level, text, stack trace.
pub(crate) type RawLine = (&'static str, String, String);

/// The state of the running evaluation. No JavaScript value is ever kept here.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The thread.
    pub(crate) thread: EvaluationThread,
    pub(crate) deadline: Cell<Option<Instant>>,
    hit: Cell<Option<PolicyLimit>>,
    pub(crate) output_left: Cell<usize>,
    pub(crate) verdict_call: RefCell<Option<(VerdictCall, String)>>,
    pub(crate) warnings: RefCell<Vec<String>>,
    pub(crate) console: RefCell<Vec<RawLine>>,
    pub(crate) lease: RefCell<Option<Lease>>,
    pub(crate) deferred: RefCell<DeferredParts>,
    /// The keys of what the evaluation was given.
    pub(crate) keys: RefCell<KeyCollisions>,
    /// Whether the next look at a part that was put off shall only say which it is.
    pub(crate) is_probing: Cell<bool>,
    /// Which part that was.
    pub(crate) probed: Cell<Option<u32>>,
    /// What the evaluation is about.
    pub(crate) input: RefCell<Option<Arc<Input>>>,
    /// What the object of the policy that runs now was made from.
    pub(crate) base: RefCell<Option<Arc<Tree>>>,
    /// Whether the object will be compared with what it was.
    pub(crate) reads_back: Cell<bool>,
    /// Host calls of the policy that runs now; its name is added later.
    pub(crate) host_calls: RefCell<Vec<HostCallStep>>,
    /// How many calls may still be made, and how many bytes of them may be kept.
    pub(crate) calls_left: Cell<usize>,
    pub(crate) call_bytes_left: Cell<usize>,
    /// What stands for what is masked, in a replay.
    pub(crate) mask: RefCell<Option<Arc<str>>>,
    /// What the policy that runs now looked at and the record doesn't have.
    pub(crate) unknown: RefCell<Vec<Missing>>,
    /// The `$cover` marks that were passed, one bit each.
    pub(crate) covered: RefCell<Vec<u64>>,
}

impl State {
    pub(crate) fn of(thread: EvaluationThread) -> Self {
        Self {
            thread,
            ..Self::default()
        }
    }

    /// Forgets the evaluation before.
    pub(crate) fn begin(&self, input: &Arc<Input>, limits: &Limits) {
        self.thread.begin();
        self.take_hit();
        self.verdict_call.take();
        self.warnings.take();
        self.console.take();
        self.host_calls.take();
        self.output_left.set(limits.output);
        self.calls_left.set(CALLS);
        self.call_bytes_left.set(limits.memory / 4);
        self.covered.borrow_mut().fill(0);
        self.input.replace(Some(Arc::clone(input)));
        if let Some(replay) = &input.replay {
            self.unknown.take();
            let mask = (!replay.mask.is_empty()).then(|| Arc::clone(&replay.mask));
            self.mask.replace(mask);
        }
    }

    /// Lets go of what only the evaluation needed.
    pub(crate) fn end(&self) {
        self.lease.take();
        self.deferred.borrow_mut().clear();
        self.keys.borrow_mut().clear();
        self.input.take();
        self.base.take();
        self.mask.take();
    }

    /// Whether the running evaluation is a replay.
    pub(crate) fn is_replay(&self) -> bool {
        let input = self.input.borrow();
        input.as_ref().is_some_and(|input| input.replay.is_some())
    }

    /// Notes that a policy looked at something that is not in the record.
    pub(crate) fn miss(&self, missing: Missing) {
        let mut unknown = self.unknown.borrow_mut();
        if self.is_replay() && unknown.len() < KEPT {
            unknown.push(missing);
        }
    }

    /// Makes room for so many `$cover` marks.
    pub(crate) fn expect_marks(&self, marks: u32) {
        let words = usize::try_from(marks.div_ceil(64)).unwrap_or_default();
        self.covered.borrow_mut().resize(words, 0);
    }

    /// Notes that a mark was passed.
    pub(crate) fn cover(&self, mark: u32) {
        let index = usize::try_from(mark / 64).unwrap_or(usize::MAX);
        if let Some(word) = self.covered.borrow_mut().get_mut(index) {
            *word |= 1 << (mark % 64);
        }
    }

    /// The marks that were passed, of so many.
    pub(crate) fn covered(&self, marks: u32) -> Vec<u32> {
        let covered = self.covered.borrow();
        let is_set = |mark: &u32| {
            let index = usize::try_from(mark / 64).unwrap_or(usize::MAX);
            covered
                .get(index)
                .is_some_and(|word| word >> (mark % 64) & 1 == 1)
        };
        (0..marks).filter(is_set).collect()
    }

    /// Notes a limit. The first one counts, except that the deadline always does.
    pub(crate) fn note(&self, limit: PolicyLimit) {
        if self.hit.get().is_none() || limit == PolicyLimit::Deadline {
            self.hit.set(Some(limit));
        }
    }

    pub(crate) fn hit(&self) -> Option<PolicyLimit> {
        self.hit.get()
    }

    pub(crate) fn take_hit(&self) -> Option<PolicyLimit> {
        self.hit.take()
    }

    /// Whether the time is over; notes it if so. Asking is a sign of life.
    pub(crate) fn is_late(&self) -> bool {
        self.thread.beat();
        let late = self
            .deadline
            .get()
            .is_some_and(|deadline| clock::monotonic() >= deadline);
        if late {
            self.note(PolicyLimit::Deadline);
        }
        late
    }

    /// Takes from what may still be written; shortens the text to it, none if nothing is left.
    pub(crate) fn take_output(&self, mut text: String) -> Option<String> {
        /// What one line costs besides its text.
        const LINE: usize = 32;
        let left = self.output_left.get().checked_sub(LINE)?;
        let end = text.floor_char_boundary(left);
        text.truncate(end);
        self.output_left.set(left - end);
        Some(text)
    }
}
