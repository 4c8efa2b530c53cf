//! Kubernetes: what its objects look like, and the built-in plug-ins that judge
//! them.
//!
//! Reading is separate from judging: `pod` and `workload` are views of objects,
//! `pod_security` is a set of pure functions over them. What a graph knows comes
//! from `objects`, a directory of manifests, or `watch`, which alone talks to a
//! cluster.

pub mod authorizers;
#[cfg(test)]
mod graph_testing;
mod labels;
pub mod manifest;
pub mod namespaces;
mod object;
pub mod objects;
pub mod plugins;
pub mod pod;
pub mod pod_security;
pub mod review;
pub mod selector;
pub mod watch;
pub mod workload;
