//! Every plug-in this program has, under its name.

use std::sync::Arc;

use portcullis_core::{Plugin, Registry};
use portcullis_kube::namespaces::{Namespaces, StaticNamespaces};

use crate::policies;

/// All plug-ins, knowing these namespaces, with these policies.
pub(crate) fn with(
    namespaces: &Arc<dyn Namespaces>,
    policies: Option<Arc<dyn Plugin>>,
) -> Registry {
    let mut registry = Registry::default();
    portcullis_kube::plugins::register_all(&mut registry, namespaces);
    registry.register(policies::descriptor(policies));
    registry
}

/// All plug-ins, to list and to check names; they know no namespaces and no policies.
pub fn registry() -> Registry {
    let none: Arc<dyn Namespaces> = Arc::new(StaticNamespaces::default());
    with(&none, None)
}
