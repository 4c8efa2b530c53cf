//! Admission controllers of jobs.

use hyper::header::AUTHORIZATION;
use portcullis_ci::{ClaimRequest, ControllerDetails, CreatedController, Service, TestResult};
use portcullis_jobs::{ControllerBody, ControllerDefinition, ControllerLevel, PayloadEntry};
use portcullis_roles::{Condition, Parameters, Permission, Project};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Held, INVALID, LIMIT, OTHER, PAGE_NUMBER, created, known, list_of, listed, object};
use crate::api::access::{Access, Credential, by_holder};
use crate::api::action::{Action, Read};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post, schema_of};
use crate::api::guard::Territory;
use crate::http::error::HttpError;

/// Adds, changes or removes a controller, calls it, or delivers to it again.
#[derive(Debug)]
pub(crate) struct ManageController {
    pub(super) project: Option<Project>,
    pub(super) controller: String,
}

impl Action for ManageController {
    const PERMISSION: Permission = Permission::ManageControllers;
    const CONDITIONS: &'static [Condition] = &[Condition::Project, Condition::Controller];

    fn parameters(&self) -> Parameters<'_> {
        let parameters = match &self.project {
            Some(project) => Parameters::new().with_project(project),
            None => Parameters::new(),
        };
        parameters.with(Condition::Controller, Some(&*self.controller))
    }
}

/// A secret that is not shown again.
#[derive(Serialize, JsonSchema)]
struct NewSecret {
    secret: String,
}

/// The keys of a controller, of which none is required; null removes one.
fn patch_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = ControllerBody::json_schema(generator);
    schema.remove("required");
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        *property = json!({"anyOf": [property.take(), {"type": "null"}]});
    }
    schema
}

const PATCH_BODY: Content = Content {
    schema: patch_schema,
    example: r#"{"state": "disabled"}"#,
};

/// What may be done with controllers.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: created::<CreatedController>("The controller, with its `secret`, which is not shown again."),
        ..post(
            ("/api/v1/controllers", "addController"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            (
                "Add a controller",
                "It is asked about every job of its project, of its group, or of the instance: by a webhook (`url`), \
                 by a policy (`policy`), or it claims jobs itself (`pull`).",
            ),
            Content {
                schema: schema_of::<ControllerBody>,
                example: r#"{"name": "budget", "level": "group", "path": "shop", "kind": "validating", "url": "https://budget.example.org/jobs", "state": "enabled", "failure_policy": "closed"}"#,
            },
            &[
                INVALID,
                (409, "A controller of this name is there already."),
            ],
            add,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[PAGE_NUMBER, LIMIT],
        ..get(
            ("/api/v1/controllers", "controllers"),
            Tag::Controllers,
            by_holder::<Read>(),
            ("List controllers", "Those that the caller may see."),
            list_of::<ControllerDetails>("A page of controllers."),
            list,
        )
    }
    .with_ci(),
    get(
        ("/api/v1/controllers/{id}", "controller"),
        Tag::Controllers,
        by_holder::<Read>(),
        ("Show a controller", ""),
        object::<ControllerDetails>("The controller."),
        show,
    )
    .with_ci(),
    Endpoint {
        method: Verb::Patch,
        body: Some(PATCH_BODY),
        refusals: &[INVALID],
        ..get(
            ("/api/v1/controllers/{id}", "changeController"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            (
                "Change a controller",
                "Keys that are given replace those of the controller; null removes one. Setting `state` to `enabled` \
                 resumes a suspended controller.",
            ),
            object::<ControllerDetails>("The controller."),
            change,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Delete,
        ..get(
            ("/api/v1/controllers/{id}", "deleteController"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            ("Delete a controller", "Jobs that wait for it go on without it."),
            Success::Nothing {
                description: "It is deleted.",
            },
            delete,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Post,
        ..get(
            ("/api/v1/controllers/{id}/rotate-secret", "rotateSecret"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            (
                "Rotate the secret of a controller",
                "For a while requests are signed with both secrets.",
            ),
            object::<NewSecret>("The new `secret`, which is not shown again."),
            rotate,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Post,
        ..get(
            ("/api/v1/controllers/{id}/test", "testController"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            (
                "Test a controller",
                "It is asked about a job that does not exist.",
            ),
            object::<TestResult>("Its `verdict` or an `error`, and `duration_ms`."),
            test,
        )
    }
    .with_ci(),
    Endpoint {
        success: Success::Json {
            description: "What a webhook would have been sent, for each job; empty if there is none.",
            schema: schema_of::<Vec<PayloadEntry>>,
        },
        ..post(
            ("/api/v1/controllers/{id}/claim", "claimJobs"),
            Tag::Controllers,
            Access::Credential(Credential::Controller),
            (
                "Claim jobs",
                "For controllers with `pull: true`. What is claimed stays reserved for the controller's `timeout`; the \
                 verdict goes to `callback_url`.",
            ),
            Content {
                schema: schema_of::<ClaimRequest>,
                example: r#"{"wait": "10s", "max": 10}"#,
            },
            &[(401, "The secret is wrong."), INVALID],
            claim,
        )
    }
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such controller")
}

impl Held for ControllerDetails {
    fn territory(&self) -> Territory<'_> {
        territory(&self.definition)
    }
}

/// Where a controller is asked.
fn territory(definition: &ControllerDefinition) -> Territory<'_> {
    let is_group = definition.level == ControllerLevel::Group;
    Territory::of(is_group, definition.path.as_deref())
}

fn managed(definition: &ControllerDefinition, project: Option<Project>) -> ManageController {
    ManageController {
        project,
        controller: definition.name.clone(),
    }
}

/// The controller that the path names.
async fn stored(call: &Call<'_>) -> Result<(Service, ControllerDetails), HttpError> {
    let id = call.number(unknown)?;
    let jobs = call.jobs().await?;
    let found = jobs.controller(id).await;
    Ok((jobs, found.map_err(|e| known(e, unknown))?))
}

/// The same, if the caller may change it.
async fn manageable(call: &Call<'_>) -> Result<(Service, ControllerDetails), HttpError> {
    call.admit_somewhere::<ManageController>()?;
    let (jobs, controller) = stored(call).await?;
    let definition = &controller.definition;
    let wanted = |project| managed(definition, project);
    call.authorize_existing(territory(definition), wanted, unknown)
        .await?;
    Ok((jobs, controller))
}

/// `POST /api/v1/controllers`
fn add(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageController>()?;
        let body = call.take_object(OTHER).await?;
        let read = ControllerDefinition::read(&body);
        let mut definition = read.map_err(|faults| HttpError::unprocessable(&faults))?;
        let wanted = |project| managed(&definition, project);
        let authorized = call.authorize_held(territory(&definition), wanted).await?;
        if let Some(project) = authorized.into_inner().project {
            definition.path = Some(project.name);
        }
        let added = call.jobs().await?.add_controller(definition).await?;
        answer::created(&added)
    })
}

/// `GET /api/v1/controllers`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        listed(
            &call,
            |jobs, page| async move { jobs.controllers(page).await },
        )
        .await
    })
}

/// `GET /api/v1/controllers/{id}`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let (_, controller) = stored(&call).await?;
        let territory = territory(&controller.definition);
        call.authorize_existing(territory, |_| Read, unknown)
            .await?;
        answer::ok(&controller)
    })
}

/// `PATCH /api/v1/controllers/{id}`: it may be moved only to where the caller may manage controllers too.
fn change(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, controller) = manageable(&call).await?;
        let mut patch = call.take_object(OTHER).await?;
        let patched = controller.definition.patched(&patch);
        let patched = patched.map_err(|faults| HttpError::unprocessable(&faults))?;
        let wanted = |project| managed(&patched, project);
        let authorized = call.authorize_held(territory(&patched), wanted).await?;
        if let (Some(project), Some(path)) = (&authorized.project, patch.get_mut("path")) {
            *path = project.name.as_str().into();
        }
        let changed = jobs.change_controller(controller.id, patch).await;
        answer::ok(&changed.map_err(|e| known(e, unknown))?)
    })
}

/// `DELETE /api/v1/controllers/{id}`
fn delete(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, controller) = manageable(&call).await?;
        let deleted = jobs.delete_controller(controller.id).await;
        deleted.map_err(|e| known(e, unknown))?;
        Ok(answer::nothing())
    })
}

/// `POST /api/v1/controllers/{id}/rotate-secret`
fn rotate(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, controller) = manageable(&call).await?;
        let secret = jobs.rotate_secret(controller.id).await;
        let secret = secret.map_err(|e| known(e, unknown))?;
        answer::ok(&NewSecret { secret })
    })
}

/// `POST /api/v1/controllers/{id}/test`
fn test(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, controller) = manageable(&call).await?;
        let result = jobs.test_controller(controller.id).await;
        answer::ok(&result.map_err(|e| known(e, unknown))?)
    })
}

/// `POST /api/v1/controllers/{id}/claim`: the secret says who asks. A controller that does not exist looks like a
/// wrong secret.
fn claim(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let rejected = || {
            let message = "the secret of the controller is required as a bearer token";
            HttpError::unauthorized("bad_secret", message, "portcullis")
        };
        let header = call.head.headers.get(AUTHORIZATION);
        let secret = header.and_then(|value| value.to_str().ok());
        let secret = secret.and_then(|text| {
            let (scheme, secret) = text.split_once(' ')?;
            let is_bearer = scheme.eq_ignore_ascii_case("bearer");
            is_bearer.then(|| secret.trim().to_owned())
        });
        let secret = secret.ok_or_else(rejected)?;
        let id = call.number(rejected)?;
        let jobs = call.jobs().await?;
        let bytes = call.take_bytes(OTHER).await?;
        let request = match bytes.trim_ascii() {
            [] => ClaimRequest::default(),
            text => claim_of(text)?,
        };
        let claimed = jobs.claim(id, &secret, request).await;
        let claimed = claimed.map_err(|error| match error {
            portcullis_ci::CiError::NotFound | portcullis_ci::CiError::Unauthorized => rejected(),
            other => other.into(),
        });
        answer::ok(&claimed?)
    })
}

fn claim_of(text: &[u8]) -> Result<ClaimRequest, HttpError> {
    let value: Value = crate::api::body::parse(text)?;
    let read = portcullis_document::read::json(&value);
    read.map_err(|faults| HttpError::unprocessable(&faults))
}
