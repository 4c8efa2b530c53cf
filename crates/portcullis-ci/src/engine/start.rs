//! Submitting, starting, retrying and canceling jobs.

use portcullis_jobs::{
    Admission, Effect, Event, Happened, JobDefinition, JobId, JobStatus, Link, PipelineDefinition,
    PipelineId, Timestamp, controller_chain, stuck_reason,
};
use portcullis_store::{IdKind, JobRecord, PipelineRecord};

use super::turn::Turn;
use crate::error::CiError;

impl Turn<'_, '_> {
    /// Stores a job on its own, and starts it unless it is held back.
    pub(crate) fn submit_job(&mut self, mut definition: JobDefinition) -> Result<JobId, CiError> {
        let around = self.around(&definition.project)?;
        definition.project_id = Some(around.project_id);
        let id = self.store.new_id(IdKind::Job)?;
        let mut job = JobRecord::new(id, None, definition, self.now);
        self.note(None, &job);
        self.store.insert_job(&mut job)?;
        self.start_single(&mut job)?;
        Ok(id)
    }

    /// Stores a pipeline with its jobs, and starts those of the first stage.
    pub(crate) fn submit_pipeline(
        &mut self,
        definition: &PipelineDefinition,
    ) -> Result<PipelineId, CiError> {
        let id = self.store.new_id(IdKind::Pipeline)?;
        let mut pipeline = PipelineRecord::new(id, definition, self.now);
        self.store.insert_pipeline(&mut pipeline, definition)?;
        let around = self.around(&definition.origin.project)?;
        let ids = self.store.new_ids(IdKind::Job, definition.jobs.len())?;
        for (job, definition) in ids.into_iter().zip(definition.jobs_with_dependencies()) {
            let definition = JobDefinition {
                project_id: Some(around.project_id),
                ..definition
            };
            let mut job = JobRecord::new(job, Some(id), definition, self.now);
            self.note(None, &job);
            self.store.insert_job(&mut job)?;
        }
        self.pipelines.insert(id);
        Ok(id)
    }

    /// The stage of a created job has come: it needs admission, or enters the queue.
    pub(super) fn start(&mut self, job: &mut JobRecord) -> Result<(), CiError> {
        let around = self.around(&job.definition.project)?;
        let controllers = controller_chain(&around.controllers, &job.definition.project);
        let mut chain: Vec<Link> = controllers.into_iter().map(Link::controller).collect();
        if self.world.has_ci_policies {
            chain.push(Link::policies());
        }
        let limit = self.world.settings.deadline.get();
        let attempt = job.state.attempt;
        let tags = &job.definition.tags;
        let admission = match &job.admission {
            None if chain.is_empty() => {
                self.apply(job, &Event::Enqueue)?;
                return self.save(job);
            }
            None => Admission {
                attempt,
                ..Admission::begin(chain, tags.clone(), self.now, limit)
            },
            Some(earlier) => {
                let policy = self.world.settings.retry;
                earlier.retried(attempt, chain, tags, policy, self.now, limit)
            }
        };
        let deadline = admission.deadline;
        job.admission = Some(admission);
        // Whom to ask is said by the admission.
        self.apply(job, &Event::Prepare { deadline })?;
        self.advance(job, Happened::Tick).map(drop)
    }

    /// A user retries a job.
    pub(crate) fn retry(&mut self, id: JobId) -> Result<(), CiError> {
        let mut job = self.lock_job(id)?;
        self.apply(&mut job, &Event::Retry)?;
        match job.pipeline {
            None => self.start_single(&mut job),
            Some(pipeline) => {
                self.pipelines.insert(pipeline);
                self.save(&mut job)
            }
        }
    }

    /// A user cancels a job.
    pub(crate) fn cancel(&mut self, id: JobId) -> Result<(), CiError> {
        let mut job = self.lock_job(id)?;
        let effects = self.apply(&mut job, &Event::Cancel)?.effects;
        if effects.contains(&Effect::CancelDeliveries) {
            self.store.cancel_deliveries(&job)?;
            if let Some(admission) = &mut job.admission {
                admission.cancel();
            }
            self.ended(&job)?;
        }
        self.pipelines.extend(job.pipeline);
        self.save(&mut job)
    }

    /// Puts a job back into the queue that was taken for somebody who never heard of it.
    pub(crate) fn give_back(&mut self, id: JobId, attempt: u32) -> Result<(), CiError> {
        let mut job = self.lock_job(id)?;
        if job.state.attempt == attempt {
            self.apply(&mut job, &Event::Requeue)?;
            self.save(&mut job)?;
        }
        Ok(())
    }

    /// The server has to look at a job, because its deadline passed or its controller was changed.
    pub(crate) fn wake(&mut self, id: JobId) -> Result<(), CiError> {
        let mut job = self.lock_job(id)?;
        match job.state.status {
            JobStatus::Preparing => self.tick(&mut job),
            JobStatus::Pending => {
                let around = self.around(&job.definition.project)?;
                let stuck = self.world.settings.runners.stuck.get();
                let is_late = |queued: Timestamp| self.now >= queued.after(stuck);
                let is_late = job.state.queued_at.is_some_and(is_late);
                if is_late && stuck_reason(&job.needs(), &around.runners).is_some() {
                    self.apply(&mut job, &Event::GetStuck)?;
                    self.pipelines.extend(job.pipeline);
                }
                self.save(&mut job)
            }
            JobStatus::Running => self.wake_running(&mut job),
            _ => self.save(&mut job),
        }
    }

    /// Saves a job, with the time when the server has to look at it.
    pub(super) fn save(&mut self, job: &mut JobRecord) -> Result<(), CiError> {
        let admission = job.admission.as_ref();
        job.deadline = match job.state.status {
            JobStatus::Preparing => {
                let wake_at = admission.and_then(Admission::wake_at);
                let again = self.asked_again_at(job)?;
                wake_at.into_iter().chain(again).min()
            }
            JobStatus::Pending => Some(self.now.after(self.world.settings.runners.stuck.get())),
            JobStatus::Running => Some(self.silent_until(job)),
            _ => None,
        };
        self.store.save_job(job)?;
        if job.state.status == JobStatus::Pending {
            self.note_queued(job);
        }
        Ok(())
    }
}
