//! Agents scoped by what they are responsible for: a live graph of objects that refer to each other.
//!
//! A [`Profile`] is data: which kinds there are, which objects are watched and the edges each of them
//! contributes, who the agents are, and what they may do always, or with a path from the object to what
//! they stand for. [`State`] follows objects, [`Graph`] answers whether there is a path,
//! [`GraphAuthorizer`] answers requests, and [`Profile::admit_agent`] judges what agents write.
//!
//! Nothing here knows Gardener or Kubernetes' nodes, talks to a cluster, or reads files.

mod admission;
mod authorizer;
pub mod built_in;
mod engine;
mod expression;
mod kinds;
mod lookups;
mod names;
mod observer;
mod profile;
mod state;
mod vertex;

pub use admission::{Judgement, Request};
pub use authorizer::{Compat, Explanation, GraphAuthorizer, Identity, Selectors, Subject};
pub use engine::{Edge, Graph, Reach, Shape, Spot};
pub use kinds::{KindId, Kinds, VertexKind};
pub use lookups::{Found, Lookups, Wanted};
pub use names::{check_name, check_namespace};
pub use observer::{Observer, Update};
pub use profile::Profile;
pub use profile::spec::ProfileSpec;
pub use state::{Applied, Relist, SourceId, State};
pub use vertex::{Vertex, VertexRef};
