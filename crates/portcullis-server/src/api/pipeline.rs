//! Running pipelines again, cancelling them, and moving changes to the front.

use std::collections::BTreeSet;

use portcullis_ci::{CiError, PipelineFilter};
use portcullis_roles::{Condition, Parameters, Permission, Project};
use schemars::JsonSchema;
use serde::Deserialize;

use super::access::in_tenant;
use super::action::Action;
use super::answer;
use super::body::Maybe;
use super::call::{Answering, Call};
use super::ci::DISCARDED;
use super::endpoint::{Content, Endpoint, Tag, post, schema_of};
use super::names::{self, short, unknown_project};
use crate::http::error::HttpError;

/// Changes that are promoted together, at most.
const MOST_CHANGES: usize = 500;

/// What is to run again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnqueueBody {
    /// The pipeline, like `check`.
    pipeline: Maybe,
    /// The change, like `12,1`; or else `ref`.
    #[serde(default)]
    change: Maybe,
    /// The reference, like `refs/heads/main`; or else `change`.
    #[serde(default, rename = "ref")]
    reference: Maybe,
    /// The previous revision; optional.
    #[serde(default, rename = "oldrev")]
    _oldrev: Maybe,
    /// The revision; optional.
    #[serde(default, rename = "newrev")]
    _newrev: Maybe,
    /// Sent by older clients; ignored.
    #[serde(default, rename = "trigger")]
    _trigger: Maybe,
}

/// What is to be cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DequeueBody {
    /// The pipeline, like `check`.
    pipeline: Maybe,
    /// The change, like `12,1`; or else `ref`.
    #[serde(default)]
    change: Maybe,
    /// The reference, like `refs/heads/main`; or else `change`.
    #[serde(default, rename = "ref")]
    reference: Maybe,
}

/// What is to come first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromoteBody {
    /// The pipeline, like `gate`.
    pipeline: Maybe,
    /// The changes, like `12,1`, the first one first.
    #[schemars(length(min = 1, max = MOST_CHANGES))]
    changes: Vec<String>,
}

/// One run, by what people know of it.
#[derive(Debug)]
struct Run {
    project: Project,
    is_held: bool,
    pipeline: String,
    change: Option<String>,
    reference: Option<String>,
}

/// Runs something again.
#[derive(Debug)]
pub(crate) struct Enqueue(Run);

/// Cancels something.
#[derive(Debug)]
pub(crate) struct Dequeue(Run);

/// Moves changes to the front.
#[derive(Debug)]
pub(crate) struct Promote {
    pipeline: String,
    changes: Vec<String>,
}

const RUN: &[Condition] = &[
    Condition::Project,
    Condition::Pipeline,
    Condition::Ref,
    Condition::Change,
];

impl Run {
    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
            .with_project(&self.project)
            .with(Condition::Pipeline, Some(&*self.pipeline))
            .with(Condition::Ref, self.reference.as_deref())
            .with(Condition::Change, self.change.as_deref())
    }

    /// Goes on only if the tenant holds the project.
    fn check_held(&self) -> Result<(), HttpError> {
        match self.is_held {
            true => Ok(()),
            false => Err(unknown_project(&self.project)),
        }
    }

    /// The pipelines it names.
    fn filter(&self) -> PipelineFilter {
        PipelineFilter {
            project: self.project.name.clone(),
            name: Some(self.pipeline.clone()),
            git_ref: self.reference.clone(),
            change: self.change.clone(),
        }
    }

    /// What is said where nothing is found.
    fn unknown(&self, why: &str) -> HttpError {
        let what = match (&self.change, &self.reference) {
            (Some(change), _) => format!("change `{}`", short(change)),
            (None, reference) => format!("`{}`", short(reference.as_deref().unwrap_or_default())),
        };
        HttpError::not_found(format!(
            "{what} of project `{}` not found in pipeline `{}`: {why}",
            short(&self.project.name),
            short(&self.pipeline),
        ))
    }
}

impl Action for Enqueue {
    const PERMISSION: Permission = Permission::Enqueue;
    const CONDITIONS: &'static [Condition] = RUN;

    fn parameters(&self) -> Parameters<'_> {
        self.0.parameters()
    }
}

impl Action for Dequeue {
    const PERMISSION: Permission = Permission::Dequeue;
    const CONDITIONS: &'static [Condition] = RUN;

    fn parameters(&self) -> Parameters<'_> {
        self.0.parameters()
    }
}

impl Action for Promote {
    const PERMISSION: Permission = Permission::Promote;
    const CONDITIONS: &'static [Condition] = &[Condition::Pipeline];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new().with(Condition::Pipeline, Some(&*self.pipeline))
    }
}

/// A change or a reference, not both: what is checked must be what is acted on.
pub(super) fn one_of(
    change: Maybe,
    reference: Maybe,
) -> Result<(Option<String>, Option<String>), HttpError> {
    match (change.0, reference.0) {
        (Some(_), Some(_)) => Err(HttpError::bad_request(
            "`change` and `ref` can't be combined",
        )),
        one => Ok(one),
    }
}

fn needed(name: &str, value: Maybe) -> Result<String, HttpError> {
    let missing = || HttpError::bad_request(format!("`{name}` is missing"));
    let value = value.0.ok_or_else(missing)?;
    names::check(name, &value)?;
    Ok(value)
}

fn run_of(
    call: &Call<'_>,
    tenant: &portcullis_roles::Tenant,
    (pipeline, change, reference): (Maybe, Maybe, Maybe),
) -> Result<Run, HttpError> {
    let pipeline = needed("pipeline", pipeline)?;
    let (change, reference) = one_of(change, reference)?;
    if change.is_none() && reference.is_none() {
        return Err(HttpError::bad_request("name a `change` or a `ref`"));
    }
    for (what, name) in [("change", &change), ("ref", &reference)] {
        name.as_ref()
            .map_or(Ok(()), |name| names::check(what, name))?;
    }
    let (project, is_held) = names::project(tenant, call.values.get("project"))?;
    Ok(Run {
        project,
        is_held,
        pipeline,
        change,
        reference,
    })
}

const NOT_KNOWN: (u16, &str) = (404, "No such change or ref was ever submitted.");
const NOT_LIVE: (u16, &str) = (404, "No job of such a change or ref is live.");
const NOT_WAITING: (u16, &str) = (404, "No job of these changes is waiting.");

/// What may be done with pipelines.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    post(
        ("/api/tenant/{tenant}/project/{project}/enqueue", "enqueue"),
        Tag::Pipelines,
        in_tenant::<Enqueue>(),
        (
            "Enqueue a change or ref again",
            "Runs the newest known definition for this project, pipeline and change or ref.",
        ),
        Content {
            schema: schema_of::<EnqueueBody>,
            example: r#"{"pipeline": "check", "change": "12,1"}"#,
        },
        &[
            NOT_KNOWN,
            DISCARDED,
            (
                429,
                "Too many jobs of the project are waiting for admission.",
            ),
        ],
        enqueue,
    ),
    post(
        ("/api/tenant/{tenant}/project/{project}/dequeue", "dequeue"),
        Tag::Pipelines,
        in_tenant::<Dequeue>(),
        (
            "Cancel the live jobs of a change or ref",
            "In every pipeline of this name that the project runs for it.",
        ),
        Content {
            schema: schema_of::<DequeueBody>,
            example: r#"{"pipeline": "check", "ref": "refs/heads/main"}"#,
        },
        &[NOT_LIVE],
        dequeue,
    ),
    post(
        ("/api/tenant/{tenant}/promote", "promote"),
        Tag::Pipelines,
        in_tenant::<Promote>(),
        (
            "Promote changes to the front of a pipeline",
            "Their waiting jobs are taken before those of others, in the order in which they were submitted. Changes of which nothing waits are ignored as long as one is found.",
        ),
        Content {
            schema: schema_of::<PromoteBody>,
            example: r#"{"pipeline": "gate", "changes": ["12,1", "13,2"]}"#,
        },
        &[NOT_WAITING],
        promote,
    ),
];

/// `POST /api/tenant/{tenant}/project/{project}/enqueue`
pub(super) fn enqueue(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<Enqueue>(tenant.scope())?;
        let body: EnqueueBody = call.take_body().await?;
        let run = run_of(&call, tenant, (body.pipeline, body.change, body.reference))?;
        let run = call.authorize(tenant.scope(), Enqueue(run)).await?;
        let run = run.into_inner().0;
        run.check_held()?;
        let jobs = call.jobs().await?;
        let definition = jobs.newest_pipeline(run.filter()).await;
        let definition = definition.map_err(|error| match error {
            CiError::NotFound => run.unknown("it was never submitted"),
            other => other.into(),
        })?;
        call.refuse_discarded(&run.project.name)?;
        jobs.submit_pipeline(definition).await?;
        answer::ok(&true)
    })
}

/// `POST /api/tenant/{tenant}/project/{project}/dequeue`
pub(super) fn dequeue(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<Dequeue>(tenant.scope())?;
        let body: DequeueBody = call.take_body().await?;
        let run = run_of(&call, tenant, (body.pipeline, body.change, body.reference))?;
        let run = call.authorize(tenant.scope(), Dequeue(run)).await?;
        let run = run.into_inner().0;
        run.check_held()?;
        let jobs = call.jobs().await?;
        let mut cancelled = 0;
        for id in jobs.live_pipelines(run.filter()).await? {
            cancelled += found(jobs.cancel_pipeline(id).await)?;
        }
        match cancelled {
            0 => Err(run.unknown("it has no live job")),
            _ => answer::ok(&true),
        }
    })
}

/// `POST /api/tenant/{tenant}/promote`
pub(super) fn promote(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<Promote>(tenant.scope())?;
        let body: PromoteBody = call.take_body().await?;
        let pipeline = needed("pipeline", body.pipeline)?;
        if body.changes.is_empty() || body.changes.iter().any(String::is_empty) {
            return Err(HttpError::bad_request("`changes` must not be empty"));
        }
        for change in &body.changes {
            names::check("changes", change)?;
        }
        if body.changes.len() > MOST_CHANGES {
            let message = format!("`changes` has more than {MOST_CHANGES} entries");
            return Err(HttpError::bad_request(message));
        }
        let changes = body.changes;
        let wanted = call
            .authorize(tenant.scope(), Promote { pipeline, changes })
            .await?;
        let jobs = call.jobs().await?;
        let live = jobs.live_pipeline_counts().await?;
        let live = live.iter().filter(|live| live.name == wanted.pipeline);
        // Changes are named without their projects.
        let projects = live.map(|live| live.project.as_str());
        let projects = projects.filter(|project| tenant.project(project).is_some());
        let projects: BTreeSet<&str> = projects.collect();
        let mut promoted = 0;
        for (project, change) in pairs(&projects, &wanted.changes) {
            let filter = PipelineFilter {
                project: project.to_owned(),
                name: Some(wanted.pipeline.clone()),
                git_ref: None,
                change: Some(change.to_owned()),
            };
            for id in jobs.live_pipelines(filter).await? {
                promoted += found(jobs.promote_pipeline(id).await)?;
            }
        }
        if promoted > 0 {
            return answer::ok(&true);
        }
        let changes = wanted.changes.iter().take(10);
        let changes: Vec<&str> = changes.map(|change| short(change)).collect();
        Err(HttpError::not_found(format!(
            "{} not found in pipeline `{}`: no job of it is waiting",
            changes.join(", "),
            short(&wanted.pipeline),
        )))
    })
}

fn pairs<'a>(
    projects: &'a BTreeSet<&str>,
    changes: &'a [String],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let of = |change: &'a String| projects.iter().map(move |project| (*project, &**change));
    changes.iter().flat_map(of)
}

/// How many jobs were found in a pipeline; none if it was deleted meanwhile.
fn found(count: Result<usize, CiError>) -> Result<usize, HttpError> {
    match count {
        Err(CiError::NotFound) => Ok(0),
        other => Ok(other?),
    }
}
