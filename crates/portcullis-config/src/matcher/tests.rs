use portcullis_core::{DoorContext, clock};
use portcullis_kube::review::decode_admission;
use portcullis_kube::{Namespace, StaticNamespaces};
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

/// Whether a request matches, where the namespace `prod` has the label `env`.
fn fits(matcher: &Matcher, request: &Attributes) -> bool {
    let prod = Namespace {
        name: "prod".to_owned(),
        labels: [("env".to_owned(), "production".to_owned())].into(),
        ..Namespace::default()
    };
    let namespaces: StaticNamespaces = [prod].into_iter().collect();
    matcher.mismatch(request, &namespaces).unwrap().is_none()
}

#[test]
fn keys_are_and_lists_are_or() {
    let pod = ("", "v1", "Pod");
    let deployment = ("apps", "v1", "Deployment");
    let old = ("extensions", "v1beta1", "Deployment");
    for (rules, kind, operation, namespace, uri, wanted) in [
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
        assert_eq!(fits(&matcher, &request), wanted, "{rules}");
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
        (
            json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
            "namespaceSelector.matchExpressions[0]",
        ),
        (
            json!({"objectSelector": {"matchLabels": {"a b": "c"}}}),
            "objectSelector.matchLabels",
        ),
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
    for (pattern, wanted) in [
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
        for (asked, wanted) in [&pods, &exec, &deployments].into_iter().zip(wanted) {
            assert_eq!(
                fits(&rules, asked),
                wanted,
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
        for (scope, wanted) in [("Namespaced", is_namespaced), ("Cluster", !is_namespaced)] {
            let rules = Matcher::new(&spec(json!({"scope": scope}))).unwrap();
            assert_eq!(fits(&rules, &asked), wanted, "{scope} {asked:?}");
        }
    }
    let wrong = Matcher::new(&spec(json!({"scope": "namespaced"}))).unwrap_err();
    assert_eq!(
        wrong[0].1,
        "unknown scope `namespaced`: expected Namespaced or Cluster"
    );
}

/// A request about an object with such labels, where the old one has others; none where there is no object.
fn with_labels(operation: &str, resource: &str, now: &Value, before: &Value) -> Attributes {
    let object = |labels: &Value| match labels {
        Value::Null => Value::Null,
        labels => json!({"metadata": {"labels": labels}}),
    };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "", "version": "v1", "kind": "K"},
        "resource": {"group": "", "version": "v1", "resource": resource}, "operation": operation,
        "namespace": "prod", "object": object(now), "oldObject": object(before)}});
    let context = DoorContext::default();
    decode_admission(
        review.to_string().as_bytes(),
        context,
        clock::monotonic(),
        None,
    )
    .unwrap()
    .attributes
}

#[test]
fn objects_are_selected_as_they_are_or_as_they_were() {
    let (web, other, none) = (json!({"app": "web"}), json!({"app": "other"}), Value::Null);
    let selecting = |selector: Value| Matcher::new(&spec(json!({"objectSelector": selector})));
    let is_web = selecting(json!({"matchLabels": {"app": "web"}})).unwrap();
    let is_not =
        selecting(json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}))
            .unwrap();
    for (operation, now, before, [web, not]) in [
        ("CREATE", &web, &none, [true, false]),
        ("CREATE", &other, &none, [false, false]),
        ("UPDATE", &other, &web, [true, false]),
        ("UPDATE", &web, &other, [true, false]),
        ("UPDATE", &json!({}), &web, [true, true]),
        ("DELETE", &none, &web, [true, false]),
        ("DELETE", &none, &json!({}), [false, true]),
    ] {
        let asked = with_labels(operation, "pods", now, before);
        assert_eq!(fits(&is_web, &asked), web, "{operation} {now} {before}");
        assert_eq!(fits(&is_not, &asked), not, "{operation} {now} {before}");
    }
    let everything = selecting(json!({})).unwrap();
    assert!(!everything.looks_at_labels());
    // What can't have labels is not selected: options of `kubectl exec`.
    let mut options = with_labels("CONNECT", "pods", &none, &none);
    options.object = Some(portcullis_core::Document::from_value(
        json!({"stdin": true}),
    ));
    assert!(!fits(&is_not, &options));
}

#[test]
fn namespaces_are_selected_by_their_labels_and_what_is_in_none_always_is() {
    let selector =
        json!({"matchExpressions": [{"key": "env", "operator": "In", "values": ["production"]}]});
    let rules = Matcher::new(&spec(json!({"namespaceSelector": selector}))).unwrap();
    assert!(rules.looks_at_namespaces() && rules.looks_at_labels());
    for (asked, wanted, looked_up) in [
        (about("", "pods", "", "prod"), true, Some("prod")),
        (about("", "pods", "", "dev"), false, Some("dev")),
        (about("", "nodes", "", ""), true, None),
        // The labels of a namespace may be in the request alone.
        (
            with_labels(
                "CREATE",
                "namespaces",
                &json!({"env": "production"}),
                &Value::Null,
            ),
            true,
            None,
        ),
        (
            with_labels(
                "UPDATE",
                "namespaces",
                &json!({}),
                &json!({"env": "production"}),
            ),
            false,
            None,
        ),
        (
            with_labels("DELETE", "namespaces", &Value::Null, &json!({"env": "dev"})),
            false,
            None,
        ),
        (
            with_labels("DELETE", "namespaces", &Value::Null, &Value::Null),
            true,
            Some("prod"),
        ),
        (
            about("", "namespaces", "finalize", "prod"),
            true,
            Some("prod"),
        ),
    ] {
        assert_eq!(fits(&rules, &asked), wanted, "{asked:?}");
        assert_eq!(rules.namespace_of(&asked), looked_up, "{asked:?}");
    }
    // Nothing is looked up for requests that other keys exclude.
    let for_pods = json!({"resources": ["pods"], "namespaceSelector": selector});
    let rules = Matcher::new(&spec(for_pods)).unwrap();
    assert_eq!(rules.namespace_of(&about("", "secrets", "", "prod")), None);
    let mut job = about("", "pods", "", "prod");
    job.door = Door::Ci;
    let mut rules = rules;
    rules.also_for_jobs();
    assert_eq!(rules.namespace_of(&job), None);
    assert!(!fits(&rules, &job));
}

#[test]
fn an_unknown_namespace_is_not_taken_for_another() {
    let objects = std::sync::Arc::new(portcullis_kube::cluster_objects::NoCluster::Offline);
    let unread = portcullis_kube::LookedUpNamespaces::new(StaticNamespaces::default(), objects);
    let rules = json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}});
    let rules = Matcher::new(&spec(rules)).unwrap();
    let asked = about("", "pods", "", "prod");
    assert_eq!(rules.mismatch(&asked, &unread), Err(Unknown::Offline));
}

#[test]
fn exactly_what_was_asked_for_matches_without_conversion() {
    let mut converted = about("apps", "deployments", "", "a");
    let original = portcullis_core::Resource {
        group: "extensions".to_owned(),
        version: "v1beta1".to_owned(),
        resource: "deployments".to_owned(),
    };
    let direct = converted.clone();
    converted.context = std::sync::Arc::new(DoorContext {
        request_resource: Some(original),
        ..DoorContext::default()
    });
    for (policy, pattern, wanted) in [
        ("Equivalent", "deployments.apps", true),
        ("Exact", "deployments.apps", false),
        ("Exact", "deployments.extensions", false),
        ("Exact", "deployments", true),
    ] {
        let rules = json!({"resources": [pattern], "matchPolicy": policy});
        let rules = Matcher::new(&spec(rules)).unwrap();
        assert_eq!(fits(&rules, &converted), wanted, "{policy} {pattern}");
        assert_eq!(fits(&rules, &direct), pattern != "deployments.extensions");
    }
}
