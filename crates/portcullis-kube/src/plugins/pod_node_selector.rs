//! `PodNodeSelector`: a namespace's pods run on the namespace's nodes.
//!
//! The selector in the namespace's annotation, or else the cluster's default,
//! is merged into the pod's own. A pod that asks for something else is
//! denied, and so is one whose merged selector exceeds what the configuration
//! allows its namespace. Whether any node matches is not checked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::registry::Descriptor;
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};
use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::cluster_objects::{ObjectKind, Unknown};
use crate::namespaces::{Namespace, Namespaces};
use crate::pod::Map;

use super::environment::PluginEnvironment;
use super::in_namespace::in_namespace;
use super::read::{self, OrOutcome, settled};
use super::refusal::forbidden;
use super::{config, edit};
use crate::labels::{self, Labels};

const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
const CLUSTER_DEFAULT: &str = "clusterDefaultNodeSelector";
const MAP: &str = "podNodeSelectorPluginConfig";
const CONFLICT: &str = "pod node label selector conflicts with its namespace node label selector";
const NOT_ALLOWED: &str = "pod node label selector labels conflict with its namespace whitelist";

/// Configuration of `PodNodeSelector`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Configuration {
    /// Selectors of the form `a=b,c=d`: under `clusterDefaultNodeSelector` the one for namespaces
    /// without the annotation, under a namespace's name all that its pods may ask for.
    pod_node_selector_plugin_config: Option<BTreeMap<String, String>>,
}

struct PodNodeSelector {
    selectors: BTreeMap<String, Labels>,
    namespaces: Arc<dyn Namespaces>,
}

impl fmt::Debug for PodNodeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PodNodeSelector")
            .field("selectors", &self.selectors)
            .finish_non_exhaustive()
    }
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let environment = environment.clone();
    Descriptor {
        name: "PodNodeSelector",
        summary: "Restricts pods to the nodes of their namespace.",
        phases: Phases::BOTH,
        operations: Operations::CREATE,
        depends_on: environment.depends_on(),
        reads: vec![ObjectKind::NAMESPACE],
        schema: Some(config::schema::<Configuration>()),
        factory: Box::new(move |configuration| {
            let plugin = PodNodeSelector {
                selectors: selectors(configuration)?,
                namespaces: Arc::clone(&environment.namespaces),
            };
            Ok(in_namespace(plugin, &environment, read::is_pod))
        }),
    }
}

fn selectors(configuration: Option<&Value>) -> Result<BTreeMap<String, Labels>, Vec<Fault>> {
    let configuration: Configuration = match config::given(configuration) {
        Some(value) => config::decode(value)?,
        None => Configuration::default(),
    };
    let mut faults = Vec::new();
    let mut selectors = BTreeMap::new();
    for (name, selector) in configuration
        .pod_node_selector_plugin_config
        .unwrap_or_default()
    {
        match labels::parse_selector(&selector) {
            Ok(labels) => {
                selectors.insert(name, labels);
            }
            Err(fault) => faults.push(Fault::at(format!("{MAP}.{name}"), fault)),
        }
    }
    if faults.is_empty() {
        Ok(selectors)
    } else {
        Err(faults)
    }
}

impl PodNodeSelector {
    /// The namespace of a pod; other requests need none.
    fn namespace(&self, request: &Attributes) -> Result<Option<Arc<Namespace>>, Unknown> {
        match read::is_pod(request) {
            true => self.namespaces.get(&request.namespace),
            false => Ok(None),
        }
    }

    fn merge(&self, request: &mut Attributes, namespace: Option<&Namespace>) -> OrOutcome<Outcome> {
        let pod = read::pod(request)?;
        let present = &pod.object.spec.node_selector;
        let mut wanted = self.namespace_selector(request, namespace)?;
        self.judge(request, present, &wanted)?;
        wanted.retain(|key, _| !present.contains_key(key.as_str()));
        if wanted.is_empty() {
            return Ok(Outcome::Pass);
        }
        if !self.allows(&request.namespace, &as_pairs(&wanted)) {
            return Err(forbidden(request, NOT_ALLOWED));
        }
        edit::spec(request, |spec| {
            if let Some(selector) = edit::object(spec, "nodeSelector") {
                selector.extend(wanted.into_iter().map(|(k, v)| (k, Value::from(v))));
            }
        })
    }

    fn check(&self, request: &Attributes, namespace: Option<&Namespace>) -> OrOutcome<Outcome> {
        let pod = read::pod(request)?;
        let wanted = self.namespace_selector(request, namespace)?;
        self.judge(request, &pod.object.spec.node_selector, &wanted)?;
        Ok(Outcome::Pass)
    }

    /// Denies a pod's selector that contradicts its namespace's or leaves what
    /// is allowed.
    fn judge(
        &self,
        request: &Attributes,
        present: &Map<'_, std::borrow::Cow<'_, str>>,
        wanted: &Labels,
    ) -> OrOutcome<()> {
        let pairs: Vec<(&str, &str)> = present
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
            .collect();
        let contradicts =
            |(key, value): &(&str, &str)| wanted.get(*key).is_some_and(|w| w != value);
        if pairs.iter().any(contradicts) {
            return Err(forbidden(request, CONFLICT));
        }
        if !self.allows(&request.namespace, &pairs) {
            return Err(forbidden(request, NOT_ALLOWED));
        }
        Ok(())
    }

    /// Whether the namespace may have all these labels in a selector. Without a
    /// configured selector, or with an empty one, it may.
    fn allows(&self, namespace: &str, pairs: &[(&str, &str)]) -> bool {
        match self.selectors.get(namespace) {
            Some(allowed) if !allowed.is_empty() => pairs
                .iter()
                .all(|(key, value)| allowed.get(*key).is_some_and(|a| a == value)),
            _ => true,
        }
    }

    /// The selector of the request's namespace, or else the cluster's default.
    fn namespace_selector(
        &self,
        request: &Attributes,
        namespace: Option<&Namespace>,
    ) -> OrOutcome<Labels> {
        match namespace.and_then(|n| n.annotations.get(ANNOTATION)) {
            Some(selector) => labels::parse_selector(selector).map_err(|fault| {
                let name = &request.namespace;
                let detail = format!("namespace {name:?}: annotation {ANNOTATION}: {fault}");
                forbidden(request, &detail)
            }),
            None => Ok(self
                .selectors
                .get(CLUSTER_DEFAULT)
                .cloned()
                .unwrap_or_default()),
        }
    }
}

fn as_pairs(labels: &Labels) -> Vec<(&str, &str)> {
    labels
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}

impl Plugin for PodNodeSelector {
    fn handles(&self, operation: Operation) -> bool {
        Operations::CREATE.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let namespace = self.namespace(request)?;
        settled(self.merge(request, namespace.as_deref()))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let namespace = self.namespace(request)?;
        settled(self.check(request, namespace.as_deref()))
    }
}

#[cfg(test)]
mod tests;
