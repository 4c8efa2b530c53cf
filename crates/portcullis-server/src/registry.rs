//! Every plug-in this program has, under its name.

use std::sync::Arc;

use portcullis_core::Registry;
use portcullis_kube::namespaces::{Namespaces, StaticNamespaces};

/// All plug-ins, knowing these namespaces.
pub(crate) fn with_namespaces(namespaces: &Arc<dyn Namespaces>) -> Registry {
    let mut registry = Registry::default();
    portcullis_kube::plugins::register_all(&mut registry, namespaces);
    registry
}

/// All plug-ins, to list and to check names; they know no namespaces.
pub fn registry() -> Registry {
    let none: Arc<dyn Namespaces> = Arc::new(StaticNamespaces::default());
    with_namespaces(&none)
}
