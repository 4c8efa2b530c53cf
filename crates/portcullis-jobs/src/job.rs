//! What a job is, as it was submitted. What happens to it is in [`crate::transition`] and [`crate::admission`].

use portcullis_document::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allow_failure::AllowFailure;
use crate::runners::{RunnerFilter, RunnerNeeds};
use crate::variables::Variables;
use crate::work::JobWork;

/// The number of a job.
pub type JobId = u64;
/// The number of a pipeline.
pub type PipelineId = u64;

/// The user a job runs for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobUser {
    /// The user's number.
    pub id: u64,
    /// The user's name.
    pub username: String,
}

/// A job as it was submitted; it never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobDefinition {
    /// The path of its project.
    pub project: String,
    /// The number of its project, given when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<u64>,
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: String,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// Whether that is protected.
    pub ref_protected: bool,
    /// What caused it, such as `push`.
    pub source: String,
    /// The user it runs for.
    pub user: JobUser,
    /// Its tags as submitted.
    pub tags: Vec<String>,
    /// Its variables, with those of its pipeline.
    pub variables: Variables,
    /// Its commands.
    pub script: Vec<String>,
    /// The image it runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Which failures don't fail its pipeline.
    pub allow_failure: AllowFailure,
    /// How long it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// What else its runner needs.
    #[serde(default, skip_serializing_if = "JobWork::is_empty")]
    pub work: JobWork,
}

impl JobDefinition {
    /// What it asks of a runner, with the tags and the filter after admission.
    pub fn needs<'a>(&'a self, tags: &'a [String], filter: &'a RunnerFilter) -> RunnerNeeds<'a> {
        RunnerNeeds {
            project: &self.project,
            tags,
            ref_protected: self.ref_protected,
            filter,
        }
    }
}

/// A job of an attempt, as controllers see it.
#[derive(Debug, Clone, Copy)]
pub struct JobView<'a> {
    /// Its number.
    pub id: JobId,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What was submitted.
    pub definition: &'a JobDefinition,
    /// Its tags at this point of the chain.
    pub tags: &'a [String],
    /// What the verdicts leave at this point of the chain.
    pub filter: &'a RunnerFilter,
}
