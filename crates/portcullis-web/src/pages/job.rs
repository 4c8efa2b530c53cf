//! One job: its status and a sentence first, then what it waits for, who decided, who may run it and what it wrote.

mod lifecycle;
mod model;
mod runner_changes;
mod trace;

use self::lifecycle::Step;
use self::model::Job;
use self::trace::Trace;
use super::controllers::{Names, names};
use super::deliveries::{self, Deliveries};
use super::eligibility::Matrix;
use crate::ask::{Question, ask};
use crate::backend::{Backend, Pending, Place, Problem, Verb};
use crate::badge::Badge;
use crate::form::Action;
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[
    Route::page("/jobs/*", show),
    Route::asking("/jobs/*/cancel", ask_cancel, cancel),
    Route::form("/jobs/*/retry", retry),
    Route::form("/jobs/*/redeliver/*", redeliver),
];

#[derive(Debug, askama::Template)]
#[template(path = "job.html")]
struct JobPage<'a> {
    frame: Frame,
    csrf: &'a str,
    badge: Badge,
    summary: String,
    steps: Vec<Step>,
    actions: [Action; 2],
    project_jobs: String,
    names: Names,
    deliveries: Deliveries,
    matrix: Matrix,
    trace: Trace,
    job: Job,
}

impl JobPage<'_> {
    /// Where one can read about who decided.
    fn judge(&self, name: &str, level: &str) -> Option<String> {
        self.names.path(name, level, &self.job.project)
    }

    /// The same for someone who is waited for, of whom only the name is known.
    fn waited_for(&self, name: &str) -> Option<String> {
        self.names.path_of_any(name, &self.job.project)
    }
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let backend = request.backend;
        let mut job = job(&request).await?;
        if job.admission.is_some() {
            job.add_runner_changes(runner_changes::read(backend, job.id).await?);
        }
        let at = format!("/jobs/{}", job.id);
        page(&JobPage {
            frame: request
                .frame(format!("{}: job {}", job.name, job.id))
                .live_if(!job.is_finished()),
            csrf: &request.person().csrf,
            badge: Badge::job(&job.status),
            summary: lifecycle::summary(&job),
            steps: lifecycle::steps(&job),
            actions: actions(backend, &job),
            project_jobs: Query::default().with("project", &job.project).of("/jobs"),
            names: names(backend).await?,
            deliveries: deliveries::deliveries(backend, ("job", job.id), &at).await?,
            matrix: Matrix::read(backend, &job.id.to_string()).await?,
            trace: trace::read(backend, job.id).await?,
            job,
        })
    })
}

/// The job that the path names.
async fn job(request: &Request<'_>) -> Result<Job, Problem> {
    let path = format!("/api/v1/jobs/{}", segment(request.value(0)));
    request.backend.get(&path).await
}

fn actions(backend: &dyn Backend, job: &Job) -> [Action; 2] {
    let place = Place::Job {
        project: &job.project,
        git_ref: &job.git_ref,
        name: &job.name,
    };
    let (over, live) = match job.is_finished() {
        true => (Some("the job has finished"), None),
        false => (None, Some("the job has not finished")),
    };
    let path = format!("/jobs/{}", job.id);
    let cancel = format!("{path}/cancel");
    let retry = format!("{path}/retry");
    [
        Action::new(backend, "Cancel", cancel, ("cancel-job", place))
            .asking()
            .unless(over),
        Action::new(backend, "Retry", retry, ("retry-job", place)).unless(live),
    ]
}

fn ask_cancel(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let job = job(&request).await?;
        let question = Question {
            title: format!("Cancel job {}?", job.id),
            text: format!(
                "The job {} of {} is {}. It will be canceled, and a runner that has it stops it.",
                job.name, job.project, job.status
            ),
            label: "Cancel job",
            back: format!("/jobs/{}", job.id),
        };
        ask(&request, &question)
    })
}

fn cancel(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { done(&request, "cancel").await })
}

fn retry(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { done(&request, "retry").await })
}

fn redeliver(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        deliveries::redeliver(&request).await?;
        let id = segment(request.value(0));
        Ok(Reply::SeeOther(format!("/jobs/{id}#deliveries")))
    })
}

/// Does something with a job, and goes back to its page.
async fn done(request: &Request<'_>, what: &str) -> Result<Reply, Problem> {
    let id = segment(request.value(0));
    let path = format!("/api/v1/jobs/{id}/{what}");
    request.backend.call(Verb::Post, &path, None).await?;
    Ok(Reply::SeeOther(format!("/jobs/{id}")))
}

#[cfg(test)]
mod tests;
