//! The configuration file as it is written.
//!
//! The documentation comments here are the descriptions of the JSON Schema.
//! In the types that are read, values are what the file says: paths are not resolved and nothing is
//! compared with anything else; `resolve` does that. Beside them are the settings that they become, unless
//! the crate that uses them has its own; keys that are copied are copied here.

mod access;
mod acjs;
mod admission;
mod authorization;
mod decisions;
mod graph;
mod host_calls;
mod kube;
mod limits;
mod listeners;
mod managed;
mod policies;
mod web;

use std::path::PathBuf;

use portcullis_kube::Namespace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use access::{AccessSettings, Authenticator, AuthenticatorDriver, SessionSettings};
pub(crate) use access::{AuthenticatorKey, AuthenticatorSpec, TenantsSpec};
pub(crate) use acjs::{AcjsListenerSpec, AcjsPathSpec};
pub(crate) use admission::{AdmissionSpec, PluginSpec};
pub use admission::{PendingMutation, PluginEntry};
pub(crate) use authorization::{AuthorizationSpec, AuthorizerSpec};
pub use authorization::{Authorizer, AuthorizerDriver};
pub use decisions::{Decisions, JsonLines};
pub(crate) use decisions::{DecisionsSpec, StoreSpec};
pub use graph::{GraphProfile, GraphSource};
pub(crate) use graph::{GraphProfileSpec, GraphSpec};
pub(crate) use host_calls::HostCallsSpec;
pub use kube::Kube;
pub(crate) use kube::KubeSpec;
pub use limits::Limits;
pub use listeners::{Bind, Identity, Listener, Principal, Service, Style, Tls, UnixSocket};
pub(crate) use listeners::{ListenerSpec, ModeSpec, TlsSpec, UnixSpec};
pub use managed::ManagedCertificate;
pub(crate) use managed::ManagedSpec;
pub use policies::{About, DefaultAction, MarkPlace, Module, Policies, Policy, Severity, Written};
pub(crate) use policies::{PolicyMetadata, PolicySpec};
pub use web::Web;

use portcullis_document::Duration;

/// Configuration of Portcullis. Relative paths are relative to the file that names them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Portcullis configuration")]
pub(crate) struct Configuration {
    /// Where the server listens; `serve` needs at least one.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) listeners: Vec<ListenerSpec>,
    /// The one listener of an acjs file, in place of `listeners`.
    pub(crate) listener: Option<AcjsListenerSpec>,
    /// The chain of admission plug-ins.
    #[serde(default)]
    pub(crate) admission: AdmissionSpec,
    /// Namespaces that plug-ins know without a cluster.
    #[serde(default)]
    pub(crate) namespaces: Vec<Namespace>,
    /// JavaScript that is run before the policies, once per review.
    pub(crate) globals: Option<String>,
    /// Policies in JavaScript, in the order of evaluation.
    pub(crate) policies: Option<Vec<PolicySpec>>,
    /// Folders with policies, one per file, in the order of the file names, or single files; after `policies`.
    #[serde(default)]
    pub(crate) policy_dirs: Vec<PathBuf>,
    /// What happens when no policy decides: `allow` or `reject`; by default `reject`.
    pub(crate) default_action: Option<String>,
    /// Host calls of policies.
    #[serde(default)]
    pub(crate) host_calls: HostCallsSpec,
    /// Limits on requests, connections and policies.
    #[serde(default)]
    pub(crate) limits: Limits,
    /// Who may do what: authorizers and the chains that ask them.
    #[serde(default)]
    pub(crate) authorization: AuthorizationSpec,
    /// Agents that are scoped by what they are responsible for.
    #[serde(default)]
    pub(crate) graph: GraphSpec,
    /// The cluster whose objects plug-ins and policies may look up.
    pub(crate) kube: Option<KubeSpec>,
    /// Rules, roles and tenants; without it there is one tenant, `default`.
    pub(crate) tenants: Option<TenantsSpec>,
    /// Authenticators: how callers are identified.
    #[serde(default)]
    pub(crate) authenticators: Vec<AuthenticatorSpec>,
    /// Browser sessions.
    #[serde(default)]
    pub(crate) sessions: SessionSettings,
    /// Where the server stores persistent data.
    #[serde(default)]
    pub(crate) store: StoreSpec,
    /// What is recorded of decisions, and for how long.
    #[serde(default)]
    pub(crate) decisions: DecisionsSpec,
    /// How CI jobs are handled.
    #[serde(default)]
    pub(crate) ci: portcullis_ci::Settings,
    /// The web pages.
    #[serde(default)]
    pub(crate) web: Web,
    /// What is logged, and how.
    #[serde(default)]
    pub(crate) log: Log,
    /// How the server shuts down.
    #[serde(default)]
    pub(crate) shutdown: Shutdown,
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Log {
    /// The form of a line. The environment variable `PORTCULLIS_LOG_FORMAT` wins.
    pub format: LogFormat,
    /// What is logged: a level, or directives like `info,portcullis=debug`.
    /// The environment variable `PORTCULLIS_LOG` wins.
    pub filter: String,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// How the server shuts down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Shutdown {
    /// How long the server still accepts new connections after it reports not ready.
    pub delay: Duration,
    /// How long requests in progress may take to finish.
    pub grace: Duration,
}

impl LogFormat {
    /// Every form, by name.
    pub(crate) const ALL: &[(&str, Self)] = &[("text", Self::Text), ("json", Self::Json)];
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            filter: "info".to_owned(),
        }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(300),
            grace: Duration::from_secs(30),
        }
    }
}
