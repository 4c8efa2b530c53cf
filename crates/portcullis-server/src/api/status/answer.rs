//! The shape of the status.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::health::CheckState;

/// How the server is. Times are in RFC 3339.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of the program.
    pub(super) version: &'static str,
    /// When the server was started.
    pub(super) started: String,
    /// Whether this is the demonstration that runs without a configuration.
    pub(super) is_demonstration: bool,
    /// What readiness depends on.
    pub(super) checks: Vec<CheckState>,
    /// The listeners.
    pub(super) listeners: Vec<ListenerStatus>,
    /// The last reload of the configuration; `null` before the first.
    pub(super) last_reload: Option<ReloadStatus>,
    /// The stores in use.
    pub(super) stores: Vec<StoreStatus>,
    /// The graphs.
    pub(super) graphs: Vec<GraphStatus>,
    /// What is watched for the graphs, and for plug-ins and policies, kind by kind.
    pub(super) watches: Vec<WatchStatus>,
    /// Whose identities are accepted.
    pub(super) authenticators: Vec<AuthenticatorStatus>,
    /// The decision log.
    pub(super) decision_log: DecisionLogStatus,
}

/// A listener.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListenerStatus {
    /// The name.
    pub(super) name: String,
    /// A URL, or `unix:` and the path of a socket.
    pub(super) address: String,
    /// What is served there.
    pub(super) serves: Vec<&'static str>,
    /// Whether it uses TLS.
    pub(super) tls: bool,
    /// Whether the certificate is self-signed, for development.
    pub(super) is_development: bool,
    /// When the certificate expires.
    pub(super) certificate_expires: Option<String>,
    /// Whole days until then; negative if it has expired.
    pub(super) certificate_days_left: Option<i64>,
}

/// How a reload went.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReloadStatus {
    /// When it ended.
    pub(super) at: String,
    /// Whether it took effect.
    pub(super) successful: bool,
    /// What it changed, by name: policies with the beginning of their digests, plug-ins, listeners, certificates,
    /// tenants and others; `nothing` if all is as before.
    pub(super) changes: Option<String>,
    /// Why it did not.
    pub(super) error: Option<String>,
}

/// A store.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StoreStatus {
    /// What it keeps: `decisions` or `jobs`.
    pub(super) keeps: &'static str,
    /// Where it is, without credentials.
    pub(super) location: String,
    /// Whether it answers.
    pub(super) reachable: bool,
    /// Why it does not.
    pub(super) error: Option<String>,
}

/// The graph of a profile.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GraphStatus {
    /// The name of the profile.
    pub(super) name: String,
    /// Whether it has caught up with its objects.
    pub(super) synced: bool,
    /// The time since its objects were last known to be current.
    pub(super) lag_seconds: u64,
    /// The number of vertices.
    pub(super) vertices: usize,
    /// The number of edges.
    pub(super) edges: usize,
    /// What is wrong with its objects: files that can't be read, watches that fail.
    pub(super) problems: Vec<String>,
}

/// The watch of a kind.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WatchStatus {
    /// The graph profile that it is for; `null` for plug-ins and policies (`kube`).
    pub(super) profile: Option<String>,
    /// The kind.
    pub(super) kind: String,
    /// What it is doing: `pending`, `listing`, `watching`, `not_served` or `failing`.
    pub(super) state: &'static str,
    /// Whether all objects are known.
    pub(super) synced: bool,
    /// The number of objects that are known.
    pub(super) objects: usize,
    /// When objects were last received: a whole list, or the change of one. For a directory of manifests, when a file
    /// changed.
    pub(super) last_event: Option<String>,
    /// Objects that could not be used, or only in part, since the start.
    pub(super) malformed: u64,
    /// Why it failed last, if it has not worked since.
    pub(super) error: Option<String>,
}

/// Something that identities come from.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuthenticatorStatus {
    /// The realm, if its identities are tokens.
    pub(super) realm: Option<String>,
    /// How identities are proved, like `HS256` or `OpenIDConnect`.
    pub(super) driver: &'static str,
    /// The issuer.
    pub(super) issuer: String,
    /// Whether it is the default realm.
    pub(super) is_default: bool,
    /// Whether people can sign in with their browser.
    pub(super) can_sign_in: bool,
}

/// The decision log.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DecisionLogStatus {
    /// Whether decisions are recorded.
    pub(super) on: bool,
    /// Whether a decision that can't be recorded is a denial.
    pub(super) required: bool,
    /// Decisions recorded, by where: `store`, `json_lines`.
    pub(super) kept: BTreeMap<&'static str, u64>,
    /// Decisions not recorded, by reason.
    pub(super) dropped: BTreeMap<&'static str, u64>,
    /// Decisions waiting to be recorded.
    pub(super) waiting: u64,
}
