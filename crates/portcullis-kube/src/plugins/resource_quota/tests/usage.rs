//! What objects use, and what changes of them use more.

use super::*;

/// What a quota of one resource counts of a request.
fn counted(resource: &str, request: &Attributes) -> String {
    let plugin = with(json!({resource: -1}), json!({resource: 0}));
    let said = objection(&plugin, request);
    let (_, said) = match said.split_once(", requested: ") {
        Some(parts) => parts,
        None => return said,
    };
    let (requested, _) = said.split_once(", used: ").expect("what is used");
    let (name, amount) = requested.split_once('=').expect("an amount");
    assert_eq!(name, resource);
    amount.to_owned()
}

#[test]
fn pods_use_what_their_containers_ask_for() {
    let resources = json!({
        "requests": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": 2},
        "limits": {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "3Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": 2},
    });
    let request = create_spec(json!({
        "containers": [{"name": "a", "resources": resources}, {"name": "b", "resources": resources}],
        "overhead": {"cpu": "100m", "example.com/other": 1},
    }));
    for (resource, amount) in [
        ("pods", "1"),
        ("count/pods", "1"),
        ("cpu", "2100m"),
        ("requests.cpu", "2100m"),
        ("limits.cpu", "4100m"),
        ("memory", "2Gi"),
        ("requests.memory", "2Gi"),
        ("limits.memory", "4Gi"),
        ("ephemeral-storage", "4Gi"),
        ("requests.ephemeral-storage", "4Gi"),
        ("limits.ephemeral-storage", "6Gi"),
        ("hugepages-2Mi", "8Mi"),
        ("requests.hugepages-2Mi", "8Mi"),
        ("requests.example.com/gpu", "4"),
        ("requests.example.com/other", "1"),
        // Not counted: it has no name in quotas.
        ("limits.example.com/gpu", ""),
        ("example.com/gpu", ""),
        ("services", ""),
    ] {
        assert_eq!(counted(resource, &request), amount, "{resource}");
    }
}

#[test]
fn what_a_pod_asks_for_as_a_whole_counts_instead() {
    let request = create_spec(json!({
        "containers": [{"name": "a", "resources": {
            "requests": {"cpu": 1, "memory": "1Gi", "ephemeral-storage": 1}, "limits": {"cpu": 1},
        }}],
        "resources": {"requests": {"cpu": 3, "ephemeral-storage": 9}, "limits": {"cpu": 4, "hugepages-2Mi": "2Mi"}},
    }));
    for (resource, amount) in [
        ("cpu", "3"),
        ("limits.cpu", "4"),
        ("memory", "1Gi"),
        ("ephemeral-storage", "1"),
    ] {
        assert_eq!(counted(resource, &request), amount, "{resource}");
    }
}

/// A caller can write what they want into the status of a new pod.
#[test]
fn the_status_of_a_new_object_means_nothing() {
    let mut request = pod("a", json!({"cpu": 1}), json!({}));
    let with_status = |status: Value, metadata: Value| {
        create_pod(json!({
            "metadata": metadata, "status": status,
            "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": 1}}}]},
        }))
    };
    let gone =
        json!({"deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0});
    for status in [
        json!({"phase": "Succeeded"}),
        json!({"phase": "Failed", "qosClass": "BestEffort"}),
        json!({
            "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
            "containerStatuses": [{"name": "app", "resources": {}}],
        }),
    ] {
        request.object = with_status(status, gone.clone()).object;
        assert_eq!(counted("pods", &request), "1");
        assert_eq!(counted("cpu", &request), "1");
        let scoped = quota(
            "q",
            json!({"pods": 0}),
            json!({"pods": 0}),
            json!({"scopes": ["NotBestEffort"]}),
        );
        assert!(!objection(&with_quotas([scoped]), &request).is_empty());
    }
    let claim = claim(
        "c",
        json!({
            "spec": {"resources": {"requests": {"storage": "1Gi"}}},
            "status": {"allocatedResources": {"storage": "9Gi"}},
        }),
    );
    assert_eq!(counted("requests.storage", &claim), "1Gi");
}

fn resized(old: Value, new: Value, status: Value) -> Attributes {
    let pod = |resources: Value| json!({"spec": {"containers": [{"name": "app", "resources": resources}]}});
    let mut before = stored(pod(old));
    before["status"] = status;
    Attributes {
        subresource: "resize".to_owned(),
        ..update(create_pod(pod(new)), before)
    }
}

#[test]
fn a_pod_that_is_resized_uses_the_difference() {
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
    for (old, new, status, expected) in [
        ("1", "3", json!({}), "2"),
        ("3", "1", json!({}), ""),
        ("1", "1", json!({}), ""),
        // It was given more than it asks for, so less of what it asks for is new.
        (
            "1",
            "3",
            json!({"containerStatuses": [{"name": "app", "resources": cpu("2")}]}),
            "1",
        ),
        (
            "1",
            "3",
            json!({"containerStatuses": [{"name": "app", "resources": cpu("1"), "allocatedResources": {"cpu": "2500m"}}]}),
            "500m",
        ),
        (
            "1",
            "3",
            json!({"containerStatuses": [{"name": "app", "allocatedResources": {"cpu": 2}}]}),
            "2",
        ),
        // It asked for more than it can get, which does not count.
        (
            "9",
            "12",
            json!({"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
                "containerStatuses": [{"name": "app", "resources": cpu("2")}]}),
            "",
        ),
        // It has ended.
        ("1", "3", json!({"phase": "Succeeded"}), ""),
    ] {
        let request = resized(cpu(old), cpu(new), status.clone());
        assert_eq!(counted("cpu", &request), expected, "{old} {new} {status}");
    }
}

#[test]
fn an_update_counts_when_the_scope_changes() {
    let pod = |deadline: Value| json!({"spec": {"containers": [{"name": "app"}], "activeDeadlineSeconds": deadline}});
    let begins = update(create_pod(pod(json!(5))), stored(pod(Value::Null)));
    let scoped = |scope: &str| {
        with_quotas([quota(
            "q",
            json!({"pods": 1}),
            json!({"pods": 1}),
            json!({"scopes": [scope]}),
        )])
    };
    assert_eq!(
        objection(&scoped("Terminating"), &begins),
        "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
    );
    assert_eq!(objection(&scoped("NotTerminating"), &begins), "");
    let same = update(create_pod(pod(json!(5))), stored(pod(json!(6))));
    let outcome = validate(&scoped("Terminating"), &same);
    assert!(matches!(outcome, Outcome::NotApplicable(_)));
}

#[test]
fn an_update_without_its_old_object_is_denied() {
    let expected = "unable to get previous usage since prior version of object was not found";
    let plugin = with(
        json!({"pods": 5, "services": 5}),
        json!({"pods": 0, "services": 0}),
    );
    let mut resize = resized(json!({}), json!({}), json!({}));
    resize.old_object = None;
    assert_eq!(objection(&plugin, &resize), expected);
    let mut changed = update(service(json!({})), json!({}));
    changed.old_object = None;
    assert_eq!(objection(&plugin, &changed), expected);
    assert_eq!(
        objection(&plugin, &update(service(json!({})), json!([]))),
        expected
    );
}

#[test]
fn services_use_ports_of_nodes_and_load_balancers() {
    let ports = json!([{"port": 1}, {"port": 2, "nodePort": 30001}]);
    for (spec, nodes, balancers) in [
        (json!({}), "", ""),
        (json!({"type": "ClusterIP"}), "", ""),
        (json!({"type": "ExternalName"}), "", ""),
        (json!({"type": "NodePort"}), "2", ""),
        (json!({"type": "LoadBalancer"}), "2", "1"),
        (
            json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": true}),
            "2",
            "1",
        ),
        (
            json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false}),
            "1",
            "1",
        ),
    ] {
        let mut spec = spec;
        spec["ports"] = ports.clone();
        let request = service(json!({"spec": spec}));
        assert_eq!(counted("services.nodeports", &request), nodes, "{spec}");
        assert_eq!(
            counted("services.loadbalancers", &request),
            balancers,
            "{spec}"
        );
        assert_eq!(counted("services", &request), "1");
        assert_eq!(counted("count/services", &request), "1");
        let again = update(request, stored(json!({"spec": spec})));
        assert_eq!(counted("services.nodeports", &again), "");
        assert_eq!(counted("services", &again), "");
    }
    let grown = service(json!({"spec": {"type": "NodePort", "ports": [{}, {}, {}]}}));
    let grown = update(
        grown,
        stored(json!({"spec": {"type": "NodePort", "ports": [{}]}})),
    );
    assert_eq!(counted("services.nodeports", &grown), "2");
    // One that was not stored is new.
    let new = update(service(json!({})), json!({}));
    assert_eq!(counted("services", &new), "1");
}

#[test]
fn claims_count_by_their_storage_class() {
    let request = claim(
        "c",
        json!({
            "spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1.5Gi"}}},
        }),
    );
    for (resource, amount) in [
        ("persistentvolumeclaims", "1"),
        ("count/persistentvolumeclaims", "1"),
        ("requests.storage", "1536Mi"),
        (
            "gold.storageclass.storage.k8s.io/requests.storage",
            "1536Mi",
        ),
        (
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
            "1",
        ),
        ("silver.storageclass.storage.k8s.io/requests.storage", ""),
        (
            "gold.storageclass.storage.k8s.io/count/persistentvolumeclaims",
            "",
        ),
    ] {
        assert_eq!(counted(resource, &request), amount, "{resource}");
    }
    let annotated = claim(
        "c",
        json!({
            "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "silver"}},
            "spec": {"storageClassName": "gold"},
        }),
    );
    assert_eq!(
        counted(
            "silver.storageclass.storage.k8s.io/persistentvolumeclaims",
            &annotated
        ),
        "1"
    );
    assert_eq!(
        counted(
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
            &annotated
        ),
        ""
    );
    let fraction = claim(
        "c",
        json!({"spec": {"resources": {"requests": {"storage": "1500m"}}}}),
    );
    assert_eq!(counted("requests.storage", &fraction), "2");
}

#[test]
fn claims_that_grow_use_the_difference() {
    let of = |amount: &str| json!({"spec": {"resources": {"requests": {"storage": amount}}}});
    let grown = update(claim("c", of("3Gi")), stored(of("1Gi")));
    assert_eq!(counted("requests.storage", &grown), "2Gi");
    assert_eq!(counted("persistentvolumeclaims", &grown), "");
    let mut before = stored(of("3Gi"));
    before["status"] = json!({"allocatedResources": {"storage": "5Gi"}});
    let shrunk = update(claim("c", of("2Gi")), before.clone());
    assert_eq!(counted("requests.storage", &shrunk), "");
    let grown = update(claim("c", of("6Gi")), before);
    assert_eq!(counted("requests.storage", &grown), "1Gi");
}

#[test]
fn claims_are_in_the_scope_of_their_attributes() {
    let scoped = |expression: Value| {
        let spec = json!({"scopeSelector": {"matchExpressions": [expression]}});
        with_quotas([quota(
            "q",
            json!({"persistentvolumeclaims": 0}),
            json!({"persistentvolumeclaims": 0}),
            spec,
        )])
    };
    let fast =
        scoped(json!({"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}));
    let request = |class: &str| claim("c", json!({"spec": {"volumeAttributesClassName": class}}));
    assert!(!objection(&fast, &request("fast")).is_empty());
    assert_eq!(objection(&fast, &request("slow")), "");
    assert_eq!(objection(&fast, &request("")), "");
}

#[test]
fn all_other_objects_count_by_number() {
    for (kind, resource, group, names) in [
        (
            "ConfigMap",
            "configmaps",
            "",
            vec!["count/configmaps", "configmaps"],
        ),
        ("Secret", "secrets", "", vec!["count/secrets", "secrets"]),
        (
            "Deployment",
            "deployments",
            "apps",
            vec!["count/deployments.apps"],
        ),
        (
            "Widget",
            "widgets",
            "example.com",
            vec!["count/widgets.example.com"],
        ),
    ] {
        let mut request = create(kind, resource, json!({"anything": [1]}));
        request.resource.group = group.to_owned();
        request.kind.group = group.to_owned();
        for name in names {
            assert_eq!(counted(name, &request), "1", "{name}");
        }
        assert_eq!(counted("pods", &request), "");
    }
}
