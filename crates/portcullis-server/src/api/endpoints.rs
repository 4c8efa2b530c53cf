//! Every call there is.

use hyper::Method;

use super::authorizations::Authorizations;
use super::autohold::{AutoholdBody, HoldAnswer, Place, Release};
use super::decisions::{DecisionList, ReadDecisions};
use super::endpoint::{Access, Content, Endpoint, QueryParameter, Success, Tag, Verb, schema_of};
use super::guard::{Action, Read};
use super::info::InfoAnswer;
use super::path::{self, PathValues};
use super::pipeline::{Dequeue, DequeueBody, Enqueue, EnqueueBody, Promote, PromoteBody};
use super::sign_in::SessionAnswer;
use super::state::{SetState, StateAnswer, StateBody};
use super::tenant::{ProjectEntry, Status, TenantEntry};
use super::{
    authorizations, autohold, decisions, description, info, pipeline, sign_in, state, tenant,
};
use crate::config::Door;

/// What an action in a tenant needs.
const fn in_tenant<A: Action>() -> Access {
    Access::Tenant(A::PERMISSION, A::CONDITIONS)
}

/// What an action on the whole instance needs.
const fn at_root<A: Action>() -> Access {
    Access::Root(A::PERMISSION, A::CONDITIONS)
}

const DESCRIBES: Access = Access::Public("says what there is, not what is in it");
const SIGNS_IN: Access = Access::Public("is for those who are not signed in yet");
const NO_PROJECT: (u16, &str) = (404, "The tenant doesn't hold the project, or isn't there.");
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
const NOT_KNOWN: (u16, &str) = (404, "Nothing of the kind was ever submitted.");

/// A call that takes no body and has nothing of its own to refuse.
const fn get(
    (path, id): (&'static str, &'static str),
    tag: Tag,
    access: Access,
    (summary, description): (&'static str, &'static str),
    success: Success,
    run: super::call::Handler,
) -> Endpoint {
    Endpoint {
        method: Verb::Get,
        path,
        id,
        summary,
        description,
        tag,
        access,
        query: &[],
        body: None,
        success,
        refusals: &[],
        run,
    }
}

/// A call that takes a body and says `true`.
const fn post(
    (path, id): (&'static str, &'static str),
    tag: Tag,
    access: Access,
    (summary, description): (&'static str, &'static str),
    body: Content,
    refusals: &'static [(u16, &'static str)],
    run: super::call::Handler,
) -> Endpoint {
    Endpoint {
        method: Verb::Post,
        path,
        id,
        summary,
        description,
        tag,
        access,
        query: &[],
        body: Some(body),
        success: Success::Json {
            description: "Done.",
            schema: schema_of::<bool>,
        },
        refusals,
        run,
    }
}

/// A parameter of a query that is text.
const fn text(
    name: &'static str,
    description: &'static str,
    example: &'static str,
) -> QueryParameter {
    QueryParameter {
        name,
        description,
        schema: schema_of::<String>,
        example,
    }
}

/// What a list of decisions may be asked for.
const PAGED: &[QueryParameter] = &[
    text(
        "door",
        "Only this door: `kubernetes`, `authorization`, `ci` or `api`.",
        "kubernetes",
    ),
    text("verdict", "Only `allow` or `deny`.", "deny"),
    text(
        "user",
        "Only decisions about what this user asked for.",
        "alice",
    ),
    text("kind", "Only this kind.", "Pod"),
    text("namespace", "Only this namespace.", "default"),
    text(
        "policy",
        "Only decisions by this policy or plug-in.",
        "PodSecurity",
    ),
    text(
        "since",
        "Not before: a time as in RFC 3339, or how long ago.",
        "24h",
    ),
    text(
        "until",
        "Not after: a time as in RFC 3339, or how long ago.",
        "1h",
    ),
    text(
        "after",
        "The `next` of the page before.",
        "01JD8Q3V5W0000000000000000",
    ),
    QueryParameter {
        name: "limit",
        description: "How many, 1 to 1000; 100 unless said.",
        schema: limit_schema,
        example: "100",
    },
];

/// The filters alone, which stand first.
const FILTERS: &[QueryParameter] = PAGED.split_at(8).0;

fn limit_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": 1000})
}

/// Every call there is. A path that fits several is the first one's.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/info", "info"),
        Tag::Description,
        DESCRIBES,
        ("What this server can do, and how to sign in", ""),
        Success::Json {
            description: "What anybody may know.",
            schema: schema_of::<InfoAnswer>,
        },
        info::root,
    ),
    get(
        ("/api/tenant/{tenant}/info", "tenantInfo"),
        Tag::Description,
        DESCRIBES,
        (
            "How to sign in to a tenant",
            "Answers alike for every name, whether or not there is such a tenant.",
        ),
        Success::Json {
            description: "What anybody may know.",
            schema: schema_of::<InfoAnswer>,
        },
        info::tenant,
    ),
    get(
        ("/api/authorizations", "rootAuthorizations"),
        Tag::Tenants,
        Access::SignedIn("says what the caller may do on the whole instance"),
        ("What may I do on the whole instance?", ""),
        Success::Json {
            description: "What the caller may do, and why.",
            schema: schema_of::<Authorizations>,
        },
        authorizations::root,
    ),
    get(
        ("/api/tenants", "tenants"),
        Tag::Tenants,
        at_root::<Read>(),
        ("The tenants that the caller may read", ""),
        Success::Json {
            description: "Those tenants, by name.",
            schema: schema_of::<Vec<TenantEntry>>,
        },
        tenant::list,
    ),
    get(
        (
            "/api/tenant/{tenant}/authorizations",
            "tenantAuthorizations",
        ),
        Tag::Tenants,
        Access::SignedIn(
            "says what the caller may do in the tenant; needs at least one role there, or reading",
        ),
        ("What may I do in this tenant?", ""),
        Success::Json {
            description: "What the caller may do, and why.",
            schema: schema_of::<Authorizations>,
        },
        authorizations::tenant,
    ),
    get(
        ("/api/tenant/{tenant}/status", "status"),
        Tag::Tenants,
        in_tenant::<Read>(),
        ("How a tenant is", ""),
        Success::Json {
            description: "Its queues and its state.",
            schema: schema_of::<Status>,
        },
        tenant::status,
    ),
    get(
        ("/api/tenant/{tenant}/projects", "projects"),
        Tag::Tenants,
        in_tenant::<Read>(),
        (
            "The projects of a tenant",
            "Those it names; projects that it holds by a pattern are not listed.",
        ),
        Success::Json {
            description: "Its projects.",
            schema: schema_of::<Vec<ProjectEntry>>,
        },
        tenant::projects,
    ),
    get(
        ("/api/tenant/{tenant}/jobs", "jobs"),
        Tag::Tenants,
        in_tenant::<Read>(),
        ("The jobs of a tenant", ""),
        Success::Json {
            description: "Its jobs.",
            schema: schema_of::<Vec<serde_json::Value>>,
        },
        tenant::nothing_yet,
    ),
    get(
        ("/api/tenant/{tenant}/pipelines", "pipelines"),
        Tag::Tenants,
        in_tenant::<Read>(),
        ("The pipelines of a tenant", ""),
        Success::Json {
            description: "Its pipelines.",
            schema: schema_of::<Vec<serde_json::Value>>,
        },
        tenant::nothing_yet,
    ),
    Endpoint {
        success: Success::Json {
            description: "How the tenant is now.",
            schema: schema_of::<StateAnswer>,
        },
        ..post(
            ("/api/tenant/{tenant}/state", "setState"),
            Tag::Tenants,
            in_tenant::<SetState>(),
            (
                "Pause a tenant, or go on",
                "What isn't named stays as it is. With `expires_in` everything is normal again after so many seconds.",
            ),
            Content {
                schema: schema_of::<StateBody>,
                example: r#"{"trigger_queue_paused": true, "reason": "incident 42"}"#,
            },
            &[],
            state::set,
        )
    },
    get(
        ("/api/tenant/{tenant}/autohold", "autoholds"),
        Tag::Autoholds,
        in_tenant::<Read>(),
        (
            "The holds of a tenant",
            "Holds that ended are listed for a day.",
        ),
        Success::Json {
            description: "Its holds, the oldest first.",
            schema: schema_of::<Vec<HoldAnswer>>,
        },
        autohold::list,
    ),
    get(
        ("/api/tenant/{tenant}/autohold/{id}", "autohold"),
        Tag::Autoholds,
        in_tenant::<Read>(),
        ("One hold", ""),
        Success::Json {
            description: "The hold.",
            schema: schema_of::<HoldAnswer>,
        },
        autohold::show,
    ),
    Endpoint {
        method: Verb::Delete,
        success: Success::Nothing {
            description: "It is released.",
        },
        ..get(
            ("/api/tenant/{tenant}/autohold/{id}", "releaseAutohold"),
            Tag::Autoholds,
            in_tenant::<Release>(),
            (
                "Release a hold",
                "Conditions are compared with the project, job and ref it was placed with.",
            ),
            Success::Nothing { description: "" },
            autohold::release,
        )
    },
    get(
        (
            "/api/tenant/{tenant}/project/{project}/autohold",
            "projectAutoholds",
        ),
        Tag::Autoholds,
        in_tenant::<Read>(),
        ("The holds of a project", ""),
        Success::Json {
            description: "Its holds, the oldest first.",
            schema: schema_of::<Vec<HoldAnswer>>,
        },
        autohold::list_of_project,
    ),
    post(
        (
            "/api/tenant/{tenant}/project/{project}/autohold",
            "placeAutohold",
        ),
        Tag::Autoholds,
        in_tenant::<Place>(),
        (
            "Keep the runner of the next job that fails",
            "With neither `change` nor `ref` it is for every run of the job.",
        ),
        Content {
            schema: schema_of::<AutoholdBody>,
            example: r#"{"job": "unit", "count": 1, "reason": "flaky since Monday", "node_hold_expiration": 3600}"#,
        },
        &[NO_PROJECT, (409, "The tenant has too many holds.")],
        autohold::place,
    ),
    post(
        ("/api/tenant/{tenant}/project/{project}/enqueue", "enqueue"),
        Tag::Pipelines,
        in_tenant::<Enqueue>(),
        (
            "Run something again",
            "The newest definition that is known for this project, pipeline and change or ref.",
        ),
        Content {
            schema: schema_of::<EnqueueBody>,
            example: r#"{"pipeline": "check", "change": "12,1"}"#,
        },
        &[NOT_KNOWN],
        pipeline::enqueue,
    ),
    post(
        ("/api/tenant/{tenant}/project/{project}/dequeue", "dequeue"),
        Tag::Pipelines,
        in_tenant::<Dequeue>(),
        ("Cancel what runs", ""),
        Content {
            schema: schema_of::<DequeueBody>,
            example: r#"{"pipeline": "check", "ref": "refs/heads/main"}"#,
        },
        &[NOT_KNOWN],
        pipeline::dequeue,
    ),
    post(
        ("/api/tenant/{tenant}/promote", "promote"),
        Tag::Pipelines,
        in_tenant::<Promote>(),
        ("Move changes to the front", ""),
        Content {
            schema: schema_of::<PromoteBody>,
            example: r#"{"pipeline": "gate", "changes": ["12,1", "13,2"]}"#,
        },
        &[NOT_KNOWN],
        pipeline::promote,
    ),
    Endpoint {
        query: PAGED,
        ..get(
            ("/api/v1/decisions", "decisions"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            ("What was decided", "The newest first, a page at a time."),
            Success::Json {
                description: "A page of decisions.",
                schema: schema_of::<DecisionList>,
            },
            decisions::list,
        )
    },
    Endpoint {
        query: FILTERS,
        ..get(
            ("/api/v1/decisions/stream", "followDecisions"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            (
                "What is being decided",
                "Server-sent events: `decision` with one decision, `missed` with a `count` where the reader was too slow. Ends when the token does.",
            ),
            Success::Other {
                description: "Events, until either side has enough.",
                content_type: "text/event-stream",
            },
            decisions::follow,
        )
    },
    get(
        ("/api/v1/decisions/{id}", "decision"),
        Tag::Decisions,
        at_root::<ReadDecisions>(),
        (
            "One decision, whole",
            "With its trace, patch and input, masked.",
        ),
        Success::Json {
            description: "The decision.",
            schema: schema_of::<serde_json::Map<String, serde_json::Value>>,
        },
        decisions::show,
    ),
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
            sign_in::login,
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
            sign_in::callback,
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
            sign_in::session,
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
            sign_in::logout,
        )
    },
    get(
        ("/openapi.json", "openapi"),
        Tag::Description,
        DESCRIBES,
        ("This description", ""),
        Success::Json {
            description: "OpenAPI 3.1.",
            schema: schema_of::<serde_json::Map<String, serde_json::Value>>,
        },
        description::openapi,
    ),
    get(
        ("/docs", "docs"),
        Tag::Description,
        DESCRIBES,
        ("This description for people", ""),
        Success::Other {
            description: "A page.",
            content_type: "text/html; charset=utf-8",
        },
        description::docs,
    ),
];

/// What a request is for.
#[derive(Debug)]
pub(crate) enum Found {
    /// This call.
    Endpoint(&'static Endpoint, PathValues),
    /// A path with other methods: these.
    WrongMethod(&'static str),
    /// Nothing.
    Nothing,
}

/// What a request is for, at a listener that serves these doors.
pub(crate) fn find(method: &Method, path: &str, serves: &[Door]) -> Found {
    let mut others: Option<&'static Endpoint> = None;
    // What the page is made of is no call of its own.
    let path = if path.starts_with("/docs/") {
        "/docs"
    } else {
        path
    };
    let is_served = |e: &&Endpoint| e.doors().iter().any(|door| serves.contains(door));
    for endpoint in ENDPOINTS.iter().filter(is_served) {
        let Some(values) = path::fit(endpoint.path, path) else {
            continue;
        };
        if endpoint.method.takes(method) {
            return Found::Endpoint(endpoint, values);
        }
        others = others.or(Some(endpoint));
    }
    others.map_or(Found::Nothing, |one| Found::WrongMethod(methods(one.path)))
}

/// The methods that a path takes.
fn methods(path: &str) -> &'static str {
    let has = |verb| ENDPOINTS.iter().any(|e| e.path == path && e.method == verb);
    match (has(Verb::Get), has(Verb::Post), has(Verb::Delete)) {
        (true, true, _) => "GET, HEAD, POST",
        (true, false, true) => "GET, HEAD, DELETE",
        (true, false, false) => "GET, HEAD",
        (false, true, _) => "POST",
        (false, false, _) => "DELETE",
    }
}

#[cfg(test)]
mod tests;
