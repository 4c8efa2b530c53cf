//! Public information: how to sign in, and the capabilities.

use std::collections::BTreeMap;

use portcullis_authn::Realm;
use schemars::JsonSchema;
use serde::Serialize;

use super::access::DESCRIBES;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use portcullis_gate::access::Access;

/// Information about a server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InfoAnswer {
    info: Info,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Info {
    capabilities: Capabilities,
    /// The tenant that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    /// The version of this server.
    version: &'static str,
}

/// What can be done here.
#[derive(Debug, Serialize, JsonSchema)]
struct Capabilities {
    /// Whether the job history is available.
    job_history: bool,
    auth: Auth,
}

/// How to sign in.
#[derive(Debug, Serialize, JsonSchema)]
struct Auth {
    realms: BTreeMap<String, RealmInfo>,
    /// The realm to sign in to by default.
    default_realm: Option<String>,
    /// Whether reading requires signing in.
    read_protected: bool,
    /// Whether log files need a token.
    auth_log_file_requests: bool,
}

/// Where tokens come from.
#[derive(Debug, Serialize, JsonSchema)]
struct RealmInfo {
    /// The issuer.
    authority: String,
    /// The client id.
    client_id: Option<String>,
    /// The scopes to request.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// What tokens must name as their audience, where people sign in.
    #[serde(skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    /// What kind of credential it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How tokens are signed, or `OpenIDConnect`.
    driver: &'static str,
    /// Where a browser signs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    login: Option<String>,
}

/// The public calls.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/info", "info"),
        Tag::Description,
        DESCRIBES,
        ("Show capabilities, and how to sign in", ""),
        Success::Json {
            description: "Public information.",
            schema: schema_of::<InfoAnswer>,
        },
        root,
    ),
    get(
        ("/api/tenant/{tenant}/info", "tenantInfo"),
        Tag::Description,
        DESCRIBES,
        (
            "Show how to sign in to a tenant",
            "The answer is the same whether or not the tenant exists.",
        ),
        Success::Json {
            description: "Public information.",
            schema: schema_of::<InfoAnswer>,
        },
        tenant,
    ),
];

/// `GET /api/info`
pub(super) fn root(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let access = &call.gate.access;
        let is_protected = !access.roles.root().anonymous_read();
        answer::ok(&info(access, None, is_protected))
    })
}

/// `GET /api/tenant/{tenant}/info`: a tenant that isn't there looks like one that is private.
pub(super) fn tenant(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let access = &call.gate.access;
        let name = call.values.get("tenant");
        let tenant = access.roles.tenant(name);
        let is_protected = !tenant.is_some_and(|tenant| tenant.scope().anonymous_read());
        answer::ok(&info(access, Some(name.to_owned()), is_protected))
    })
}

fn info(access: &Access, tenant: Option<String>, is_protected: bool) -> InfoAnswer {
    let realms = access.authenticators.realms();
    let default_realm = match realms.is_empty() {
        true => None,
        false => Some(access.authenticators.default_realm().to_owned()),
    };
    // Of several with one realm, the first one counts, or else one where people sign in.
    let (with_login, others): (Vec<Realm>, Vec<Realm>) =
        realms.into_iter().partition(|realm| realm.can_login);
    let realms = others.into_iter().rev().chain(with_login.into_iter().rev());
    let realms = realms.map(|realm| {
        let login = realm.can_login.then(|| {
            let name: String = form_urlencoded::byte_serialize(realm.name.as_bytes()).collect();
            format!("/auth/login?realm={name}")
        });
        let Realm {
            name,
            driver,
            authority,
            client_id,
            scope,
            audience,
            can_login,
            ..
        } = realm;
        let info = RealmInfo {
            authority,
            client_id,
            scope,
            audience: can_login.then_some(audience),
            kind: "JWT",
            driver,
            login,
        };
        (name, info)
    });
    InfoAnswer {
        info: Info {
            capabilities: Capabilities {
                job_history: false,
                auth: Auth {
                    realms: realms.collect(),
                    default_realm,
                    read_protected: is_protected,
                    auth_log_file_requests: false,
                },
            },
            tenant,
            version: env!("CARGO_PKG_VERSION"),
        },
    }
}
