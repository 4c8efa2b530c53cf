//! One evaluation to run, and its result.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::sync::Mutex;

use crate::input::Input;
use crate::outcome::Evaluation;

/// How long after its deadline an evaluation is given up.
pub(crate) const GRACE: Duration = Duration::from_millis(50);

/// Why there is no evaluation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Too many evaluations wait.
    #[error("too many policy evaluations are waiting")]
    QueueFull,
    /// Too many evaluations never came back.
    #[error("too many abandoned policy evaluations are still running")]
    TooManyAbandoned,
    /// The pool was not started.
    #[error("the policy engine is not running")]
    NotStarted,
    /// No process can be started for an evaluation that must run in one.
    #[error("cannot start a process to evaluate policies: {0}")]
    NoProcess(String),
    /// The pool has ended.
    #[error("the policy engine has ended")]
    Closed,
    /// The engine failed.
    #[error("the policy engine failed: {0}")]
    Engine(String),
}

type Callback = Box<dyn FnOnce(Result<Evaluation, PoolError>) + Send>;

/// Where the result goes. The first one counts.
#[derive(Clone)]
pub(crate) struct Completion(Arc<Mutex<Option<Callback>>>);

impl Completion {
    pub(crate) fn new(callback: Callback) -> Self {
        Self(Arc::new(Mutex::new(Some(callback))))
    }

    pub(crate) fn complete(&self, result: Result<Evaluation, PoolError>) {
        let callback = self.0.lock().take();
        if let Some(callback) = callback {
            // A caller that panics must not take the thread with it.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| callback(result)));
        }
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Completion")
    }
}

/// One evaluation to be made.
#[derive(Debug)]
pub(crate) struct Job {
    /// The asker, as a number.
    pub(crate) asker: u64,
    pub(crate) input: Arc<Input>,
    pub(crate) deadline: Instant,
    pub(crate) completion: Completion,
}
