//! What operators do with the pipelines of a project: find, run again, cancel, prefer and let go on.

use portcullis_jobs::{JobStatus, PipelineDefinition, PipelineId};
use portcullis_store::PipelineMatch;

use super::Service;
use crate::details::PipelineFilter;
use crate::error::CiError;

/// Pipelines that are looked at together.
const BATCH: usize = 100;

impl Service {
    /// The newest known pipeline of this kind, as it was submitted.
    ///
    /// # Errors
    ///
    /// [`CiError::NotFound`] when none is known; when the store doesn't answer.
    pub async fn newest_pipeline(
        &self,
        filter: PipelineFilter,
    ) -> Result<PipelineDefinition, CiError> {
        let read = self.inner.database.read(move |reader| {
            let found = reader.newest_pipeline(&wanted(&filter))?;
            let id = found.ok_or(CiError::NotFound)?.id;
            reader.pipeline_definition(id)?.ok_or(CiError::NotFound)
        });
        read.await
    }

    /// Pipelines of this kind that aren't finished, the newest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn live_pipelines(&self, filter: PipelineFilter) -> Result<Vec<PipelineId>, CiError> {
        let read = self.inner.database.read(move |reader| {
            let mut all = Vec::new();
            loop {
                let before = all.last().copied();
                let some = reader.live_pipelines(&wanted(&filter), before, BATCH)?;
                all.extend(some.iter().map(|pipeline| pipeline.id));
                if some.len() < BATCH {
                    return Ok(all);
                }
            }
        });
        read.await
    }

    /// Cancels the jobs of a pipeline that aren't finished; gives how many.
    ///
    /// # Errors
    ///
    /// When there is no such pipeline, or the store doesn't answer.
    pub async fn cancel_pipeline(&self, id: PipelineId) -> Result<usize, CiError> {
        let turn = self.inner.turn(move |turn| turn.cancel_pipeline(id));
        let (count, after) = turn.await?;
        self.follow_up(after).await;
        Ok(count)
    }

    /// Moves the jobs of a pipeline that wait to the front of the queue; gives how many.
    ///
    /// # Errors
    ///
    /// When there is no such pipeline, or the store doesn't answer.
    pub async fn promote_pipeline(&self, id: PipelineId) -> Result<usize, CiError> {
        let promote = self.inner.database.write(move |store| {
            let pipeline = store.pipeline_for_change(id)?.ok_or(CiError::NotFound)?;
            let mut count = 0;
            for mut job in store.jobs_of_pipeline_for_change(&pipeline.origin.project, id)? {
                let status = job.state.status;
                if !status.is_finished() && status != JobStatus::Running && !job.promoted {
                    job.promoted = true;
                    store.save_job(&mut job)?;
                    count += 1;
                }
            }
            Ok(count)
        });
        promote.await
    }

    /// Looks at the pipelines of a project again, because its gate has changed.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn resume(&self, project: &str) -> Result<(), CiError> {
        let filter = PipelineFilter {
            project: project.to_owned(),
            ..PipelineFilter::default()
        };
        for id in self.live_pipelines(filter).await? {
            let turn = self.inner.turn(move |turn| {
                turn.check_later(id);
                Ok(())
            });
            let ((), after) = turn.await?;
            let questions = self.inner.settle(after);
            self.inner.evaluate(questions);
        }
        Ok(())
    }
}

fn wanted(filter: &PipelineFilter) -> PipelineMatch<'_> {
    PipelineMatch {
        project: &filter.project,
        name: filter.name.as_deref(),
        git_ref: filter.git_ref.as_deref(),
        change: filter.change.as_deref(),
    }
}
