//! Defaults, merging and the allowed list, from both sources.

use std::sync::Arc;

use portcullis_core::{Operation, Outcome, Plugin};
use serde_json::{Value, json};

use super::super::testing::{
    admit, assert_looks_at_pods_proper_only, configured, create_spec, denial, faults, is_touched,
    object_of, plugin, registry, update_spec, validate,
};
use super::{ALLOWED, DEFAULTS};

const NAME: &str = "PodTolerationRestriction";

fn toleration(value: &str) -> Value {
    json!({"key": "k", "operator": "Equal", "value": value, "effect": "NoSchedule"})
}

fn memory_pressure() -> Value {
    json!({
        "key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule",
    })
}

fn configuration(default: &Value, whitelist: &Value) -> Value {
    json!({
        "apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "default": default,
        "whitelist": whitelist,
    })
}

#[derive(Default)]
struct Given {
    cluster_default: Value,
    cluster_allowed: Value,
    default: Option<&'static str>,
    allowed: Option<&'static str>,
}

impl Given {
    fn plugin(&self) -> Arc<dyn Plugin> {
        let annotations: Vec<(&str, &str)> = [(DEFAULTS, self.default), (ALLOWED, self.allowed)]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        configured(
            &registry(&[("shop", &annotations)]),
            NAME,
            configuration(&self.cluster_default, &self.cluster_allowed),
        )
    }

    /// What both halves make of a new pod's tolerations, or the denial.
    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn create(&self, tolerations: Value) -> Result<Value, String> {
        let mut request = create_spec(json!({"tolerations": tolerations}));
        match admit(&self.plugin(), &mut request) {
            Outcome::Deny(denial) => {
                assert_eq!(denial.code, 403);
                assert!(!is_touched(&request));
                Err(denial.message)
            }
            outcome => {
                assert_eq!(outcome, Outcome::Pass);
                assert_eq!(validate(&self.plugin(), &request), Outcome::Pass);
                Ok(object_of(&request)["spec"]["tolerations"].clone())
            }
        }
    }
}

const V: &str = r#"[{"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"}]"#;
const W: &str = r#"[{"key":"k","operator":"Equal","value":"w","effect":"NoSchedule"}]"#;

fn refused_by(scope: &str) -> Result<Value, String> {
    Err(format!(
        "pods \"web\" is forbidden: pod tolerations (possibly merged with namespace default \
         tolerations) conflict with its {scope} whitelist"
    ))
}

#[test]
fn new_pods_get_the_defaults_of_the_namespace_or_else_the_cluster() {
    let (v, w) = (toleration("v"), toleration("w"));
    let cluster = |default| Given {
        cluster_default: json!([toleration("v")]),
        default,
        ..Given::default()
    };
    assert_eq!(cluster(None).create(json!([])), Ok(json!([v])));
    assert_eq!(cluster(None).create(json!([v])), Ok(json!([v])));
    assert_eq!(cluster(Some(W)).create(json!(null)), Ok(json!([w])));
    assert_eq!(cluster(Some(W)).create(json!([v])), Ok(json!([v, w])));
    // Present but empty: the namespace wants none.
    for none in ["", "[]", "null"] {
        assert_eq!(cluster(Some(none)).create(json!([w])), Ok(json!([w])));
        assert_eq!(cluster(Some(none)).create(json!([])), Ok(json!([])));
    }
}

#[test]
fn merging_drops_what_is_covered_and_only_then() {
    let all = json!({"operator": "Exists"});
    let wide = Given {
        cluster_default: json!([all]),
        ..Given::default()
    };
    assert_eq!(
        wide.create(json!([toleration("v"), toleration("w")])),
        Ok(json!([all]))
    );
    let narrow = Given {
        default: Some(V),
        ..Given::default()
    };
    assert_eq!(narrow.create(json!([all])), Ok(json!([all])));
    // Without anything to add, even what is there twice stays.
    let twice = json!([toleration("v"), toleration("v"), all]);
    assert_eq!(Given::default().create(twice.clone()), Ok(twice));
}

#[test]
fn there_is_an_end_to_how_many_are_compared() {
    let many = |count: usize| -> Value {
        let one = |i| json!({"key": "k", "operator": "Equal", "value": format!("v{i}")});
        (0..count).map(one).collect()
    };
    let plugin = Given::default().plugin();
    let mut request = create_spec(json!({"tolerations": many(4096)}));
    assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
    let mut request = create_spec(json!({"tolerations": many(4097)}));
    assert_eq!(
        denial(admit(&plugin, &mut request)).message,
        "pods \"web\" is malformed: spec.tolerations: more than 4096"
    );
}

#[test]
fn what_the_pod_wrote_is_kept_as_it_was_written() {
    let odd = json!({"key": "x", "operator": "Exists", "note": "mine", "value": null});
    let given = Given {
        default: Some(V),
        ..Given::default()
    };
    assert_eq!(
        given.create(json!([odd])),
        Ok(json!([odd, toleration("v")]))
    );
}

#[test]
fn tolerations_must_be_allowed_by_the_namespace_or_else_the_cluster() {
    let v = || json!([toleration("v")]);
    let with = |cluster: Value, allowed| Given {
        cluster_allowed: cluster,
        allowed,
        ..Given::default()
    };
    assert_eq!(with(json!([]), Some(V)).create(v()), Ok(v()));
    assert_eq!(
        with(json!([]), Some(W)).create(v()),
        refused_by("namespace")
    );
    assert_eq!(
        with(json!([toleration("w")]), None).create(v()),
        refused_by("cluster")
    );
    assert_eq!(with(json!([toleration("w")]), Some(V)).create(v()), Ok(v()));
    // Present but empty: the namespace has no list, so all are allowed.
    for empty in ["", "[]"] {
        assert_eq!(
            with(json!([toleration("w")]), Some(empty)).create(v()),
            Ok(v())
        );
    }
    assert_eq!(
        with(json!([toleration("w")]), None).create(json!([])),
        Ok(json!([]))
    );
}

#[test]
fn seconds_must_be_allowed_too() {
    let limited = |seconds: Value| json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]);
    let given = Given {
        cluster_allowed: limited(json!(60)),
        ..Given::default()
    };
    assert_eq!(given.create(limited(json!(60))), Ok(limited(json!(60))));
    assert_eq!(given.create(limited(json!(0))), Ok(limited(json!(0))));
    assert_eq!(given.create(limited(json!(61))), refused_by("cluster"));
    assert_eq!(given.create(limited(json!(null))), refused_by("cluster"));
}

#[test]
fn defaults_have_to_be_allowed_as_well() {
    let given = Given {
        default: Some(V),
        allowed: Some(W),
        ..Given::default()
    };
    assert_eq!(given.create(json!([])), refused_by("namespace"));
}

#[test]
fn pods_with_promised_resources_tolerate_memory_pressure() {
    let given = Given {
        default: Some(V),
        ..Given::default()
    };
    let burstable = json!({"limits": {"cpu": "1000m"}, "requests": {"cpu": "500m"}});
    let guaranteed =
        json!({"limits": {"cpu": 1, "memory": 1}, "requests": {"cpu": 1, "memory": 1}});
    for resources in [burstable, guaranteed] {
        let spec = json!({"containers": [{"resources": resources}]});
        let mut request = create_spec(spec.clone());
        assert_eq!(admit(&given.plugin(), &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"]["tolerations"],
            json!([toleration("v"), memory_pressure()])
        );
        // An update adds it too, but no defaults.
        let mut request = update_spec(json!({}), spec);
        assert_eq!(admit(&given.plugin(), &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"]["tolerations"],
            json!([memory_pressure()])
        );
        assert_eq!(admit(&given.plugin(), &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"]["tolerations"],
            json!([memory_pressure()])
        );
    }
}

#[test]
fn memory_pressure_has_to_be_allowed_as_well() {
    let given = Given {
        allowed: Some(V),
        ..Given::default()
    };
    let mut request = create_spec(json!({"containers": [{"resources": {"requests": {"cpu": 1}}}]}));
    assert_eq!(denial(admit(&given.plugin(), &mut request)).code, 403);
}

#[test]
fn an_update_gets_no_defaults_but_is_verified() {
    let given = Given {
        default: Some(W),
        allowed: Some(V),
        ..Given::default()
    };
    let pod = |value: &str| json!({"tolerations": [toleration(value)]});
    let mut request = update_spec(pod("v"), pod("v"));
    assert_eq!(admit(&given.plugin(), &mut request), Outcome::Pass);
    assert!(!is_touched(&request));
    // That the pod had it before makes no difference.
    let mut request = update_spec(pod("w"), pod("w"));
    assert_eq!(denial(validate(&given.plugin(), &request)).code, 403);
    assert_eq!(denial(admit(&given.plugin(), &mut request)).code, 403);
}

#[test]
fn a_malformed_annotation_is_a_refusal_when_it_is_needed() {
    for (text, place) in [
        ("[", "object: not valid JSON"),
        ("yes", "object: not valid JSON"),
        ("{}", "object: expected a list, found an object"),
        (
            r#"[{"key": 1}]"#,
            "[0].key: expected a string, found a number",
        ),
        (
            r#"[{"tolerationSeconds": "1"}]"#,
            "[0].tolerationSeconds: expected an integer",
        ),
    ] {
        let given = Given {
            default: Some(text),
            ..Given::default()
        };
        let message = given.create(json!([])).expect_err("a refusal");
        let expected = format!(
            "pods \"web\" is forbidden: namespace \"shop\": annotation {DEFAULTS}: {place}"
        );
        assert!(message.starts_with(&expected), "{message}");
        let mut update = update_spec(json!({}), json!({}));
        assert_eq!(admit(&given.plugin(), &mut update), Outcome::Pass);

        let given = Given {
            allowed: Some(text),
            ..Given::default()
        };
        let message = given
            .create(json!([toleration("v")]))
            .expect_err("a refusal");
        assert!(message.contains(ALLOWED), "{message}");
        assert_eq!(given.create(json!([])), Ok(json!([])));
    }
}

#[test]
fn a_namespace_that_is_not_known_has_the_cluster_s_lists() {
    let given = Given {
        cluster_default: json!([toleration("v")]),
        default: Some(W),
        ..Given::default()
    };
    let mut request = create_spec(json!({}));
    request.namespace = "unheard-of".into();
    assert_eq!(admit(&given.plugin(), &mut request), Outcome::Pass);
    assert_eq!(
        object_of(&request)["spec"]["tolerations"],
        json!([toleration("v")])
    );
}

#[test]
fn without_configuration_all_is_allowed() {
    let plugin = plugin(NAME);
    let mut request = create_spec(json!({"tolerations": [toleration("v")]}));
    assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
    assert!(!is_touched(&request));
    assert!(!plugin.handles(Operation::Delete));
}

#[test]
fn faults_of_the_configuration_name_their_place() {
    let registry = registry(&[]);
    let cases = [
        (configuration(&json!(null), &json!([])), ""),
        (json!({}), "apiVersion: missing"),
        (
            configuration(&json!([{"key": "k", "operator": "Maybe"}]), &json!([])),
            "default[0].operator: Unsupported value: \"Maybe\"",
        ),
        (
            configuration(
                &json!([]),
                &json!([{"operator": "Exists"}, {"key": "k", "effect": "No"}]),
            ),
            "whitelist[1].effect: Unsupported value: \"No\"",
        ),
        (
            configuration(&json!([{"key": "k", "seconds": 1}]), &json!([])),
            "default[0].seconds: unknown key",
        ),
        (
            configuration(&json!([{"tolerationSeconds": "1"}]), &json!([])),
            "default[0].tolerationSeconds: expected a whole number, found the text `1`",
        ),
        (
            configuration(&json!([["k", "Exists", null, null, null]]), &json!([])),
            "default[0]: expected a map, found a list",
        ),
        (
            configuration(&json!({}), &json!([])),
            "default: expected a list, found a map",
        ),
    ];
    for (configuration, expected) in cases {
        let found = faults(&registry, NAME, configuration);
        assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
        assert!(found.concat().starts_with(expected), "{found:?}");
    }
}

#[test]
fn only_pods_proper_are_looked_at() {
    assert_looks_at_pods_proper_only(&plugin(NAME));
}
