//! Agents scoped by what they are responsible for: a live graph of objects that refer to each other.
//!
//! A [`Profile`] is data: which kinds there are, which objects are watched and the edges each of them
//! contributes, who the agents are, and what they may do always, or with a path from the object to what
//! they stand for. [`State`] follows objects, [`Graph`] answers whether there is a path,
//! [`GraphAuthorizer`] answers requests, and [`admission`] judges what agents write.
//!
//! Nothing here knows Gardener or Kubernetes' nodes, talks to a cluster, or reads files.

pub mod admission;
mod authorizer;
pub mod built_in;
mod engine;
pub mod expression;
mod kinds;
mod lookups;
pub mod names;
mod observer;
pub mod profile;
mod state;
mod vertex;

pub use authorizer::{Compat, Explanation, GraphAuthorizer, Identity, Rules, Selectors, Subject};
pub use engine::{Edge, Graph, Reach, Shape, Spot, VertexView};
pub use kinds::{KindId, Kinds, Mismatch, Scope, VertexKind};
pub use lookups::{Found, Lookups, Nothing, Wanted};
pub use observer::{Observer, Update};
pub use profile::{Fault, Profile};
pub use state::{Applied, Relist, SourceId, Sources, State};
pub use vertex::{Vertex, VertexRef};
