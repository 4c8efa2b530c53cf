//! `GET /`: what the server offers, as a page and as JSON.

use std::collections::BTreeMap;

use hyper::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::access::DESCRIBES;
use super::answer::{self, redirect};
use super::call::{Answering, Call};
use super::caller::Caller;
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::html::escaped;
use super::{people, web};
use crate::http::Response;
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

/// Paths that are worth a link: name, path, what people read, and where it is served.
const LINKS: &[(&str, &str, &str, &[Service])] = &[
    (
        "docs",
        "/docs",
        "API reference",
        &[Service::Api, Service::Web],
    ),
    (
        "graph",
        "/debug/resource-dependency-graph",
        "Relationship graph",
        &[Service::Api, Service::Web],
    ),
    ("info", "/api/info", "", &[Service::Api]),
    (
        "openapi",
        "/openapi.json",
        "",
        &[Service::Api, Service::Web],
    ),
    ("sign-in", "/sign-in", "", &[Service::Api, Service::Web]),
];

fn home(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        if people::wants_page(call.head) {
            let is_web = call.visitor.setup.load().serves.contains(&Service::Web);
            return match portcullis_web::find("/", false) {
                portcullis_web::Found::Page(page) if is_web => {
                    let (head, body) = (call.head, call.body);
                    web::answer_for(page, call.visitor, call.gate, call.caller, (head, body)).await
                }
                _ => page(&call),
            };
        }
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

fn page(call: &Call<'_>) -> Result<Response, crate::http::error::HttpError> {
    let sessions = call.gate.access.sessions.as_ref();
    let who = call.caller.identity();
    if let (None, Some(_)) = (who, sessions) {
        return redirect(&people::sign_in_for(call.head));
    }
    let mut main = String::new();
    if let Some(who) = who {
        main += &format!(
            "<p>Signed in as <strong>{}</strong></p>\n",
            escaped(&who.uid)
        );
    }
    main += "<ul>\n";
    for (_, path, text, _) in LINKS.iter().filter(|(_, _, text, _)| !text.is_empty()) {
        main += &format!("<li><a href=\"{path}\">{text}</a></li>\n");
    }
    main += "</ul>";
    if let (Caller::SignedIn(session), Some(sessions)) = (&call.caller, sessions) {
        main += &format!(
            "\n<form method=\"post\" action=\"/sign-out\">\n\
             <input type=\"hidden\" name=\"csrf\" value=\"{}\">\n\
             <button type=\"submit\">Sign out</button>\n</form>",
            escaped(&sessions.csrf(session))
        );
    }
    let version = env!("CARGO_PKG_VERSION");
    main += &format!("\n<p class=\"hint\">Version {version}</p>");
    Ok(people::page(StatusCode::OK, "Overview", &main))
}
