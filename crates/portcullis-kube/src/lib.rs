//! Kubernetes: what its objects look like, and the built-in plug-ins that judge
//! them.
//!
//! Reading is separate from judging: `pod` and `workload` are views of objects,
//! `pod_security` is a set of pure functions over them. Nothing here
//! talks to a cluster or reads files.

pub mod authorizers;
pub mod manifest;
pub mod namespaces;
mod object;
pub mod plugins;
pub mod pod;
pub mod pod_security;
pub mod review;
pub mod workload;
