//! Objects against quotas: what they use, and what is said about them.

#![expect(clippy::needless_pass_by_value, reason = "shorter calls")]

mod bursts;
mod covering;
mod usage;

use portcullis_core::{Attributes, Outcome, Plugin};
use serde_json::{Value, json};

use super::super::testing::{
    create, create_pod, create_spec, denial, faults, registry, service, subresource, update,
    validate, with_objects,
};
use super::*;

const NAME: &str = "ResourceQuota";

/// A quota `name` of the namespace `shop`, with what it limits, what is used, and the rest of its specification.
fn quota(name: &str, hard: Value, used: Value, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": spec, "status": {"hard": hard, "used": used},
    });
    object["spec"]["hard"] = hard;
    object
}

fn with_quotas(quotas: impl IntoIterator<Item = Value>) -> Arc<dyn Plugin> {
    with_objects(NAME, Value::Null, quotas)
}

/// The plug-in with one quota of this, and what is used.
fn with(hard: Value, used: Value) -> Arc<dyn Plugin> {
    with_quotas([quota("compute", hard, used, json!({}))])
}

/// What is said against a request after `pods "web" is forbidden: `; nothing if it passes.
fn objection(plugin: &Arc<dyn Plugin>, request: &Attributes) -> String {
    match validate(plugin, request) {
        Outcome::Pass => String::new(),
        outcome => {
            let denial = denial(outcome);
            assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
            let (_, text) = denial
                .message
                .split_once(" is forbidden: ")
                .expect("Kubernetes' words");
            text.to_owned()
        }
    }
}

fn named(name: &str, mut request: Attributes) -> Attributes {
    request.name = name.to_owned();
    request
}

/// A pod of one container with these requests and limits.
fn pod(name: &str, requests: Value, limits: Value) -> Attributes {
    let resources = json!({"requests": requests, "limits": limits});
    named(
        name,
        create_spec(json!({"containers": [{"name": "app", "resources": resources}]})),
    )
}

fn claim(name: &str, claim: Value) -> Attributes {
    named(
        name,
        create("PersistentVolumeClaim", "persistentvolumeclaims", claim),
    )
}

/// An object that was stored.
fn stored(mut object: Value) -> Value {
    object["metadata"]["resourceVersion"] = json!("7");
    object
}

#[test]
fn what_fits_passes_and_what_exceeds_is_denied_in_the_words_of_kubernetes() {
    let plugin = with(
        json!({"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": 2, "pods": 2}),
        json!({"requests.cpu": "500m", "requests.memory": "0", "limits.cpu": "1500m", "pods": "1"}),
    );
    let fits = pod(
        "a",
        json!({"cpu": "500m", "memory": "1Gi"}),
        json!({"cpu": "500m"}),
    );
    assert_eq!(
        objection(
            &plugin,
            &Attributes {
                dry_run: true,
                ..fits
            }
        ),
        ""
    );
    let exceeds = pod(
        "b",
        json!({"cpu": "600m", "memory": "1.5Gi"}),
        json!({"cpu": "500m"}),
    );
    assert_eq!(
        objection(&plugin, &exceeds),
        "exceeded quota: compute, requested: requests.cpu=600m,requests.memory=1536Mi, \
         used: requests.cpu=500m,requests.memory=0, limited: requests.cpu=1,requests.memory=1Gi"
    );
    let denial = denial(validate(&plugin, &exceeds));
    assert!(
        denial
            .message
            .starts_with("pods \"b\" is forbidden: exceeded quota: "),
        "{}",
        denial.message
    );
}

#[test]
fn without_quotas_everything_passes() {
    let plugin = with_quotas([]);
    assert_eq!(objection(&plugin, &create_pod(json!({"spec": 1}))), "");
    let mut elsewhere = pod("a", json!({}), json!({}));
    elsewhere.namespace = "other".to_owned();
    assert_eq!(
        objection(&with(json!({"pods": 0}), json!({"pods": 0})), &elsewhere),
        ""
    );
}

#[test]
fn the_first_quota_that_is_exceeded_is_named() {
    let plugin = with_quotas([
        quota("b", json!({"pods": 0}), json!({"pods": 0}), json!({})),
        quota("a", json!({"pods": 5}), json!({"pods": 0}), json!({})),
        quota("c", json!({"pods": 0}), json!({"pods": 0}), json!({})),
    ]);
    assert_eq!(
        objection(&plugin, &pod("x", json!({}), json!({}))),
        "exceeded quota: b, requested: pods=1, used: pods=0, limited: pods=0"
    );
}

#[test]
fn containers_must_ask_for_what_is_limited() {
    let zero = json!({"cpu": 0, "requests.memory": 0, "limits.memory": 0, "ephemeral-storage": 0});
    let plugin = with(zero.clone(), zero);
    let spec = json!({
        "containers": [
            {"name": "b", "resources": {"requests": {"cpu": 1}}},
            {"name": "a", "resources": {"limits": {"memory": 1}}},
        ],
        "initContainers": [{"name": "c", "resources": {"requests": {"memory": 1}, "limits": {"memory": 1}}}],
    });
    assert_eq!(
        objection(&plugin, &create_spec(spec)),
        "failed quota: compute: must specify cpu for: a,c; limits.memory for: b; requests.memory for: a,b"
    );
    // A pod that asks as a whole need not.
    let plugin = with(
        json!({"cpu": 5, "limits.memory": 1}),
        json!({"cpu": 0, "limits.memory": 0}),
    );
    for (resources, expected) in [
        (json!({"requests": {"cpu": 1}}), ""),
        (json!({"limits": {"hugepages-2Mi": "2Mi"}}), ""),
        (
            json!({}),
            "failed quota: compute: must specify cpu for: a; limits.memory for: a",
        ),
        (
            json!({"requests": {"cpu": 6}}),
            "exceeded quota: compute, requested: cpu=6, used: cpu=0, limited: cpu=5",
        ),
    ] {
        let spec = json!({"containers": [{"name": "a"}], "resources": resources});
        let request = Attributes {
            dry_run: true,
            ..create_spec(spec)
        };
        assert_eq!(objection(&plugin, &request), expected, "{resources}");
    }
}

#[test]
fn usage_that_no_status_tells_is_unknown() {
    let plugin = with(
        json!({"pods": 1, "cpu": 1, "services": 1}),
        json!({"services": 0}),
    );
    assert_eq!(
        objection(&plugin, &pod("a", json!({"cpu": 1}), json!({}))),
        "status unknown for quota: compute, resources: cpu,pods"
    );
    // One without a status counts from when it is written.
    let mut fresh = quota("fresh", json!({"pods": 1}), json!({}), json!({}));
    fresh["status"] = json!({});
    assert_eq!(
        objection(&with_quotas([fresh]), &pod("a", json!({}), json!({}))),
        "status unknown for quota: fresh, resources: pods"
    );
}

#[test]
fn negative_usage_is_denied() {
    let plugin = with(json!({"cpu": 5}), json!({"cpu": 1}));
    assert_eq!(
        objection(&plugin, &pod("a", json!({"cpu": "-1"}), json!({}))),
        "quota usage is negative for resource(s): cpu,requests.cpu"
    );
}

#[test]
fn quotas_are_for_objects_in_their_scopes() {
    let scoped = |scopes: Value| {
        with_quotas([quota(
            "scoped",
            json!({"pods": 0}),
            json!({"pods": 0}),
            json!({"scopes": scopes}),
        )])
    };
    let best_effort = pod("a", json!({}), json!({}));
    let burstable = pod("a", json!({"cpu": 1}), json!({}));
    for (scopes, of_best_effort, of_burstable) in [
        (json!([]), false, false),
        (json!(["BestEffort"]), false, true),
        (json!(["NotBestEffort"]), true, false),
        (json!(["Terminating"]), true, true),
        (json!(["NotTerminating"]), false, false),
        (json!(["BestEffort", "NotTerminating"]), false, true),
        (json!(["BestEffort", "Terminating"]), true, true),
        (json!(["PriorityClass"]), true, true),
    ] {
        let plugin = scoped(scopes.clone());
        assert_eq!(
            objection(&plugin, &best_effort).is_empty(),
            of_best_effort,
            "{scopes}"
        );
        assert_eq!(
            objection(&plugin, &burstable).is_empty(),
            of_burstable,
            "{scopes}"
        );
    }
    // Kinds without scopes are in none of them.
    let spec = json!({"scopes": ["NotBestEffort"]});
    let plugin = with_quotas([quota(
        "scoped",
        json!({"services": 0}),
        json!({"services": 0}),
        spec,
    )]);
    assert_eq!(objection(&plugin, &service(json!({}))), "");
}

#[test]
fn other_requests_are_not_the_plug_ins_business() {
    let plugin = with(
        json!({"pods": 0, "services": 0}),
        json!({"pods": 0, "services": 0}),
    );
    let in_no_namespace = Attributes {
        namespace: String::new(),
        ..create("Node", "nodes", json!({}))
    };
    let mut namespace = create("Namespace", "namespaces", json!({}));
    namespace.namespace = "shop".to_owned();
    for request in [
        in_no_namespace,
        namespace,
        create("Event", "events", json!({})),
        subresource(json!({}), "exec"),
        subresource(json!({}), "status"),
        update(create_spec(json!({})), json!({})),
        update(create("ConfigMap", "configmaps", json!({})), json!({})),
        Attributes {
            subresource: "status".to_owned(),
            ..service(json!({}))
        },
        Attributes {
            subresource: "status".to_owned(),
            ..claim("c", json!({}))
        },
    ] {
        let outcome = validate(&plugin, &request);
        assert!(
            matches!(outcome, Outcome::NotApplicable(_)),
            "{request:?} {outcome:?}"
        );
    }
}

#[test]
fn objects_that_can_not_be_read_are_denied() {
    let plugin = with(json!({"pods": 5}), json!({"pods": 0}));
    let mut without_object = create_pod(json!({}));
    without_object.object = None;
    for request in [
        without_object,
        create_pod(json!([])),
        create_spec(json!({"containers": 1})),
        create_spec(json!({"containers": [{"resources": {"requests": {"cpu": "lots"}}}]})),
        create_spec(json!({"overhead": {"cpu": "lots"}})),
        service(json!({"spec": {"ports": 1}})),
        claim(
            "c",
            json!({"spec": {"resources": {"requests": {"storage": "lots"}}}}),
        ),
    ] {
        assert_eq!(denial(validate(&plugin, &request)).code, 400, "{request:?}");
    }
}

#[test]
fn a_quota_that_can_not_be_read_is_an_error() {
    let plugin = with(json!({"pods": "many"}), json!({}));
    let said = plugin.validate(&create_spec(json!({})), &mut Notes::default());
    assert_eq!(
        said.expect_err("an error").to_string(),
        "ResourceQuota \"compute\": status.hard.pods: `many` is not a quantity"
    );
}

#[test]
fn the_configuration_and_its_schema_go_together() {
    let registry = registry(&[]);
    let schema = registry
        .get(NAME)
        .and_then(|d| d.schema.as_ref())
        .expect("a schema");
    assert_eq!(schema["required"], json!(["apiVersion", "kind"]));
    let limited = &schema["$defs"]["WrittenLimit"];
    assert_eq!(limited["required"], json!(["resource"]));
    assert_eq!(
        faults(&registry, NAME, json!({"limitedResources": []})).len(),
        2,
        "it must declare its type"
    );
}
