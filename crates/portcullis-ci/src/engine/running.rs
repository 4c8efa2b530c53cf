//! What happens to jobs that a runner has.

use portcullis_jobs::{Event, FailureReason, JobId, JobStatus, Timestamp};
use portcullis_store::{JobRecord, JobRun};

use super::turn::Turn;
use crate::error::CiError;
use crate::recorder::Observation;

impl Turn<'_, '_> {
    /// Until when the runner of a job may be silent: longer once it has begun.
    pub(super) fn silent_until(&self, job: &JobRecord) -> Timestamp {
        let runners = &self.world.settings.runners;
        let patience = match job.state.acknowledged {
            true => runners.lost.get(),
            false => runners.lease.get(),
        };
        // Those that an older version stored have no contact.
        let last = job.state.contacted_at.or(job.state.started_at);
        last.unwrap_or(job.created_at).after(patience)
    }

    /// Looks at a job that a runner has: if the runner was silent for too long, the job goes to another, or fails if
    /// it had begun.
    pub(super) fn wake_running(&mut self, job: &mut JobRecord) -> Result<(), CiError> {
        if self.now >= self.silent_until(job) {
            match job.state.acknowledged {
                false => self.apply(job, &Event::Requeue)?,
                true => {
                    self.pipelines.extend(job.pipeline);
                    self.apply(job, &Event::LoseRunner)?
                }
            };
        }
        self.save(job)
    }

    /// A job that is being run in this way, and will be changed.
    pub(crate) fn lock_run(&mut self, run: &JobRun) -> Result<JobRecord, CiError> {
        let job = self.lock_job(run.job)?;
        let is_running = job.state.status == JobStatus::Running;
        match is_running && JobRun::of(&job).as_ref() == Some(run) {
            true => Ok(job),
            false => Err(CiError::JobToken(Some(job.state.status))),
        }
    }

    /// The runner of a job gives a sign of life, or reports how it ended.
    pub(crate) fn reported(&mut self, run: &JobRun, events: &[Event]) -> Result<(), CiError> {
        let mut job = self.lock_run(run)?;
        let is_failure = |event: &Event| matches!(event, Event::Fail { .. });
        if events.iter().any(is_failure) {
            self.hold_runner(&job)?;
        }
        for event in events {
            self.apply(&mut job, event)?;
        }
        if job.state.status.is_finished() {
            self.pipelines.extend(job.pipeline);
        }
        self.save(&mut job)
    }

    /// A job is about to fail: if somebody wants to look at it, the machine that runs it takes no other job.
    fn hold_runner(&mut self, job: &JobRecord) -> Result<(), CiError> {
        let pipeline = match job.pipeline {
            Some(id) => self.store.pipeline(id)?,
            None => None,
        };
        let change = pipeline.and_then(|pipeline| pipeline.origin.change);
        let held = self
            .store
            .hold_for_failure(job, change.as_deref(), self.now)?;
        if let Some(held) = held {
            self.forget_surroundings();
            self.after
                .observations
                .push(Observation::Held { job: job.id, held });
        }
        Ok(())
    }

    /// A job wrote more than is kept.
    pub(crate) fn trace_too_large(&mut self, run: &JobRun) -> Result<JobId, CiError> {
        let fail = Event::Fail {
            reason: FailureReason::TraceSizeExceeded,
            exit_code: None,
        };
        self.reported(run, &[Event::Acknowledge, fail])?;
        Ok(run.job)
    }
}
