//! Pods and claims against LimitRanges: what they get, and what is said about them.

#![expect(clippy::needless_pass_by_value, reason = "shorter calls")]

mod bounds;
mod lagging;
mod properties;

use portcullis_core::Document;
use serde_json::{Value, json};

use super::super::testing::{
    admit, create, create_pod, create_spec, denial, is_touched, object_of, service, subresource,
    update, validate, with_objects,
};
use super::defaults::ANNOTATION;
use super::*;

const NAME: &str = "LimitRanger";

/// The plug-in, with LimitRanges of these limits in the namespace `shop`.
fn limited(limits: &[Value]) -> Arc<dyn Plugin> {
    let ranges = limits.iter().enumerate().map(|(n, limits)| {
        json!({
            "apiVersion": "v1", "kind": "LimitRange",
            "metadata": {"name": format!("limits-{n}"), "namespace": "shop"},
            "spec": {"limits": limits},
        })
    });
    with_objects(NAME, Value::Null, ranges)
}

fn container(mut limit: Value) -> Arc<dyn Plugin> {
    limit["type"] = json!("Container");
    limited(&[json!([limit])])
}

/// A pod of one container with these resources.
fn pod(resources: Value) -> Attributes {
    create_spec(json!({"containers": [{"name": "app", "resources": resources}]}))
}

fn claim(requests: Value) -> Attributes {
    create(
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        json!({"kind": "PersistentVolumeClaim", "spec": {"resources": {"requests": requests}}}),
    )
}

/// What the plug-in makes of a pod's `spec` and its annotation; none if it changes nothing.
fn defaulted(plugin: &Arc<dyn Plugin>, spec: Value) -> Option<(Value, Value)> {
    let mut request = create_spec(spec);
    assert_eq!(admit(plugin, &mut request), Outcome::Pass);
    let object = is_touched(&request).then(|| object_of(&request).clone())?;
    let annotation = &object["metadata"]["annotations"][ANNOTATION];
    Some((object["spec"].clone(), annotation.clone()))
}

/// What is said against a request after `pods "web" is forbidden: `.
fn objection(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Option<String> {
    let prefix = format!("{} \"web\" is forbidden: ", request.resource);
    match validate(plugin, request) {
        Outcome::Pass => None,
        outcome => {
            let denial = denial(outcome);
            assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
            let text = denial.message.strip_prefix(&prefix);
            Some(text.expect("the words of Kubernetes").to_owned())
        }
    }
}

#[test]
fn containers_get_what_they_lack() {
    let plugin = container(json!({
        "default": {"cpu": "200m", "memory": "256Mi"}, "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
    }));
    let spec = json!({
        "containers": [{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": 1}, "requests": {"memory": "1Gi"}}}],
        "initContainers": [{"name": "c", "resources": {"limits": null}}],
        "ephemeralContainers": [{"name": "d"}],
    });
    let all = json!({
        "limits": {"cpu": "200m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"},
    });
    let expected = json!({
        "containers": [
            {"name": "a", "resources": all},
            {"name": "b", "resources": {
                "limits": {"cpu": 1, "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "1Gi"},
            }},
        ],
        "initContainers": [{"name": "c", "resources": all}],
        "ephemeralContainers": [{"name": "d"}],
    });
    let told = "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; \
        cpu request for container b; memory limit for container b; cpu, memory request for init container c; \
        cpu, memory limit for init container c";
    assert_eq!(defaulted(&plugin, spec), Some((expected, json!(told))));
}

#[test]
fn a_pod_that_lacks_nothing_is_not_touched() {
    let plugin = container(json!({"default": {"cpu": 1}}));
    let spec =
        json!({"containers": [{"resources": {"limits": {"cpu": 2}, "requests": {"cpu": 0}}}]});
    assert_eq!(defaulted(&plugin, spec), None);
    let spec = json!({"containers": [{"name": "app"}]});
    assert_eq!(defaulted(&limited(&[]), spec.clone()), None);
    for kind in ["Pod", "PersistentVolumeClaim", "Other"] {
        let limits = json!([{"type": kind, "default": {"cpu": 1}, "max": {"cpu": 1}}]);
        assert_eq!(defaulted(&limited(&[limits]), spec.clone()), None, "{kind}");
    }
}

#[test]
fn the_largest_and_the_least_are_defaults_too() {
    let plugin = container(json!({"max": {"cpu": 2}, "min": {"memory": "1Mi"}}));
    let (spec, annotation) = defaulted(&plugin, json!({"containers": [{"name": "a"}]})).unwrap();
    assert_eq!(
        spec["containers"][0]["resources"],
        json!({"limits": {"cpu": "2"}, "requests": {"cpu": "2", "memory": "1Mi"}})
    );
    assert_eq!(
        annotation,
        "LimitRanger plugin set: cpu, memory request for container a; cpu limit for container a"
    );
}

#[test]
fn of_several_limit_ranges_the_first_by_name_counts() {
    let of = |resource: &str, amount: &str| json!([{"type": "Container", "default": {resource: amount}}]);
    let plugin = limited(&[of("cpu", "1"), of("cpu", "2"), of("memory", "1Gi")]);
    let (spec, annotation) = defaulted(&plugin, json!({"containers": [{"name": "a"}]})).unwrap();
    let amounts = json!({"cpu": "1", "memory": "1Gi"});
    assert_eq!(
        spec["containers"][0]["resources"],
        json!({"limits": amounts, "requests": amounts})
    );
    // Each tells of its own; the last one stays.
    assert_eq!(
        annotation,
        "LimitRanger plugin set: memory request for container a; memory limit for container a"
    );
    let within = json!([
        {"type": "Container", "default": {"cpu": "1"}}, {"type": "Container", "default": {"cpu": "2"}},
    ]);
    let (spec, _) = defaulted(&limited(&[within]), json!({"containers": [{"name": "a"}]})).unwrap();
    assert_eq!(spec["containers"][0]["resources"]["limits"]["cpu"], "2");
}

#[test]
fn limit_ranges_of_other_namespaces_do_not_count() {
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits", "namespace": "other"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1m"}, "default": {"cpu": "1m"}}]},
    });
    let plugin = with_objects(NAME, Value::Null, [range]);
    assert_eq!(
        objection(&plugin, &pod(json!({"limits": {"cpu": 9}}))),
        None
    );
    assert_eq!(defaulted(&plugin, json!({"containers": [{}]})), None);
}

#[test]
fn other_annotations_stay() {
    let plugin = container(json!({"default": {"cpu": 1}}));
    let mut request = create_pod(json!({
        "metadata": {"annotations": {"a": "b", ANNOTATION: "forged"}},
        "spec": {"containers": [{"name": "x"}]},
    }));
    assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
    assert_eq!(
        object_of(&request)["metadata"]["annotations"],
        json!({"a": "b", ANNOTATION:
            "LimitRanger plugin set: cpu request for container x; cpu limit for container x"})
    );
}

#[test]
fn pods_are_looked_at_when_they_are_created_and_resized() {
    let plugin = container(json!({"max": {"cpu": 1}}));
    let violating =
        json!({"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 2}}}]}});
    let pod = create_pod(violating.clone());
    let sub = |name: &str, operation| {
        let mut request = subresource(violating.clone(), name);
        request.operation = operation;
        request
    };
    assert!(objection(&plugin, &pod).is_some());
    let mut resize = update(sub("resize", Operation::Update), json!({}));
    assert!(objection(&plugin, &resize).is_some());
    resize.object = Some(Document::from_text(
        r#"{"spec": {"containers": [{"name": "a"}]}}"#,
    ));
    assert_eq!(admit(&plugin, &mut resize), Outcome::Pass);
    assert_eq!(
        object_of(&resize)["spec"]["containers"][0]["resources"]["limits"],
        json!({"cpu": "1"})
    );
    for mut request in [
        update(pod, json!({})),
        sub("status", Operation::Update),
        sub("ephemeralcontainers", Operation::Update),
        sub("exec", Operation::Create),
        sub("resize", Operation::Create),
        service(violating.clone()),
        Attributes {
            subresource: "status".to_owned(),
            ..update(claim(json!({})), json!({}))
        },
    ] {
        assert!(matches!(
            validate(&plugin, &request),
            Outcome::NotApplicable(_)
        ));
        assert!(matches!(
            admit(&plugin, &mut request),
            Outcome::NotApplicable(_)
        ));
        assert!(!is_touched(&request));
    }
}

#[test]
fn only_the_old_object_says_that_it_is_being_deleted() {
    let plugin = limited(&[json!([{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}])]);
    let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let request = update(claim(json!({"storage": "2Gi"})), deleted.clone());
    assert!(matches!(
        validate(&plugin, &request),
        Outcome::NotApplicable(_)
    ));
    let mut claim = claim(json!({"storage": "2Gi"}));
    claim.object = Some(Document::from_text(
        json!({"metadata": deleted["metadata"], "spec": {"resources": {"requests": {"storage": "2Gi"}}}}).to_string(),
    ));
    assert!(objection(&plugin, &claim).is_some());
    let unreadable = update(claim, json!([]));
    assert!(objection(&plugin, &unreadable).is_some());
}

#[test]
fn pods_that_can_not_be_read_are_denied() {
    let plugin = container(json!({"default": {"cpu": 1}}));
    for object in [
        json!([]),
        json!(null),
        json!({"spec": {"containers": {}}}),
        json!({"spec": {"containers": [1]}}),
    ] {
        let mut request = create_pod(object);
        assert_eq!(denial(validate(&plugin, &request)).code, 400);
        assert_eq!(denial(admit(&plugin, &mut request)).code, 400);
    }
    let request = pod(json!({"limits": {"cpu": "lots"}}));
    let denial = denial(validate(&plugin, &request));
    assert_eq!(
        denial.message,
        "pods \"web\" is malformed: spec.containers[0].resources.limits.cpu: `lots` is not a quantity"
    );
}

#[test]
fn what_is_not_known_of_the_cluster_is_an_error() {
    let unreadable = limited(&[json!({"type": "Container"})]);
    let mut request = pod(json!({}));
    let said = |result: Result<Outcome, PluginError>| result.expect_err("an error").to_string();
    let expected = "LimitRange \"limits-0\": spec.limits: expected a list, found an object";
    assert_eq!(
        said(unreadable.validate(&request, &mut Notes::default())),
        expected
    );
    assert_eq!(
        said(unreadable.admit(&mut request, &mut Notes::default())),
        expected
    );
    // Other requests are not the plug-in's business all the same.
    let service = service(json!({}));
    assert!(matches!(
        validate(&unreadable, &service),
        Outcome::NotApplicable(_)
    ));
}
