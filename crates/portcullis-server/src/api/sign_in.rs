//! Signing in with a browser, and out again: OpenID Connect, then a session in a signed cookie.
//!
//! Cookies are `HttpOnly` and `SameSite=Lax`: the browser brings them along when the provider sends it
//! back, and to nobody else's requests that change something. Over TLS they are bound to the host by
//! the prefix `__Host-`.

mod page;

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, LOCATION, SET_COOKIE};
use portcullis_authn::{LoginError, Sessions};
use portcullis_core::{clock, printable};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer;
use super::call::{Answering, Call};
use super::caller::{Caller, cookie};
use super::endpoint::{Access, Endpoint, Success, Tag, Verb, get, schema_of, text};
use super::query::Query;
use super::state::seconds;
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::body;
use crate::http::error::HttpError;
use crate::routes::Visitor;

/// A cookie: over TLS nobody but this host can set it, so only that one is believed there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CookieName {
    over_tls: &'static str,
    without: &'static str,
}

/// The session.
pub(super) const SESSION: CookieName = CookieName {
    over_tls: "__Host-portcullis-session",
    without: "portcullis-session",
};
/// A login under way.
const LOGIN: CookieName = CookieName {
    over_tls: "__Host-portcullis-login",
    without: "portcullis-login",
};

impl CookieName {
    /// The name that counts.
    pub(super) fn at(self, is_secure: bool) -> &'static str {
        match is_secure {
            true => self.over_tls,
            false => self.without,
        }
    }
}

/// How long a login may take.
const LOGIN_SECONDS: u64 = 600;
/// A form that signs somebody out is small.
const FORM_BYTES: u64 = 4096;

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

const SIGNS_IN: Access = Access::Public("is for those who are not signed in yet");

const LOGIN_REFUSALS: &[(u16, &str)] = &[
    (
        400,
        "The login was not begun in this browser, took too long, or belongs to another attempt.",
    ),
    (403, "The provider refused."),
    (404, "Nobody can sign in here, or there is no such realm."),
    (
        422,
        "The provider says more about the caller than a session can hold.",
    ),
    (
        502,
        "The provider's answer can't be understood or is not to be believed.",
    ),
    (503, "The provider can't be asked now."),
];

/// What browsers do to sign in and out.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: &[
            text(
                "realm",
                "Where to sign in; the default realm unless said.",
                "sso",
            ),
            text(
                "return_to",
                "Where to go afterwards, a path of this server.",
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
                description: "To the provider.",
            },
            login,
        )
    },
    Endpoint {
        query: &[
            text("code", "What the provider gives.", ""),
            text("state", "What the login began with.", ""),
            text("iss", "Who the provider is.", ""),
            text("error", "Why not.", ""),
            text("error_description", "Why not, in words.", ""),
        ],
        refusals: LOGIN_REFUSALS,
        ..get(
            ("/auth/callback", "loginCallback"),
            Tag::SignIn,
            SIGNS_IN,
            ("Where the provider sends browsers back to", ""),
            Success::Redirect {
                description: "To where the login came from, with a session.",
            },
            callback,
        )
    },
    Endpoint {
        refusals: &[(404, "Nobody can sign in here.")],
        ..get(
            ("/auth/session", "session"),
            Tag::SignIn,
            Access::SignedIn("is about the caller's own session"),
            ("Who is signed in", "401 without a session."),
            Success::Json {
                description: "The session.",
                schema: schema_of::<SessionAnswer>,
            },
            session,
        )
    },
    Endpoint {
        method: Verb::Post,
        ..get(
            ("/auth/logout", "logout"),
            Tag::SignIn,
            Access::Public("ends the caller's own session, if there is one"),
            (
                "Sign out",
                "With a session it needs its `X-CSRF-Token`, or the same in a form field `csrf`.",
            ),
            Success::Redirect {
                description: "To the pages.",
            },
            logout,
        )
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
    set_cookie(&call, &mut response, LOGIN, &begun.cookie, LOGIN_SECONDS)?;
    Ok(response)
}

async fn finish(call: Call<'_>) -> Result<Response, HttpError> {
    let sessions = sessions(&call)?;
    let Some(begun) = cookie(
        &call.head.headers,
        LOGIN.at(is_secure(call.visitor, &call.gate.access)),
    ) else {
        return Err(HttpError::bad_request(
            "no login is under way in this browser: begin again at /auth/login",
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
                "the provider says more about you than a session can hold: use a bearer token",
            )
        })?;
    let mut response = redirect(&done.return_to)?;
    set_cookie(
        &call,
        &mut response,
        SESSION,
        &sealed,
        call.gate.access.session_lifetime.as_secs(),
    )?;
    set_cookie(&call, &mut response, LOGIN, "", 0)?;
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
    Box::pin(async move {
        if let Caller::SignedIn(session) = &call.caller {
            let session = session.clone();
            if call.check_forgery().is_err() {
                let given = form_field(&mut *call.body, "csrf").await?;
                call.check_csrf(&session, &given)?;
            }
        }
        let mut response = redirect("/docs")?;
        set_cookie(&call, &mut response, SESSION, "", 0)?;
        Ok(response)
    })
}

/// A field of a form that a page without scripts sends.
async fn form_field(
    incoming: &mut Option<hyper::body::Incoming>,
    name: &str,
) -> Result<String, HttpError> {
    let Some(incoming) = incoming.take() else {
        return Ok(String::new());
    };
    let time = std::time::Duration::from_secs(10);
    let bytes = body::read(incoming, FORM_BYTES, time, false).await?;
    let mut fields = form_urlencoded::parse(&bytes);
    let found = fields.find(|(own, _)| own == name);
    Ok(found
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default())
}

fn sessions<'a>(call: &Call<'a>) -> Result<&'a Sessions, HttpError> {
    let sessions = call.gate.access.sessions.as_ref();
    sessions.ok_or_else(|| HttpError::not_found("nobody can sign in here: use a bearer token"))
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
        return Err(HttpError::bad_request("the request says for no host"));
    };
    let scheme = if is_secure(call.visitor, &call.gate.access) {
        "https"
    } else {
        "http"
    };
    Ok(format!("{scheme}://{authority}"))
}

fn redirect_uri(call: &Call<'_>) -> Result<String, HttpError> {
    Ok(format!("{}/auth/callback", origin(call)?))
}

/// Whether the browser comes over TLS.
pub(super) fn is_secure(visitor: &Visitor, access: &crate::access::Access) -> bool {
    match &access.public_url {
        Some(url) => url.starts_with("https://"),
        None => visitor.setup.load().tls.is_some(),
    }
}

fn redirect(to: &str) -> Result<Response, HttpError> {
    let mut response = Response::new(Answer::whole(Vec::new()));
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(to).map_err(|_| HttpError::internal())?;
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// Sets a cookie, or takes it away when it lasts no time.
fn set_cookie(
    call: &Call<'_>,
    response: &mut Response,
    name: CookieName,
    value: &str,
    seconds: u64,
) -> Result<(), HttpError> {
    let is_secure = is_secure(call.visitor, &call.gate.access);
    let name = name.at(is_secure);
    let mark = if is_secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{mark}");
    let mut cookie = HeaderValue::try_from(text).map_err(|_| HttpError::internal())?;
    cookie.set_sensitive(true);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(())
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
    HttpError::new(status, error.code(), error.to_string())
}
