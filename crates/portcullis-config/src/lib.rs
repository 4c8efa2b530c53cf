//! The configuration: from files, flags and environment to one checked value.
//!
//! ```text
//! file -> portcullis_document: Source, Document, read::typed -> model::Configuration
//!                                                                      |
//!                flags, environment, AdmissionConfiguration -> resolve + checks -> Loaded
//! ```
//!
//! [`load()`] is the only door. It reads and checks, and starts nothing; what it
//! refuses is a list of [`Fault`](portcullis_document::Fault)s that say file, line, column, key and, where
//! one is near, what was probably meant.
//!
//! INVARIANT: a value in [`Loaded`] has passed every check that needs no
//! plug-in, no certificate parser and no socket.

mod admission;
mod files;
mod load;
mod log_filter;
mod matcher;
mod model;
mod notes;
mod oddities;
mod options;
pub mod profile;
mod resolve;
mod resolved;
mod schema;

#[cfg(test)]
pub mod tests;

pub use files::read_source;
pub use load::load;
pub use load::load_noting;
pub use matcher::Matcher;
pub use model::MatchSpec;
pub use model::{
    AuthenticatorDriver, AuthorizerDriver, Limits, Log, LogFormat, Namespace, PendingMutation,
    Principal, Service, Severity, Shutdown,
};
pub use options::{ConfigSource, Listening, LoadOptions};
pub use resolve::{TestModules, test_modules};
pub use resolved::{
    About, AccessSettings, Authenticator, Authorizer, Bind, Code, Decisions, DefaultAction,
    GraphProfile, GraphSource, Identity, JsonLines, Listener, Loaded, MarkPlace, Module,
    PluginEntry, Policies, Policy, SessionSettings, Style, Tls, UnixSocket,
};
pub use schema::json_schema;

/// The name of the plug-in that asks policies.
pub const POLICIES: &str = "Policies";
