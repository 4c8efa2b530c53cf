//! What happens because time passed: deadlines of admissions, jobs that are stuck, retention.

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{Admission, ControllerId, JobId, JobStatus, Judge, Timestamp};
use portcullis_store::JobFilter;
use tokio::task::JoinSet;

use crate::engine::now;
use crate::error::CiError;
use crate::inner::Inner;

/// How often due jobs are looked for.
const PAUSE: Duration = Duration::from_millis(500);
/// The shortest pause when one is due soon.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
/// How long another server leaves a due job to this one.
const LEASE: Duration = Duration::from_secs(30);
/// Jobs that are looked at together.
const BATCH: usize = 64;
/// Jobs that are read together.
const READ: usize = 200;
/// How often finished jobs are deleted.
const CLEANING: Duration = Duration::from_secs(300);
/// Jobs that are deleted together.
const DELETED: usize = 200;

impl Inner {
    /// Looks at due jobs until the service is shut down.
    pub(crate) async fn sweep(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        let mut cleaned: Option<Stopwatch> = None;
        while !self.is_stopping() {
            let pause = match self.sweep_once().await {
                Ok(pause) => pause,
                Err(error) => {
                    self.trouble(&error);
                    PAUSE
                }
            };
            if cleaned.is_none_or(|last| last.elapsed() >= CLEANING) {
                cleaned = Some(Stopwatch::start());
                if let Err(error) = self.clean().await {
                    self.trouble(&error);
                }
            }
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

    /// Deletes what finished long ago.
    async fn clean(&self) -> Result<(), CiError> {
        let retention = self.settings().retention.get();
        while !self.is_stopping() {
            let deleted = self.database.write(move |store| {
                let before = before(now(), retention);
                store.sweep_exemptions(before)?;
                Ok(store.delete_finished(before, DELETED)?)
            });
            let deleted = deleted.await?;
            if deleted.jobs == 0 && deleted.pipelines == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// This long before.
fn before(time: Timestamp, duration: Duration) -> Timestamp {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(time.as_millis().saturating_sub(milliseconds))
}
