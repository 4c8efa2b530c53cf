//! JavaScript policies as a plug-in of the chain, `Policies`.
//!
//! This connects a request ([`portcullis_core::Attributes`]), the sources of policies (the
//! configuration) and the engine that runs them ([`portcullis_js`]). Which policies apply to a request
//! is decided here; what they decide is up to the engine.

mod author;
mod build;
mod caller;
mod certificate;
mod jobs;
mod kube_calls;
mod listed;
mod plugin;
mod selection;
mod subject;
mod time;

pub use build::Engine;
pub(crate) use build::{Compiled, PolicyEnvironment, descriptor, fault_in};
pub use jobs::{JobJudgement, JobOutcome, JobPolicies, JobPolicy, job_request};
pub use listed::ListedPolicy;
pub(crate) use listed::listed;
pub(crate) use plugin::REJECTED_BY_DEFAULT;

pub use portcullis_js::{WorkerCommand, serve_evaluations};

pub(crate) use portcullis_config::POLICIES as NAME;
