//! The gate: everything that judges, built from a configuration, without a socket.
//!
//! [`build`] makes a [`Gate`] of a [`Loaded`](portcullis_config::Loaded) configuration: the chain of plug-ins
//! with the policies among them, the chains of authorizers, the graphs, and the rules of the API. A server
//! asks it; [`offline`] asks it about manifests, [`replay`] about earlier decisions. Nothing here listens.

pub mod access;
mod assembly;
mod authorizers;
mod changes;
mod digest;
mod gate;
pub mod graph_answers;
pub mod graphs;
pub mod offline;
pub mod offline_graphs;
mod pending_mutation;
pub mod policies;
mod registry;
pub mod replay;
mod unix_names;

pub use assembly::{Before, GraphWatcher, build, global_context, global_context_cap};
pub use changes::{Changes, Inventory};
pub use gate::Gate;
pub use pending_mutation::refuse_pending_mutation;
pub use registry::registry;
pub use unix_names::UnixNames;
