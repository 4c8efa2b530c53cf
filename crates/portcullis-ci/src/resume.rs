//! Going on with what was held back: pipelines that wait for their next stage, and jobs that never started.

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis_jobs::{JobId, PipelineId, plan_pipeline};
use portcullis_store::{CreatedJob, JobsReader};
use tokio::task::JoinSet;

use crate::error::CiError;
use crate::gate::{Gate, pause_of};
use crate::inner::Inner;

/// Jobs that are looked at together.
const BATCH: usize = 64;

/// What may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waiting {
    Pipeline(PipelineId),
    Job(JobId),
}

impl Inner {
    /// Looks at everything that has not started, the oldest first. Several servers may do so at a time.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<(), CiError> {
        let mut after = None;
        while !self.is_stopping() {
            let gate = self.gate();
            let read = self.database.read(move |reader| {
                let found = reader.created_jobs(after, BATCH)?;
                let last = found.last().map(|job| job.id);
                Ok((last, ready(reader, &*gate, &found)?))
            });
            let (last, waiting) = read.await?;
            if last.is_none() {
                break;
            }
            after = last;
            self.resume_some(waiting).await?;
        }
        Ok(())
    }

    async fn resume_some(self: &Arc<Self>, waiting: BTreeSet<Waiting>) -> Result<(), CiError> {
        let mut all = JoinSet::new();
        for one in waiting {
            let inner = Arc::clone(self);
            all.spawn(async move { inner.resume_one(one).await });
        }
        let mut outcome = Ok(());
        while let Some(ended) = all.join_next().await {
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => outcome = Err(error),
                Err(error) => outcome = Err(CiError::Unavailable(error.to_string())),
            }
        }
        outcome
    }

    async fn resume_one(self: &Arc<Self>, waiting: Waiting) -> Result<(), CiError> {
        let turn = self.turn(move |turn| match waiting {
            Waiting::Pipeline(id) => {
                turn.check_later(id);
                Ok(())
            }
            Waiting::Job(id) => turn.resume_single(id),
        });
        match turn.await {
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
}

/// What of these jobs nothing holds back: only that needs a transaction.
fn ready(
    reader: &mut JobsReader<'_>,
    gate: &dyn Gate,
    jobs: &[CreatedJob],
) -> Result<BTreeSet<Waiting>, CiError> {
    let mut looked_at = BTreeSet::new();
    let mut ready = BTreeSet::new();
    for job in jobs {
        match job.pipeline {
            None if gate.new_pipelines_paused(&job.project).is_none() => {
                ready.insert(Waiting::Job(job.id));
            }
            Some(id) if looked_at.insert(id) => {
                let jobs = reader.pipeline_jobs(&job.project, id)?;
                let stages = reader.pipeline(id)?.map(|pipeline| pipeline.stages);
                let plan = plan_pipeline(&stages.unwrap_or_default(), &jobs);
                let would_start = plan.is_ok_and(|plan| !plan.start.is_empty());
                if would_start && pause_of(gate, &job.project, &jobs).is_none() {
                    ready.insert(Waiting::Pipeline(id));
                }
            }
            _ => {}
        }
    }
    Ok(ready)
}
