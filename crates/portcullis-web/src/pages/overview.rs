//! The first page: what happened of late, what waits, what is wrong, and where to go.

mod course;
mod health;
mod steps;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::course::{Decided, Summary as Counts};
use self::health::{Policies, Status};
use self::steps::Step;
use super::decisions::{Listed, Summary};
use super::queue::{Counted, Queue};
use crate::backend::{Backend, Pending, Place, Problem};
use crate::frame::Frame;
use crate::query::Query;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/", show)];

/// A number that leads to its list.
#[derive(Debug)]
struct Tile {
    path: String,
    count: String,
    text: String,
}

#[derive(Debug, askama::Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    steps: Vec<Step>,
    decided: Option<Decided>,
    denials: Vec<Summary>,
    policies: Vec<Tile>,
    queue: Option<Queue>,
    status: Vec<Tile>,
    tenants: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct TenantName {
    name: String,
}

/// What reading decisions takes.
const READS: (&str, Place<'static>) = ("read-decisions", Place::Root);
/// What reading everything else takes.
const MAY_READ: (&str, Place<'static>) = ("read", Place::Root);

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let backend = request.backend;
        let counts = "/api/v1/decisions/summary?since=24h&buckets=48";
        let counts: Option<Counts> = found(backend, READS, counts).await?;
        let denied = "/api/v1/decisions?verdict=deny&since=24h&limit=5";
        let denied: Option<Listed> = found(backend, READS, denied).await?;
        let denials = denied.map(|listed| listed.items).unwrap_or_default();
        let policies: Option<Policies> = found(backend, READS, "/api/v1/policies").await?;
        let anywhere = ("read", Place::Anywhere);
        let jobs: Option<Counted> = found(backend, anywhere, "/api/v1/jobs/summary").await?;
        let status: Option<Status> = found(backend, MAY_READ, "/api/v1/status").await?;
        let tenants: Option<Vec<TenantName>> = found(backend, anywhere, "/api/tenants").await?;
        let is_demonstration = status.as_ref().is_some_and(Status::is_demonstration);
        let queue = jobs
            .as_ref()
            .map(|jobs| Queue::new(jobs, &[], &Query::default()));
        let tenants = tenants.into_iter().flatten();
        page(&OverviewPage {
            frame: request.frame("Overview").live_if(true),
            steps: match is_demonstration {
                true => steps::next(&denials, queue.as_ref()),
                false => Vec::new(),
            },
            decided: counts.as_ref().map(Decided::new),
            denials,
            policies: policies.map(|all| all.tiles()).unwrap_or_default(),
            queue,
            status: status.map(|status| status.tiles()).unwrap_or_default(),
            tenants: tenants.map(|tenant| tenant.name).collect(),
        })
    })
}

/// What there is for someone who may read it; nothing for others, and where a server doesn't have it.
async fn found<T: DeserializeOwned>(
    backend: &dyn Backend,
    needed: (&str, Place<'_>),
    path: &str,
) -> Result<Option<T>, Problem> {
    match backend.get_if_allowed(needed, path).await {
        // Where anyone may read in a tenant, the list of tenants still asks for a role.
        Err(problem) if matches!(problem.status, 403 | 404) => Ok(None),
        other => other,
    }
}

#[cfg(test)]
mod tests;
