//! The configuration: from files, flags and environment to one checked value.
//!
//! ```text
//! file -> Source -> yaml::parse -> Node -> read -> model::Configuration
//!                                                            |
//!      flags, environment, AdmissionConfiguration -> resolve + checks -> Loaded
//! ```
//!
//! [`load()`] is the only door. It reads and checks, and starts nothing; what it
//! refuses is a list of [`Fault`]s that say file, line, column, key and, where
//! one is near, what was probably meant.
//!
//! INVARIANT: a value in [`Loaded`] has passed every check that needs no
//! plug-in, no certificate parser and no socket.

mod admission;
mod document;
mod fault;
pub mod fingerprint;
mod load;
mod log_filter;
mod matcher;
mod model;
mod notes;
mod oddities;
mod options;
mod path;
mod position;
pub mod profile;
mod read;
mod read_error;
mod resolve;
mod resolved;
mod schema;
pub mod since;
mod source;
mod suggest;
mod units;
mod warning;
pub mod yaml;

#[cfg(test)]
pub mod tests;

pub use document::Document;
pub use document::{Located, Node, Value};
pub use fault::{Fault, Faults};
pub use load::load;
pub use load::load_noting;
pub use matcher::Matcher;
pub use model::MatchSpec;
pub use model::{
    AuthenticatorDriver, AuthorizerDriver, Limits, Log, LogFormat, Namespace, PendingMutation,
    Principal, Service, Severity, Shutdown,
};
pub use options::{ConfigSource, Listening, LoadOptions};
pub use position::Position;
pub use read::typed as read_typed;
pub use resolve::{TestModules, test_modules};
pub use resolved::{
    About, AccessSettings, Authenticator, Authorizer, Bind, Code, Decisions, DefaultAction,
    GraphProfile, GraphSource, Identity, JsonLines, Listener, Loaded, MarkPlace, Module, Origin,
    PluginEntry, Policies, Policy, SessionSettings, Style, Tls, UnixSocket,
};
pub use schema::json_schema;
pub use source::Source;
pub use units::{Duration, Seconds, Size, UnitError};
pub use warning::Warning;

/// The name of the plug-in that asks policies.
pub const POLICIES: &str = "Policies";
