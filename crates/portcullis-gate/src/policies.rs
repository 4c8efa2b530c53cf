//! JavaScript policies as a plug-in of the chain, `Policies`.
//!
//! Here meet what a request is ([`portcullis_core::Attributes`]), what policies are made of (the
//! configuration) and what runs them ([`portcullis_js`]). Which policies are asked about a request
//! is decided here; what they say is decided there.

mod build;
mod caller;
mod certificate;
mod observer;
mod plugin;
mod subject;

pub use build::Engine;
pub(crate) use build::{Around, Compiled, descriptor, fault_in};
pub(crate) use observer::Observer;
pub(crate) use plugin::REJECTED_BY_DEFAULT;

pub use portcullis_js::{WorkerCommand, serve_evaluations};

pub(crate) use portcullis_config::POLICIES as NAME;
