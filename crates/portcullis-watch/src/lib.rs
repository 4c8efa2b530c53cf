//! Where the objects of a relationship graph come from, and those that plug-ins and policies look up.
//!
//! `directory` follows a directory of manifests; `cluster` lists and watches the objects of an API
//! server, reads single ones, and writes the few that the server keeps there itself. Both hand what they find to a graph's
//! state; an [`ObjectCache`] keeps whole objects of a cluster within a memory limit. What objects mean to a graph is
//! defined by the graph's profile, how manifests and lists are written by `portcullis-kube`. `kubeconfig` reads what
//! kubeconfigs say of servers that aren't API servers.

mod cluster;
mod directory;
mod kubeconfig;
#[cfg(test)]
mod testing;

pub use cluster::{
    Access, CachedKind, Cluster, ConnectError, Credentials, KindStatus, NamespacedName,
    ObjectCache, ObjectError, Phase, Secret, ServerAnswer, Watches, WebhookConfiguration,
    WebhookEntry, WebhookKind,
};
pub use directory::{Follower, ObjectsDirectory, Report};
pub use kubeconfig::KubeconfigServer;
