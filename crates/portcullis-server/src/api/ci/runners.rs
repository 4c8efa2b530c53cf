//! Runners: registering them as GitLab's API does, and keeping them.

use portcullis_ci::{NewRunner, Service};
use portcullis_document::{Fault, read};
use portcullis_jobs::{AccessLevel, Runner, RunnerType};
use portcullis_roles::{Condition, Parameters, Permission, Project};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{
    Held, INVALID, LIMIT, OBJECT, OTHER, Object, PAGE_NUMBER, created, known, list_of, listed,
    object,
};
use crate::api::access::by_holder;
use crate::api::action::{Action, Read};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post};
use crate::api::guard::Territory;
use crate::http::error::HttpError;

/// Adds, changes or removes a runner.
#[derive(Debug)]
pub(crate) struct ManageRunner {
    project: Option<Project>,
}

impl Action for ManageRunner {
    const PERMISSION: Permission = Permission::ManageRunners;
    const CONDITIONS: &'static [Condition] = &[Condition::Project];

    fn parameters(&self) -> Parameters<'_> {
        match &self.project {
            Some(project) => Parameters::new().with_project(project),
            None => Parameters::new(),
        }
    }
}

/// A runner to register, with the words of GitLab's `POST /user/runners`.
#[derive(Debug, Deserialize)]
struct RunnerBody {
    runner_type: RunnerType,
    group_id: Option<String>,
    project_id: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, deserialize_with = "tags")]
    tag_list: Vec<String>,
    run_untagged: Option<bool>,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    locked: bool,
    access_level: Option<AccessLevel>,
}

/// GitLab takes a list, or names with commas between.
fn tags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of tags, or tags with commas between")]
    enum Tags {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Option::<Tags>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Tags::List(tags)) => tags,
        Some(Tags::Text(text)) => {
            let tags = text.split(',').map(str::trim);
            tags.filter(|tag| !tag.is_empty())
                .map(str::to_owned)
                .collect()
        }
    })
}

impl RunnerBody {
    /// The runner, or what is wrong with it.
    fn checked(self) -> Result<NewRunner, Vec<Fault>> {
        let mut faults = Vec::new();
        let (path, other) = match self.runner_type {
            RunnerType::Instance => (None, self.group_id.or(self.project_id)),
            RunnerType::Group => (Some(("group_id", self.group_id)), self.project_id),
            RunnerType::Project => (Some(("project_id", self.project_id)), self.group_id),
        };
        if other.is_some() {
            let message = format!("a runner of type {} has no other place", self.runner_type);
            faults.push(Fault::at("runner_type", message));
        }
        let path = match path {
            None => None,
            Some((key, None)) => {
                faults.push(Fault::at(key, "it is required: the path"));
                None
            }
            Some((key, Some(path))) => {
                if let Err(message) = portcullis_jobs::check_path(&path) {
                    faults.push(Fault::at(key, message));
                }
                Some(path)
            }
        };
        for (index, tag) in self.tag_list.iter().enumerate() {
            if let Err(fault) = portcullis_jobs::check_tag(tag) {
                let at = portcullis_document::path::index("tag_list", index);
                faults.push(Fault::at(at, fault.to_string()));
            }
        }
        let run_untagged = self.run_untagged.unwrap_or(self.tag_list.is_empty());
        if !run_untagged && self.tag_list.is_empty() {
            let message = "a runner without tags must run untagged jobs";
            faults.push(Fault::at("tag_list", message));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(NewRunner {
            kind: self.runner_type,
            path,
            description: self.description.unwrap_or_default(),
            tags: self.tag_list,
            run_untagged,
            access_level: self.access_level.unwrap_or(AccessLevel::NotProtected),
            paused: self.paused,
            locked: self.locked,
        })
    }
}

/// What may be done with runners.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: created::<Object>("The runner's `id` and `token`, which is not shown again."),
        ..post(
            ("/api/v4/user/runners", "addRunner"),
            Tag::Runners,
            by_holder::<ManageRunner>(),
            (
                "Add a runner",
                "As in GitLab's API; `group_id` and `project_id` take paths.",
            ),
            Content {
                schema: OBJECT,
                example: r#"{"runner_type": "group_type", "group_id": "shop", "description": "builder", "tag_list": ["linux"], "run_untagged": false}"#,
            },
            &[INVALID],
            add,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[PAGE_NUMBER, LIMIT],
        ..get(
            ("/api/v1/runners", "runners"),
            Tag::Runners,
            by_holder::<Read>(),
            ("List runners", "Those that the caller may see."),
            list_of::<Object>("A page of runners."),
            list,
        )
    }
    .with_ci(),
    get(
        ("/api/v1/runners/{id}", "runner"),
        Tag::Runners,
        by_holder::<Read>(),
        (
            "Show a runner",
            "With its `managers`: the machines that ask for jobs with its token.",
        ),
        object::<Object>("The runner."),
        show,
    )
    .with_ci(),
    Endpoint {
        method: Verb::Patch,
        body: Some(Content {
            schema: OBJECT,
            example: r#"{"paused": true}"#,
        }),
        refusals: &[INVALID],
        ..get(
            ("/api/v1/runners/{id}", "changeRunner"),
            Tag::Runners,
            by_holder::<ManageRunner>(),
            (
                "Change a runner",
                "Its `description`, `tag_list`, `run_untagged`, `access_level`, `paused` or `locked`.",
            ),
            object::<Object>("The runner."),
            change,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Delete,
        ..get(
            ("/api/v1/runners/{id}", "deleteRunner"),
            Tag::Runners,
            by_holder::<ManageRunner>(),
            ("Delete a runner", ""),
            Success::Nothing {
                description: "It is deleted.",
            },
            delete,
        )
    }
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such runner")
}

impl Held for Runner {
    fn territory(&self) -> Territory<'_> {
        Territory::of(self.kind == RunnerType::Group, self.path.as_deref())
    }
}

/// `POST /api/v4/user/runners`
fn add(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageRunner>()?;
        let body = call.take_object(OTHER).await?;
        let read = read::json::<RunnerBody>(&body).and_then(RunnerBody::checked);
        let mut new = read.map_err(|faults| HttpError::unprocessable(&faults))?;
        let is_group = new.kind == RunnerType::Group;
        let territory = Territory::of(is_group, new.path.as_deref());
        let wanted = |project| ManageRunner { project };
        let authorized = call.authorize_held(territory, wanted).await?;
        if let Some(project) = authorized.into_inner().project {
            new.path = Some(project.name);
        }
        let added = call.jobs().await?.add_runner(new).await?;
        let mut answer = serde_json::to_value(&added).map_err(|_| HttpError::internal())?;
        if let Some(members) = answer.as_object_mut() {
            members.insert("token_expires_at".to_owned(), Value::Null);
        }
        answer::created(&answer)
    })
}

/// `GET /api/v1/runners`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(
        async move { listed(&call, |jobs, page| async move { jobs.runners(page).await }).await },
    )
}

/// The runner that the path names.
async fn stored(call: &Call<'_>) -> Result<(Service, Runner), HttpError> {
    let id = call.number(unknown)?;
    let jobs = call.jobs().await?;
    let found = jobs.runner(id).await;
    Ok((jobs, found.map_err(|e| known(e, unknown))?))
}

/// The same, if the caller may change it.
async fn manageable(call: &Call<'_>) -> Result<(Service, Runner), HttpError> {
    call.admit_somewhere::<ManageRunner>()?;
    let (jobs, runner) = stored(call).await?;
    let wanted = |project| ManageRunner { project };
    call.authorize_existing(runner.territory(), wanted, unknown)
        .await?;
    Ok((jobs, runner))
}

/// `GET /api/v1/runners/{id}`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let (jobs, runner) = stored(&call).await?;
        call.authorize_existing(runner.territory(), |_| Read, unknown)
            .await?;
        let managers = jobs.managers(runner.id).await?;
        let mut shown = serde_json::to_value(&runner).map_err(|_| HttpError::internal())?;
        if let Some(members) = shown.as_object_mut() {
            members.insert("managers".to_owned(), json!(managers));
        }
        answer::ok(&shown)
    })
}

/// `PATCH /api/v1/runners/{id}`
fn change(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner) = manageable(&call).await?;
        let patch = call.take_object(OTHER).await?;
        for key in ["path", "runner_type", "id"] {
            if patch.get(key).is_some() {
                let fault = Fault::at(key, "it can't be changed");
                return Err(HttpError::unprocessable(&[fault]));
            }
        }
        let changed = jobs.change_runner(runner.id, patch).await;
        answer::ok(&changed.map_err(|e| known(e, unknown))?)
    })
}

/// `DELETE /api/v1/runners/{id}`
fn delete(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner) = manageable(&call).await?;
        let deleted = jobs.delete_runner(runner.id).await;
        deleted.map_err(|e| known(e, unknown))?;
        Ok(answer::nothing())
    })
}
