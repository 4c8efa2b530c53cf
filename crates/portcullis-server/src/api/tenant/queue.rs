//! The queue of a tenant: pipelines and jobs of its projects that are not finished, in Zuul's shapes.
//!
//! A server without a listener for CI jobs shows none.

use std::collections::BTreeMap;

use portcullis_ci::{
    CiError, JobDetails, JobFilter, JobSummary, LivePipelines, PageRequest, PipelineDetails,
    PipelineFilter, Service,
};
use portcullis_jobs::{JobStatus, PipelineStatus};
use portcullis_roles::Tenant;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::http::error::HttpError;

/// Pipelines that are shown, at most.
const MOST_PIPELINES: usize = 200;
/// Jobs that are shown, at most.
const MOST_JOBS: usize = 500;
/// Pages of jobs that are read, at most, where most belong to other tenants.
const MOST_READS: usize = 40;

/// What of a pipeline is not finished.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PipelineQueue {
    /// The name of the pipeline, like `check`.
    name: String,
    /// One for each project.
    change_queues: Vec<ChangeQueue>,
}

/// What a project has in a pipeline.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeQueue {
    /// The path of the project.
    name: String,
    /// One list: the items, the oldest first.
    heads: Vec<Vec<QueueItem>>,
}

/// A run of a pipeline.
#[derive(Debug, Serialize, JsonSchema)]
struct QueueItem {
    /// The change, like `12,1`; null for a ref.
    id: Option<String>,
    /// The number of the pipeline in `/api/v1/pipelines/{id}`.
    pipeline: u64,
    /// The path of the project.
    project: String,
    /// The branch or tag.
    #[serde(rename = "ref")]
    git_ref: String,
    /// Always true: what is not finished is live.
    live: bool,
    status: &'static str,
    /// When it was submitted, in milliseconds since 1970.
    enqueue_time: u64,
    jobs: Vec<QueueJob>,
}

/// A job of a run.
#[derive(Debug, Serialize, JsonSchema)]
struct QueueJob {
    /// Its number in `/api/v1/jobs/{id}`.
    id: u64,
    name: String,
    stage: String,
    status: &'static str,
    /// How it ended, in Zuul's words; null while it has not.
    result: Option<&'static str>,
}

/// A job that is not finished.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JobEntry {
    /// Its number in `/api/v1/jobs/{id}`.
    id: u64,
    name: String,
    /// The path of its project.
    project: String,
    /// Its pipeline in `/api/v1/pipelines/{id}`, if it has one.
    pipeline: Option<u64>,
    stage: String,
    #[serde(rename = "ref")]
    git_ref: String,
    status: &'static str,
}

/// A pipeline of which something is not finished.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PipelineEntry {
    name: String,
    /// How many runs are not finished.
    queue: u64,
}

/// How many pipelines are not finished, of all projects.
pub(super) struct Live(Vec<LivePipelines>);

impl Live {
    /// Those of a tenant.
    pub(super) fn of<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = &'a LivePipelines> {
        let all = self.0.iter();
        all.filter(|live| tenant.project(&live.project).is_some())
    }
}

/// How many pipelines are not finished.
pub(super) async fn live(call: &Call<'_>) -> Result<Live, HttpError> {
    Ok(match call.jobs_if_served().await? {
        Some(jobs) => Live(jobs.live_pipeline_counts().await?),
        None => Live(Vec::new()),
    })
}

/// What is not finished in a tenant, by the name of its pipeline; and how many pipelines have not started.
pub(super) async fn shown(
    call: &Call<'_>,
    tenant: &Tenant,
) -> Result<(u64, Vec<PipelineQueue>), HttpError> {
    let Some(jobs) = call.jobs_if_served().await? else {
        return Ok((0, Vec::new()));
    };
    let live = Live(jobs.live_pipeline_counts().await?);
    let waiting = live.of(tenant);
    let waiting = waiting.filter(|live| live.status == PipelineStatus::Created);
    let waiting = waiting.map(|live| live.count).sum();
    let mut queues: BTreeMap<(&str, &str), Vec<QueueItem>> = BTreeMap::new();
    for live in live.of(tenant) {
        queues.entry((&live.name, &live.project)).or_default();
    }
    let mut left = MOST_PIPELINES;
    for ((name, project), items) in &mut queues {
        items.extend(items_of(&jobs, name, project, left).await?);
        left = left.saturating_sub(items.len());
    }
    let mut pipelines: Vec<PipelineQueue> = Vec::new();
    for ((name, project), items) in queues.into_iter().filter(|(_, items)| !items.is_empty()) {
        let queue = ChangeQueue {
            name: project.to_owned(),
            heads: vec![items],
        };
        match pipelines.last_mut() {
            Some(last) if last.name == name => last.change_queues.push(queue),
            _ => pipelines.push(PipelineQueue {
                name: name.to_owned(),
                change_queues: vec![queue],
            }),
        }
    }
    Ok((waiting, pipelines))
}

/// What a project has in a pipeline, the oldest first.
async fn items_of(
    jobs: &Service,
    name: &str,
    project: &str,
    most: usize,
) -> Result<Vec<QueueItem>, HttpError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let filter = PipelineFilter {
        project: project.to_owned(),
        name: Some(name.to_owned()),
        ..PipelineFilter::default()
    };
    let ids = jobs.live_pipelines(filter).await?;
    let mut items = Vec::new();
    for id in ids.into_iter().rev().take(most) {
        match jobs.pipeline(id).await {
            Ok(pipeline) => items.push(item(pipeline)),
            // It was deleted meanwhile.
            Err(CiError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(items)
}

fn item(pipeline: PipelineDetails) -> QueueItem {
    QueueItem {
        id: pipeline.change,
        pipeline: pipeline.id,
        project: pipeline.project,
        git_ref: pipeline.git_ref,
        live: true,
        status: pipeline.status.as_str(),
        enqueue_time: pipeline.created_at.as_millis(),
        jobs: pipeline.jobs.into_iter().map(job).collect(),
    }
}

fn job(job: JobSummary) -> QueueJob {
    QueueJob {
        id: job.id,
        result: match job.status {
            JobStatus::Success => Some("SUCCESS"),
            JobStatus::Failed => Some("FAILURE"),
            JobStatus::Canceled => Some("CANCELED"),
            JobStatus::Skipped => Some("SKIPPED"),
            _ => None,
        },
        status: job.status.as_str(),
        name: job.name,
        stage: job.stage,
    }
}

/// `GET /api/tenant/{tenant}/jobs`
pub(super) fn jobs(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let mut found = Vec::new();
        if let Some(jobs) = call.jobs_if_served().await? {
            for status in JobStatus::ALL {
                if !status.is_finished() {
                    found.extend(jobs_of(&jobs, tenant, status).await?);
                }
            }
        }
        found.sort_by_key(|job: &JobEntry| std::cmp::Reverse(job.id));
        found.truncate(MOST_JOBS);
        answer::ok(&found)
    })
}

/// The newest jobs of a tenant with a status.
async fn jobs_of(
    jobs: &Service,
    tenant: &Tenant,
    status: JobStatus,
) -> Result<Vec<JobEntry>, HttpError> {
    let filter = JobFilter {
        status: Some(status),
        ..JobFilter::default()
    };
    let mut found = Vec::new();
    let mut after = None;
    for _ in 0..MOST_READS {
        let wanted = PageRequest {
            after,
            limit: Some(MOST_JOBS),
        };
        let page = jobs.jobs(filter.clone(), wanted).await?;
        let held = page.items.into_iter();
        let held = held.filter(|job| tenant.project(&job.project).is_some());
        found.extend(held.map(entry));
        after = page.next;
        if after.is_none() || found.len() >= MOST_JOBS {
            break;
        }
    }
    Ok(found)
}

fn entry(job: JobDetails) -> JobEntry {
    JobEntry {
        id: job.id,
        name: job.name,
        project: job.project,
        pipeline: job.pipeline,
        stage: job.stage,
        git_ref: job.git_ref,
        status: job.status.as_str(),
    }
}

/// `GET /api/tenant/{tenant}/pipelines`
pub(super) fn pipelines(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let live = live(&call).await?;
        let mut queues: BTreeMap<&str, u64> = BTreeMap::new();
        for live in live.of(tenant) {
            *queues.entry(&live.name).or_default() += live.count;
        }
        let entry = |(name, queue): (&str, u64)| PipelineEntry {
            name: name.to_owned(),
            queue,
        };
        answer::ok(&queues.into_iter().map(entry).collect::<Vec<_>>())
    })
}
