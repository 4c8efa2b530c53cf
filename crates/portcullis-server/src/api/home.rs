//! `GET /`: what the server offers, as JSON. Browsers get the first page instead.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::access::DESCRIBES;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use portcullis_config::Service;

/// What there is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Home {
    /// `portcullis`
    name: &'static str,
    /// The version of the program.
    version: &'static str,
    /// Paths of this server, by what they are for.
    links: BTreeMap<&'static str, &'static str>,
}

/// The first page.
pub(super) const ENDPOINTS: &[Endpoint] = &[get(
    ("/", "home"),
    Tag::Description,
    DESCRIBES,
    (
        "Show name, version and links of the server",
        "Browsers get a page, or without a session a redirect to `/sign-in`.",
    ),
    Success::Json {
        description: "Name, version and paths of this server.",
        schema: schema_of::<Home>,
    },
    home,
)
.with_web()];

/// Paths that are worth a link: name, path, and where it is served.
const LINKS: &[(&str, &str, &[Service])] = &[
    ("docs", "/docs", &[Service::Api, Service::Web]),
    (
        "graph",
        "/debug/resource-dependency-graph",
        &[Service::Api, Service::Web],
    ),
    ("info", "/api/info", &[Service::Api]),
    ("openapi", "/openapi.json", &[Service::Api, Service::Web]),
    ("sign-in", "/sign-in", &[Service::Web]),
];

fn home(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let setup = call.visitor.setup.load();
        let is_served = |any: &[Service]| any.iter().any(|one| setup.serves.contains(one));
        let links = LINKS.iter().filter(|(.., any)| is_served(any));
        answer::ok(&Home {
            name: "portcullis",
            version: env!("CARGO_PKG_VERSION"),
            links: links.map(|(name, path, ..)| (*name, *path)).collect(),
        })
    })
}
