//! What follows in a pipeline when one of its jobs changes.

use portcullis_jobs::{Event, JobStatus, PipelineId, PipelineJob, PipelineStatus, plan_pipeline};

use super::turn::Turn;
use crate::error::CiError;

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
            if self.is_held(&jobs, &project) {
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

    /// Whether the pipeline with these jobs is held back.
    fn is_held(&self, jobs: &[PipelineJob], project: &str) -> bool {
        let is_new = jobs.iter().all(|job| job.status == JobStatus::Created);
        let gate = &self.world.gate;
        match is_new {
            true => !gate.lets_start(project),
            false => !gate.lets_continue(project),
        }
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
}
