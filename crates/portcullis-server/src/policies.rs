//! JavaScript policies as a plug-in of the chain, `Policies`.
//!
//! Here meet what a request is ([`portcullis_core::Attributes`]), what policies are made of (the
//! configuration) and what runs them ([`portcullis_js`]). Which policies are asked about a request
//! is decided here; what they say is decided there.

mod alarm;
mod build;
mod caller;
mod certificate;
mod matcher;
mod observer;
mod plugin;
mod subject;

pub(crate) use alarm::guard;
pub(crate) use build::{
    Around, Compiled, Engine, descriptor, engine_limits, module as module_source,
};
pub use matcher::Matcher;
pub(crate) use observer::Observer;
pub(crate) use plugin::REJECTED_BY_DEFAULT;

pub use portcullis_js::{WorkerCommand, serve_evaluations};

/// The name of the plug-in.
pub(crate) const NAME: &str = "Policies";
