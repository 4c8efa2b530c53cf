//! From what is stored to what the API shows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use portcullis_jobs::{
    JobDetails, JobId, JobStatus, PipelineId, Prerequisite, Runner, plan_pipeline,
};
use portcullis_store::{Delivery, DeliveryState, JobRecord, JobsReader, PipelineRecord};

use crate::details::{DeliveryDetails, DeliveryTry, JobSummary, PipelineDetails};
use crate::error::CiError;
use crate::gate::{Gate, Pause, pause_of};
use crate::known::{KnownSurroundings, Surroundings};

/// Shows jobs. What several of them share is loaded once.
#[derive(Debug)]
pub(crate) struct JobViewer {
    gate: Arc<dyn Gate>,
    /// What was read with some version of the surroundings, and the version that the reader sees.
    known: Arc<KnownSurroundings>,
    version: Option<u64>,
    runners: HashMap<String, ProjectRunners>,
    /// The jobs of pipelines that would start if nothing held them back, and what does.
    held: HashMap<PipelineId, (Vec<JobId>, Option<Pause>)>,
}

/// The runners of a project.
#[derive(Debug)]
enum ProjectRunners {
    Known(Arc<Surroundings>),
    Loaded(Vec<Runner>),
}

impl ProjectRunners {
    fn all(&self) -> &[Runner] {
        match self {
            Self::Known(around) => &around.runners,
            Self::Loaded(runners) => runners,
        }
    }
}

impl JobViewer {
    pub(crate) fn new(gate: Arc<dyn Gate>, known: Arc<KnownSurroundings>) -> Self {
        Self {
            gate,
            known,
            version: None,
            runners: HashMap::new(),
            held: HashMap::new(),
        }
    }

    /// What surrounds a project is known already.
    pub(crate) fn knowing(mut self, project: &str, around: &Arc<Surroundings>) -> Self {
        let runners = ProjectRunners::Known(Arc::clone(around));
        self.runners.insert(project.to_owned(), runners);
        self
    }

    /// A job with the runners that may take it, and what it waits for.
    pub(crate) fn show(
        &mut self,
        reader: &mut JobsReader<'_>,
        job: &JobRecord,
    ) -> Result<JobDetails, CiError> {
        let pause = match job.state.status {
            JobStatus::Created => self.pause_of(reader, job)?,
            _ => None,
        };
        let others = pause.map(Prerequisite::from).into_iter().collect();
        let runners = match job.state.status.is_finished() {
            true => &[],
            false => self.runners_for(reader, &job.definition.project)?,
        };
        Ok(job.details(runners, others))
    }

    fn runners_for(
        &mut self,
        reader: &mut JobsReader<'_>,
        project: &str,
    ) -> Result<&[Runner], CiError> {
        if !self.runners.contains_key(project) {
            let runners = self.find_runners(reader, project)?;
            self.runners.insert(project.to_owned(), runners);
        }
        let runners = self.runners.get(project);
        Ok(runners.map_or(&[], ProjectRunners::all))
    }

    fn find_runners(
        &mut self,
        reader: &mut JobsReader<'_>,
        project: &str,
    ) -> Result<ProjectRunners, CiError> {
        let version = match self.version {
            Some(version) => version,
            None => *self.version.insert(reader.surroundings_version()?),
        };
        if let Some(around) = self.known.get(version, project) {
            return Ok(ProjectRunners::Known(around));
        }
        let found = reader.runners_for(project)?.into_iter();
        Ok(ProjectRunners::Loaded(
            found.map(|record| record.runner).collect(),
        ))
    }

    /// What holds back a job that has not started. One whose stage has not come waits for its stage only.
    fn pause_of(
        &mut self,
        reader: &mut JobsReader<'_>,
        job: &JobRecord,
    ) -> Result<Option<Pause>, CiError> {
        let project = &job.definition.project;
        let Some(id) = job.pipeline else {
            return Ok(self.gate.new_pipelines_paused(project));
        };
        let gate = &*self.gate;
        if gate.new_pipelines_paused(project).is_none() && gate.results_paused(project).is_none() {
            return Ok(None);
        }
        let (start, pause) = match self.held.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let jobs = reader.pipeline_jobs(project, id)?;
                let stages = reader.pipeline(id)?.map(|pipeline| pipeline.stages);
                let plan = plan_pipeline(&stages.unwrap_or_default(), &jobs);
                let start = plan.map(|plan| plan.start).unwrap_or_default();
                place.insert((start, pause_of(gate, project, &jobs)))
            }
        };
        Ok(pause.clone().filter(|_| start.contains(&job.id)))
    }
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
