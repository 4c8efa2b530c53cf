//! Agents scoped by what they are responsible for: a live graph of objects that refer to each other.
//!
//! A [`Profile`] is data: which kinds there are, which objects are watched and the edges each of them
//! contributes, who the agents are, and what they may do always, or with a path from the object to what
//! they stand for. [`State`] follows objects, [`Graph`] answers whether there is a path,
//! [`GraphAuthorizer`] answers requests, and [`Profile::admit_agent`] judges what agents write.
//!
//! Nothing here knows Gardener or Kubernetes' nodes, talks to a cluster, or reads files.

mod access_rules;
mod admission;
mod authorizer;
pub mod built_in;
mod condition;
mod engine;
mod expression;
mod fault;
mod kinds;
mod lookups;
mod names;
mod observer;
mod profile;
mod sources;
mod spec;
mod state;
mod vertex;

pub use access_rules::{AgentIdentity, Compat, Explanation, Selectors, Subject};
pub use admission::{AdmissionRequest, Judgement};
pub use authorizer::GraphAuthorizer;
pub use condition::condition_holds;
pub use engine::{Edge, Found, Graph, Reach, Shape, VertexHandle};
pub use kinds::{Kinds, VertexKind};
pub use lookups::{LookupResult, Lookups};
pub use names::{check_name, check_namespace};
pub use observer::{Observer, Update};
pub use profile::Profile;
pub use sources::SourceId;
pub use spec::ProfileSpec;
pub use state::{Applied, Relist, State};
pub use vertex::{KindId, Vertex, VertexRef};
