//! The three sources of selectors against pods, and invalid ones.

use std::sync::Arc;

use portcullis_core::{Outcome, Plugin};
use serde_json::{Value, json};

use super::super::testing::{
    admit, assert_looks_at_pods_proper_only, configured, create_spec, denial, faults, is_touched,
    object_of, plugin, registry, validate,
};
use super::ANNOTATION;

const NAME: &str = "PodNodeSelector";

/// The plug-in with a cluster default, what `shop` may have, and `shop`'s annotation.
fn with(default: &str, allowed: &str, annotation: Option<&str>) -> Arc<dyn Plugin> {
    let annotations: Vec<(&str, &str)> = annotation
        .map(|text| (ANNOTATION, text))
        .into_iter()
        .collect();
    let registry = registry(&[
        ("shop", &annotations),
        ("other", &[(ANNOTATION, "other=yes")]),
    ]);
    let selectors = json!({"clusterDefaultNodeSelector": default, "shop": allowed, "other": "x=y"});
    configured(
        &registry,
        NAME,
        json!({"podNodeSelectorPluginConfig": selectors}),
    )
}

struct Case {
    default: &'static str,
    annotation: Option<&'static str>,
    allowed: &'static str,
    pod: Value,
    merged: Result<Value, &'static str>,
}

const CONFLICT: &str = "pods \"web\" is forbidden: pod node label selector conflicts with its \
                        namespace node label selector";
const NOT_ALLOWED: &str = "pods \"web\" is forbidden: pod node label selector labels conflict \
                           with its namespace whitelist";

#[test]
fn selectors_are_merged_or_refused() {
    let case = |default, annotation, allowed, pod, merged| Case {
        default,
        annotation,
        allowed,
        pod,
        merged,
    };
    let cases = [
        case("", None, "", json!({}), Ok(json!({}))),
        case(
            "infra = false",
            None,
            "",
            json!({}),
            Ok(json!({"infra": "false"})),
        ),
        case(
            "",
            Some(" infra = false "),
            "",
            json!({}),
            Ok(json!({"infra": "false"})),
        ),
        case(
            "infra = false",
            Some("infra=true"),
            "",
            json!({}),
            Ok(json!({"infra": "true"})),
        ),
        // Present but empty: the namespace wants none.
        case("infra = false", Some(""), "", json!({}), Ok(json!({}))),
        case(
            "infra = false",
            Some("infra=true"),
            "",
            json!({"env": "test"}),
            Ok(json!({"infra": "true", "env": "test"})),
        ),
        case(
            "",
            Some("a=b"),
            "",
            json!({"a": "b"}),
            Ok(json!({"a": "b"})),
        ),
        case(
            "env = test",
            Some("infra=true"),
            "",
            json!({"infra": "false"}),
            Err(CONFLICT),
        ),
        case(
            "env=dev",
            Some("infra=false, env = test"),
            "",
            json!({"env": "dev", "color": "blue"}),
            Err(CONFLICT),
        ),
        case("env=dev", None, "", json!({"env": ""}), Err(CONFLICT)),
        case("env=dev", None, "", json!({"env": null}), Err(CONFLICT)),
        case(
            "env=dev",
            Some("infra=false, env = dev"),
            "env=dev, infra=false, color=blue",
            json!({"env": "dev", "color": "blue"}),
            Ok(json!({"infra": "false", "env": "dev", "color": "blue"})),
        ),
        case(
            "env=dev",
            Some("infra=false, env = dev"),
            "env=dev, infra=true, color=blue",
            json!({"env": "dev", "color": "blue"}),
            Err(NOT_ALLOWED),
        ),
        case("env=dev", None, "env=prd", json!({}), Err(NOT_ALLOWED)),
        case(
            "",
            None,
            "env=dev",
            json!({"color": "blue"}),
            Err(NOT_ALLOWED),
        ),
        case("", None, "env=dev", json!({}), Ok(json!({}))),
    ];
    for Case {
        default,
        annotation,
        allowed,
        pod,
        merged,
    } in cases
    {
        let plugin = with(default, allowed, annotation);
        let mut request = create_spec(json!({"nodeSelector": pod}));
        let outcome = admit(&plugin, &mut request);
        match merged {
            Ok(merged) => {
                assert_eq!(outcome, Outcome::Pass, "{annotation:?} {pod}");
                assert_eq!(object_of(&request)["spec"]["nodeSelector"], merged);
                assert_eq!(is_touched(&request), merged != pod);
                assert_eq!(validate(&plugin, &request), Outcome::Pass);
            }
            Err(message) => {
                let denial = denial(outcome);
                assert_eq!((denial.code, denial.message.as_str()), (403, message));
                assert!(!is_touched(&request));
            }
        }
    }
}

#[test]
fn a_pod_without_a_selector_gets_one() {
    let plugin = with("a=b", "", None);
    for spec in [json!({}), json!({"nodeSelector": null})] {
        let mut request = create_spec(spec);
        assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"],
            json!({"nodeSelector": {"a": "b"}})
        );
    }
}

#[test]
fn what_was_changed_later_is_judged_again() {
    let plugin = with("", "env=dev,infra=true", Some("infra=true"));
    let check =
        |selector: Value| validate(&plugin, &create_spec(json!({"nodeSelector": selector})));
    assert_eq!(check(json!({"infra": "true", "env": "dev"})), Outcome::Pass);
    // As in Kubernetes, taking labels away again goes unnoticed.
    assert_eq!(check(json!({})), Outcome::Pass);
    assert_eq!(denial(check(json!({"infra": "false"}))).message, CONFLICT);
    assert_eq!(denial(check(json!({"env": "prd"}))).message, NOT_ALLOWED);
}

#[test]
fn the_namespace_is_that_of_the_request() {
    let plugin = with("a=b", "", Some("shop=yes"));
    let mut request = create_spec(json!({}));
    request.object = Some(portcullis_core::Document::from_value(
        json!({"metadata": {"namespace": "other"}}),
    ));
    assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
    assert_eq!(
        object_of(&request)["spec"]["nodeSelector"],
        json!({"shop": "yes"})
    );
}

#[test]
fn a_namespace_that_is_not_known_gets_the_default() {
    let mut request = create_spec(json!({}));
    request.namespace = "unheard-of".into();
    assert_eq!(admit(&with("a=b", "", None), &mut request), Outcome::Pass);
    assert_eq!(
        object_of(&request)["spec"]["nodeSelector"],
        json!({"a": "b"})
    );
}

#[test]
fn a_malformed_annotation_is_a_refusal_in_both_halves() {
    let plugin = with("", "", Some("a=b=c"));
    let mut request = create_spec(json!({}));
    for outcome in [validate(&plugin, &request), admit(&plugin, &mut request)] {
        let denial = denial(outcome);
        assert_eq!(denial.code, 403);
        assert_eq!(
            denial.message,
            "pods \"web\" is forbidden: namespace \"shop\": annotation \
             scheduler.alpha.kubernetes.io/node-selector: invalid selector: [a b c]"
        );
    }
}

#[test]
fn without_configuration_only_annotations_count() {
    let mut request = create_spec(json!({"nodeSelector": {"a": "b"}}));
    assert_eq!(admit(&plugin(NAME), &mut request), Outcome::Pass);
    assert!(!is_touched(&request));
}

#[test]
fn faults_of_the_configuration_name_their_place() {
    let registry = registry(&[]);
    let cases = [
        (json!({"podNodeSelectorPluginConfig": null}), ""),
        (json!({"podNodeSelectorPluginConfig": {"shop": ""}}), ""),
        (
            json!({"podNodeSelectorPluginConfig": {"shop": "a"}}),
            "podNodeSelectorPluginConfig.shop: invalid selector: [a]",
        ),
        (
            json!({"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "a b=c"}}),
            "podNodeSelectorPluginConfig.clusterDefaultNodeSelector: Invalid value: \"a b\"",
        ),
        (
            json!({"podNodeSelectorPluginConfig": {"shop": {"a": "b"}}}),
            "podNodeSelectorPluginConfig.shop: expected text, found a map",
        ),
        (
            json!({"podNodeSelectorPluginConfig": []}),
            "podNodeSelectorPluginConfig: expected a map, found a list",
        ),
        (
            json!({"shop": "a=b"}),
            "shop: unknown key (known keys: podNodeSelectorPluginConfig)",
        ),
        (json!("a=b"), "expected a map, found the text `a=b`"),
    ];
    for (configuration, expected) in cases {
        let found = faults(&registry, NAME, configuration);
        assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
        assert!(found.concat().starts_with(expected), "{found:?}");
    }
    let both = json!({"podNodeSelectorPluginConfig": {"a": "=", "b": "x"}});
    assert_eq!(faults(&registry, NAME, both).len(), 2);
}

#[test]
fn only_pods_proper_are_looked_at() {
    assert_looks_at_pods_proper_only(&with("a=b", "", None));
}
