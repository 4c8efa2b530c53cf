//! The body of a call that submits a pipeline.

use std::collections::HashSet;

use portcullis_document::{Fault, Seconds, path, read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checks::Checks;
use super::job::{DEFAULT_SOURCE, JobPart, Script, Surroundings};
use crate::allow_failure::AllowFailure;
use crate::job::{JobDefinition, JobUser};
use crate::pipeline::all_stages;
use crate::variables::Variables;
use crate::work::{Artifacts, Cache, JobWork};

/// The name of a pipeline that has none.
pub const DEFAULT_PIPELINE: &str = "default";
/// The most jobs of a pipeline.
const MOST_JOBS: usize = 500;
/// The most stages of a pipeline.
const MOST_STAGES: usize = 100;

/// Where a pipeline comes from: everything but its stages and jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineOrigin {
    /// The path of its project.
    pub project: String,
    /// Its name, such as `check` or `gate`.
    pub name: String,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// Whether that is protected.
    pub ref_protected: bool,
    /// The change it is for, such as `12,1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// What caused it.
    pub source: String,
    /// The user it runs for.
    pub user: JobUser,
}

/// A pipeline as it was submitted; it never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineDefinition {
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: PipelineOrigin,
    /// The variables of all of its jobs.
    pub variables: Variables,
    /// Its stages, with the outer ones.
    pub stages: Vec<String>,
    /// Its jobs, with its variables.
    pub jobs: Vec<JobDefinition>,
}

impl PipelineDefinition {
    /// Its jobs. Those that get artifacts of all earlier stages, where there can't be any, say that they get none, which
    /// saves a query when the job is taken.
    pub fn jobs_with_dependencies(&self) -> impl Iterator<Item = JobDefinition> {
        let stage_of = |job: &JobDefinition| self.stages.iter().position(|one| *one == job.stage);
        let uploading = self.jobs.iter().filter(|job| job.work.has_artifacts());
        let first = uploading.filter_map(stage_of).min();
        self.jobs.iter().map(move |job| {
            let mut job = job.clone();
            let has_none = first.is_none_or(|first| stage_of(&job) <= Some(first));
            if has_none && job.work.dependencies.is_none() {
                job.work.dependencies = Some(Vec::new());
            }
            job
        })
    }
}

/// The body of a call that submits a pipeline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineBody {
    /// The path of its project.
    project: String,
    /// Its name, such as `check` or `gate`; `default` by default.
    name: Option<String>,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    git_ref: String,
    /// Whether that is protected.
    #[serde(default)]
    ref_protected: bool,
    /// The change it is for, such as `12,1`.
    change: Option<String>,
    /// What caused it; `api` by default.
    source: Option<String>,
    user: JobUser,
    #[serde(default)]
    variables: Variables,
    #[serde(default)]
    stages: Vec<String>,
    jobs: Vec<PipelineJobBody>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PipelineJobBody {
    name: String,
    stage: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    variables: Variables,
    #[serde(default)]
    script: Script,
    image: Option<String>,
    #[serde(default)]
    allow_failure: AllowFailure,
    timeout: Option<Seconds>,
    #[serde(default)]
    before_script: Script,
    /// Commands that run whether the script succeeded or not.
    #[serde(default)]
    after_script: Script,
    /// Images of services beside the job.
    #[serde(default)]
    services: Vec<String>,
    artifacts: Option<Artifacts>,
    cache: Option<Cache>,
    /// The jobs whose artifacts it gets; those of all earlier stages by default.
    dependencies: Option<Vec<String>>,
}

/// Reads and checks the body of a call that submits a pipeline.
///
/// # Errors
///
/// Everything that is wrong, each with the path of its field.
pub fn read_pipeline(body: &Value) -> Result<PipelineDefinition, Vec<Fault>> {
    let body: PipelineBody = read::json(body)?;
    let mut checks = Checks::default();
    let origin = PipelineOrigin {
        project: body.project,
        name: body.name.unwrap_or_else(|| DEFAULT_PIPELINE.to_owned()),
        git_ref: body.git_ref,
        ref_protected: body.ref_protected,
        change: body.change,
        source: body.source.unwrap_or_else(|| DEFAULT_SOURCE.to_owned()),
        user: body.user,
    };
    checks.project("project", &origin.project);
    checks.text("name", &origin.name);
    checks.git_ref("ref", &origin.git_ref);
    if let Some(change) = &origin.change {
        checks.text("change", change);
    }
    checks.source("source", &origin.source);
    checks.user("user", &origin.user);
    let parts = body.jobs.into_iter().enumerate().map(|(index, job)| {
        let part = JobPart {
            name: job.name,
            stage: job.stage,
            tags: job.tags,
            variables: job.variables,
            script: job.script,
            image: job.image,
            allow_failure: job.allow_failure,
            timeout: job.timeout,
            work: JobWork {
                before_script: job.before_script.0,
                after_script: job.after_script.0,
                services: job.services,
                artifacts: job.artifacts,
                cache: job.cache,
                dependencies: job.dependencies,
            },
        };
        let at = path::index("jobs", index);
        (path::key(&at, "name"), at, part)
    });
    let defined = define(
        origin,
        body.variables,
        &body.stages,
        parts.collect(),
        &mut checks,
    );
    if checks.faults.is_empty() {
        Ok(defined)
    } else {
        Err(checks.faults)
    }
}

/// Puts a pipeline together. Each job comes with the path of its name and its own.
pub(super) fn define(
    origin: PipelineOrigin,
    variables: Variables,
    stages: &[String],
    parts: Vec<(String, String, JobPart)>,
    checks: &mut Checks,
) -> PipelineDefinition {
    checks.variables("variables", &variables);
    check_stages(stages, checks);
    if parts.is_empty() {
        checks.add("jobs", "a pipeline has at least one job");
    }
    if parts.len() > MOST_JOBS {
        let message = format!("expected at most {MOST_JOBS} jobs, found {}", parts.len());
        checks.add("jobs", message);
    }
    let stages = all_stages(stages);
    let around = Surroundings {
        project: &origin.project,
        git_ref: &origin.git_ref,
        ref_protected: origin.ref_protected,
        source: &origin.source,
        user: &origin.user,
        variables: &variables,
        stages: &stages,
    };
    let mut names = HashSet::new();
    let mut jobs = Vec::new();
    for (at_name, at, part) in parts.into_iter().take(MOST_JOBS) {
        checks.text(&at_name, &part.name);
        if !names.insert(part.name.clone()) {
            checks.add(&at_name, format!("job `{}` is given twice", part.name));
        }
        jobs.push(part.define(&at, &around, checks));
    }
    PipelineDefinition {
        origin,
        variables,
        stages,
        jobs,
    }
}

fn check_stages(stages: &[String], checks: &mut Checks) {
    if stages.len() > MOST_STAGES {
        let message = format!(
            "expected at most {MOST_STAGES} stages, found {}",
            stages.len()
        );
        checks.add("stages", message);
    }
    let mut seen = HashSet::new();
    for (index, stage) in stages.iter().enumerate() {
        let at = path::index("stages", index);
        checks.text(&at, stage);
        if !seen.insert(stage) {
            checks.add(&at, format!("stage `{stage}` is given twice"));
        }
    }
}
