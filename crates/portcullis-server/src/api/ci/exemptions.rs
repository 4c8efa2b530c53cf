//! Exemptions: denials that don't count, for a time and for a reason.

use std::collections::BTreeSet;

use portcullis_ci::{ExemptionDetails, PageRequest, Service};
use portcullis_core::clock;
use portcullis_jobs::{ControllerLevel, ExemptionBody, Timestamp};
use portcullis_roles::{Condition, Parameters, Permission, Project};

use super::{Held, INVALID, LIMIT, OTHER, PAGE_NUMBER, created, known, list_of, listed};
use crate::api::access::by_holder;
use crate::api::action::{Action, Read};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post, schema_of};
use crate::api::guard::Territory;
use crate::http::error::HttpError;

/// Grants or revokes an exemption.
#[derive(Debug)]
pub(crate) struct ManageExemption {
    project: Option<Project>,
    controller: Option<String>,
}

impl Action for ManageExemption {
    const PERMISSION: Permission = Permission::ManageExemptions;
    const CONDITIONS: &'static [Condition] = &[Condition::Project, Condition::Controller];

    fn parameters(&self) -> Parameters<'_> {
        let parameters = match &self.project {
            Some(project) => Parameters::new().with_project(project),
            None => Parameters::new(),
        };
        parameters.with(Condition::Controller, self.controller.as_deref())
    }
}

/// What may be done with exemptions.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: created::<ExemptionDetails>("The exemption."),
        ..post(
            ("/api/v1/exemptions", "grantExemption"),
            Tag::Exemptions,
            by_holder::<ManageExemption>(),
            (
                "Grant an exemption",
                "The controller or policy is asked all the same; its denial does not count, and is recorded with the \
                 exemption. One without a project is for the whole instance. The permission is also needed where the \
                 controller is managed: for the whole group, or at the root of the API for controllers of the instance \
                 and for policies.",
            ),
            Content {
                schema: schema_of::<ExemptionBody>,
                example: r#"{"project": "shop/web", "controller": "budget", "reason": "migration", "until": "2030-01-01T00:00:00Z", "ticket": "OPS-1"}"#,
            },
            &[INVALID],
            grant,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[PAGE_NUMBER, LIMIT],
        ..get(
            ("/api/v1/exemptions", "exemptions"),
            Tag::Exemptions,
            by_holder::<Read>(),
            (
                "List exemptions",
                "Those that the caller may see, with how often and when they were used.",
            ),
            list_of::<ExemptionDetails>("A page of exemptions."),
            list,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Delete,
        ..get(
            ("/api/v1/exemptions/{id}", "revokeExemption"),
            Tag::Exemptions,
            by_holder::<ManageExemption>(),
            ("Revoke an exemption", ""),
            Success::Nothing {
                description: "It is revoked.",
            },
            revoke,
        )
    }
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such exemption")
}

fn territory(body: &ExemptionBody) -> Territory<'_> {
    Territory::of(false, body.project.as_deref())
}

impl Held for ExemptionDetails {
    fn territory(&self) -> Territory<'_> {
        territory(&self.exemption.body)
    }
}

fn managed(body: &ExemptionBody, project: Option<Project>) -> ManageExemption {
    ManageExemption {
        project,
        controller: body.controller.clone(),
    }
}

/// Now, in milliseconds.
fn now() -> Timestamp {
    let since = clock::wall().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// `POST /api/v1/exemptions`
fn grant(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageExemption>()?;
        let body = call.take_object(OTHER).await?;
        let read = ExemptionBody::read(&body, now());
        let mut body = read.map_err(|faults| HttpError::unprocessable(&faults))?;
        let wanted = |project| managed(&body, project);
        let authorized = call.authorize_held(territory(&body), wanted).await?;
        let project = authorized.into_inner().project;
        if let Some(project) = &project {
            body.project = Some(project.name.clone());
        }
        let jobs = call.jobs().await?;
        for above in levels_above(&jobs, &body).await? {
            let wanted = |_| managed(&body, project.clone());
            let level = match &above {
                Some(group) => Territory::Group(group),
                None => Territory::Instance,
            };
            call.authorize_held(level, wanted).await?;
        }
        let granted_by = call.somebody()?.uid.clone();
        answer::created(&jobs.add_exemption(body, &granted_by).await?)
    })
}

/// The groups of the controllers that an exemption of a project is from; nothing stands for the whole instance, to
/// which policies belong, and controllers that are not there yet.
async fn levels_above(
    jobs: &Service,
    body: &ExemptionBody,
) -> Result<BTreeSet<Option<String>>, HttpError> {
    let Some(project) = &body.project else {
        // The whole instance was asked already.
        return Ok(BTreeSet::new());
    };
    let Some(name) = &body.controller else {
        return Ok(BTreeSet::from([None]));
    };
    let controllers = jobs.controllers_for(project).await?;
    let named = controllers.iter().filter(|one| one.name == *name);
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        return Ok(BTreeSet::from([None]));
    }
    let above = named.into_iter().filter_map(|one| match one.level {
        ControllerLevel::Project => None,
        ControllerLevel::Group => Some(one.path.clone()),
        ControllerLevel::Instance => Some(None),
    });
    Ok(above.collect())
}

/// `GET /api/v1/exemptions`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        listed(
            &call,
            |jobs, page| async move { jobs.exemptions(page).await },
        )
        .await
    })
}

/// `DELETE /api/v1/exemptions/{id}`
fn revoke(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageExemption>()?;
        let id = call.number(unknown)?;
        let jobs = call.jobs().await?;
        let exemption = find(&jobs, id).await?.ok_or_else(unknown)?.exemption;
        let wanted = |project| managed(&exemption.body, project);
        call.authorize_existing(territory(&exemption.body), wanted, unknown)
            .await?;
        let revoked = jobs.delete_exemption(exemption.id).await;
        revoked.map_err(|e| known(e, unknown))?;
        Ok(answer::nothing())
    })
}

/// The exemption of this number.
async fn find(jobs: &Service, id: u64) -> Result<Option<ExemptionDetails>, HttpError> {
    let mut wanted = PageRequest {
        after: None,
        limit: Some(1000),
    };
    loop {
        let page = jobs.exemptions(wanted).await?;
        if let Some(found) = page.items.into_iter().find(|one| one.exemption.id == id) {
            return Ok(Some(found));
        }
        match page.next {
            None => return Ok(None),
            after => wanted.after = after,
        }
    }
}
