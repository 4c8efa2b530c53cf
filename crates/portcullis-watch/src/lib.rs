//! Where the objects of a relationship graph come from.
//!
//! `directory` follows a directory of manifests; `cluster` lists and watches the objects of an API
//! server, and reads single ones. Both hand what they find to a graph's state. What objects mean is
//! defined by the graph's profile, how manifests and lists are written by `portcullis-kube`.

mod cluster;
mod directory;
#[cfg(test)]
mod testing;

pub use cluster::{Access, Cluster, KindStatus, Watches};
pub use directory::{Follower, ObjectsDirectory, Report};
