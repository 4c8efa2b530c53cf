//! What a runner is told of the job it was given.

use portcullis_jobs::{Dependency, DependencyFile, Job, JobId, RunnerPayload, TakenBy, Timestamp};
use portcullis_store::{JobRun, JobsReader};

use super::Service;
use crate::artifacts::ARCHIVE;
use crate::details::TakenJob;
use crate::engine::now;
use crate::error::CiError;
use crate::secrets::ServerKey;

impl Service {
    /// The JSON of a job for the runner that was given it.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer: the job goes to another runner after its lease.
    pub async fn runner_payload(&self, taken: &TakenJob) -> Result<Vec<u8>, CiError> {
        let job = &taken.record;
        let run = JobRun::of(job).ok_or(CiError::JobToken(Some(job.state.status)))?;
        let dependencies = self.dependencies(job).await?;
        let settings = self.inner.settings();
        let server_url = settings.public_url.as_deref().unwrap_or_default();
        let by = TakenBy {
            runner: &taken.runner,
            token: &self.inner.key.job_token(&run),
            server_url: server_url.trim_end_matches('/'),
            running_on_instance_runners: taken.running_on_instance_runners,
            now: now(),
        };
        let payload = RunnerPayload::new(job, by, dependencies);
        serde_json::to_vec(&payload).map_err(|error| CiError::Unavailable(error.to_string()))
    }

    /// The jobs of earlier stages whose artifacts it gets.
    async fn dependencies(&self, job: &Job) -> Result<Vec<Dependency>, CiError> {
        let wanted = job.definition.work.dependencies.clone();
        let has_none = wanted.as_ref().is_some_and(Vec::is_empty);
        let Some(pipeline) = job.pipeline.filter(|_| !has_none) else {
            return Ok(Vec::new());
        };
        let (project, stage) = (job.definition.project.clone(), job.definition.stage.clone());
        let key = std::sync::Arc::clone(&self.inner.key);
        let read = self.inner.database.read(move |reader| {
            let stages = reader.pipeline(pipeline)?.map(|pipeline| pipeline.stages);
            let mut stages = stages.unwrap_or_default();
            let own = stages.iter().position(|one| *one == stage);
            stages.truncate(own.unwrap_or(0));
            if stages.is_empty() {
                return Ok(Vec::new());
            }
            // Few of many: definitions of the others are not read.
            let jobs = reader.pipeline_jobs(&project, pipeline)?.into_iter();
            let earlier = jobs.filter(|job| stages.contains(&job.stage));
            let ids: Vec<JobId> = earlier.map(|job| job.id).collect();
            let mut found = Vec::new();
            for other in reader.jobs_by_id(&ids)? {
                let is_named = |names: &Vec<String>| names.contains(&other.definition.name);
                if wanted.as_ref().is_none_or(is_named) {
                    found.extend(dependency(reader, &other.job, &key, now())?);
                }
            }
            found.sort_by_key(|dependency| dependency.id);
            Ok(found)
        });
        read.await
    }
}

fn dependency(
    reader: &mut JobsReader<'_>,
    job: &Job,
    key: &ServerKey,
    now: Timestamp,
) -> Result<Option<Dependency>, CiError> {
    let has_artifacts = job.definition.work.has_artifacts();
    let Some(run) = JobRun::of(job).filter(|_| has_artifacts) else {
        return Ok(None);
    };
    let found = reader.artifact(&run, ARCHIVE)?;
    let found = found.filter(|artifact| artifact.expires_at.is_none_or(|at| now < at));
    Ok(found.map(|artifact| Dependency {
        id: job.id,
        name: job.definition.name.clone(),
        token: key.artifact_token(&run),
        artifacts_file: DependencyFile {
            filename: artifact.name,
            size: artifact.size,
        },
    }))
}
