//! Plug-ins by name, each with a factory that takes its own configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use portcullis_core::{Operations, Phases, Plugin};
use portcullis_document::Fault;
use serde_json::Value;

use crate::cluster_objects::ObjectKind;

/// Makes a plug-in of its configuration. Its faults know their path in the configuration, like `defaults.enforce`.
pub type Factory = Box<dyn Fn(Option<&Value>) -> Result<Arc<dyn Plugin>, Vec<Fault>> + Send + Sync>;

/// What the answers of a plug-in depend on; needed to replay recorded requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependsOn {
    /// Nothing: it says the same of every request.
    Nothing,
    /// The request and the configuration.
    Request,
    /// Also requests that came before, of which it keeps count. It doesn't count dry runs, and what it says
    /// is not its business doesn't depend on the count.
    Earlier,
    /// Also objects of a cluster, as they are at that time.
    Cluster,
    /// Also objects of a cluster, and requests that came before, as for [`Earlier`](Self::Earlier).
    ClusterAndEarlier,
}

impl DependsOn {
    /// Whether the answers depend on requests that came before.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Earlier | Self::ClusterAndEarlier)
    }

    /// Whether the answers depend on objects of a cluster.
    #[must_use]
    pub fn looks_at_cluster(self) -> bool {
        matches!(self, Self::Cluster | Self::ClusterAndEarlier)
    }
}

/// What is known of a plug-in before it is made.
pub struct Descriptor {
    /// The name it is configured by.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// The halves it has.
    pub phases: Phases,
    /// The operations it handles.
    pub operations: Operations,
    /// What its answers depend on.
    pub depends_on: DependsOn,
    /// The kinds of a cluster's objects that it looks up, where a cluster is configured.
    pub reads: Vec<ObjectKind>,
    /// JSON Schema of its configuration; none if it takes none.
    pub schema: Option<Value>,
    /// Makes it.
    pub factory: Factory,
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Descriptor")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// All plug-ins that can be configured.
#[derive(Debug, Default)]
pub struct Registry {
    plugins: BTreeMap<&'static str, Descriptor>,
}

impl Registry {
    /// Adds a plug-in. A second one of the same name replaces the first.
    pub fn register(&mut self, descriptor: Descriptor) {
        self.plugins.insert(descriptor.name, descriptor);
    }

    /// The plug-in of this name.
    pub fn get(&self, name: &str) -> Option<&Descriptor> {
        self.plugins.get(name)
    }

    /// All plug-ins, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.plugins.values()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        self.plugins.keys().copied().collect()
    }
}
