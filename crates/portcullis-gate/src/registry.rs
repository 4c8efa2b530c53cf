//! All plug-ins, by name.

use std::sync::Arc;

use portcullis_core::Plugin;
use portcullis_kube::Registry;
use portcullis_kube::scoped_access::{self, ScopedProfile};
use portcullis_kube::{Namespaces, StaticNamespaces};

use crate::policies;

/// All plug-ins, knowing these namespaces, with these policies and profiles of agents.
pub(crate) fn with(
    namespaces: &Arc<dyn Namespaces>,
    policies: Option<Arc<dyn Plugin>>,
    scoped: &Arc<[ScopedProfile]>,
) -> Registry {
    let mut registry = Registry::default();
    portcullis_kube::register_all(&mut registry, namespaces);
    registry.register(policies::descriptor(policies));
    scoped_access::register(&mut registry, scoped);
    registry
}

/// All plug-ins, to list and to check names; they know no namespaces, no policies and no agents.
pub fn registry() -> Registry {
    let none: Arc<dyn Namespaces> = Arc::new(StaticNamespaces::default());
    with(&none, None, &Arc::default())
}
