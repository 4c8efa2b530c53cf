//! Compares what clients and controllers remember with what is there.
//!
//! Pure: what it finds depends on nothing but the two sides. `checker/tests.rs` shows that each fault is found.

mod deliveries;
mod jobs;
mod lists;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use crate::history::{Answered, History, Submission};
use crate::plan::Planned;
use crate::snapshot::{Job, Snapshot};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A job that was acknowledged isn't there.
    Lost,
    /// A job is there more than once.
    Doubled,
    /// A job is there that nobody submitted, or whose submission was refused.
    Foreign,
    /// A job isn't in the state that it must reach.
    WrongState,
    /// A retry or cancellation that was acknowledged had no effect, or one that wasn't sent had.
    WrongAttempt,
    /// A controller has more than one verdict in an attempt.
    TwoVerdicts,
    /// A verdict is there that the controller didn't give.
    ForeignVerdict,
    /// A verdict that was acknowledged isn't there.
    LostVerdict,
    /// A verdict was refused though it was awaited.
    RefusedVerdict,
    /// A delivery was repeated with another `webhook-id`, or two have the same.
    WebhookId,
    /// The deadline of an attempt changed, or a job failed before it.
    Deadline,
    /// A controller was asked again though it had answered.
    DoubleWork,
    /// An attempt has no decision record.
    NoRecord,
    /// There are more decision records than attempts.
    TwoRecords,
    /// Lists contradict each other.
    Lists,
}

/// Something that is wrong, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) fault: Fault,
    pub(crate) about: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.fault, self.about)
    }
}

/// Both sides, and what was found so far.
struct Check<'a> {
    history: &'a History,
    snapshot: &'a Snapshot,
    /// The jobs that are there, by name.
    there: BTreeMap<&'a str, Vec<&'a Job>>,
    findings: Vec<Finding>,
}

/// Everything that is wrong.
pub(crate) fn check(history: &History, snapshot: &Snapshot) -> Vec<Finding> {
    let mut there: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
    for job in &snapshot.jobs {
        there.entry(&job.name).or_default().push(job);
    }
    let mut check = Check {
        history,
        snapshot,
        there,
        findings: Vec::new(),
    };
    check.submissions();
    check.foreign_jobs();
    check.deliveries();
    check.verdicts();
    check.records();
    check.lists();
    check.pipelines();
    check.findings
}

impl<'a> Check<'a> {
    fn found(&mut self, fault: Fault, about: impl Into<String>) {
        let about = about.into();
        self.findings.push(Finding { fault, about });
    }

    /// All submissions with each of their jobs.
    fn planned(&self) -> impl Iterator<Item = (&'a Submission, &'a Planned)> + use<'a> {
        let all = self.history.submissions.iter();
        all.flat_map(|submission| submission.jobs.iter().map(move |job| (submission, job)))
    }

    /// The one job of this name, if there is one.
    fn job(&self, name: &str) -> Option<&'a Job> {
        match self.there.get(name)?.as_slice() {
            [job] => Some(job),
            _ => None,
        }
    }
}

/// How often something was surely done, and how often perhaps.
fn done(answers: &[Answered<()>]) -> (u64, u64) {
    let count = |wanted: &Answered<()>| {
        let all = answers.iter().filter(|answer| *answer == wanted);
        all.count() as u64
    };
    (count(&Answered::Yes(())), count(&Answered::Unknown))
}
