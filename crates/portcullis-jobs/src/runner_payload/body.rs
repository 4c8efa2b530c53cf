//! The body.

use std::time::Duration;

use serde::Serialize;

use super::git::GitInfo;
use super::taken_by::TakenBy;
use super::variables::{RunnerVariable, variables};
use crate::failure::FailureReason;
use crate::job::JobId;
use crate::paths::last_name;
use crate::record::Job;
use crate::work::{CachePolicy, SaveWhen};

/// How long a job may run that doesn't say so.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);
/// What the tokens of jobs and runners begin with: runners hide them in traces.
const TOKEN_PREFIXES: [&str; 2] = ["glcbt-", "glrt-"];

/// The body.
#[derive(Debug, Serialize)]
pub struct RunnerPayload<'a> {
    id: JobId,
    token: &'a str,
    allow_git_fetch: bool,
    job_info: JobInfo<'a>,
    git_info: GitInfo,
    runner_info: RunnerInfo,
    variables: Vec<RunnerVariable<'a>>,
    steps: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Image<'a>>,
    services: Vec<Image<'a>>,
    artifacts: Vec<Archive<'a>>,
    cache: Vec<CacheEntry<'a>>,
    credentials: [(); 0],
    dependencies: Vec<Dependency>,
    features: Features,
}

#[derive(Debug, Serialize)]
struct JobInfo<'a> {
    id: JobId,
    name: &'a str,
    stage: &'a str,
    pipeline_id: u64,
    project_id: u64,
    project_name: &'a str,
    project_full_path: &'a str,
    user_id: u64,
    time_in_queue_seconds: f64,
    /// A number in a string, as GitLab writes it.
    project_jobs_running_on_instance_runners_count: String,
}

#[derive(Debug, Serialize)]
struct RunnerInfo {
    /// Seconds.
    timeout: u64,
}

#[derive(Debug, Serialize)]
struct Step<'a> {
    name: &'static str,
    script: Vec<&'a str>,
    timeout: u64,
    when: &'static str,
    allow_failure: bool,
}

#[derive(Debug, Serialize)]
struct Image<'a> {
    name: &'a str,
}

#[derive(Debug, Serialize)]
struct Archive<'a> {
    name: Option<&'a str>,
    untracked: bool,
    paths: &'a [String],
    exclude: &'a [String],
    when: SaveWhen,
    artifact_type: &'static str,
    artifact_format: &'static str,
    expire_in: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct CacheEntry<'a> {
    key: &'a str,
    untracked: bool,
    policy: CachePolicy,
    paths: &'a [String],
    when: SaveWhen,
}

/// A job whose artifacts the runner downloads first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// The job.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// The token for its artifacts.
    pub token: String,
    /// The archive.
    pub artifacts_file: DependencyFile,
}

/// The archive of a dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DependencyFile {
    /// Its name.
    pub filename: String,
    /// Its bytes.
    pub size: u64,
}

#[derive(Debug, Serialize)]
struct Features {
    trace_sections: bool,
    token_mask_prefixes: [&'static str; 2],
    failure_reasons: Vec<FailureReason>,
}

impl<'a> RunnerPayload<'a> {
    /// The job as this runner gets it.
    pub fn new(job: &'a Job, by: TakenBy<'a>, dependencies: Vec<Dependency>) -> Self {
        let (definition, state) = (&job.definition, &job.state);
        let work = &definition.work;
        let limit = definition.timeout.map(portcullis_document::Duration::get);
        let limit = limit.unwrap_or(DEFAULT_TIMEOUT);
        // Zero would be no limit.
        let timeout = limit.as_secs().max(1);
        let waited = state.queued_at.map(|queued| by.now.since(queued));
        let images = |names: &'a [String]| names.iter().map(|name| Image { name }).collect();
        let artifacts = work.artifacts.iter().map(|artifacts| Archive {
            name: artifacts.name.as_deref(),
            untracked: artifacts.untracked,
            paths: &artifacts.paths,
            exclude: &artifacts.exclude,
            when: artifacts.when,
            artifact_type: "archive",
            artifact_format: "zip",
            expire_in: artifacts.expire_in.as_deref(),
        });
        let cache = work.cache.iter().map(|cache| CacheEntry {
            key: cache.key.as_deref().unwrap_or("default"),
            untracked: cache.untracked,
            policy: cache.policy,
            paths: &cache.paths,
            when: cache.when,
        });
        let reasons = FailureReason::ALL.into_iter();
        Self {
            id: job.id,
            token: by.token,
            allow_git_fetch: true,
            job_info: JobInfo {
                id: job.id,
                name: &definition.name,
                stage: &definition.stage,
                pipeline_id: job.pipeline.unwrap_or(0),
                project_id: definition.project_id.unwrap_or(0),
                project_name: last_name(&definition.project),
                project_full_path: &definition.project,
                user_id: definition.user.id,
                time_in_queue_seconds: waited.unwrap_or_default().as_secs_f64(),
                project_jobs_running_on_instance_runners_count: by
                    .running_on_instance_runners
                    .to_string(),
            },
            git_info: GitInfo::of(definition, by.server_url),
            runner_info: RunnerInfo { timeout },
            variables: variables(job, &by, timeout),
            steps: steps(job, timeout),
            image: definition.image.as_deref().map(|name| Image { name }),
            services: images(&work.services),
            artifacts: artifacts.collect(),
            cache: cache.collect(),
            credentials: [],
            dependencies,
            features: Features {
                trace_sections: true,
                token_mask_prefixes: TOKEN_PREFIXES,
                failure_reasons: reasons.filter(|one| one.is_reported_by_runners()).collect(),
            },
        }
    }
}

/// The script with what comes before it, and what comes after it.
fn steps(job: &Job, timeout: u64) -> Vec<Step<'_>> {
    let definition = &job.definition;
    let before = definition.work.before_script.iter();
    let script = before.chain(&definition.script).map(String::as_str);
    let mut steps = vec![Step {
        name: "script",
        script: script.collect(),
        timeout,
        when: "on_success",
        allow_failure: false,
    }];
    let after = &definition.work.after_script;
    if !after.is_empty() {
        steps.push(Step {
            name: "after_script",
            script: after.iter().map(String::as_str).collect(),
            timeout,
            when: "always",
            allow_failure: true,
        });
    }
    steps
}
