//! The gate: everything that judges, built from a configuration, without a socket.
//!
//! [`build`] makes a [`Gate`] of a [`Loaded`](portcullis_config::Loaded) configuration: the chain of plug-ins
//! with the policies among them, the chains of authorizers, the graphs, and the rules of the API. A server
//! asks it; [`offline`] asks it about manifests, [`replay`] about earlier decisions. [`linting`] looks for mistakes in its policies.
//! [`registration`] and [`cluster_access`] say what a cluster must be told for it. Nothing here listens.

pub mod access;
mod assembly;
mod authorizers;
mod changes;
pub mod cluster;
mod digest;
mod entries;
mod gate;
pub mod graph_answers;
pub mod graphs;
pub mod linting;
mod observer;
pub mod offline;
pub mod offline_graphs;
mod outgoing;
mod pending_mutation;
pub mod playground;
pub mod policies;
pub mod registration;
mod registry;
pub mod replay;
mod unix_names;
mod watched;

pub use assembly::{Before, GraphWatcher, build};
pub use changes::{Changes, Inventory};
pub use cluster::{ClusterAccess, cluster_access};
pub use entries::{global_context, global_context_cap};
pub use gate::Gate;
pub use pending_mutation::refuse_pending_mutation;
pub use registry::registry;
pub use unix_names::UnixNames;
pub use watched::{WatchState, WatchedKind};
