//! Whether a pod has the quality of service class `BestEffort`.
//!
//! The class that the server has set counts; else it is computed from CPU and
//! memory as Kubernetes does. Resources of the whole pod, when given at all,
//! count instead of the containers'. The other classes are not distinguished.

use portcullis_core::Attributes;

use crate::pod::view::view;
use crate::pod::{ContainerKind, Resources};

use super::read::{OrOutcome, Pod};
use crate::plugins::document;
use crate::plugins::refusal::malformed;

/// Whether no amount of CPU or memory is asked for.
pub(super) fn is_best_effort(request: &Attributes, pod: &Pod<'_>) -> OrOutcome<bool> {
    if !pod.qos_class.is_empty() {
        return Ok(pod.qos_class == "BestEffort");
    }
    let spec = &pod.object.spec;
    let mut asks = false;
    // Ephemeral containers can't ask for resources.
    let containers = spec.all_containers();
    for one in containers.filter(|one| one.kind != ContainerKind::Ephemeral) {
        asks |= asks_for_something(request, &one.path(), &one.container.resources)?;
    }
    let of_pod = asks_for_something(request, &"spec", &spec.resources)?;
    Ok(!of_pod && (!asks || has_pod_resources(request)))
}

fn asks_for_something(
    request: &Attributes,
    path: &dyn std::fmt::Display,
    resources: &Resources<'_>,
) -> OrOutcome<bool> {
    let mut asks = false;
    for (list, amounts) in [
        ("requests", &resources.requests),
        ("limits", &resources.limits),
    ] {
        for name in ["cpu", "memory"] {
            let Some(amount) = amounts.get(name) else {
                continue;
            };
            asks |= is_positive(&amount.0).ok_or_else(|| {
                let text = &amount.0;
                let detail = format!("{path}.resources.{list}.{name}: `{text}` is not a quantity");
                malformed(request, detail)
            })?;
        }
    }
    Ok(asks)
}

/// Whether a quantity is more than zero; none if it is not a quantity.
fn is_positive(quantity: &str) -> Option<bool> {
    let unsigned = quantity.strip_prefix(['+', '-']).unwrap_or(quantity);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = unsigned.split_at_checked(end.unwrap_or(unsigned.len()))?;
    let has_digits = number.bytes().any(|b| b.is_ascii_digit());
    if !has_digits || number.matches('.').count() > 1 || !is_suffix(suffix) {
        return None;
    }
    let is_zero = number.bytes().all(|b| matches!(b, b'0' | b'.'));
    Some(!is_zero && !quantity.starts_with('-'))
}

fn is_suffix(suffix: &str) -> bool {
    let named = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    if named.contains(&suffix) {
        return true;
    }
    let exponent = suffix.strip_prefix(['e', 'E']).unwrap_or_default();
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether `spec.resources` is there at all, be it empty.
fn has_pod_resources(request: &Attributes) -> bool {
    let outer = request.object.as_ref().map(document::view::<Outer<'_>>);
    matches!(outer, Some(Ok(outer)) if outer.spec.resources.is_some())
}

view! {
    /// A pod.
    struct Outer<'a> {
        /// Specification.
        spec: Inner<'a> = "spec",
    }
}

view! {
    /// A pod's specification.
    struct Inner<'a> {
        /// Resources of the whole pod.
        resources: Option<Resources<'a>> = "resources",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plugins::read;
    use crate::plugins::testing::{create_pod, create_spec, denial};

    fn best_effort(spec: Value) -> bool {
        let request = create_spec(spec);
        let pod = read::pod(&request).expect("a pod");
        is_best_effort(&request, &pod).expect("an answer")
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
            assert_eq!(is_best_effort(&request, &pod), Ok(expected), "{class}");
        }
    }

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        for (text, expected) in [
            ("1", true),
            ("+1", true),
            ("-1", false),
            ("0", false),
            ("0.0", false),
            ("-0", false),
            (".5", true),
            ("5.", true),
            ("00.010", true),
            ("100m", true),
            ("1Ki", true),
            ("1E", true),
            ("1e-9", true),
            ("1E+3", true),
            ("0e5", false),
            ("0Gi", false),
        ] {
            assert_eq!(is_positive(text), Some(expected), "{text}");
        }
        for text in [
            "", "+", ".", "1.2.3", "m", "1 Gi", "1gi", "1K", "1e", "1e+", "0x1", "--1", "1e5m",
        ] {
            assert_eq!(is_positive(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_its_place() {
        let request = create_spec(json!({"containers": [
            {"resources": {"requests": {"cpu": 1}}},
            {"resources": {"limits": {"memory": "lots"}}},
        ]}));
        let pod = read::pod(&request).expect("a pod");
        let denial = denial(is_best_effort(&request, &pod).expect_err("a refusal"));
        assert_eq!(denial.code, 400);
        assert_eq!(
            denial.message,
            "pods \"web\" is malformed: spec.containers[1].resources.limits.memory: `lots` is not \
             a quantity"
        );
    }
}
