//! What plug-ins and policies can know of a cluster's objects.
//!
//! They ask through [`ClusterObjects`] and don't know where the answer comes from: watches of an API server, or
//! objects that were written down ([`StaticObjects`]). "There is no such object" and "that isn't known" are
//! different answers: who needs an object that isn't known can't decide.

mod kind;
mod written;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use portcullis_core::PluginError;
use serde_json::Value;

pub use kind::{InvalidKind, ObjectKind};
pub use written::{InvalidObject, StaticObjects};

/// What plug-ins can know of a cluster's objects.
///
/// The namespace of objects that live in none is empty. Objects have no managed fields.
pub trait ClusterObjects: Debug + Send + Sync {
    /// The object of this name, or that there is none.
    ///
    /// # Errors
    ///
    /// When it isn't known whether there is one.
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown>;

    /// All objects of a kind, or those of one namespace, sorted by namespace and name.
    ///
    /// # Errors
    ///
    /// When they aren't all known.
    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown>;

    /// Reads an object from the API server, where there may be newer knowledge than here. It comes to an end by
    /// itself, soon after `deadline` at the latest; words of errors hold no secrets.
    fn read(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
        deadline: Instant,
    ) -> Reading<Option<Arc<Value>>>;

    /// Lists the objects of a namespace as the API server has them now; see [`read`](Self::read).
    fn list_now(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        deadline: Instant,
    ) -> Reading<Vec<Arc<Value>>>;

    /// Whether there is a cluster at all.
    fn is_connected(&self) -> bool {
        true
    }
}

/// Something that is being read from the API server, or why it could not be read.
pub type Reading<T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send>>;

/// Why objects aren't known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No cluster is configured.
    #[error("no cluster is configured: the key `kube` is missing")]
    NoCluster,
    /// A cluster is configured, but this command does not read it.
    #[error(
        "the objects of the cluster are not read here: give them with `--objects DIR`, or in a test with `kube`"
    )]
    Offline,
    /// The kind isn't watched.
    #[error("objects of {0} are not watched: the key `kube.kinds` does not contain it")]
    NotWatched(ObjectKind),
    /// The kind was not listed yet.
    #[error("objects of {0} are not synced yet")]
    NotSynced(ObjectKind),
    /// The kind's objects exceed the memory limit.
    #[error("objects of {0} exceed the memory limit `kube.memory`")]
    TooLarge(ObjectKind),
}

impl From<Unknown> for PluginError {
    fn from(why: Unknown) -> Self {
        Self::Failed(why.to_string())
    }
}

/// What there is to know without a cluster: nothing.
#[derive(Debug, Clone, Copy, Default)]
pub enum NoCluster {
    /// None is configured.
    #[default]
    Unconfigured,
    /// One is configured, but not read.
    Offline,
}

impl NoCluster {
    fn why(self) -> Unknown {
        match self {
            Self::Unconfigured => Unknown::NoCluster,
            Self::Offline => Unknown::Offline,
        }
    }
}

impl ClusterObjects for NoCluster {
    fn get(&self, _: &ObjectKind, _: &str, _: &str) -> Result<Option<Arc<Value>>, Unknown> {
        Err(self.why())
    }

    fn list(&self, _: &ObjectKind, _: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        Err(self.why())
    }

    fn read(&self, _: &ObjectKind, _: &str, _: &str, _: Instant) -> Reading<Option<Arc<Value>>> {
        Box::pin(std::future::ready(Err(self.why().to_string())))
    }

    fn list_now(&self, _: &ObjectKind, _: &str, _: Instant) -> Reading<Vec<Arc<Value>>> {
        Box::pin(std::future::ready(Err(self.why().to_string())))
    }

    fn is_connected(&self) -> bool {
        matches!(self, Self::Offline)
    }
}

/// Takes away what only the API server's field management needs.
pub fn drop_managed_fields(object: &mut Value) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        metadata.remove("managedFields");
    }
}
