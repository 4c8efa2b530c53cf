//! Deliveries: what controllers were sent and what came of it, as the pages of jobs and controllers show it.

use serde::Deserialize;

use crate::backend::{Backend, Place, Problem, Verb};
use crate::badge::Badge;
use crate::form::Action;
use crate::listing::Listing;
use crate::query::{Query, segment};
use crate::request::Request;

/// A question to a controller about one attempt of a job.
#[derive(Debug, Deserialize)]
pub(super) struct Delivery {
    pub(super) id: u64,
    pub(super) job: u64,
    pub(super) project: String,
    pub(super) controller: u64,
    pub(super) controller_name: Option<String>,
    pub(super) attempt: u64,
    pub(super) state: String,
    #[serde(default)]
    pub(super) tries: Vec<Try>,
    pub(super) next_at: Option<String>,
    pub(super) created_at: String,
    pub(super) deadline: String,
}

/// One try to deliver.
#[derive(Debug, Deserialize)]
pub(super) struct Try {
    pub(super) at: String,
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
    pub(super) duration_ms: u64,
}

impl Try {
    /// The status, unless the error says it already.
    pub(super) fn said_status(&self) -> Option<u16> {
        let is_said = |status: &u16| {
            let error = self.error.as_deref().unwrap_or_default();
            error.starts_with(&format!("status {status}"))
        };
        self.status.filter(|status| !is_said(status))
    }
}

/// A delivery in a table.
#[derive(Debug)]
pub(super) struct DeliveryRow {
    pub(super) one: Delivery,
    pub(super) badge: Badge,
    /// Delivering it again, where an answer would still count.
    pub(super) redeliver: Option<Action>,
}

/// Deliveries of a page.
#[derive(Debug)]
pub(super) struct Deliveries {
    pub(super) rows: Vec<DeliveryRow>,
    /// Whether older ones are left out.
    pub(super) has_more: bool,
}

/// The latest deliveries with this value of a parameter. The page whose forms they are in is at `path`.
pub(super) async fn deliveries(
    backend: &dyn Backend,
    (name, value): (&str, u64),
    path: &str,
) -> Result<Deliveries, Problem> {
    let query = Query::default().with(name, &value.to_string());
    let found = backend.get(&query.of("/api/v1/deliveries")).await?;
    let listing: Listing<Delivery> = found;
    let items = listing.items.into_iter();
    Ok(Deliveries {
        rows: items.map(|one| row(backend, path, one)).collect(),
        has_more: listing.next.is_some(),
    })
}

fn row(backend: &dyn Backend, path: &str, one: Delivery) -> DeliveryRow {
    let needed = ("manage-controllers", Place::Project(&one.project));
    let to = format!("{path}/redeliver/{}", one.id);
    let is_over = one.state == "done";
    DeliveryRow {
        badge: Badge::step(&one.state),
        redeliver: (!is_over).then(|| Action::new(backend, "Redeliver", to, needed)),
        one,
    }
}

/// Delivers again what the path names in its second place.
pub(super) async fn redeliver(request: &Request<'_>) -> Result<(), Problem> {
    let id = segment(request.value(1));
    let path = format!("/api/v1/deliveries/{id}/redeliver");
    request.backend.call(Verb::Post, &path, None).await?;
    Ok(())
}
