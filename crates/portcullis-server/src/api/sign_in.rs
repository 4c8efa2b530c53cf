//! Signing in with a browser, and out again: OpenID Connect or a token, then a session in a signed cookie.

pub(super) mod form;
pub(super) mod link;
mod page;

use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::HOST;
use portcullis_authn::{LoginError, Sessions};
use portcullis_core::{Identity, clock, printable};
use schemars::JsonSchema;
use serde::Serialize;

use super::access::Access;
use super::answer::{self, redirect};
use super::call::{Answering, Call};
use super::caller::Caller;
use super::cookies::{LOGIN, SESSION, cookie, set_cookie};
use super::endpoint::{Endpoint, Success, Tag, Verb, get, schema_of, text};
use super::query::Query;
use super::state::seconds;
use crate::http::Response;
use crate::http::body::{self, BodyLimits};
use crate::http::budget::Budget;
use crate::http::error::HttpError;

/// How long a login may take.
const LOGIN_SECONDS: u64 = 600;
/// A form holds a token at most.
const FORM_BYTES: u64 = 64 << 10;

/// Who is signed in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionAnswer {
    /// The name of the caller.
    user: String,
    /// Where the caller signed in.
    realm: String,
    /// When the session ends, in seconds since 1970.
    expires: u64,
    /// What to send as `X-CSRF-Token` with everything that changes something.
    csrf: String,
}

const SIGNS_IN: Access = Access::Public("is for callers who are not signed in yet");

const LOGIN_REFUSALS: &[(u16, &str)] = &[
    (
        400,
        "The sign-in was not started in this browser, took too long, or belongs to another attempt.",
    ),
    (403, "The provider denied the sign-in."),
    (404, "Sign-in is not available, or the realm is unknown."),
    (422, "The provider's claims are too large for a session."),
    (502, "The provider's answer or token is invalid."),
    (503, "The provider is unavailable."),
];

/// What browsers do to sign in and out.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: &[
            text(
                "realm",
                "The realm to sign in to; by default the default realm.",
                "sso",
            ),
            text(
                "return_to",
                "Where to redirect afterwards: a path of this server.",
                "/docs",
            ),
        ],
        refusals: LOGIN_REFUSALS,
        ..get(
            ("/auth/login", "login"),
            Tag::SignIn,
            SIGNS_IN,
            (
                "Sign in with a browser",
                "OpenID Connect: the provider sends the browser back to `/auth/callback`.",
            ),
            Success::Redirect {
                description: "Redirect to the provider.",
            },
            login,
        )
        .with_web()
    },
    Endpoint {
        query: &[
            text("code", "The authorization code of the provider.", ""),
            text("state", "The state that the sign-in started with.", ""),
            text("iss", "The issuer of the provider.", ""),
            text("error", "The error code of the provider.", ""),
            text(
                "error_description",
                "The error description of the provider.",
                "",
            ),
        ],
        refusals: LOGIN_REFUSALS,
        ..get(
            ("/auth/callback", "loginCallback"),
            Tag::SignIn,
            SIGNS_IN,
            ("Complete a sign-in", ""),
            Success::Redirect {
                description: "Redirect to where the sign-in was started, with a session.",
            },
            callback,
        )
        .with_web()
    },
    Endpoint {
        refusals: &[(404, "Sessions are not enabled.")],
        ..get(
            ("/auth/session", "session"),
            Tag::SignIn,
            Access::SignedIn("is about the caller's own session"),
            ("Show the session", "Answers 401 without a session."),
            Success::Json {
                description: "The session.",
                schema: schema_of::<SessionAnswer>,
            },
            session,
        )
        .with_web()
    },
    Endpoint {
        method: Verb::Post,
        refusals: &[
            (403, "The form lacks the session's `csrf`."),
            (408, "The form did not arrive in time."),
            (413, "The form is too large."),
            (503, "The store does not answer: the session stays valid."),
        ],
        ..get(
            ("/auth/logout", "logout"),
            Tag::SignIn,
            Access::Public("ends the caller's own session, if there is one"),
            (
                "Sign out",
                "With a session it needs its `X-CSRF-Token`, or the same in a form field `csrf`.",
            ),
            Success::Redirect {
                description: "Redirect to the pages.",
            },
            logout,
        )
        .with_web()
    },
];

/// `GET /auth/login`
pub(super) fn login(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let head = call.head;
        page::for_people(head, begin(call).await)
    })
}

/// `GET /auth/callback`: where the provider sends the browser back to.
pub(super) fn callback(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let head = call.head;
        page::for_people(head, finish(call).await)
    })
}

async fn begin(call: Call<'_>) -> Result<Response, HttpError> {
    let sessions = sessions(&call)?;
    let mut query = Query::of(call.head);
    let realm = query.take("realm")?;
    let return_to = query
        .take("return_to")?
        .unwrap_or_else(|| "/docs".to_owned());
    query.done()?;
    let redirect_uri = redirect_uri(&call)?;
    let authenticators = &call.gate.access.authenticators;
    let begun = authenticators
        .begin_login(
            realm.as_deref(),
            &redirect_uri,
            &return_to,
            sessions,
            clock::wall(),
        )
        .await
        .map_err(|error| failed(&error))?;
    let mut response = redirect(&begun.location)?;
    set_cookie(
        call.at(),
        &mut response,
        LOGIN,
        &begun.cookie,
        LOGIN_SECONDS,
    )?;
    Ok(response)
}

async fn finish(call: Call<'_>) -> Result<Response, HttpError> {
    let sessions = sessions(&call)?;
    let Some(begun) = cookie(&call.head.headers, LOGIN.at(call.is_secure())) else {
        return Err(HttpError::bad_request(
            "no sign-in was started in this browser: start again at /auth/login",
        ));
    };
    let redirect_uri = redirect_uri(&call)?;
    let query = call.head.uri.query().unwrap_or_default();
    let now = clock::wall();
    let authenticators = &call.gate.access.authenticators;
    let done = authenticators
        .finish_login(query, begun, &redirect_uri, sessions, now)
        .await
        .map_err(|error| failed(&error))?;
    let sealed = sessions
        .seal(&done.identity, &done.realm, now)
        .map_err(|_| {
            HttpError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "too_many_claims",
                "the provider's claims are too large for a session: use a bearer token",
            )
        })?;
    let mut response = redirect(&done.return_to)?;
    set_cookie(
        call.at(),
        &mut response,
        SESSION,
        &sealed,
        call.gate.access.session_lifetime.as_secs(),
    )?;
    set_cookie(call.at(), &mut response, LOGIN, "", 0)?;
    tracing::info!(user = done.identity.uid, realm = done.realm, "signed in");
    Ok(response)
}

/// `GET /auth/session`
pub(super) fn session(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let sessions = sessions(&call)?;
        let Caller::SignedIn(session) = &call.caller else {
            return Err(call.caller.challenge(&call.gate.access));
        };
        answer::ok(&SessionAnswer {
            user: session.identity.uid.clone(),
            realm: session.realm.to_string(),
            expires: seconds(session.expires),
            csrf: sessions.csrf(session),
        })
    })
}

/// `POST /auth/logout`
pub(super) fn logout(call: Call<'_>) -> Answering<'_> {
    Box::pin(end_session(call, "/docs"))
}

/// Ends the caller's session, if there is one, and goes there.
async fn end_session(call: Call<'_>, then: &str) -> Result<Response, HttpError> {
    if let Caller::SignedIn(session) = &call.caller {
        let session = session.clone();
        if call.check_forgery().is_err() {
            call.check_site()?;
            let fields =
                form_fields(&call.visitor.server.budget, &mut *call.body, FORM_BYTES).await?;
            let given = fields.iter().find(|(own, _)| own == "csrf");
            let given = given.map(|(_, value)| value.as_str()).unwrap_or_default();
            call.check_csrf(&session, given)?;
        }
        // The cookie may have been copied: taking it from this browser is not enough.
        call.visitor
            .server
            .operator_state
            .end_session(&session)
            .await?;
    }
    let mut response = redirect(then)?;
    set_cookie(call.at(), &mut response, SESSION, "", 0)?;
    Ok(response)
}

/// Begins a session with a verified token, and goes there.
fn session_with_token(
    call: &Call<'_>,
    token: &str,
    identity: &Identity,
    next: &str,
) -> Result<Response, HttpError> {
    let now = clock::wall();
    let realm = call.gate.access.authenticators.realm_of(identity);
    let sealed = sessions(call)?.seal_token(token, identity, realm, now);
    let (cookie, ends) = sealed.map_err(|_| {
        HttpError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "token_too_long",
            "the token is too long for a session: use it as a bearer token",
        )
    })?;
    let seconds = ends.duration_since(now).unwrap_or_default().as_secs();
    let mut response = redirect(next)?;
    set_cookie(call.at(), &mut response, SESSION, &cookie, seconds)?;
    tracing::info!(user = identity.uid, realm, "signed in");
    Ok(response)
}

/// The fields of a form that a page without scripts sends.
pub(super) async fn form_fields(
    budget: &Arc<Budget>,
    incoming: &mut Option<hyper::body::Incoming>,
    most: u64,
) -> Result<Vec<(String, String)>, HttpError> {
    let Some(incoming) = incoming.take() else {
        return Ok(Vec::new());
    };
    let limits = BodyLimits {
        bytes: most,
        time: std::time::Duration::from_secs(10),
        budget,
    };
    let bytes = body::read(incoming, limits, false).await?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

fn sessions<'a>(call: &Call<'a>) -> Result<&'a Sessions, HttpError> {
    let sessions = call.gate.access.sessions.as_ref();
    sessions.ok_or_else(|| {
        HttpError::not_found("sessions are not enabled: no authenticator accepts tokens")
    })
}

/// How the browser reaches this server.
fn origin(call: &Call<'_>) -> Result<String, HttpError> {
    if let Some(url) = &call.gate.access.public_url {
        return Ok(url.clone());
    }
    let host = call
        .head
        .headers
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let authority = host.or(call
        .head
        .uri
        .authority()
        .map(hyper::http::uri::Authority::as_str));
    let is_plain = |text: &&str| {
        let may_be = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        !text.is_empty() && text.chars().all(may_be)
    };
    let Some(authority) = authority.filter(is_plain) else {
        return Err(HttpError::bad_request("the request has no Host header"));
    };
    let scheme = if call.is_secure() { "https" } else { "http" };
    Ok(format!("{scheme}://{authority}"))
}

fn redirect_uri(call: &Call<'_>) -> Result<String, HttpError> {
    Ok(format!("{}/auth/callback", origin(call)?))
}

fn failed(error: &LoginError) -> HttpError {
    let why = error.to_string();
    tracing::warn!(code = error.code(), "sign-in failed: {}", printable(&why));
    let status = match error {
        LoginError::UnknownRealm | LoginError::NoLogin => StatusCode::NOT_FOUND,
        LoginError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        LoginError::BadAnswer(_) | LoginError::BadToken(_) => StatusCode::BAD_GATEWAY,
        LoginError::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        LoginError::Refused(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    };
    let message = match error {
        // Where the provider is, and what it lacks, is for the log.
        LoginError::Unavailable(_) => "the provider is unavailable: try again later".to_owned(),
        error => error.to_string(),
    };
    HttpError::new(status, error.code(), message)
}
