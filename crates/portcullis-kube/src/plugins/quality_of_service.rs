//! Whether a pod has the quality of service class `BestEffort`.
//!
//! The class that the server has set counts; else it is computed from CPU and
//! memory as Kubernetes does. Resources of the whole pod, when given at all,
//! count instead of the containers'. The other classes are not distinguished.

use std::fmt;

use crate::pod::{ContainerKind, Resources, ShapeError};

use super::read::Pod;

/// The resources that count.
const COUNTED: [&str; 2] = ["cpu", "memory"];

/// Whether no amount of CPU or memory is asked for.
///
/// # Errors
///
/// When an amount is not a quantity.
pub(crate) fn is_best_effort(pod: &Pod<'_>) -> Result<bool, ShapeError> {
    if !pod.qos_class.is_empty() {
        return Ok(pod.qos_class == "BestEffort");
    }
    let spec = &pod.object.spec;
    let mut asks = false;
    // Ephemeral containers can't ask for resources.
    let containers = spec.all_containers();
    for one in containers.filter(|one| one.kind != ContainerKind::Ephemeral) {
        asks |= asks_for_something(&one.path(), &one.container.resources)?;
    }
    match &spec.resources {
        Some(of_pod) => Ok(!asks_for_something(&"spec", of_pod)?),
        None => Ok(!asks),
    }
}

fn asks_for_something(
    path: &dyn fmt::Display,
    resources: &Resources<'_>,
) -> Result<bool, ShapeError> {
    let mut asks = false;
    for (list, amounts) in [
        ("requests", &resources.requests),
        ("limits", &resources.limits),
    ] {
        let path = format!("{path}.resources.{list}");
        for name in COUNTED {
            if let Some(amount) = amounts.get(name) {
                asks |= amount.quantity(&path, name)?.is_positive();
            }
        }
    }
    Ok(asks)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plugins::read;
    use crate::plugins::testing::{create_pod, create_spec};

    fn best_effort(spec: Value) -> bool {
        let request = create_spec(spec);
        let pod = read::pod(&request).expect("a pod");
        is_best_effort(&pod).expect("an answer")
    }

    #[test]
    fn any_positive_cpu_or_memory_is_a_promise() {
        for list in ["containers", "initContainers"] {
            for kind in ["requests", "limits"] {
                for name in ["cpu", "memory"] {
                    for amount in [json!("500m"), json!(1), json!("0.1"), json!("1e3")] {
                        let spec = json!({list: [{}, {"resources": {kind: {name: amount}}}]});
                        assert!(!best_effort(spec.clone()), "{spec}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_and_zero_and_other_resources_are_no_promise() {
        for resources in [
            json!(null),
            json!({}),
            json!({"requests": {"cpu": "0"}, "limits": {"memory": 0}}),
            json!({"requests": {"cpu": "-1"}}),
            json!({"requests": {"example.com/gpu": 1, "ephemeral-storage": "1Gi"}}),
        ] {
            let spec = json!({"containers": [{"resources": resources}]});
            assert!(best_effort(spec.clone()), "{spec}");
        }
        let ask = json!({"resources": {"requests": {"cpu": 1}}});
        assert!(best_effort(json!({"ephemeralContainers": [ask]})));
        assert!(best_effort(json!({})));
    }

    #[test]
    fn resources_of_the_pod_count_instead_of_the_containers() {
        let ask = json!({"resources": {"requests": {"cpu": 1}}});
        let with = |resources: Value| json!({"containers": [ask], "resources": resources});
        assert!(best_effort(with(json!({}))));
        assert!(best_effort(with(json!({"limits": {"cpu": 0}}))));
        assert!(!best_effort(with(json!(null))));
        assert!(!best_effort(
            json!({"resources": {"limits": {"memory": "1Gi"}}})
        ));
    }

    #[test]
    fn the_class_that_is_set_counts() {
        let ask = json!({"containers": [{"resources": {"requests": {"cpu": 1}}}]});
        for (class, spec, expected) in [
            ("BestEffort", ask.clone(), true),
            ("Burstable", json!({}), false),
            ("Guaranteed", json!({}), false),
            ("", ask, false),
        ] {
            let request = create_pod(json!({"spec": spec, "status": {"qosClass": class}}));
            let pod = read::pod(&request).expect("a pod");
            assert_eq!(is_best_effort(&pod), Ok(expected), "{class}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_is_an_error_with_its_place() {
        let request = create_spec(json!({"containers": [
            {"resources": {"requests": {"cpu": 1}}},
            {"resources": {"limits": {"memory": "lots"}}},
        ]}));
        let pod = read::pod(&request).expect("a pod");
        assert_eq!(
            is_best_effort(&pod).expect_err("a fault").to_string(),
            "spec.containers[1].resources.limits.memory: `lots` is not a quantity"
        );
    }
}
