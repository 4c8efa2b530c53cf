//! Kubernetes: views of its objects, and the built-in plug-ins that judge
//! them.
//!
//! Reading is separate from judging: `pod` and `workload` are views of objects,
//! `pod_security` is a set of pure functions over them. Nothing here
//! talks to a cluster or reads files.

mod authorizers;
pub mod cluster_objects;
mod labels;
pub mod manifest;
mod namespaces;
mod object;
mod plugins;
mod pod;
mod pod_security;
mod quantity;
mod registry;
pub mod review;
pub mod selector;
mod workload;

pub use authorizers::{AlwaysAllow, AlwaysDeny, abac};
pub use namespaces::{LookedUpNamespaces, Namespace, Namespaces, StaticNamespaces};
pub use plugins::{PluginEnvironment, image_policy, register_all, scoped_access};
pub use registry::{DependsOn, Descriptor, Factory, Registry};
pub use workload::Workload;
