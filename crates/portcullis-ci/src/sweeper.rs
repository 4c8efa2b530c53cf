//! What happens because time passed: deadlines of admissions, jobs that are stuck.

use std::sync::Arc;
use std::time::Duration;

use portcullis_jobs::{Admission, ControllerId, JobId, JobStatus, Judge};
use portcullis_store::JobFilter;
use tokio::task::JoinSet;

use crate::engine::now;
use crate::error::CiError;
use crate::inner::Inner;

/// How often due jobs are looked for.
const PAUSE: Duration = Duration::from_millis(500);
/// The shortest pause when one is due soon.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
/// How long another server leaves a due job to this one, which needs one short transaction for it.
const LEASE: Duration = Duration::from_secs(5);
/// Jobs that are looked at together.
const BATCH: usize = 64;
/// Jobs that are read together.
const READ: usize = 200;

impl Inner {
    /// Looks at due jobs until the service is shut down.
    pub(crate) async fn sweep(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        while !self.is_stopping() {
            let pause = match self.sweep_once().await {
                Ok(pause) => pause,
                Err(error) => {
                    self.trouble(&error);
                    PAUSE
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stopping.changed() => {}
            }
        }
    }

    /// Looks at what is due, and says when to look again.
    async fn sweep_once(self: &Arc<Self>) -> Result<Duration, CiError> {
        let next = self.database.read(|reader| Ok(reader.next_deadline()?));
        let Some(next) = next.await? else {
            return Ok(PAUSE);
        };
        let left = next.since(now());
        if !left.is_zero() {
            return Ok(left.clamp(SHORTEST_PAUSE, PAUSE));
        }
        let claimed = self.database.write(|store| {
            let now = now();
            Ok(store.claim_due_jobs(now, now.after(LEASE), BATCH)?)
        });
        let claimed = claimed.await?;
        let is_more = claimed.len() == BATCH;
        let mut all = JoinSet::new();
        for job in claimed {
            let inner = Arc::clone(self);
            all.spawn(async move { inner.wake_job(job).await });
        }
        while let Some(ended) = all.join_next().await {
            if let Ok(Err(error)) = ended {
                self.trouble(&error);
            }
        }
        Ok(if is_more {
            Duration::ZERO
        } else {
            SHORTEST_PAUSE
        })
    }

    /// Looks at one job, because it is due or its controller changed.
    pub(crate) async fn wake_job(self: &Arc<Self>, job: JobId) -> Result<(), CiError> {
        match self.turn(move |turn| turn.wake(job)).await {
            Ok(((), after)) => {
                let questions = self.settle(after);
                self.evaluate(questions);
                Ok(())
            }
            // It was deleted.
            Err(CiError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Looks at the jobs that wait for a controller, because it was changed.
    pub(crate) async fn wake_waiting(self: &Arc<Self>, id: ControllerId) -> Result<(), CiError> {
        let mut before: Option<JobId> = None;
        loop {
            let filter = JobFilter {
                status: Some(JobStatus::Preparing),
                ..JobFilter::default()
            };
            let list = self
                .database
                .read(move |reader| Ok(reader.list_jobs(&filter, before, READ)?));
            let found = list.await?;
            before = found.last().map(|job| job.id);
            for job in &found {
                let current = job.admission.as_ref().and_then(Admission::current);
                if current.is_some_and(|link| link.judge == Judge::Controller(id)) {
                    self.wake_job(job.id).await?;
                }
            }
            if found.len() < READ || self.is_stopping() {
                return Ok(());
            }
        }
    }
}
