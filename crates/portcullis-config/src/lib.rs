//! The configuration: from files, flags and environment to one checked value.
//!
//! ```text
//! file -> portcullis_document: Source, Document, read::typed -> model::Configuration
//!                                                                      |
//!                flags, environment, AdmissionConfiguration -> resolve + checks -> Loaded
//! ```
//!
//! [`load()`] is the entry point; [`listeners()`] reads that part alone. It reads and checks, and starts nothing; what it
//! rejects is a list of [`Fault`](portcullis_document::Fault)s that say file, line, column, key and, where
//! one is near, what was probably meant.
//!
//! INVARIANT: a value in [`Loaded`] has passed every check that needs no
//! plug-in, no certificate parser and no socket.

mod files;
mod listening;
mod load;
mod matcher;
mod model;
mod notes;
mod oddities;
mod options;
pub mod profile;
mod resolve;
mod schema;

#[cfg(test)]
pub mod tests;

pub use files::read_source;
pub use listening::listeners;
pub use load::{Loaded, load, load_noting};
pub use matcher::{MatchPattern, MatchSpec, MatchedName, Matcher};
pub use model::{
    About, AccessSettings, Authenticator, AuthenticatorDriver, Authorizer, AuthorizerDriver, Bind,
    Decisions, DefaultAction, GraphProfile, GraphSource, Identity, JsonLines, Kube, Limits,
    Listener, Log, LogFormat, ManagedCertificate, MarkPlace, Module, PendingMutation, PluginEntry,
    Policies, Policy, Principal, Service, SessionSettings, Severity, Shutdown, Style, Tls,
    UnixSocket, Web, Written,
};
pub use options::{ConfigSource, Listening, LoadOptions};
pub use resolve::{
    LOG_FILTER_VARIABLE, PolicyChange, PolicyText, TestModules, holds_policies, is_policy_list,
    test_modules,
};
pub use schema::{json_schema, policies_schema};

/// The name of the plug-in that asks policies.
pub const POLICIES: &str = "Policies";
