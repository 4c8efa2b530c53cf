use portcullis_core::{DoorContext, clock};
use portcullis_kube::review::decode_admission;
use serde_json::{Value, json};

use super::*;

fn spec(value: Value) -> MatchSpec {
    serde_json::from_value(value).unwrap()
}

fn asked(kind: (&str, &str, &str), operation: &str, namespace: &str, uri: &str) -> Attributes {
    let (group, version, kind) = kind;
    let object = json!({"metadata": {"labels": {"app": "web", "tier": "front"}}});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": "x"}, "operation": operation,
        "namespace": namespace,
        "object": if operation == "DELETE" { Value::Null } else { object.clone() },
        "oldObject": if operation == "DELETE" { object } else { Value::Null }}});
    let context = DoorContext {
        uri: uri.to_owned(),
        ..DoorContext::default()
    };
    let text = review.to_string();
    decode_admission(text.as_bytes(), context, clock::monotonic(), None)
        .unwrap()
        .attributes
}

#[test]
fn keys_are_and_lists_are_or() {
    let pod = ("", "v1", "Pod");
    let deployment = ("apps", "v1", "Deployment");
    let old = ("extensions", "v1beta1", "Deployment");
    for (rules, kind, operation, namespace, uri, fits) in [
        (json!({}), pod, "CREATE", "a", "/mutate", true),
        (
            json!({"kinds": ["Pod"]}),
            pod,
            "CREATE",
            "a",
            "/mutate",
            true,
        ),
        (
            json!({"kinds": ["Pod"]}),
            deployment,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (json!({"kinds": ["v1/Pod"]}), pod, "CREATE", "a", "/", true),
        (
            json!({"kinds": ["v1/Deployment"]}),
            deployment,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (json!({"kinds": ["/Pod"]}), pod, "CREATE", "a", "/", true),
        (
            json!({"kinds": ["Deployment"]}),
            old,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (
            json!({"kinds": ["apps/Deployment"]}),
            old,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (
            json!({"kinds": ["apps/v1/Deployment"]}),
            deployment,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (
            json!({"kinds": ["apps/v2/Deployment"]}),
            deployment,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (
            json!({"kinds": ["apps/*"]}),
            deployment,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (
            json!({"operations": ["UPDATE", "CREATE"]}),
            pod,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (json!({"operations": ["*"]}), pod, "CONNECT", "a", "/", true),
        (
            json!({"operations": ["UPDATE"]}),
            pod,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (
            json!({"namespaces": ["prod-*", "shop"]}),
            pod,
            "CREATE",
            "prod-eu",
            "/",
            true,
        ),
        (
            json!({"namespaces": ["prod-*", "shop"]}),
            pod,
            "CREATE",
            "dev",
            "/",
            false,
        ),
        (
            json!({"labels": {"app": "web", "tier": "front"}}),
            pod,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (
            json!({"labels": {"app": "web"}}),
            pod,
            "DELETE",
            "a",
            "/",
            true,
        ),
        (
            json!({"labels": {"app": "api"}}),
            pod,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (
            json!({"labels": {"app": "web", "x": ""}}),
            pod,
            "CREATE",
            "a",
            "/",
            false,
        ),
        (
            json!({"paths": ["/mutate/*"]}),
            pod,
            "CREATE",
            "a",
            "/mutate/x?timeout=10s",
            true,
        ),
        (
            json!({"paths": ["/mutate/*"]}),
            pod,
            "CREATE",
            "a",
            "/mutate/x/y",
            false,
        ),
        (
            json!({"paths": ["/mutate/**"]}),
            pod,
            "CREATE",
            "a",
            "/mutate/x/y",
            true,
        ),
        (json!({"doors": ["ci"]}), pod, "CREATE", "a", "/", false),
        (
            json!({"doors": ["ci", "kubernetes"]}),
            pod,
            "CREATE",
            "a",
            "/",
            true,
        ),
        (
            json!({"kinds": ["Pod"], "namespaces": ["b"]}),
            pod,
            "CREATE",
            "a",
            "/",
            false,
        ),
    ] {
        let matcher = Matcher::new(&spec(rules.clone())).unwrap();
        let request = asked(kind, operation, namespace, uri);
        assert_eq!(matcher.mismatch(&request).is_none(), fits, "{rules}");
    }
}

#[test]
fn what_can_never_match_is_a_fault() {
    for (rules, at) in [
        (json!({"kinds": []}), "kinds"),
        (json!({"kinds": ["a/b/c/d"]}), "kinds[0]"),
        (json!({"kinds": ["Pod", ""]}), "kinds[1]"),
        (json!({"operations": ["PATCH"]}), "operations[0]"),
        (json!({"operations": []}), "operations"),
        (json!({"namespaces": [""]}), "namespaces[0]"),
        (json!({"doors": []}), "doors"),
    ] {
        let faults = Matcher::new(&spec(rules.clone())).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].0, at, "{rules}");
    }
}

/// A request about this resource, as `RESOURCE.VERSION.GROUP/SUBRESOURCE`.
fn about(group: &str, resource: &str, subresource: &str, namespace: &str) -> Attributes {
    let mut asked = asked((group, "v1", "K"), "CREATE", namespace, "/");
    asked.resource.resource = resource.to_owned();
    asked.subresource = subresource.to_owned();
    asked
}

#[test]
fn resources_are_named_as_kubectl_names_them() {
    let pods = about("", "pods", "", "a");
    let exec = about("", "pods", "exec", "a");
    let deployments = about("apps", "deployments", "", "a");
    for (pattern, fits) in [
        ("pods", [true, false, false]),
        ("pods.", [true, false, false]),
        ("pods.v1", [true, false, false]),
        ("pods.v1.", [true, false, false]),
        ("pods.v2", [false, false, false]),
        ("pods.apps", [false, false, false]),
        ("pods/exec", [false, true, false]),
        ("pods/*", [true, true, false]),
        ("*", [true, false, true]),
        ("*/*", [true, true, true]),
        ("deployments.apps", [false, false, true]),
        ("deployments.v1.apps", [false, false, true]),
        ("deployments.v1.*", [false, false, true]),
        ("*.apps", [false, false, true]),
    ] {
        let rules = Matcher::new(&spec(json!({"resources": ["other", pattern]}))).unwrap();
        for (asked, fits) in [&pods, &exec, &deployments].into_iter().zip(fits) {
            assert_eq!(
                rules.mismatch(asked).is_none(),
                fits,
                "{pattern} {}",
                asked.resource.resource
            );
        }
    }
    for bad in ["", "Pod", "pods/", "/exec", "pods/a/b", ".apps", "po ds"] {
        let wrong = Matcher::new(&spec(json!({"resources": [bad]}))).unwrap_err();
        assert_eq!(wrong[0].0, "resources[0]", "{bad}");
        assert!(wrong[0].1.starts_with("invalid resource"), "{wrong:?}");
    }
    assert!(Matcher::new(&spec(json!({"resources": []}))).is_err());
}

#[test]
fn a_namespace_is_of_the_cluster() {
    for (asked, is_namespaced) in [
        (about("", "pods", "", "a"), true),
        (about("", "nodes", "", ""), false),
        (about("", "namespaces", "", "a"), false),
    ] {
        for (scope, fits) in [("Namespaced", is_namespaced), ("Cluster", !is_namespaced)] {
            let rules = Matcher::new(&spec(json!({"scope": scope}))).unwrap();
            assert_eq!(rules.mismatch(&asked).is_none(), fits, "{scope} {asked:?}");
        }
    }
    let wrong = Matcher::new(&spec(json!({"scope": "namespaced"}))).unwrap_err();
    assert_eq!(
        wrong[0].1,
        "unknown scope `namespaced`: expected Namespaced or Cluster"
    );
}
