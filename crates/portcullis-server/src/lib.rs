//! The server of Portcullis: listeners, routes, the REST API, the decision log, reloads.
//!
//! Start reading at `run`, which binds the listeners and runs the server; `assembly` builds a gate
//! and its listeners of a configuration, `doors` says which door a request is for, `reload` swaps the
//! whole when files change. What judges is in `portcullis-gate`, the configuration in `portcullis-config`.

mod alarm;
mod api;
mod assembly;
mod causes;
mod ci;
mod decisions;
pub mod demonstration;
mod development;
mod door;
mod doors;
mod ended_sessions;
mod health;
mod http;
mod issuer;
mod job_door;
mod listeners;
mod logging;
mod managed;
mod metrics;
mod operator_state;
mod playground;
pub mod playground_alone;
mod policy_changes;
mod readiness;
mod reload;
mod routes;
mod run;
mod server;
mod service_manager;
mod sign_in_link;
mod standing;
mod store_pool;
mod trace;
mod visitor;

#[cfg(test)]
mod tests;

pub use assembly::{Report, examine};
pub use causes::with_causes;
pub use logging::init as init_logging;
pub use run::{OnReady, Ready, RunError, RunOptions, run};
pub use sign_in_link::SignInLink;
