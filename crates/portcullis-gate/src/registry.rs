//! All plug-ins, by name.

use std::sync::Arc;

use portcullis_core::Plugin;
use portcullis_kube::cluster_objects::NoCluster;
use portcullis_kube::scoped_access::{self, ScopedProfile};
use portcullis_kube::{PluginEnvironment, Registry};

use crate::observer::Observer;
use crate::outgoing;
use crate::policies;

/// All plug-ins, in this environment, with these policies and profiles of agents. An observer that replays has the
/// answers of other servers.
pub(crate) fn with(
    environment: &PluginEnvironment,
    policies: Option<Arc<dyn Plugin>>,
    scoped: &Arc<[ScopedProfile]>,
    observer: Option<Arc<dyn Observer>>,
) -> Registry {
    let mut registry = Registry::default();
    portcullis_kube::register_all(&mut registry, environment);
    registry.register(policies::descriptor(policies));
    scoped_access::register(&mut registry, scoped);
    for descriptor in outgoing::descriptors(observer) {
        registry.register(descriptor);
    }
    registry
}

/// All plug-ins, to list and to check names; they know no namespaces, no policies and no agents.
pub fn registry() -> Registry {
    with(&PluginEnvironment::default(), None, &Arc::default(), None)
}

/// The same where a cluster is configured, of which nothing is known.
pub(crate) fn connected() -> Registry {
    let environment = PluginEnvironment {
        objects: Arc::new(NoCluster::Offline),
        ..PluginEnvironment::default()
    };
    with(&environment, None, &Arc::default(), None)
}
