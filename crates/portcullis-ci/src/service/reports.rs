//! Runners that report on the jobs they have.

use std::time::Duration;

use portcullis_jobs::{Event, FailureReason, Job, JobId, JobStatus};
use portcullis_store::{JobRun, WillChange};

use super::Service;
use crate::details::{JobReport, ReportOutcome, ReportedState};
use crate::engine::now;
use crate::error::CiError;
use crate::secrets;

/// Signs of life that follow each other closely are not stored, unless jobs count as lost that quickly.
const CONTACT_EVERY: Duration = Duration::from_secs(10);

/// A job that runs, and whose token was given.
#[derive(Debug)]
pub struct RunningJob {
    pub(super) run: JobRun,
    /// Whether a sign of life was stored just now.
    pub(super) is_fresh: bool,
}

impl Service {
    /// The job that runs with this token.
    ///
    /// # Errors
    ///
    /// [`CiError::JobToken`] when the token is wrong, or the job doesn't run any more; when the store doesn't answer.
    pub async fn running_job(&self, id: JobId, token: &str) -> Result<RunningJob, CiError> {
        let (job, run) = self.job_of_token(id, token).await?;
        match job.state.status {
            JobStatus::Running => Ok(RunningJob {
                run,
                is_fresh: self.is_fresh(&job),
            }),
            other => Err(CiError::JobToken(Some(other))),
        }
    }

    /// A runner reports on a job, with the token of the job. What it reported before may be reported again.
    ///
    /// # Errors
    ///
    /// [`CiError::JobToken`] when the token is wrong, or the job doesn't run any more; when the store doesn't answer.
    pub async fn update_job(
        &self,
        id: JobId,
        token: &str,
        report: JobReport,
    ) -> Result<ReportOutcome, CiError> {
        let (job, run) = self.job_of_token(id, token).await?;
        let status = job.state.status;
        if status != JobStatus::Running {
            return match is_repeated(&job, &report) {
                true => Ok(ReportOutcome::Counts(status)),
                false => Err(CiError::JobToken(Some(status))),
            };
        }
        let events = match report.state {
            ReportedState::Pending if !job.state.acknowledged => vec![Event::KeepAlive],
            ReportedState::Pending | ReportedState::Running => match self.is_fresh(&job) {
                true => return Ok(ReportOutcome::Counts(status)),
                false => vec![Event::Acknowledge],
            },
            ReportedState::Success => vec![Event::Acknowledge, Event::Succeed],
            ReportedState::Failed => vec![Event::Acknowledge, failure(&report)],
        };
        let is_final = matches!(report.state, ReportedState::Success | ReportedState::Failed);
        let changes = WillChange::job(run.job);
        let turn = self.inner.turn_on(changes, move |turn| {
            if is_final && !is_complete(turn.store, &run, &report)? {
                // The trace is locked after the job, as everywhere.
                turn.reported(&run, &[Event::Acknowledge])?;
                turn.store.trace_for_change(&run)?;
                turn.store.reset_trace(&run)?;
                return Ok(ReportOutcome::ResendTrace);
            }
            turn.reported(&run, &events)?;
            Ok(ReportOutcome::Counts(match report.state {
                ReportedState::Success => JobStatus::Success,
                ReportedState::Failed => JobStatus::Failed,
                ReportedState::Pending | ReportedState::Running => JobStatus::Running,
            }))
        });
        let (outcome, after) = turn.await?;
        self.settle(after);
        Ok(outcome)
    }

    /// The job whose token this is, with its run.
    async fn job_of_token(&self, id: JobId, token: &str) -> Result<(Job, JobRun), CiError> {
        let found = self.run_of(id).await?;
        let key = &self.inner.key;
        let is_it = |(_, run): &(Job, JobRun)| secrets::is_same(token, &key.job_token(run));
        found.filter(is_it).ok_or(CiError::JobToken(None))
    }

    /// A job that a runner has or had in its present attempt. One in the archive stays there.
    pub(super) async fn run_of(&self, id: JobId) -> Result<Option<(Job, JobRun)>, CiError> {
        let read = self.inner.database.read(move |reader| {
            let job = reader.job(id)?.map(|record| record.job);
            Ok(job.and_then(|job| JobRun::of(&job).map(|run| (job, run))))
        });
        read.await
    }

    /// Whether a sign of life of an acknowledged job was stored so recently that another one can be left out.
    fn is_fresh(&self, job: &Job) -> bool {
        let lost = self.inner.settings().runners.lost.get();
        let every = CONTACT_EVERY.min(lost / 4);
        let state = &job.state;
        state.acknowledged && state.contacted_at.is_some_and(|at| now().since(at) < every)
    }
}

/// Whether the trace is what the runner says, or was sent again already.
fn is_complete(
    store: &mut portcullis_store::JobsReader<'_>,
    run: &JobRun,
    report: &JobReport,
) -> Result<bool, CiError> {
    if report.checksum.is_none() && report.bytesize.is_none() {
        return Ok(true);
    }
    let trace = store.trace(run)?;
    let checksum = format!("crc32:{:08x}", trace.checksum);
    let is_same = report.checksum.as_ref().is_none_or(|sum| *sum == checksum);
    let is_whole = report.bytesize.is_none_or(|size| size == trace.size);
    Ok((is_same && is_whole) || trace.resets > 0)
}

fn failure(report: &JobReport) -> Event {
    Event::Fail {
        reason: FailureReason::reported(report.failure_reason.as_deref()),
        exit_code: report.exit_code,
    }
}

/// Whether a job ended as it is reported now.
fn is_repeated(job: &Job, report: &JobReport) -> bool {
    let reason = FailureReason::reported(report.failure_reason.as_deref());
    match (job.state.status, report.state) {
        (JobStatus::Success, ReportedState::Success) => true,
        (JobStatus::Failed, ReportedState::Failed) => job.state.failure_reason == Some(reason),
        _ => false,
    }
}
