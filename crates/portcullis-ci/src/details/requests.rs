//! Runners that ask for a job, and what they are given.

use std::time::Duration;

use portcullis_jobs::{Job, JobId, Runner, RunnerType};
use serde_json::Value;

/// What a runner says of itself when it asks for a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunnerContact {
    /// The name of the machine or process that asks with the runner's token: its *manager*. Old runners have none.
    pub system_id: Option<String>,
    /// What it says of itself, such as its version.
    pub info: Value,
    /// Where it called from.
    pub address: Option<String>,
}

/// What a runner that asked for a job is given.
#[derive(Debug, Clone, PartialEq)]
pub enum JobRequest {
    /// A job. Nobody else is given it, unless the runner doesn't acknowledge it in time.
    Given(Box<TakenJob>),
    /// Nothing for now.
    Nothing {
        /// What the next request is to say: then it is held until there is a job, or for the long poll.
        cursor: String,
    },
}

/// A job that was given to a runner.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenJob {
    /// Its number.
    pub job: JobId,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The runner.
    pub runner: Runner,
    /// The manager that asked; empty for old runners, which don't say.
    pub manager: String,
    /// The job as it is stored now: running.
    pub record: Job,
    /// How long it was in the queue.
    pub queued_for: Duration,
    /// How many jobs of its project instance runners have now.
    pub running_on_instance_runners: u64,
}

impl TakenJob {
    /// A job that this runner has just taken.
    pub(crate) fn new(record: Job, runner: Runner, manager: String) -> Self {
        let state = &record.state;
        let queued_for = state.started_at.zip(state.queued_at);
        Self {
            job: record.id,
            attempt: state.attempt,
            queued_for: queued_for
                .map_or(Duration::ZERO, |(started, queued)| started.since(queued)),
            runner,
            manager,
            record,
            running_on_instance_runners: 0,
        }
    }

    pub(crate) fn is_on_instance_runner(&self) -> bool {
        self.runner.kind == RunnerType::Instance
    }
}
