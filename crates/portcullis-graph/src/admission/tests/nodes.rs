//! `NodeRestriction`: every resource with what is allowed and what is denied.

use serde_json::{Value, json};

use super::requests;
use super::world::{Ask, World};
use crate::lookups::LookupResult;

type Who = (&'static str, &'static str, &'static str);

const N0: Who = ("node", "Node", "node0");
const N1: Who = ("node", "Node", "node1");
const MIRROR: &str = "kubernetes.io/config.mirror";

fn pod(node: &str) -> Value {
    json!({"metadata": {"uid": format!("uid-{node}")}, "spec": {"nodeName": node, "serviceAccountName": "sa0"}})
}

fn world() -> World {
    World::of("node")
        .with("Node", "node0", json!({"metadata": {"uid": "uid-n0"}}))
        .with("Node", "node1", json!({"metadata": {"uid": "uid-n1"}}))
        .with("Pod", "ns0/pod0", pod("node0"))
        .with("Pod", "ns0/pod1", pod("node1"))
}

fn mirror() -> Value {
    json!({
        "metadata": {
            "annotations": {MIRROR: "x"},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Node", "name": "node0", "uid": "uid-n0", "controller": true,
            }],
        },
        "spec": {
            "nodeName": "node0",
            "containers": [{"name": "c", "image": "i", "env": [{"name": "a", "value": "b"}]}],
            "volumes": [
                {"name": "a", "hostPath": {"path": "/"}},
                {"name": "b", "emptyDir": {}},
                {"name": "c", "iscsi": {"iqn": "x"}},
                {"name": "d", "projected": {"sources": [{"downwardAPI": {}}]}},
            ],
        },
    })
}

/// A mirror pod with something else at a place.
fn mirror_with(pointer: &str, value: Value) -> Ask {
    let mut pod = mirror();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = pod.pointer_mut(parent).expect("a place");
    match parent {
        Value::Array(entries) => entries.push(value),
        other => other[key] = value,
    }
    Ask::create("pods", "ns0/new", pod).by(N0)
}

#[test]
fn mirror_pods_may_be_created() {
    let world = world();
    let ask = Ask::create("pods", "ns0/new", mirror());
    world.expect(&ask.by(N0), "ok");
    world.expect(&ask.by(N1), "403");
    for (pointer, value) in [
        ("/metadata/annotations", json!({})),
        ("/metadata/annotations", Value::Null),
        ("/spec/nodeName", json!("node1")),
        ("/spec/nodeName", Value::Null),
        ("/metadata/ownerReferences", json!([])),
        ("/metadata/ownerReferences", Value::Null),
        ("/metadata/ownerReferences/-", json!({"kind": "Pod"})),
        ("/metadata/ownerReferences/0/name", json!("node1")),
        ("/metadata/ownerReferences/0/kind", json!("Pod")),
        ("/metadata/ownerReferences/0/apiVersion", json!("v2")),
        ("/metadata/ownerReferences/0/controller", json!(false)),
        ("/metadata/ownerReferences/0/controller", Value::Null),
        (
            "/metadata/ownerReferences/0/blockOwnerDeletion",
            json!(true),
        ),
        ("/metadata/ownerReferences/0/uid", json!("uid-n1")),
        ("/metadata/ownerReferences/0/uid", Value::Null),
        ("/spec/serviceAccountName", json!("sa0")),
        ("/spec/serviceAccount", json!("sa0")),
        ("/spec/imagePullSecrets", json!([{"name": "s"}])),
        ("/spec/resourceClaims", json!([{"name": "s"}])),
        (
            "/spec/containers/0/envFrom",
            json!([{"secretRef": {"name": "s"}}]),
        ),
        (
            "/spec/containers/0/env",
            json!([{"name": "a", "valueFrom": {"secretKeyRef": {"name": "s"}}}]),
        ),
        (
            "/spec/containers/0/env",
            json!([{"name": "a", "valueFrom": {"configMapKeyRef": {"name": "s"}}}]),
        ),
        (
            "/spec/initContainers",
            json!([{"envFrom": [{"configMapRef": {"name": "s"}}]}]),
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"envFrom": [{"configMapRef": {"name": "s"}}]}]),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "secret": {"secretName": "s"}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "configMap": {"name": "s"}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "persistentVolumeClaim": {"claimName": "s"}}),
        ),
        ("/spec/volumes/-", json!({"name": "x", "ephemeral": {}})),
        (
            "/spec/volumes/-",
            json!({"name": "x", "azureFile": {"secretName": "s"}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "glusterfs": {"endpoints": "e"}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "iscsi": {"secretRef": {"name": "s"}}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "csi": {"nodePublishSecretRef": {"name": "s"}}}),
        ),
        ("/spec/volumes/-", json!({"name": "x", "somethingNew": {}})),
        (
            "/spec/volumes/-",
            json!({"name": "x", "projected": {"sources": [{"secret": {"name": "s"}}]}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "projected": {"sources": [{"serviceAccountToken": {}}]}}),
        ),
        (
            "/spec/volumes/-",
            json!({"name": "x", "projected": {"sources": [{"downwardAPI": {}, "secret": {}}]}}),
        ),
    ] {
        let ask = mirror_with(pointer, value.clone());
        let message = world.message(&ask);
        assert!(message.contains("node"), "{pointer} {value}: {message}");
        world.expect(&ask, "403");
    }
    let unknown = world.with_found("Node", "node0", LookupResult::Absent);
    unknown.expect(&ask.by(N0), "404");
    let broken = unknown.with_found("Node", "node0", LookupResult::Failed("no answer".into()));
    broken.expect(&ask.by(N0), "failed");
}

#[test]
fn n07_pods_are_deleted_evicted_and_told_of_by_their_node() {
    let world = world();
    world.expect(&Ask::delete("pods", "ns0/pod1", pod("node1")).by(N0), "403");
    world.expect(&Ask::delete("pods", "ns0/pod0", pod("node0")).by(N0), "ok");
    let mut without_old = Ask::delete("pods", "ns0/pod0", json!({})).by(N0);
    without_old.old_object = None;
    world.expect(&without_old, "ok");
    without_old.key = "ns0/pod1".into();
    world.expect(&without_old, "403");
    without_old.key = "ns0/gone".into();
    world.expect(&without_old, "404");
    without_old.key = "ns0/".into();
    world.expect(&without_old, "404");
    world.expect(
        &Ask::update("pods", "ns0/pod0", pod("node0"), pod("node0")).by(N0),
        "403",
    );

    let evict = |key: &str| Ask::create("pods/eviction", key, json!({"metadata": {}})).by(N0);
    world.expect(&evict("ns0/pod0"), "ok");
    world.expect(&evict("ns0/pod1"), "403");
    world.expect(&evict("ns0/gone"), "404");
    world.expect(&evict("ns0/"), "403");
    let mut named = evict("ns0/");
    named.object = Some(json!({"metadata": {"name": "pod0"}}));
    world.expect(&named, "ok");

    for part in [
        "pods/binding",
        "pods/exec",
        "pods/ephemeralcontainers",
        "pods/resize",
    ] {
        world.expect(&Ask::create(part, "ns0/pod0", json!({})).by(N0), "403");
    }
}

#[test]
fn the_status_of_a_pod_is_all_that_changes() {
    let world = world();
    let claims = |name: &str| json!([{"name": "c", "resourceClaimName": name}]);
    let old = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"nodeName": "node0"},
        "status": {"phase": "Pending", "resourceClaimStatuses": claims("x")},
    });
    let with = |pointer: &str, value: Value| {
        let mut new = old.clone();
        *new.pointer_mut(pointer).expect("a place") = value;
        Ask::update("pods/status", "ns0/pod0", old.clone(), new)
    };
    let fine = with("/status/phase", json!("Running"));
    world.expect(&fine.by(N0), "ok");
    world.expect(&fine.by(N1), "403");
    world.expect(&with("/metadata/labels", json!({"a": "c"})).by(N0), "403");
    world.expect(&with("/metadata/labels", json!({})).by(N0), "403");
    world.expect(
        &with("/status/resourceClaimStatuses", claims("y")).by(N0),
        "403",
    );
    world.expect(
        &with("/status/resourceClaimStatuses", json!([])).by(N0),
        "403",
    );
    world.expect(&with("/metadata/labels", json!("a")).by(N0), "400");
    world.expect(
        &Ask::create("pods/status", "ns0/pod0", json!({})).by(N0),
        "403",
    );
}

#[test]
fn a_node_changes_itself_within_bounds() {
    let world = world();
    let labelled = |labels: Value| json!({"metadata": {"labels": labels}, "spec": {}});
    let plain = || labelled(json!({}));
    world.expect(&Ask::create("nodes", "node0", plain()).by(N0), "ok");
    world.expect(&Ask::create("nodes", "node0", plain()).by(N1), "403");
    for part in ["nodes", "nodes/status"] {
        world.expect(&Ask::update(part, "node0", plain(), plain()).by(N0), "ok");
        world.expect(&Ask::update(part, "node0", plain(), plain()).by(N1), "403");
    }
    world.expect(&Ask::delete("nodes", "node0", plain()).by(N0), "ok");
    world.expect(&Ask::delete("nodes", "node0", plain()).by(N1), "403");
    for (label, expected) in [
        ("anything", "ok"),
        ("example.org/x", "ok"),
        ("notkubernetes.io/x", "ok"),
        ("kubernetes.io.example.org/x", "ok"),
        ("kubernetes.io/hostname", "ok"),
        ("kubernetes.io/os", "ok"),
        ("topology.kubernetes.io/zone", "ok"),
        ("node.kubernetes.io/x", "ok"),
        ("x.node.kubernetes.io/x", "ok"),
        ("kubelet.kubernetes.io/x", "ok"),
        ("node-restriction.kubernetes.io/x", "403"),
        ("x.node-restriction.kubernetes.io/x", "403"),
        ("node-role.kubernetes.io/control-plane", "403"),
        ("kubernetes.io/x", "403"),
        ("k8s.io/x", "403"),
        ("x.k8s.io/x", "403"),
        ("notnode.kubernetes.io/x", "403"),
    ] {
        let new = labelled(json!({label: "v"}));
        let other = labelled(json!({label: "w"}));
        world.expect(&Ask::create("nodes", "node0", new.clone()).by(N0), expected);
        world.expect(
            &Ask::update("nodes", "node0", plain(), new.clone()).by(N0),
            expected,
        );
        world.expect(
            &Ask::update("nodes", "node0", new.clone(), plain()).by(N0),
            expected,
        );
        world.expect(
            &Ask::update("nodes", "node0", new.clone(), other).by(N0),
            expected,
        );
        world.expect(
            &Ask::update("nodes", "node0", new.clone(), new).by(N0),
            "ok",
        );
    }
    let ask = Ask::create(
        "nodes",
        "node0",
        labelled(json!({"k8s.io/x": "", "k8s.io/y": "", "z": ""})),
    )
    .by(N0);
    let message = world.message(&ask);
    assert!(
        message.contains("k8s.io/x") && message.contains("k8s.io/y"),
        "{message}"
    );
    let spec = |spec: Value| json!({"spec": spec});
    let source = || spec(json!({"configSource": {"configMap": {}}}));
    let tainted = || spec(json!({"taints": [{"key": "a", "effect": "NoSchedule"}]}));
    let owned = || json!({"metadata": {"ownerReferences": [{"kind": "Pod"}]}});
    let update = |old: Value, new: Value| Ask::update("nodes", "node0", old, new).by(N0);
    world.expect(&Ask::create("nodes", "node0", source()).by(N0), "403");
    world.expect(&Ask::create("nodes", "node0", tainted()).by(N0), "ok");
    world.expect(&update(plain(), source()), "403");
    world.expect(&update(source(), source()), "ok");
    world.expect(&update(source(), plain()), "ok");
    world.expect(&update(plain(), tainted()), "403");
    world.expect(&update(tainted(), plain()), "403");
    world.expect(&update(tainted(), tainted()), "ok");
    world.expect(&update(plain(), owned()), "403");
    world.expect(&update(owned(), plain()), "403");
    let mut without_old = update(plain(), plain());
    without_old.old_object = None;
    world.expect(&without_old, "400");
}

#[test]
fn of_a_claim_only_what_grows_changes() {
    let world = world();
    let old = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}});
    let with = |pointer: &str, key: &str, value: Value| {
        let mut new = old.clone();
        new.pointer_mut(pointer).expect("a place")[key] = value;
        Ask::update("persistentvolumeclaims/status", "ns0/c", old.clone(), new).by(N0)
    };
    world.expect(
        &with("/status", "capacity", json!({"storage": "2Gi"})),
        "ok",
    );
    world.expect(&with("/status", "conditions", json!([{}])), "ok");
    world.expect(&with("/status", "allocatedResources", json!({})), "ok");
    world.expect(&with("/status", "phase", json!("Lost")), "403");
    world.expect(&with("/spec", "volumeName", json!("w")), "403");
    world.expect(&with("/metadata", "labels", json!({})), "403");
    let claims = "persistentvolumeclaims";
    world.expect(
        &Ask::update(claims, "ns0/c", old.clone(), old.clone()).by(N0),
        "403",
    );
    world.expect(&Ask::create(claims, "ns0/c", json!({})).by(N0), "403");
    world.expect(&Ask::delete(claims, "ns0/c", json!({})).by(N0), "403");
}

#[test]
fn a_token_is_bound_to_a_pod_of_the_node() {
    let world = world();
    let ask = |bound: Value| {
        let object = json!({"spec": {"boundObjectRef": bound}});
        Ask::create("serviceaccounts/token", "ns0/sa0", object).by(N0)
    };
    let bound = |name: &str, uid: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
    world.expect(&ask(bound("pod0", "uid-node0")), "ok");
    world.expect(&ask(bound("pod0", "uid-node0")).by(N1), "403");
    world.expect(&ask(bound("pod1", "uid-node1")), "403");
    world.expect(&ask(bound("pod0", "other")), "403");
    world.expect(&ask(bound("pod0", "")), "403");
    world.expect(&ask(bound("gone", "x")), "404");
    world.expect(&ask(bound("", "x")), "403");
    world.expect(
        &ask(json!({"apiVersion": "v1", "kind": "Secret", "name": "pod0", "uid": "x"})),
        "403",
    );
    world.expect(&ask(Value::Null), "403");
    world.expect(&ask(json!("pod0")), "403");
    world.expect(
        &Ask::create("serviceaccounts", "ns0/sa0", json!({})).by(N0),
        "none",
    );
}

#[test]
fn certificates_of_pods_and_nodes() {
    let world = world();
    let spec = |node: &str, node_uid: &str, pod: &str, pod_uid: &str, account: &str| {
        let object = json!({"spec": {
            "nodeName": node, "nodeUID": node_uid, "podName": pod, "podUID": pod_uid, "serviceAccountName": account,
        }});
        Ask::create(
            "podcertificaterequests.certificates.k8s.io",
            "ns0/r",
            object,
        )
        .by(N0)
    };
    world.expect(&spec("node0", "uid-n0", "pod0", "uid-node0", "sa0"), "ok");
    world.expect(&spec("node1", "uid-n1", "pod1", "uid-node1", "sa0"), "403");
    world.expect(&spec("node0", "uid-n1", "pod0", "uid-node0", "sa0"), "403");
    world.expect(&spec("node0", "uid-n0", "pod1", "uid-node1", "sa0"), "403");
    world.expect(&spec("node0", "uid-n0", "pod0", "other", "sa0"), "403");
    world.expect(&spec("node0", "uid-n0", "pod0", "uid-node0", "sa1"), "403");
    world.expect(&spec("node0", "uid-n0", "gone", "x", "sa0"), "404");
    let mut mirrored = pod("node0");
    mirrored["metadata"]["annotations"] = json!({MIRROR: "x"});
    let world = world.with("Pod", "ns0/pod0", mirrored);
    world.expect(&spec("node0", "uid-n0", "pod0", "uid-node0", "sa0"), "403");

    let request = |signer: &str, request: &str| {
        let object = json!({"spec": {"signerName": signer, "request": request}});
        Ask::create(
            "certificatesigningrequests.certificates.k8s.io",
            "csr",
            object,
        )
    };
    let signer = "kubernetes.io/kube-apiserver-client-kubelet";
    world.expect(&request(signer, requests::NODE_0).by(N0), "ok");
    world.expect(&request(signer, requests::NODE_0).by(N1), "403");
    world.expect(
        &request("kubernetes.io/kubelet-serving", requests::SEED_S1).by(N0),
        "403",
    );
    world.expect(&request(signer, "bm90aGluZw==").by(N0), "403");
    world.expect(&request("example.org/x", requests::SEED_S1).by(N0), "ok");
}

#[test]
fn what_has_the_name_of_the_node() {
    let world = world();
    let (leases, slices) = (
        "leases.coordination.k8s.io",
        "resourceslices.resource.k8s.io",
    );
    for ask in [
        Ask::create(leases, "kube-node-lease/node0", json!({})),
        Ask::update(leases, "kube-node-lease/node0", json!({}), json!({})),
        Ask::delete(leases, "kube-node-lease/node0", json!({})),
        Ask::create("csinodes.storage.k8s.io", "node0", json!({})),
        Ask::delete("csinodes.storage.k8s.io", "node0", json!({})),
        Ask::create(slices, "any", json!({"spec": {"nodeName": "node0"}})),
        Ask::delete(slices, "any", json!({"spec": {"nodeName": "node0"}})),
    ] {
        world.expect(&ask.by(N0), "ok");
        world.expect(&ask.by(N1), "403");
    }
    world.expect(
        &Ask::create(leases, "default/node0", json!({})).by(N0),
        "403",
    );
    world.expect(
        &Ask::create("events", "default/e", json!({})).by(N0),
        "none",
    );
    world.expect(
        &Ask::create("csinodes.example.org", "node1", json!({})).by(N0),
        "none",
    );
}
