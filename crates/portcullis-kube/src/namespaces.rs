//! What plug-ins know of namespaces: labels and annotations, by name.
//!
//! Plug-ins ask through [`Namespaces`] and don't know where the answer comes
//! from: the configuration ([`StaticNamespaces`]) or a cluster. A namespace
//! that isn't known is one without labels and annotations; whether it exists
//! is not judged here.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

/// A namespace with its labels and annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Namespace {
    /// The name of the namespace.
    pub name: String,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// A source of namespaces.
pub trait Namespaces: Send + Sync {
    /// The namespace of this name, if it is known.
    fn get(&self, name: &str) -> Option<Arc<Namespace>>;
}

/// Namespaces that are written down and don't change.
#[derive(Clone, Debug, Default)]
pub struct StaticNamespaces {
    by_name: BTreeMap<String, Arc<Namespace>>,
}

impl FromIterator<Namespace> for StaticNamespaces {
    /// Of two namespaces of the same name, the later one counts.
    fn from_iter<I: IntoIterator<Item = Namespace>>(namespaces: I) -> Self {
        Self {
            by_name: namespaces
                .into_iter()
                .map(|namespace| (namespace.name.clone(), Arc::new(namespace)))
                .collect(),
        }
    }
}

impl Namespaces for StaticNamespaces {
    fn get(&self, name: &str) -> Option<Arc<Namespace>> {
        self.by_name.get(name).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_found_by_its_exact_name() {
        let shop = Namespace {
            name: "shop".into(),
            labels: [("team".into(), "a".into())].into(),
            ..Namespace::default()
        };
        let known: StaticNamespaces = [shop.clone()].into_iter().collect();
        assert_eq!(known.get("shop").as_deref(), Some(&shop));
        assert_eq!(known.get("Shop"), None);
        assert_eq!(known.get(""), None);
    }
}
