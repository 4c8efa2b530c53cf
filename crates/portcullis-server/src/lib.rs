//! The server of Portcullis: configuration, assembly, listeners and routes.
//!
//! Start reading at [`config`], which turns files, flags and environment
//! variables into one checked [`config::Loaded`]; `assembly` builds the gate of
//! it, `run` binds the listeners and keeps everything going, `routes` says which
//! door a request is for, `reload` swaps the whole when files change.

pub mod access;
mod api;
mod assembly;
mod changes;
pub mod config;
mod decisions;
pub mod demonstration;
mod development;
mod digest;
mod ended_sessions;
mod fingerprint;
pub mod graph_answers;
pub mod graphs;
mod health;
mod http;
mod ledger;
mod listeners;
mod logging;
mod metrics;
pub mod offline;
pub mod policies;
mod registry;
mod reload;
pub mod replay;
mod routes;
mod run;
mod server;
pub mod since;
mod store_pool;
mod unix_names;

pub use assembly::{Report, examine};
pub use logging::init as init_logging;
pub use registry::registry;
pub use run::{OnReady, RunError, RunOptions, run, with_causes};
