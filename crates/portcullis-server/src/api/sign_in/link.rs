//! Signing in with a link that is valid once, as `portcullis playground` prints it.

use hyper::{Method, StatusCode};
use portcullis_core::clock;

use super::{SIGNS_IN, page, session_with_token};
use crate::api::call::{Answering, Call};
use crate::api::caller::Caller;
use crate::api::endpoint::{Endpoint, Success, Tag, get, text};
use crate::api::query::Query;
use crate::http::Response;
use crate::http::error::HttpError;
use crate::sign_in_link::PATH;

/// What people do who have a link.
pub(in super::super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    query: &[text("code", "The code of the link.", "")],
    refusals: &[(
        410,
        "The link was followed before, is older than ten minutes, or was not made by this server.",
    )],
    ..get(
        (PATH, "signInByLink"),
        Tag::SignIn,
        SIGNS_IN,
        (
            "Sign in with a link",
            "A server that was started by `portcullis playground` prints one link, which is valid once. Other servers have none.",
        ),
        Success::Redirect {
            description: "Redirect to the page of the link, with a session.",
        },
        follow,
    )
    .only_web()
}];

/// `GET /sign-in/link`
fn follow(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let head = call.head;
        page::for_people(head, followed(call).await)
    })
}

async fn followed(call: Call<'_>) -> Result<Response, HttpError> {
    let mut query = Query::of(call.head);
    let code = query.take("code")?.unwrap_or_default();
    query.done()?;
    // Whoever only asks whether the link is there does not use it up.
    let link = match call.head.method == Method::GET {
        true => call.visitor.server.sign_in_link.take(&code),
        false => None,
    };
    let Some(link) = link else {
        return Err(HttpError::new(
            StatusCode::GONE,
            "link_used",
            "this link is not valid: it was followed before, is older than ten minutes, or was made by another server. \
             A browser that followed it before is signed in: open /playground. Otherwise start `portcullis playground` again",
        ));
    };
    let authenticators = &call.gate.access.authenticators;
    let identity = authenticators.verify(&link.token, clock::wall()).await;
    let identity = identity.map_err(|why| Caller::Unproved(why).challenge(&call.gate.access))?;
    session_with_token(&call, &link.token, &identity, &link.next)
}
