//! What plug-ins know of namespaces: labels and annotations, by name.
//!
//! Plug-ins ask through [`Namespaces`] and don't know where the answer comes from: the configuration
//! ([`StaticNamespaces`]), or also a cluster ([`LookedUpNamespaces`]). Without a cluster, a namespace that isn't
//! known is one without labels and annotations; whether it exists is not judged here.

mod looked_up;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::cluster_objects::{Reading, Unknown};

pub use looked_up::LookedUpNamespaces;

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
    /// The namespace of this name, or that there is none.
    ///
    /// # Errors
    ///
    /// When it isn't known whether there is one.
    fn get(&self, name: &str) -> Result<Option<Arc<Namespace>>, Unknown>;

    /// Finds out what [`get`](Self::get) needs; nothing if it can answer already. It comes to an end by itself, soon
    /// after `deadline` at the latest.
    fn prepare(&self, name: &str, deadline: Instant) -> Option<Reading<()>> {
        let _ = (name, deadline);
        None
    }
}

/// Namespaces that are written down and don't change.
#[derive(Clone, Debug, Default)]
pub struct StaticNamespaces {
    by_name: BTreeMap<String, Arc<Namespace>>,
    /// Labels of every namespace, over its own.
    everywhere: BTreeMap<String, String>,
}

impl StaticNamespaces {
    /// The same, where every namespace has these labels too.
    #[must_use]
    pub fn with_labels_everywhere(mut self, labels: BTreeMap<String, String>) -> Self {
        self.everywhere = labels;
        self
    }

    /// The namespace of this name.
    fn find(&self, name: &str) -> Option<Arc<Namespace>> {
        let written = self.by_name.get(name);
        if self.everywhere.is_empty() || name.is_empty() {
            return written.map(Arc::clone);
        }
        let mut namespace = written.map_or_else(
            || Namespace {
                name: name.to_owned(),
                ..Namespace::default()
            },
            |written| (**written).clone(),
        );
        let labels = self.everywhere.iter();
        let labels = labels.map(|(key, value)| (key.clone(), value.clone()));
        namespace.labels.extend(labels);
        Some(Arc::new(namespace))
    }
}

impl FromIterator<Namespace> for StaticNamespaces {
    /// Of two namespaces of the same name, the later one counts.
    fn from_iter<I: IntoIterator<Item = Namespace>>(namespaces: I) -> Self {
        Self {
            by_name: namespaces
                .into_iter()
                .map(|namespace| (namespace.name.clone(), Arc::new(namespace)))
                .collect(),
            everywhere: BTreeMap::new(),
        }
    }
}

impl Namespaces for StaticNamespaces {
    fn get(&self, name: &str) -> Result<Option<Arc<Namespace>>, Unknown> {
        Ok(self.find(name))
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
        assert_eq!(known.get("shop").unwrap().as_deref(), Some(&shop));
        assert_eq!(known.get("Shop"), Ok(None));
        assert_eq!(known.get(""), Ok(None));
    }

    #[test]
    fn labels_of_every_namespace_go_over_its_own() {
        let labels = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
            let all = all.iter();
            all.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect()
        };
        let shop = Namespace {
            name: "shop".into(),
            labels: labels(&[("team", "a"), ("env", "dev")]),
            ..Namespace::default()
        };
        let known = [shop].into_iter().collect::<StaticNamespaces>();
        let known = known.with_labels_everywhere(labels(&[("env", "prod")]));
        let found = |name: &str| known.get(name).unwrap().map(|found| found.labels.clone());
        assert_eq!(
            found("shop"),
            Some(labels(&[("env", "prod"), ("team", "a")]))
        );
        assert_eq!(found("other"), Some(labels(&[("env", "prod")])));
        assert_eq!(found(""), None);
    }
}
