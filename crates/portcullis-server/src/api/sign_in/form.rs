//! Signing in with a token, in a form; and out again.

use hyper::StatusCode;
use portcullis_authn::{Code, Sessions, local_path};
use portcullis_core::clock;
use portcullis_web::SignIn;

use super::{FORM_BYTES, SIGNS_IN, form_fields, sessions};
use crate::api::access::Access;
use crate::api::call::{Answering, Call};
use crate::api::caller::Caller;
use crate::api::cookies::{FORM, cookie, set_cookie};
use crate::api::endpoint::{Endpoint, Success, Tag, Verb, get, text};
use crate::api::people::{self, encoded};
use crate::api::query::Query;
use crate::http::Response;
use crate::http::error::HttpError;

/// How long a form is good.
const FORM_SECONDS: u64 = 3600;

const PAGE: Success = Success::Other {
    description: "A page.",
    content_type: "text/html; charset=utf-8",
};

/// What people do who have a token.
pub(in super::super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: &[text(
            "next",
            "Where to redirect afterwards: a path of this server.",
            "/docs",
        )],
        refusals: &[(404, "Sessions are not enabled.")],
        ..get(
            ("/sign-in", "signInPage"),
            Tag::SignIn,
            SIGNS_IN,
            (
                "Show the sign-in page",
                "A form for a token, and a link for each provider.",
            ),
            PAGE,
            show,
        ).only_web()
    },
    Endpoint {
        method: Verb::Post,
        refusals: &[
            (400, "The form is malformed."),
            (401, "The token is invalid."),
            (403, "The form was not issued to this browser."),
            (404, "Sessions are not enabled."),
            (408, "The form did not arrive in time."),
            (413, "The form is too large."),
            (422, "The token is too long for a session."),
            (503, "The token can't be verified at the moment."),
        ],
        ..get(
            ("/sign-in", "signIn"),
            Tag::SignIn,
            SIGNS_IN,
            (
                "Sign in with a token",
                "Form fields: `token`, `next` and `csrf`.",
            ),
            Success::Redirect {
                description: "Redirect to `next`, with a session that expires with the token.",
            },
            sign_in,
        ).only_web()
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
            ("/sign-out", "signOut"),
            Tag::SignIn,
            Access::Public("ends the caller's own session, if there is one"),
            (
                "Sign out",
                "Ends the session on all servers; copies of its cookie become invalid. Needs its `X-CSRF-Token`, or the \
                 same in a form field `csrf`.",
            ),
            Success::Redirect {
                description: "Redirect to the overview.",
            },
            sign_out,
        ).only_web()
    },
];

/// `GET /sign-in`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let mut query = Query::of(call.head);
        let next = query.take("next")?.unwrap_or_default();
        query.done()?;
        form(&call, StatusCode::OK, local_path(&next), None)
    })
}

/// `POST /sign-in`
fn sign_in(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let sessions = sessions(&call)?;
        let budget = &call.visitor.server.budget;
        let fields = form_fields(budget, &mut *call.body, FORM_BYTES).await?;
        let field = |name: &str| {
            let found = fields.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        call.check_site()?;
        check_form(&call, sessions, field("csrf"))?;
        let (token, next) = (field("token").trim(), local_path(field("next")));
        let now = clock::wall();
        let authenticators = &call.gate.access.authenticators;
        let identity = match authenticators.verify(token, now).await {
            Ok(identity) => identity,
            Err(why) if why.code == Code::KeysUnavailable => {
                return Err(Caller::Unproved(why).challenge(&call.gate.access));
            }
            Err(_) if token.is_empty() => {
                return again(&call, next, "enter a token");
            }
            Err(why) => {
                tracing::warn!(code = why.code.name(), "sign-in with a token failed");
                return again(&call, next, &why.message);
            }
        };
        let mut response = super::session_with_token(&call, token, &identity, next)?;
        set_cookie(call.at(), &mut response, FORM, "", 0)?;
        Ok(response)
    })
}

/// `POST /sign-out`
fn sign_out(call: Call<'_>) -> Answering<'_> {
    Box::pin(super::end_session(call, "/"))
}

/// The page once more, with what was wrong.
fn again(call: &Call<'_>, next: &str, problem: &str) -> Result<Response, HttpError> {
    if !people::wants_page(call.head) {
        let realm = call.gate.access.authenticators.default_realm();
        return Err(HttpError::unauthorized("sign_in_failed", problem, realm));
    }
    form(call, StatusCode::UNAUTHORIZED, next, Some(problem))
}

fn check_form(call: &Call<'_>, sessions: &Sessions, field: &str) -> Result<(), HttpError> {
    let name = FORM.at(call.is_secure());
    let given = cookie(&call.head.headers, name).unwrap_or_default();
    if sessions.is_form_proof(given, field) {
        return Ok(());
    }
    Err(HttpError::forbidden(
        "csrf",
        "the form was not issued to this browser, or is too old: open /sign-in again",
    ))
}

/// The page with the form.
fn form(
    call: &Call<'_>,
    status: StatusCode,
    next: &str,
    problem: Option<&str>,
) -> Result<Response, HttpError> {
    let proof = sessions(call)?
        .form_proof()
        .map_err(|_| HttpError::internal())?;
    let realms = call.gate.access.authenticators.realms();
    let providers = realms.iter().filter(|realm| realm.can_login);
    let link = |realm: &portcullis_authn::Realm| {
        let (name, next) = (encoded(&realm.name), encoded(next));
        let path = format!("/auth/login?realm={name}&return_to={next}");
        (realm.name.clone(), path)
    };
    let page = SignIn {
        next: next.to_owned(),
        csrf: proof.field.clone(),
        providers: providers.map(link).collect(),
        problem: problem.map(str::to_owned),
    };
    let mut response = people::page(status, page.html());
    set_cookie(call.at(), &mut response, FORM, &proof.cookie, FORM_SECONDS)?;
    Ok(response)
}
