//! Runners that ask for a job.

use portcullis_jobs::{Job, JobId, JobStatus, Runner};
use portcullis_store::JobFilter;

use super::Service;
use crate::details::{JobRequest, RunnerContact, TakenJob};
use crate::error::CiError;

/// Jobs that are looked at together.
const BATCH: usize = 100;

impl Service {
    /// Gives a runner a job that it may take: no one else is given it. One that has nothing to do, and says so with the
    /// cursor of its last request, waits for a job.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn request_job(
        &self,
        runner: Runner,
        contact: RunnerContact,
        _last_update: Option<&str>,
    ) -> Result<JobRequest, CiError> {
        let mut before: Option<JobId> = None;
        let mut fitting = Vec::new();
        loop {
            let filter = JobFilter {
                status: Some(JobStatus::Pending),
                ..JobFilter::default()
            };
            let list = self
                .inner
                .database
                .read(move |reader| Ok(reader.list_jobs(&filter, before, BATCH)?));
            let found = list.await?;
            before = found.last().map(|job| job.id);
            let fits = found.iter().filter(|job| job.needs().is_met_by(&runner));
            fitting.extend(fits.map(|job| job.id));
            if found.len() < BATCH {
                break;
            }
        }
        let manager = contact.system_id.unwrap_or_default();
        for id in fitting.into_iter().rev() {
            if let Some(taken) = self.take(id, runner.clone(), &manager).await? {
                return Ok(JobRequest::Given(Box::new(taken)));
            }
        }
        let cursor = "0".to_owned();
        Ok(JobRequest::Nothing { cursor })
    }

    async fn take(
        &self,
        id: JobId,
        runner: Runner,
        manager: &str,
    ) -> Result<Option<TakenJob>, CiError> {
        let taker = runner.clone();
        let turn = self.inner.turn(move |turn| turn.take(id, &taker));
        let (taken, after) = turn.await?;
        self.follow_up(after).await;
        let taken = taken.map(|record: Job| TakenJob {
            job: id,
            attempt: record.state.attempt,
            queued_for: match (record.state.queued_at, record.state.started_at) {
                (Some(queued), Some(started)) => started.since(queued),
                _ => std::time::Duration::ZERO,
            },
            record,
            runner,
            manager: manager.to_owned(),
            running_on_instance_runners: 0,
        });
        Ok(taken)
    }
}
