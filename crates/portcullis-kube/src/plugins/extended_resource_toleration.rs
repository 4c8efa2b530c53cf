//! `ExtendedResourceToleration`: pods that ask for a device may run where the
//! device is.
//!
//! Nodes with special hardware are often tainted with the name of the extended
//! resource. For each such resource that a container or init container
//! requests, the pod gets a toleration of that taint. Pods without extended
//! resources are not touched.

use std::collections::{BTreeSet, HashMap};

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

use crate::pod::{ContainerKind, PodSpec, Toleration};

use super::read::{self, OrOutcome, settled};
use super::{edit, tolerations};
use crate::labels;

#[derive(Clone, Copy, Debug)]
struct ExtendedResourceToleration;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "ExtendedResourceToleration",
        summary: "Adds a toleration for each extended resource that a pod requests.",
        phases: Phases::ADMIT,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(ExtendedResourceToleration),
    }
}

impl Plugin for ExtendedResourceToleration {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::ADMIT
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(add(request))
    }
}

fn add(request: &mut Attributes) -> OrOutcome<Outcome> {
    let pod = read::pod(request)?;
    let mut by_key: HashMap<&str, Vec<(usize, &Toleration<'_>)>> = HashMap::new();
    for (place, one) in pod.object.spec.tolerations.iter().enumerate() {
        by_key.entry(&one.key).or_default().push((place, one));
    }
    let mut missing: Vec<(Toleration<'static>, Vec<usize>)> = Vec::new();
    for resource in extended_resources(&pod.object.spec) {
        let wanted = toleration_of(resource);
        let present = by_key.get(resource).map(Vec::as_slice).unwrap_or_default();
        if present.iter().any(|(_, one)| **one == wanted) {
            continue;
        }
        let alike = present.iter();
        let alike = alike.filter(|(_, one)| differs_in_seconds_at_most(one, &wanted));
        let places = alike.map(|(place, _)| *place).collect();
        missing.push((wanted, places));
    }
    if missing.is_empty() {
        return Ok(Outcome::Pass);
    }
    edit::spec(request, |spec| {
        let Some(list) = edit::tolerations(spec) else {
            return;
        };
        for (wanted, places) in missing {
            let wanted = tolerations::to_json(&wanted);
            for place in &places {
                if let Some(one) = list.get_mut(*place) {
                    one.clone_from(&wanted);
                }
            }
            if places.is_empty() {
                list.push(wanted);
            }
        }
    })
}

fn toleration_of(resource: &str) -> Toleration<'static> {
    Toleration {
        key: resource.to_owned().into(),
        operator: "Exists".into(),
        effect: "NoSchedule".into(),
        ..Toleration::default()
    }
}

fn differs_in_seconds_at_most(one: &Toleration<'_>, other: &Toleration<'_>) -> bool {
    one.key == other.key
        && one.effect == other.effect
        && one.operator == other.operator
        && one.value == other.value
}

/// Names of the extended resources that the pod requests, sorted.
fn extended_resources<'a>(spec: &'a PodSpec<'_>) -> BTreeSet<&'a str> {
    // Ephemeral containers can't ask for resources.
    spec.all_containers()
        .filter(|c| c.kind != ContainerKind::Ephemeral)
        .flat_map(|c| c.container.resources.requests.keys())
        .map(AsRef::as_ref)
        .filter(|name| is_extended(name))
        .collect()
}

/// Whether this names a resource that is not defined by Kubernetes.
pub(super) fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && labels::key_faults(&format!("requests.{name}")).is_empty()
}

#[cfg(test)]
mod tests {
    use portcullis_core::Outcome;
    use serde_json::{Value, json};

    use super::super::testing::{
        admit, assert_looks_at_pods_proper_only, create_spec, is_touched, object_of, plugin,
        update_spec,
    };
    use super::is_extended;

    const NAME: &str = "ExtendedResourceToleration";

    fn requests(resource: &str) -> Value {
        json!({"resources": {"requests": {resource: 1}}})
    }

    fn toleration(resource: &str) -> Value {
        json!({"key": resource, "operator": "Exists", "effect": "NoSchedule"})
    }

    /// The tolerations after the plug-in; none if it changed nothing.
    fn after(spec: Value) -> Option<Value> {
        let mut request = create_spec(spec);
        assert_eq!(admit(&plugin(NAME), &mut request), Outcome::Pass);
        is_touched(&request).then(|| object_of(&request)["spec"]["tolerations"].clone())
    }

    #[test]
    fn a_pod_without_extended_resources_is_not_touched() {
        for spec in [
            json!({}),
            json!({"containers": [requests("cpu")]}),
            json!({"initContainers": [requests("memory")]}),
            json!({"containers": [requests("kubernetes.io/device")]}),
            json!({"containers": [{"resources": {"limits": {"example.com/device": 1}}}]}),
            json!({"ephemeralContainers": [requests("example.com/device")]}),
        ] {
            assert_eq!(after(spec.clone()), None, "{spec}");
        }
    }

    #[test]
    fn containers_and_init_containers_count() {
        for list in ["containers", "initContainers"] {
            assert_eq!(
                after(json!({list: [requests("cpu"), requests("example.com/ek")]})),
                Some(json!([toleration("example.com/ek")]))
            );
        }
    }

    #[test]
    fn several_are_added_in_the_order_of_their_names() {
        assert_eq!(
            after(json!({
                "containers": [requests("example.com/ek"), requests("example.com/ek")],
                "initContainers": [requests("example.com/do")],
                "tolerations": [{"key": "a", "value": "b"}],
            })),
            Some(json!([
                {"key": "a", "value": "b"},
                toleration("example.com/do"),
                toleration("example.com/ek"),
            ]))
        );
    }

    #[test]
    fn what_is_tolerated_already_is_not_added_again() {
        assert_eq!(
            after(json!({
                "containers": [requests("example.com/ek")],
                "tolerations": [toleration("example.com/ek")],
            })),
            None
        );
    }

    #[test]
    fn other_tolerations_of_the_same_key_and_wildcards_stay() {
        for other in [
            json!({"key": "example.com/ek", "value": "x", "effect": "NoExecute"}),
            json!({"key": "example.com/ek", "operator": "Exists"}),
            json!({"operator": "Exists"}),
        ] {
            assert_eq!(
                after(json!({
                    "containers": [requests("example.com/ek")],
                    "tolerations": [other],
                })),
                Some(json!([other, toleration("example.com/ek")]))
            );
        }
    }

    #[test]
    fn one_that_differs_in_seconds_is_replaced() {
        let mut limited = toleration("example.com/ek");
        limited["tolerationSeconds"] = json!(5);
        assert_eq!(
            after(json!({
                "containers": [requests("example.com/ek")],
                "tolerations": [{"key": "a", "operator": "Exists"}, limited],
            })),
            Some(json!([{"key": "a", "operator": "Exists"}, toleration("example.com/ek")]))
        );
    }

    #[test]
    fn an_update_is_treated_like_a_creation() {
        let mut request = update_spec(json!({}), json!({"containers": [requests("a.b/c")]}));
        assert_eq!(admit(&plugin(NAME), &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"]["tolerations"],
            json!([toleration("a.b/c")])
        );
    }

    #[test]
    fn extended_names_have_a_foreign_prefix() {
        for good in ["example.com/device", "a/b", "nvidia.com/gpu"] {
            assert!(is_extended(good), "{good}");
        }
        let long = format!("{}/a", "a".repeat(250));
        for bad in [
            "cpu",
            "",
            "kubernetes.io/a",
            "x.kubernetes.io/a",
            "requests.example.com/a",
            "example.com/",
            "Example.com/a",
            "a/b/c",
            "/a",
            long.as_str(),
        ] {
            assert!(!is_extended(bad), "{bad}");
        }
    }

    #[test]
    fn only_pods_proper_are_looked_at() {
        assert_looks_at_pods_proper_only(&plugin(NAME));
    }
}
