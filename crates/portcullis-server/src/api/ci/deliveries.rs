//! Deliveries to controllers.

use portcullis_ci::{DeliveryDetails, DeliveryFilter};

use super::controllers::ManageController;
use super::{Held, LIMIT, PAGE_NUMBER, known, list_of, numbered, object, paged, visible};
use crate::api::access::by_holder;
use crate::api::action::Read;
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Endpoint, QueryParameter, Tag, Verb, get, schema_of};
use crate::api::guard::Territory;
use crate::api::query::Query;
use crate::http::error::HttpError;

/// What may be done with deliveries.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: &[
            QueryParameter {
                name: "job",
                description: "Only deliveries about this job.",
                schema: schema_of::<u64>,
                example: "17",
            },
            QueryParameter {
                name: "controller",
                description: "Only deliveries to this controller.",
                schema: schema_of::<u64>,
                example: "3",
            },
            PAGE_NUMBER,
            LIMIT,
        ],
        ..get(
            ("/api/v1/deliveries", "deliveries"),
            Tag::Controllers,
            by_holder::<Read>(),
            (
                "List deliveries",
                "What was sent to controllers, what came back, and what is due. The newest first.",
            ),
            list_of::<DeliveryDetails>("A page of deliveries."),
            list,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Post,
        refusals: &[(409, "The delivery is done, or its job waits no longer.")],
        ..get(
            ("/api/v1/deliveries/{id}/redeliver", "redeliver"),
            Tag::Controllers,
            by_holder::<ManageController>(),
            (
                "Deliver again",
                "At once, with the same id and the same callback token.",
            ),
            object::<DeliveryDetails>("The delivery."),
            redeliver,
        )
    }
    .with_ci(),
];

fn unknown() -> HttpError {
    HttpError::not_found("no such delivery")
}

impl Held for DeliveryDetails {
    fn territory(&self) -> Territory<'_> {
        Territory::Project(&self.project)
    }
}

/// `GET /api/v1/deliveries`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let mut query = Query::of(call.head);
        let page = paged(&mut query)?;
        let filter = DeliveryFilter {
            job: numbered(&mut query, "job")?,
            controller: numbered(&mut query, "controller")?,
        };
        query.done()?;
        let jobs = call.jobs().await?;
        let read = |page| jobs.deliveries(filter, page);
        answer::ok(&visible(&call, page, read).await?)
    })
}

/// `POST /api/v1/deliveries/{id}/redeliver`
fn redeliver(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<ManageController>()?;
        let id = call.number(unknown)?;
        let jobs = call.jobs().await?;
        let found = jobs.delivery(id).await;
        let delivery = found.map_err(|e| known(e, unknown))?;
        let wanted = |project| ManageController {
            project,
            controller: delivery.controller_name.clone().unwrap_or_default(),
        };
        let territory = Territory::Project(&delivery.project);
        call.authorize_existing(territory, wanted, unknown).await?;
        let sent = jobs.redeliver(delivery.id).await;
        answer::ok(&sent.map_err(|e| known(e, unknown))?)
    })
}
