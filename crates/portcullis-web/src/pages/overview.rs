//! The first page: what happened of late, what waits, and where to go.

use serde::Deserialize;

use super::decisions::{Listed, Summary};
use crate::backend::{Pending, Place, Problem};
use crate::frame::Frame;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/", show)];

/// A number that leads to its list.
#[derive(Debug)]
struct Tile {
    path: String,
    count: String,
    text: &'static str,
}

#[derive(Debug, askama::Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    counts: Option<Vec<Tile>>,
    denials: Vec<Summary>,
    jobs: Option<Vec<Tile>>,
    tenants: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct TenantName {
    name: String,
}

/// What reading decisions takes.
const READS: (&str, Place<'static>) = ("read-decisions", Place::Root);

/// Decisions that are counted; more are "at least".
const COUNTED: usize = 1000;

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let backend = request.backend;
        let denied = "/api/v1/decisions?verdict=deny&since=24h&limit=1000";
        let denied: Option<Listed> = backend.get_if_allowed(READS, denied).await?;
        let allowed = "/api/v1/decisions?verdict=allow&since=24h&limit=1000";
        let allowed: Option<Listed> = backend.get_if_allowed(READS, allowed).await?;
        let may_read = ("read", Place::Root);
        let tenants: Option<Vec<TenantName>> =
            backend.get_if_allowed(may_read, "/api/tenants").await?;
        let counts = denied
            .as_ref()
            .zip(allowed.as_ref())
            .map(|(denied, allowed)| {
                vec![
                    tile(
                        denied,
                        "/decisions?verdict=deny&since=24h",
                        "denied in 24 hours",
                    ),
                    tile(
                        allowed,
                        "/decisions?verdict=allow&since=24h",
                        "allowed in 24 hours",
                    ),
                ]
            });
        let denials = denied.map(|listed| listed.items).unwrap_or_default();
        let tenants = tenants.unwrap_or_default().into_iter();
        page(&OverviewPage {
            frame: request.frame("Overview"),
            counts,
            denials: denials.into_iter().take(5).collect(),
            jobs: None,
            tenants: tenants.map(|tenant| tenant.name).collect(),
        })
    })
}

fn tile(listed: &Listed, path: &str, text: &'static str) -> Tile {
    let count = listed.items.len();
    Tile {
        path: path.to_owned(),
        count: match count >= COUNTED {
            true => format!("{count}+"),
            false => count.to_string(),
        },
        text,
    }
}
