//! What plug-ins can look up besides the request.

use std::sync::Arc;

use crate::cluster_objects::{ClusterObjects, NoCluster};
use crate::namespaces::{Namespaces, StaticNamespaces};
use crate::registry::DependsOn;

/// What plug-ins can look up besides the request.
#[derive(Clone)]
pub struct PluginEnvironment {
    /// Labels and annotations of namespaces.
    pub namespaces: Arc<dyn Namespaces>,
    /// Objects of the cluster.
    pub objects: Arc<dyn ClusterObjects>,
}

impl PluginEnvironment {
    /// What the answers of a plug-in depend on that looks up labels or annotations of namespaces.
    pub(crate) fn depends_on(&self) -> DependsOn {
        match self.objects.is_connected() {
            true => DependsOn::Cluster,
            false => DependsOn::Request,
        }
    }
}

impl Default for PluginEnvironment {
    /// There are no namespaces, and there is no cluster.
    fn default() -> Self {
        Self {
            namespaces: Arc::new(StaticNamespaces::default()),
            objects: Arc::new(NoCluster::default()),
        }
    }
}

impl std::fmt::Debug for PluginEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginEnvironment")
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}
