//! From what is stored to what the API shows.

use std::collections::HashMap;

use portcullis_jobs::{
    Admission, JobStatus, Prerequisites, Runner, eligible_runners, stuck_reason,
};
use portcullis_store::{Delivery, DeliveryState, JobRecord, JobsReader, PipelineRecord};

use crate::details::{DeliveryDetails, DeliveryTry, JobDetails, JobSummary, PipelineDetails};
use crate::error::CiError;

/// The runners of projects, loaded once each.
#[derive(Debug, Default)]
pub(crate) struct RunnersByProject(HashMap<String, Vec<Runner>>);

impl RunnersByProject {
    fn of(&mut self, reader: &mut JobsReader<'_>, project: &str) -> Result<&[Runner], CiError> {
        if !self.0.contains_key(project) {
            let found = reader.runners_for(project)?.into_iter();
            let runners = found.map(|record| record.runner).collect();
            self.0.insert(project.to_owned(), runners);
        }
        Ok(self.0.get(project).map_or(&[], Vec::as_slice))
    }
}

/// A job with the runners that may take it.
pub(crate) fn job(
    reader: &mut JobsReader<'_>,
    runners: &mut RunnersByProject,
    job: &JobRecord,
) -> Result<JobDetails, CiError> {
    let (definition, state) = (&job.definition, &job.state);
    let admission = job.admission.as_ref();
    // The admission of an earlier attempt says nothing about the prerequisites of this one.
    let current = admission.filter(|admission| admission.attempt == state.attempt);
    let needs = job.needs();
    let is_live = !state.status.is_finished();
    let runners = match is_live {
        true => runners.of(reader, &definition.project)?,
        false => &[],
    };
    let is_pending = state.status == JobStatus::Pending;
    Ok(JobDetails {
        id: job.id,
        project: definition.project.clone(),
        name: definition.name.clone(),
        pipeline: job.pipeline,
        stage: definition.stage.clone(),
        git_ref: definition.git_ref.clone(),
        ref_protected: definition.ref_protected,
        source: definition.source.clone(),
        user: definition.user.clone(),
        status: state.status,
        failure_reason: state.failure_reason,
        allowed_to_fail: state.is_allowed_failure(&definition.allow_failure),
        tags: job.tags().to_vec(),
        original_tags: definition.tags.clone(),
        attempt: state.attempt,
        created_at: job.created_at,
        queued_at: state.queued_at,
        started_at: state.started_at,
        finished_at: state.finished_at,
        runner_id: state.runner_id,
        prerequisites: Prerequisites::of_job(state.status, current),
        admission: admission.map(Admission::view),
        eligible_runners: eligible_runners(&needs, runners),
        stuck_reason: is_pending.then(|| stuck_reason(&needs, runners)).flatten(),
    })
}

/// A pipeline with its jobs.
pub(crate) fn pipeline(
    reader: &mut JobsReader<'_>,
    record: PipelineRecord,
) -> Result<PipelineDetails, CiError> {
    let origin = record.origin;
    let jobs = reader.jobs_of_pipeline(&origin.project, record.id)?;
    Ok(PipelineDetails {
        id: record.id,
        project: origin.project,
        name: origin.name,
        git_ref: origin.git_ref,
        change: origin.change,
        status: record.status,
        stages: record.stages,
        created_at: record.created_at,
        finished_at: record.finished_at,
        jobs: jobs.iter().map(summary).collect(),
    })
}

fn summary(job: &JobRecord) -> JobSummary {
    JobSummary {
        id: job.id,
        name: job.definition.name.clone(),
        stage: job.definition.stage.clone(),
        status: job.state.status,
        allowed_to_fail: job.state.is_allowed_failure(&job.definition.allow_failure),
    }
}

/// A delivery with the name of its controller.
pub(crate) fn delivery(
    reader: &mut JobsReader<'_>,
    names: &mut HashMap<u64, Option<String>>,
    delivery: Delivery,
) -> Result<DeliveryDetails, CiError> {
    let id = delivery.controller;
    let name = match names.get(&id) {
        Some(name) => name.clone(),
        None => {
            let found = reader.controller(id)?;
            let name = found.map(|record| record.controller.definition.name);
            names.insert(id, name.clone());
            name
        }
    };
    let is_waiting = delivery.state == DeliveryState::Waiting;
    let tries = delivery.tries.into_iter();
    Ok(DeliveryDetails {
        id: delivery.id,
        job: delivery.job,
        project: delivery.project,
        controller: id,
        controller_name: name,
        attempt: delivery.attempt,
        state: delivery.state.to_string(),
        webhook_id: delivery.webhook_id,
        tries: tries
            .map(|attempt| DeliveryTry {
                at: attempt.at,
                status: attempt.status,
                error: attempt.error,
                duration_ms: attempt.duration_ms,
            })
            .collect(),
        next_at: is_waiting.then_some(delivery.next_at),
        created_at: delivery.created_at,
        deadline: delivery.deadline,
    })
}
