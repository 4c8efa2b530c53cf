//! What operators do with the pipelines of a project: find, count, run again, cancel, prefer and let go on.

use portcullis_jobs::{PipelineDefinition, PipelineId, Timestamp};
use portcullis_store::{JobCounts, LivePipelines, PipelineMatch};

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

    /// Moves the jobs of a pipeline that wait to the front of the queue; gives how many wait there.
    ///
    /// # Errors
    ///
    /// When there is no such pipeline, or the store doesn't answer.
    pub async fn promote_pipeline(&self, id: PipelineId) -> Result<usize, CiError> {
        let turn = self.inner.turn(move |turn| turn.promote_pipeline(id));
        let (count, after) = turn.await?;
        self.follow_up(after).await;
        Ok(count)
    }

    /// How many pipelines are under way, by project, name and status.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn live_pipeline_counts(&self) -> Result<Vec<LivePipelines>, CiError> {
        let database = &self.inner.database;
        let read = database.read(|reader| Ok(reader.live_pipeline_counts()?));
        read.await
    }

    /// How many jobs there are, by project and status, and how long those in the queue have waited: by these times, the latest
    /// first. The work is bounded.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn job_counts(&self, times: Vec<Timestamp>) -> Result<JobCounts, CiError> {
        let database = &self.inner.database;
        let read = database.read(move |reader| Ok(reader.job_counts(&times)?));
        read.await
    }

    /// Goes on with everything that the gate held back and doesn't any more.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer: it is not known what goes on.
    pub async fn resume(&self) -> Result<(), CiError> {
        self.inner.resume().await
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
