//! Who may hold back pipelines.

use std::fmt;

use portcullis_jobs::{JobStatus, PipelineJob, Prerequisite, Timestamp};

/// What holds back the pipelines of a project, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The tenant that is paused, if it is known.
    pub tenant: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// What is paused, and why.
    pub detail: String,
}

impl From<Pause> for Prerequisite {
    fn from(pause: Pause) -> Self {
        Self::paused_tenant(pause.tenant, pause.since, pause.detail)
    }
}

/// Says whether the pipelines of a project go on. Asked whenever something could start; who lets them go on again
/// calls [`Service::resume`](crate::Service::resume).
pub trait Gate: Send + Sync + fmt::Debug {
    /// What keeps new pipelines, and jobs without a pipeline, from starting. Their jobs stay `created`.
    fn new_pipelines_paused(&self, project: &str) -> Option<Pause>;

    /// What keeps finished jobs from starting the next stage.
    fn results_paused(&self, project: &str) -> Option<Pause>;
}

/// Holds back nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    fn new_pipelines_paused(&self, _: &str) -> Option<Pause> {
        None
    }

    fn results_paused(&self, _: &str) -> Option<Pause> {
        None
    }
}

/// What holds back the pipeline with these jobs.
pub(crate) fn pause_of(gate: &dyn Gate, project: &str, jobs: &[PipelineJob]) -> Option<Pause> {
    let is_new = jobs.iter().all(|job| job.status == JobStatus::Created);
    match is_new {
        true => gate.new_pipelines_paused(project),
        false => gate.results_paused(project),
    }
}
