//! What follows in a pipeline when one of its jobs changes.

use portcullis_jobs::{Event, JobId, JobStatus, PipelineId, PipelineStatus, plan_pipeline};
use portcullis_store::JobRecord;

use super::turn::Turn;
use crate::error::CiError;
use crate::gate::pause_of;
use crate::queue::QueueChange;

impl Turn<'_, '_> {
    /// Looks at the pipelines whose jobs changed, until nothing changes any more.
    pub(super) fn check_pipelines(&mut self) -> Result<(), CiError> {
        while let Some(id) = self.pipelines.pop_first() {
            self.check_pipeline(id)?;
        }
        Ok(())
    }

    fn check_pipeline(&mut self, id: PipelineId) -> Result<(), CiError> {
        let Some(mut pipeline) = self.store.pipeline_for_change(id)? else {
            return Ok(());
        };
        let project = pipeline.origin.project.clone();
        loop {
            let jobs = self.store.pipeline_jobs(&project, id)?;
            let mut plan = plan_pipeline(&pipeline.stages, &jobs)
                .map_err(|error| CiError::Unavailable(error.to_string()))?;
            if pause_of(&*self.world.gate, &project, &jobs).is_some() {
                plan.start.clear();
            }
            let changes = plan.skip.len() + plan.revive.len() + plan.start.len();
            if changes == 0 {
                pipeline.finished_at = match plan.status {
                    PipelineStatus::Created | PipelineStatus::Running => None,
                    _ => pipeline.finished_at.or(Some(self.now)),
                };
                if pipeline.status != plan.status {
                    pipeline.status = plan.status;
                    self.store.save_pipeline(&mut pipeline)?;
                }
                // Starting a job may have asked for another look, which this one was.
                self.pipelines.remove(&id);
                return Ok(());
            }
            for job in plan.skip {
                let mut job = self.lock_job(job)?;
                self.apply(&mut job, &Event::Skip)?;
                self.save(&mut job)?;
            }
            for job in plan.revive {
                let mut job = self.lock_job(job)?;
                self.apply(&mut job, &Event::Revive)?;
                self.save(&mut job)?;
            }
            for job in plan.start {
                let mut job = self.lock_job(job)?;
                self.start(&mut job)?;
            }
        }
    }

    /// Starts a job without a pipeline, unless it is held back.
    pub(super) fn start_single(&mut self, job: &mut JobRecord) -> Result<(), CiError> {
        let gate = &self.world.gate;
        match gate.new_pipelines_paused(&job.definition.project) {
            Some(_) => self.save(job),
            None => self.start(job),
        }
    }

    /// Goes on with a job without a pipeline that was held back.
    pub(crate) fn resume_single(&mut self, id: JobId) -> Result<(), CiError> {
        let mut job = self.lock_job(id)?;
        let is_held = job.state.status == JobStatus::Created && job.pipeline.is_none();
        let gate = &self.world.gate;
        if is_held && gate.new_pipelines_paused(&job.definition.project).is_none() {
            self.start(&mut job)?;
        }
        Ok(())
    }

    /// Cancels the jobs of a pipeline that aren't finished.
    pub(crate) fn cancel_pipeline(&mut self, id: PipelineId) -> Result<usize, CiError> {
        let found = self.store.pipeline_for_change(id)?;
        let project = found.ok_or(CiError::NotFound)?.origin.project;
        let jobs = self.store.pipeline_jobs(&project, id)?;
        let live = jobs.iter().filter(|job| !job.status.is_finished());
        let mut count = 0;
        for job in live {
            self.cancel(job.id)?;
            count += 1;
        }
        Ok(count)
    }

    /// Moves the jobs of a pipeline that have not started to the front of the queue; gives how many there are.
    pub(crate) fn promote_pipeline(&mut self, id: PipelineId) -> Result<usize, CiError> {
        let found = self.store.pipeline_for_change(id)?;
        let project = found.ok_or(CiError::NotFound)?.origin.project;
        let mut count = 0;
        for mut job in self.store.jobs_of_pipeline_for_change(&project, id)? {
            let status = job.state.status;
            if status.is_finished() || status == JobStatus::Running {
                continue;
            }
            count += 1;
            if !job.promoted {
                let before = job.queue_place();
                job.promoted = true;
                self.store.save_job(&mut job)?;
                if status == JobStatus::Pending {
                    let left = QueueChange::Left(job.lane(), before);
                    self.after.queue.push(left);
                    self.note_queued(&job);
                }
            }
        }
        Ok(count)
    }
}
