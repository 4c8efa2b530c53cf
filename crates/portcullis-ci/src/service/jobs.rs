//! Jobs and pipelines.

use std::sync::Arc;
use std::time::Duration;

use portcullis_jobs::{
    Eligibility, JobDefinition, JobDetails, JobId, PipelineDefinition, PipelineId, RunnerChange,
    runner_changes,
};

use super::Service;
use crate::details::{JobFilter, Page, PageRequest, PipelineDetails};
use crate::engine::{Aftermath, Turn};
use crate::error::CiError;
use crate::view;

/// How long a call waits for policies that are evaluated in this process.
const PATIENCE: Duration = Duration::from_secs(5);

impl Service {
    /// Submits one job, which needs no pipeline.
    ///
    /// # Errors
    ///
    /// When too many jobs of its project wait, or the store doesn't answer.
    pub async fn submit_job(&self, definition: JobDefinition) -> Result<JobDetails, CiError> {
        self.inner.check_backlog(&definition.project, 1).await?;
        if let Some((details, after)) = self.inner.submit_draft(&definition).await? {
            self.settle(after);
            return Ok(details);
        }
        let submit = move |turn: &mut Turn<'_, '_>| turn.submit_job(definition.clone());
        let (id, after) = self.inner.turn(submit).await?;
        self.follow_up(after).await;
        self.job(id).await
    }

    /// Submits a pipeline, and starts its first stage.
    ///
    /// # Errors
    ///
    /// When too many jobs of its project wait, or the store doesn't answer.
    pub async fn submit_pipeline(
        &self,
        definition: PipelineDefinition,
    ) -> Result<PipelineDetails, CiError> {
        let count = definition.jobs.len();
        let project = &definition.origin.project;
        self.inner.check_backlog(project, count).await?;
        if let Some((details, after)) = self.inner.submit_draft(&definition).await? {
            self.settle(after);
            return Ok(details);
        }
        let submit = move |turn: &mut Turn<'_, '_>| turn.submit_pipeline(&definition);
        let (id, after) = self.inner.turn(submit).await?;
        self.follow_up(after).await;
        self.pipeline(id).await
    }

    /// A job.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn job(&self, id: JobId) -> Result<JobDetails, CiError> {
        let mut viewer = self.inner.job_viewer();
        let read = self.inner.database.read(move |reader| {
            let job = reader.job(id)?.ok_or(CiError::NotFound)?;
            viewer.show(reader, &job)
        });
        read.await
    }

    /// A job as it was submitted.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn job_definition(&self, id: JobId) -> Result<JobDefinition, CiError> {
        let read = self.inner.database.read(move |reader| {
            let job = reader.job(id)?.ok_or(CiError::NotFound)?;
            Ok(job.job.definition)
        });
        read.await
    }

    /// Jobs, the newest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn jobs(
        &self,
        filter: JobFilter,
        page: PageRequest,
    ) -> Result<Page<JobDetails>, CiError> {
        let filter = portcullis_store::JobFilter {
            status: filter.status,
            project: filter.project,
            roots: filter.roots,
        };
        let mut viewer = self.inner.job_viewer();
        let read = self.inner.database.read(move |reader| {
            let size = page.size();
            let mut found = reader.list_jobs(&filter, page.after, size + 1)?;
            let is_more = found.len() > size;
            found.truncate(size);
            let next = found.last().map(|job| job.id).filter(|_| is_more);
            let items: Result<Vec<_>, CiError> =
                found.iter().map(|job| viewer.show(reader, job)).collect();
            Ok(Page {
                items: items?,
                next,
            })
        });
        read.await
    }

    /// A pipeline with its jobs.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn pipeline(&self, id: PipelineId) -> Result<PipelineDetails, CiError> {
        let read = self.inner.database.read(move |reader| {
            let record = reader.pipeline(id)?.ok_or(CiError::NotFound)?;
            view::pipeline(reader, record)
        });
        read.await
    }

    /// Retries a finished job: a new attempt of the same job.
    ///
    /// # Errors
    ///
    /// When there is none, it isn't finished, too many jobs of its project wait, or the store doesn't answer.
    pub async fn retry(&self, id: JobId) -> Result<JobDetails, CiError> {
        let project = self.job_definition(id).await?.project;
        self.inner.check_backlog(&project, 1).await?;
        let (_, after) = self.inner.turn(move |turn| turn.retry(id)).await?;
        self.follow_up(after).await;
        self.job(id).await
    }

    /// Cancels a job that isn't finished.
    ///
    /// # Errors
    ///
    /// When there is none, it is finished, or the store doesn't answer.
    pub async fn cancel(&self, id: JobId) -> Result<JobDetails, CiError> {
        let (_, after) = self.inner.turn(move |turn| turn.cancel(id)).await?;
        self.follow_up(after).await;
        self.job(id).await
    }

    /// Every runner that is there for a job's project: whether it may take the job, and why not.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the store doesn't answer.
    pub async fn runners_of_job(&self, id: JobId) -> Result<Vec<Eligibility>, CiError> {
        let read = self.inner.database.read(move |reader| {
            let job = reader.job(id)?.ok_or(CiError::NotFound)?;
            let needs = job.needs();
            let runners = reader.runners_for(&job.definition.project)?;
            let judge = |record: &portcullis_store::RunnerRecord| needs.judge(&record.runner);
            Ok(runners.iter().map(judge).collect())
        });
        read.await
    }

    /// Which runners could take a job before and after each controller decided, of those that are registered now.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the store doesn't answer.
    pub async fn runner_changes_of_job(&self, id: JobId) -> Result<Vec<RunnerChange>, CiError> {
        let details = self.job(id).await?;
        let decisions = details.admission.map(|admission| admission.decisions);
        let decisions = decisions.unwrap_or_default();
        let read = self.inner.database.read(move |reader| {
            let job = reader.job(id)?.ok_or(CiError::NotFound)?;
            let runners = reader.runners_for(&job.definition.project)?.into_iter();
            let runners: Vec<_> = runners.map(|record| record.runner).collect();
            Ok(runner_changes(&job.job.definition, &decisions, &runners))
        });
        read.await
    }

    /// Does what is to be done after a turn, without waiting for policies.
    pub(super) fn settle(&self, after: Aftermath) {
        let questions = self.inner.settle(after);
        self.inner.evaluate(questions);
    }

    /// Does what is to be done after a turn. Policies of this process are usually quicker than the answer, so they are
    /// waited for; they go on if not.
    pub(super) async fn follow_up(&self, after: Aftermath) {
        let questions = self.inner.settle(after);
        if questions.is_empty() {
            return;
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            inner.evaluate_all(questions).await;
            // The call may be over.
            let _ = sender.send(());
        });
        let _ = tokio::time::timeout(PATIENCE, receiver).await;
    }
}
