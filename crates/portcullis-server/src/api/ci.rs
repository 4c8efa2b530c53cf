//! Calls about CI jobs: jobs, pipelines, admission controllers, deliveries, exemptions, runners, and those that
//! runners make.
//!
//! What they are about is held by tenants, by the path of a project or group: the guard asks those. A job that the
//! caller may not see looks as if it did not exist.

mod callback;
mod controllers;
mod deliveries;
mod exemptions;
mod job_summary;
mod job_trace;
mod jobs;
mod pauses;
mod pipelines;
mod runner_protocol;
mod runners;

use portcullis_ci::{CiError, OpenError, Page, PageRequest, Service};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::action::Read;
use super::answer;
use super::call::Call;
use super::endpoint::{Endpoint, QueryParameter, SchemaOf, Success, schema_of};
use super::guard::Territory;
use super::query::Query;
use crate::http::Response;
use crate::http::error::HttpError;
use crate::job_door;
pub(super) use pauses::DISCARDED;

/// The calls, by what they are about.
pub(super) const GROUPS: &[&[Endpoint]] = &[
    jobs::ENDPOINTS,
    pipelines::ENDPOINTS,
    controllers::ENDPOINTS,
    deliveries::ENDPOINTS,
    callback::ENDPOINTS,
    exemptions::ENDPOINTS,
    runners::ENDPOINTS,
    runner_protocol::registration::ENDPOINTS,
    runner_protocol::reports::ENDPOINTS,
    runner_protocol::artifacts::ENDPOINTS,
];

/// Items in a page unless said.
const PAGE: usize = 50;
/// Items in a page at most.
const MOST: usize = 500;
/// How many pages of the store are read for one page, where the caller may see little.
const MOST_READS: usize = 40;
/// The largest body of a submission.
const SUBMISSION: u64 = 4 << 20;
/// The largest body of everything else.
const OTHER: u64 = 512 << 10;

/// An object of any shape.
type Object = Map<String, Value>;

/// An object of any shape.
const OBJECT: SchemaOf = schema_of::<Object>;

const fn object<T: JsonSchema>(description: &'static str) -> Success {
    Success::Json {
        description,
        schema: schema_of::<T>,
    }
}

const fn created<T: JsonSchema>(description: &'static str) -> Success {
    Success::Created {
        description,
        schema: schema_of::<T>,
    }
}

const fn list_of<T: JsonSchema>(description: &'static str) -> Success {
    Success::Json {
        description,
        schema: schema_of::<Page<T>>,
    }
}

/// Lists what the caller may see, where nothing but the page is asked for.
async fn listed<T: Held + Serialize, F: Future<Output = Result<Page<T>, CiError>>>(
    call: &Call<'_>,
    read: impl Fn(Service, PageRequest) -> F,
) -> Result<Response, HttpError> {
    call.admit_somewhere::<Read>()?;
    let mut query = Query::of(call.head);
    let page = paged(&mut query)?;
    query.done()?;
    let jobs = call.jobs().await?;
    let read = |page| read(jobs.clone(), page);
    answer::ok(&visible(call, page, read).await?)
}

const PAGE_NUMBER: QueryParameter = QueryParameter {
    name: "page",
    description: "The `next` of the previous page.",
    schema: schema_of::<u64>,
    example: "42",
};

const LIMIT: QueryParameter = QueryParameter {
    name: "limit",
    description: "The number of items, 1 to 500; by default 50.",
    schema: limit_schema,
    example: "50",
};

fn limit_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": MOST})
}

const INVALID: (u16, &str) = (
    422,
    "The content is invalid. `error.details.faults` has every fault with the path of its field.",
);

impl From<CiError> for HttpError {
    fn from(error: CiError) -> Self {
        match error {
            CiError::NotFound => Self::not_found("not found"),
            CiError::Conflict(why) => Self::conflict("conflict", why),
            CiError::Invalid(faults) => Self::unprocessable(&faults),
            CiError::Unauthorized => {
                Self::unauthorized("bad_token", "the token is not valid", "portcullis")
            }
            CiError::JobToken(_) => Self::forbidden("forbidden", error.to_string()),
            CiError::TooLarge(most) => Self::body_too_large(most),
            CiError::TooManyRequests { retry_after } => Self::too_many_requests(
                "too many jobs are waiting for admission",
                retry_after.as_secs().max(1),
            ),
            CiError::Unavailable(why) => {
                tracing::warn!("CI jobs are not available: {why}");
                Self::busy("the store does not answer")
            }
        }
    }
}

impl From<OpenError> for HttpError {
    fn from(error: OpenError) -> Self {
        tracing::warn!("CI jobs are not available: {error}");
        Self::busy("the store does not answer")
    }
}

impl Call<'_> {
    /// What has the jobs.
    pub(super) async fn jobs(&self) -> Result<Service, HttpError> {
        let server = &self.visitor.server;
        Ok(job_door::service(server).await?)
    }

    /// The same where jobs are served: calls that are not about jobs alone don't open a store for them.
    pub(super) async fn jobs_if_served(&self) -> Result<Option<Service>, HttpError> {
        let server = &self.visitor.server;
        Ok(job_door::service_if_served(server).await?)
    }

    /// The number in the path; what is no number is nothing that exists.
    fn number(&self, unknown: fn() -> HttpError) -> Result<u64, HttpError> {
        let text = self.values.get("id");
        text.parse().map_err(|_| unknown())
    }

    /// The path of a project as tenants know it, by either of its names.
    fn project_named(&self, named: String) -> String {
        let mut tenants = self.gate.access.roles.tenants();
        let found = tenants.find_map(|tenant| tenant.project(&named));
        found.map_or(named, |project| project.name)
    }
}

/// What of an error says that there is no such thing.
fn known(error: CiError, unknown: fn() -> HttpError) -> HttpError {
    match error {
        CiError::NotFound => unknown(),
        other => other.into(),
    }
}

/// The page that a query asks for; how many items it has at most.
fn paged(query: &mut Query) -> Result<(Option<u64>, usize), HttpError> {
    let limit = match query.take("limit")? {
        None => PAGE,
        Some(text) => match text.parse() {
            Ok(limit @ 1..=MOST) => limit,
            _ => {
                let message = format!("invalid limit: expected 1 to {MOST}");
                return Err(HttpError::bad_request(message));
            }
        },
    };
    let (page, after) = (query.take("page")?, query.take("after")?);
    let after = page.or(after).filter(|text| !text.is_empty());
    let wrong = || HttpError::bad_request("invalid page: expected the `next` of another page");
    let after = after.map(|text| text.parse().map_err(|_| wrong()));
    Ok((after.transpose()?, limit))
}

/// A number in a query, if it is there.
fn numbered(query: &mut Query, name: &'static str) -> Result<Option<u64>, HttpError> {
    let text = query.take(name)?.filter(|text| !text.is_empty());
    let wrong = || HttpError::bad_request(format!("invalid {name}: expected a whole number"));
    text.map(|text| text.parse().map_err(|_| wrong()))
        .transpose()
}

/// What tenants hold.
trait Held {
    /// Where it belongs.
    fn territory(&self) -> Territory<'_>;
}

/// A page of what the caller may see: pages of the store are read until it is full.
async fn visible<T: Held, F: Future<Output = Result<Page<T>, CiError>>>(
    call: &Call<'_>,
    (mut after, limit): (Option<u64>, usize),
    read: impl Fn(PageRequest) -> F,
) -> Result<Page<T>, HttpError> {
    let mut items = Vec::new();
    for _ in 0..MOST_READS {
        let wanted = PageRequest {
            after,
            limit: Some(limit.saturating_sub(items.len())),
        };
        let page = read(wanted).await?;
        after = page.next;
        let seen = page.items.into_iter();
        items.extend(seen.filter(|item| call.may_see(item.territory())));
        if after.is_none() || items.len() >= limit {
            break;
        }
    }
    Ok(Page { items, next: after })
}
