//! What may only be used where a quota covers it.

use super::*;

fn limited(limited: Value, quotas: Vec<Value>) -> Arc<dyn Plugin> {
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration",
        "limitedResources": limited,
    });
    with_objects(NAME, configuration, quotas)
}

#[test]
fn usage_must_be_covered() {
    let limits = json!([
        {"resource": "persistentvolumeclaims", "matchContains": ["gold.storageclass.storage.k8s.io/"]},
        {"resource": "pods", "matchContains": ["cpu", "pods"]},
    ]);
    let gold = || {
        claim(
            "c",
            json!({
                "spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1Gi"}}},
            }),
        )
    };
    let silver = claim("c", json!({"spec": {"storageClassName": "silver"}}));
    let plugin = limited(limits.clone(), vec![]);
    assert_eq!(
        objection(&plugin, &gold()),
        "insufficient quota to consume: gold.storageclass.storage.k8s.io/persistentvolumeclaims,\
         gold.storageclass.storage.k8s.io/requests.storage"
    );
    assert_eq!(objection(&plugin, &silver), "");
    assert_eq!(
        objection(
            &plugin,
            &pod("a", json!({"cpu": 1, "memory": 1}), json!({"cpu": 1}))
        ),
        "insufficient quota to consume: count/pods,cpu,limits.cpu,pods,requests.cpu"
    );
    let names = ["persistentvolumeclaims", "requests.storage"]
        .map(|name| format!("gold.storageclass.storage.k8s.io/{name}"));
    let amounts = |n: u32| json!({names[0].as_str(): n, names[1].as_str(): format!("{n}Gi")});
    let covering = quota("gold", amounts(5), amounts(1), json!({}));
    assert_eq!(objection(&limited(limits, vec![covering]), &gold()), "");
}

#[test]
fn what_is_not_used_need_not_be_covered() {
    let limits = json!([{"resource": "services", "matchContains": ["services.nodeports"]}]);
    let plugin = limited(limits, vec![]);
    let ports = json!([{"port": 1}]);
    let plain = service(json!({"spec": {"ports": ports}}));
    assert_eq!(objection(&plugin, &plain), "");
    let node_port = json!({"spec": {"type": "NodePort", "ports": ports}});
    assert_eq!(
        objection(&plugin, &service(node_port.clone())),
        "insufficient quota to consume: services.nodeports"
    );
    // It was there already.
    assert_eq!(
        objection(
            &plugin,
            &update(service(node_port.clone()), stored(node_port))
        ),
        ""
    );
}

fn with_class(class: &str) -> Attributes {
    create_spec(json!({"containers": [], "priorityClassName": class}))
}

#[test]
fn scopes_must_be_covered() {
    let limits = json!([{"resource": "pods", "matchScopes": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "higher"]},
        {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
    ]}]);
    let plugin = limited(limits.clone(), vec![]);
    assert_eq!(
        objection(&plugin, &with_class("high")),
        "insufficient quota to match these scopes: [{PriorityClass In [high higher]}]"
    );
    assert_eq!(objection(&plugin, &with_class("low")), "");
    assert_eq!(objection(&plugin, &with_class("")), "");
    let expression = |values: Value| {
        let expression = json!({"scopeName": "PriorityClass", "operator": "In", "values": values});
        let spec = json!({"scopeSelector": {"matchExpressions": [expression]}});
        quota("high", json!({"pods": 2}), json!({"pods": 0}), spec)
    };
    let plugin = limited(limits.clone(), vec![expression(json!(["high"]))]);
    assert_eq!(objection(&plugin, &with_class("high")), "");
    assert!(objection(&plugin, &with_class("higher")).starts_with("insufficient quota to match"));
    let two = json!({"containers": [], "priorityClassName": "high", "affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["x"]}],
    }}});
    assert_eq!(
        objection(&limited(limits, vec![]), &create_spec(two)),
        "insufficient quota to match these scopes: [{PriorityClass In [high higher]} \
         {CrossNamespacePodAffinity Exists []}]"
    );
}

#[test]
fn objects_without_scopes_need_no_covering_ones() {
    let limits = json!([{"resource": "services", "matchScopes": [{"scopeName": "NotBestEffort", "operator": "Exists"}]}]);
    assert_eq!(objection(&limited(limits, vec![]), &service(json!({}))), "");
}
