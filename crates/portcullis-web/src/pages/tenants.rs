//! The tenants that the person may read.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/tenants", show)];

/// A tenant in a list.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    projects: u64,
    by_pattern: bool,
    queue: u64,
    #[serde(default)]
    state: Option<super::tenant::State>,
}

impl Entry {
    /// How many projects it holds, as far as they can be counted.
    fn held(&self) -> String {
        match (self.projects, self.by_pattern) {
            (0, true) => "by pattern".to_owned(),
            (count, true) => format!("{count} and by pattern"),
            (count, false) => count.to_string(),
        }
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "tenants.html")]
struct TenantsPage {
    frame: Frame,
    tenants: Vec<Entry>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let tenants = request.backend.get("/api/tenants").await?;
        page(&TenantsPage {
            frame: request.frame("Tenants"),
            tenants,
        })
    })
}
