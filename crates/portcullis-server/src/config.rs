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
mod load;
mod log_filter;
mod model;
mod notes;
mod oddities;
mod path;
pub(crate) mod profile;
mod read;
mod read_error;
mod resolve;
mod resolved;
mod schema;
mod source;
mod suggest;
mod units;
mod warning;
pub(crate) mod yaml;

#[cfg(test)]
mod tests;

pub(crate) use document::Document;
pub use document::{Located, Node, Position, Value};
pub use fault::{Fault, Faults};
pub(crate) use load::load_noting;
pub use load::{ConfigSource, Listening, LoadOptions, load};
pub(crate) use model::MatchSpec;
pub use model::{
    AuthenticatorDriver, AuthorizerDriver, Limits, Log, LogFormat, Namespace, PendingMutation,
    Principal, Service, Severity, Shutdown,
};
pub(crate) use read::typed as read_typed;
pub(crate) use resolve::{TestModules, test_modules};
pub use resolved::{
    About, AccessSettings, Authenticator, Authorizer, Bind, Code, Decisions, DefaultAction,
    GraphProfile, GraphSource, Identity, JsonLines, Listener, Loaded, MarkPlace, Module, Origin,
    PluginEntry, Policies, Policy, SessionSettings, Style, Tls, UnixSocket,
};
pub use schema::json_schema;
pub use source::Source;
pub use units::{Duration, Seconds, Size, UnitError};
pub use warning::Warning;
