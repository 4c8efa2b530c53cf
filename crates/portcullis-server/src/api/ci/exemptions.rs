//! Exemptions: denials that don't count, for a time and for a reason.

use portcullis_ci::{PageRequest, Service};
use portcullis_core::clock;
use portcullis_jobs::{Exemption, ExemptionBody, Timestamp};
use portcullis_roles::{Condition, Parameters, Permission, Project};

use super::{
    Held, INVALID, LIMIT, OBJECT, OTHER, PAGE_NUMBER, created, known, list_of, paged, visible,
};
use crate::api::access::by_holder;
use crate::api::action::{Action, Read};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post};
use crate::api::guard::Territory;
use crate::api::query::Query;
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
        success: created("The exemption."),
        ..post(
            ("/api/v1/exemptions", "grantExemption"),
            Tag::Exemptions,
            by_holder::<ManageExemption>(),
            (
                "Grant an exemption",
                "The controller or policy is asked all the same; its denial does not count, and is recorded with the \
                 exemption. One without a project is for the whole instance.",
            ),
            Content {
                schema: OBJECT,
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
            ("List exemptions", "Those that the caller may see."),
            list_of("A page of exemptions."),
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

impl Held for Exemption {
    fn territory(&self) -> Territory<'_> {
        territory(&self.body)
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
        if let Some(project) = authorized.into_inner().project {
            body.project = Some(project.name);
        }
        let granted = call.jobs().await?.add_exemption(body).await?;
        answer::created(&granted)
    })
}

/// `GET /api/v1/exemptions`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let mut query = Query::of(call.head);
        let page = paged(&mut query)?;
        query.done()?;
        let jobs = call.jobs().await?;
        let read = |page| jobs.exemptions(page);
        answer::ok(&visible(&call, page, read).await?)
    })
}

/// `DELETE /api/v1/exemptions/{id}`
fn revoke(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageExemption>()?;
        let id = call.number(unknown)?;
        let jobs = call.jobs().await?;
        let exemption = find(&jobs, id).await?.ok_or_else(unknown)?;
        let wanted = |project| managed(&exemption.body, project);
        call.authorize_existing(territory(&exemption.body), wanted, unknown)
            .await?;
        let revoked = jobs.delete_exemption(exemption.id).await;
        revoked.map_err(|e| known(e, unknown))?;
        Ok(answer::nothing())
    })
}

/// The exemption of this number.
async fn find(jobs: &Service, id: u64) -> Result<Option<Exemption>, HttpError> {
    let mut wanted = PageRequest {
        after: None,
        limit: Some(1000),
    };
    loop {
        let page = jobs.exemptions(wanted).await?;
        if let Some(found) = page.items.into_iter().find(|one| one.id == id) {
            return Ok(Some(found));
        }
        match page.next {
            None => return Ok(None),
            after => wanted.after = after,
        }
    }
}
