//! What clients and controllers remember: the one side that the checker compares.

use std::sync::Mutex;

use crate::plan::Planned;

/// What was answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered<T> {
    /// It was done.
    Yes(T),
    /// It was not done, with this status.
    No(u16),
    /// The connection broke, or the server could not tell: it may have been done.
    Unknown,
}

/// What a submission that was acknowledged has become: the ids of its jobs in order, and of its pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) jobs: Vec<u64>,
    pub(crate) pipeline: Option<u64>,
}

/// One job or one pipeline that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Submission {
    pub(crate) jobs: Vec<Planned>,
    pub(crate) answer: Answered<Ids>,
    /// What was answered each time it was retried.
    pub(crate) retries: Vec<Answered<()>>,
    /// What was answered when it was canceled.
    pub(crate) cancel: Option<Answered<()>>,
    /// Whether nothing failed while it was submitted and decided.
    pub(crate) is_calm: bool,
}

/// A controller, a job and its attempt.
pub(crate) type Place = (&'static str, u64, u64);

/// A controller was asked.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) place: Place,
    /// The header `webhook-id`; nothing if the controller claimed it.
    pub(crate) webhook_id: Option<String>,
    pub(crate) deadline: String,
    /// Whether the controller failed on purpose.
    pub(crate) is_failed: bool,
}

/// A controller said something.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) place: Place,
    pub(crate) verdict: &'static str,
    /// What the server answered; nothing where the verdict was itself the answer to a webhook.
    pub(crate) answer: Option<Answered<()>>,
}

/// Everything that clients and controllers remember.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) submissions: Vec<Submission>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) said: Vec<Said>,
}

/// The same, for several threads.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<History>);

impl Ledger {
    /// Reads or changes it.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut History) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }

    /// Something is about to be sent. Until something is known, it may have been done.
    pub(crate) fn submit(&self, jobs: Vec<Planned>, is_calm: bool) -> usize {
        self.with(|history| {
            history.submissions.push(Submission {
                jobs,
                answer: Answered::Unknown,
                retries: Vec::new(),
                cancel: None,
                is_calm,
            });
            history.submissions.len() - 1
        })
    }

    /// The number of submissions that were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.with(|history| {
            let all = history.submissions.iter();
            all.filter(|one| matches!(one.answer, Answered::Yes(_)))
                .count()
        })
    }
}
