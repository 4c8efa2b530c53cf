//! The identity of an evaluation thread, and its progress.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Is notified of the policy that is about to run.
pub(crate) trait Reporter: Send + Sync + fmt::Debug {
    /// This one is.
    fn policy(&self, index: usize);
}

/// What a thread is known by, and the signs of life it gives.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvaluationThread {
    /// Its number, for what only one may hold.
    pub(crate) number: u64,
    /// Which policy it is in; none where that is not the number of a policy.
    policy: Arc<AtomicUsize>,
    /// How often the engine looked at the clock. A native that never does leaves it as it is.
    beats: Arc<AtomicU64>,
    reporter: Option<Arc<dyn Reporter>>,
}

impl EvaluationThread {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }

    /// The thread of a process that says to another one which policy it is in.
    pub(crate) fn reporting(reporter: Arc<dyn Reporter>) -> Self {
        Self {
            reporter: Some(reporter),
            ..Self::default()
        }
    }

    /// Notes that an evaluation begins, which is in no policy yet.
    pub(crate) fn begin(&self) {
        self.policy.store(usize::MAX, Ordering::Relaxed);
    }

    /// Notes that this policy runs from now on.
    pub(crate) fn enter(&self, policy: usize) {
        self.policy.store(policy, Ordering::Relaxed);
        if let Some(reporter) = &self.reporter {
            reporter.policy(policy);
        }
    }

    /// Notes a sign of life.
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Which policy it is in, or was in last.
    pub(crate) fn policy(&self) -> usize {
        self.policy.load(Ordering::Relaxed)
    }

    /// How many signs of life it gave.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }
}
