//! Jobs: submitting, listing, showing, retrying, cancelling.

use portcullis_ci::{JobDetails, JobFilter, Service};
use portcullis_jobs::{Eligibility, JobBody, JobDefinition, JobStatus, RunnerChange, read_job};
use portcullis_roles::{Condition, Parameters, Permission, Project};

use super::{
    DISCARDED, Held, INVALID, LIMIT, PAGE_NUMBER, SUBMISSION, created, job_summary, job_trace,
    known, list_of, object, paged, visible,
};
use crate::api::access::by_holder;
use crate::api::action::{Action, Read};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{
    Content, Endpoint, QueryParameter, Success, Tag, Verb, get, post, schema_of, text,
};
use crate::api::guard::Territory;
use crate::api::query::Query;
use crate::http::error::HttpError;

/// What conditions of job permissions see.
#[derive(Debug, Clone)]
pub(super) struct JobParameters {
    pub(super) project: Option<Project>,
    pub(super) git_ref: String,
    pub(super) job: String,
}

impl JobParameters {
    fn of(project: Option<Project>, job: &JobDetails) -> Self {
        Self {
            project,
            git_ref: job.git_ref.clone(),
            job: job.name.clone(),
        }
    }

    fn parameters(&self) -> Parameters<'_> {
        let parameters = match &self.project {
            Some(project) => Parameters::new().with_project(project),
            None => Parameters::new(),
        };
        parameters
            .with(Condition::Ref, Some(&*self.git_ref))
            .with(Condition::Job, Some(&*self.job))
    }
}

/// Submits a job.
#[derive(Debug)]
pub(crate) struct SubmitJob {
    pub(super) about: JobParameters,
}

/// Runs a job again.
#[derive(Debug)]
pub(crate) struct RetryJob {
    id: u64,
    about: JobParameters,
}

/// Cancels a job.
#[derive(Debug)]
pub(crate) struct CancelJob {
    id: u64,
    about: JobParameters,
}

const CONDITIONS: &[Condition] = &[Condition::Project, Condition::Ref, Condition::Job];

impl Action for SubmitJob {
    const PERMISSION: Permission = Permission::SubmitJob;
    const CONDITIONS: &'static [Condition] = CONDITIONS;

    fn parameters(&self) -> Parameters<'_> {
        self.about.parameters()
    }
}

impl Action for RetryJob {
    const PERMISSION: Permission = Permission::RetryJob;
    const CONDITIONS: &'static [Condition] = CONDITIONS;

    fn parameters(&self) -> Parameters<'_> {
        self.about.parameters()
    }
}

impl Action for CancelJob {
    const PERMISSION: Permission = Permission::CancelJob;
    const CONDITIONS: &'static [Condition] = CONDITIONS;

    fn parameters(&self) -> Parameters<'_> {
        self.about.parameters()
    }
}

impl SubmitJob {
    /// What is checked of a job that is to be submitted.
    pub(super) fn of(project: Option<Project>, definition: &JobDefinition) -> Self {
        Self {
            about: JobParameters {
                project,
                git_ref: definition.git_ref.clone(),
                job: definition.name.clone(),
            },
        }
    }

    /// The project, by the name it has in the tenant that granted the permission.
    pub(super) fn project(self) -> Option<String> {
        self.about.project.map(|project| project.name)
    }
}

/// What may be done with jobs.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: created::<JobDetails>("The job."),
        ..post(
            ("/api/v1/jobs", "submitJob"),
            Tag::Jobs,
            by_holder::<SubmitJob>(),
            (
                "Submit a job",
                "It is `preparing` until its controllers and policies have decided, then `pending` or `failed`.",
            ),
            Content {
                schema: schema_of::<JobBody>,
                example: r#"{"project": "shop/web", "name": "build", "ref": "main", "ref_protected": true, "user": {"id": 1, "username": "alice"}, "tags": ["linux"], "script": ["make"]}"#,
            },
            &[
                INVALID,
                DISCARDED,
                (429, "Too many jobs of the project are waiting for admission."),
            ],
            submit,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[
            text("status", "Only jobs with this status.", "pending"),
            text("project", "Only jobs of this project.", "shop/web"),
            text("tenant", "Only jobs of this tenant's projects.", "shop"),
            PAGE_NUMBER,
            LIMIT,
        ],
        refusals: &[(404, "The tenant is unknown.")],
        ..get(
            ("/api/v1/jobs", "allJobs"),
            Tag::Jobs,
            by_holder::<Read>(),
            ("List jobs", "The newest first: those that the caller may see."),
            list_of::<JobDetails>("A page of jobs."),
            list,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[
            text("project", "Only jobs of this project.", "shop/web"),
            text("tenant", "Only jobs of this tenant's projects.", "shop"),
        ],
        refusals: &[(404, "The tenant is unknown, or CI jobs are not served.")],
        ..get(
            ("/api/v1/jobs/summary", "jobSummary"),
            Tag::Jobs,
            by_holder::<Read>(),
            (
                "Count jobs",
                "Those that the caller may see: by status, and those in the queue by how long they have waited.",
            ),
            object::<job_summary::JobsCounted>("The counts."),
            job_summary::summary,
        )
    }
    .with_ci(),
    get(
        ("/api/v1/jobs/{id}", "job"),
        Tag::Jobs,
        by_holder::<Read>(),
        (
            "Show a job",
            "With what it waits for, what each controller decided, and which runners may take it.",
        ),
        object::<JobDetails>("The job."),
        show,
    )
    .with_ci(),
    Endpoint {
        method: Verb::Post,
        success: object::<JobDetails>("The job, in its next attempt."),
        refusals: &[(409, "The job has not finished.")],
        ..get(
            ("/api/v1/jobs/{id}/retry", "retryJob"),
            Tag::Jobs,
            by_holder::<RetryJob>(),
            (
                "Retry a job",
                "It keeps its id; controllers are asked again. Skipped jobs of later stages are revived.",
            ),
            object::<JobDetails>("The job."),
            retry,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Post,
        refusals: &[(409, "The job has finished.")],
        ..get(
            ("/api/v1/jobs/{id}/cancel", "cancelJob"),
            Tag::Jobs,
            by_holder::<CancelJob>(),
            ("Cancel a job", ""),
            object::<JobDetails>("The job."),
            cancel,
        )
    }
    .with_ci(),
    get(
        ("/api/v1/jobs/{id}/runners", "runnersOfJob"),
        Tag::Jobs,
        by_holder::<Read>(),
        (
            "List the runners of a job",
            "Every runner that is there for its project: whether it may take the job, and why not.",
        ),
        Success::Json {
            description: "The runners.",
            schema: schema_of::<Vec<Eligibility>>,
        },
        runners,
    )
    .with_ci(),
    get(
        ("/api/v1/jobs/{id}/runners/changes", "runnerChangesOfJob"),
        Tag::Jobs,
        by_holder::<Read>(),
        (
            "List how controllers changed the runners of a job",
            "Which of the runners that are registered now may take the job before and after each decision, by its tags \
             and its accepted and rejected runners.",
        ),
        Success::Json {
            description: "The changes, in the order of the decisions.",
            schema: schema_of::<Vec<RunnerChange>>,
        },
        runner_changes,
    )
    .with_ci(),
    Endpoint {
        query: &[QueryParameter {
            name: "tail",
            description: "Only so many of its last bytes, 1 to 1048576.",
            schema: job_trace::tail_schema,
            example: "65536",
        }],
        ..get(
            ("/api/v1/jobs/{id}/trace", "jobTrace"),
            Tag::Jobs,
            by_holder::<Read>(),
            ("Show the output of a job", ""),
            Success::Other {
                description: "What the job wrote in its present attempt; empty before it runs.",
                content_type: "text/plain",
            },
            trace,
        )
    }
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such job")
}

impl Held for JobDetails {
    fn territory(&self) -> Territory<'_> {
        Territory::Project(&self.project)
    }
}

/// The job that the path names.
async fn stored(call: &Call<'_>) -> Result<(Service, JobDetails), HttpError> {
    let id = call.number(unknown)?;
    let jobs = call.jobs().await?;
    let job = jobs.job(id).await.map_err(|e| known(e, unknown))?;
    Ok((jobs, job))
}

/// The same, if the caller may see it.
async fn seen(call: &Call<'_>) -> Result<(Service, JobDetails), HttpError> {
    call.admit_somewhere::<Read>()?;
    let (jobs, job) = stored(call).await?;
    let territory = Territory::Project(&job.project);
    call.authorize_existing(territory, |_| Read, unknown)
        .await?;
    Ok((jobs, job))
}

/// `POST /api/v1/jobs`
fn submit(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<SubmitJob>()?;
        let body = call.take_object(SUBMISSION).await?;
        let mut definition = read_job(&body).map_err(|faults| HttpError::unprocessable(&faults))?;
        let territory = Territory::Project(&definition.project);
        let authorized =
            call.authorize_held(territory, |project| SubmitJob::of(project, &definition));
        let authorized = authorized.await?.into_inner();
        if let Some(project) = authorized.project() {
            definition.project = project;
        }
        let jobs = call.jobs().await?;
        call.refuse_discarded(&definition.project)?;
        let job = jobs.submit_job(definition).await?;
        answer::created(&call.shown(job))
    })
}

/// `GET /api/v1/jobs`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let mut query = Query::of(call.head);
        let page = paged(&mut query)?;
        let status = query.take("status")?.filter(|text| !text.is_empty());
        let status = status.map(|word| {
            let wrong = |_| HttpError::bad_request(invalid_status(&word));
            word.parse::<JobStatus>().map_err(wrong)
        });
        let tenant = query.take("tenant")?.filter(|text| !text.is_empty());
        let project = query.take("project")?.filter(|text| !text.is_empty());
        let filter = JobFilter {
            status: status.transpose()?,
            project: project.map(|named| call.project_named(named)),
            roots: None,
        };
        query.done()?;
        let tenant = tenant.map(|name| call.readable_tenant(&name)).transpose()?;
        let jobs = call.jobs().await?;
        let is_meant =
            |job: &JobDetails| tenant.is_none_or(|tenant| tenant.project(&job.project).is_some());
        let read = |page| {
            let page = jobs.jobs(filter.clone(), page);
            async move {
                let mut page = page.await?;
                page.items.retain(is_meant);
                Ok(page)
            }
        };
        let mut found = visible(&call, page, read).await?;
        let items = found.items.into_iter();
        found.items = items.map(|job| call.shown(job)).collect();
        answer::ok(&found)
    })
}

fn invalid_status(word: &str) -> String {
    let known = JobStatus::ALL.map(JobStatus::as_str).join(", ");
    format!("invalid status `{word}`: expected one of {known}")
}

/// `GET /api/v1/jobs/{id}`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (_, job) = seen(&call).await?;
        answer::ok(&call.shown(job))
    })
}

/// `POST /api/v1/jobs/{id}/retry`
fn retry(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<RetryJob>()?;
        let (jobs, job) = stored(&call).await?;
        let wanted = |project| RetryJob {
            id: job.id,
            about: JobParameters::of(project, &job),
        };
        let territory = Territory::Project(&job.project);
        let authorized = call.authorize_existing(territory, wanted, unknown).await?;
        let job = jobs.retry(authorized.id).await;
        answer::ok(&call.shown(job.map_err(|e| known(e, unknown))?))
    })
}

/// `POST /api/v1/jobs/{id}/cancel`
fn cancel(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<CancelJob>()?;
        let (jobs, job) = stored(&call).await?;
        let wanted = |project| CancelJob {
            id: job.id,
            about: JobParameters::of(project, &job),
        };
        let territory = Territory::Project(&job.project);
        let authorized = call.authorize_existing(territory, wanted, unknown).await?;
        let job = jobs.cancel(authorized.id).await;
        answer::ok(&call.shown(job.map_err(|e| known(e, unknown))?))
    })
}

/// `GET /api/v1/jobs/{id}/runners`
fn runners(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, job) = seen(&call).await?;
        let runners = jobs.runners_of_job(job.id).await;
        answer::ok(&runners.map_err(|e| known(e, unknown))?)
    })
}

/// `GET /api/v1/jobs/{id}/runners/changes`
fn runner_changes(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, job) = seen(&call).await?;
        let changes = jobs.runner_changes_of_job(job.id).await;
        answer::ok(&changes.map_err(|e| known(e, unknown))?)
    })
}

/// `GET /api/v1/jobs/{id}/trace`
fn trace(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, job) = seen(&call).await?;
        match job_trace::tail_of(Query::of(call.head))? {
            None => job_trace::answer(&jobs, job.id, unknown).await,
            Some(most) => job_trace::answer_end(&jobs, job.id, most, unknown).await,
        }
    })
}
