//! Pipelines of jobs.

use portcullis_ci::PipelineDetails;
use portcullis_jobs::{PipelineBody, read_pipeline};

use super::jobs::SubmitJob;
use super::{DISCARDED, INVALID, SUBMISSION, created, known, object};
use crate::api::access::by_holder;
use crate::api::action::Read;
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Tag, get, post, schema_of};
use crate::api::guard::Territory;
use crate::http::error::HttpError;

/// What may be done with pipelines.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: created::<PipelineDetails>("The pipeline and its jobs."),
        ..post(
            ("/api/v1/pipelines", "submitPipeline"),
            Tag::Jobs,
            by_holder::<SubmitJob>(),
            (
                "Submit a pipeline",
                "Its jobs run stage by stage. The permission is needed for each of its jobs.",
            ),
            Content {
                schema: schema_of::<PipelineBody>,
                example: r#"{"project": "shop/web", "ref": "main", "ref_protected": true, "source": "push", "user": {"id": 1, "username": "alice"}, "stages": ["build", "test"], "jobs": [{"name": "compile", "stage": "build", "script": ["make"]}, {"name": "unit", "stage": "test", "script": ["make test"]}]}"#,
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
    get(
        ("/api/v1/pipelines/{id}", "pipeline"),
        Tag::Jobs,
        by_holder::<Read>(),
        ("Show a pipeline", ""),
        object::<PipelineDetails>("The pipeline and its jobs."),
        show,
    )
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such pipeline")
}

/// `POST /api/v1/pipelines`
fn submit(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<SubmitJob>()?;
        let body = call.take_object(SUBMISSION).await?;
        let mut definition =
            read_pipeline(&body).map_err(|faults| HttpError::unprocessable(&faults))?;
        let territory = Territory::Project(&definition.origin.project);
        let mut project = None;
        for job in &definition.jobs {
            let authorized = call.authorize_held(territory, |project| SubmitJob::of(project, job));
            project = authorized.await?.into_inner().project();
        }
        if let Some(project) = project {
            for job in &mut definition.jobs {
                job.project.clone_from(&project);
            }
            definition.origin.project = project;
        }
        let jobs = call.jobs().await?;
        call.refuse_discarded(&definition.origin.project)?;
        let pipeline = jobs.submit_pipeline(definition).await?;
        answer::created(&pipeline)
    })
}

/// `GET /api/v1/pipelines/{id}`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let id = call.number(unknown)?;
        let found = call.jobs().await?.pipeline(id).await;
        let pipeline = found.map_err(|e| known(e, unknown))?;
        let territory = Territory::Project(&pipeline.project);
        call.authorize_existing(territory, |_| Read, unknown)
            .await?;
        answer::ok(&pipeline)
    })
}
