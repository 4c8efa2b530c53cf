//! The built-in profiles, over the reference's objects.

use std::sync::Arc;

use crate::registry::Registry;
use portcullis_core::{Document, Door, Operation, Outcome, Plugin, Runs, UserInfo};
use serde_json::{Value, json};

use super::super::{NAME, register};
use super::world::{
    finished, gardenlet, object, outcome, plugin, refusal, request, shipped, short, user,
};

const GARDEN: &str = "core.gardener.cloud/v1beta1";

fn on(seed: &str) -> Value {
    json!({"spec": {"seedName": seed}})
}

fn garden() -> Vec<Value> {
    let managed = json!({"spec": {"shoot": {"name": "s3"}, "gardenlet": {"bootstrap": "BootstrapToken", "config": {
        "seedConfig": {"spec": {"backup": {"credentialsRef": {
            "apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "bk3",
        }}}},
    }}}});
    vec![
        object(
            GARDEN,
            "Seed",
            "s1",
            json!({"metadata": {"uid": "uid-s1"}, "spec": {}}),
        ),
        object(
            GARDEN,
            "Seed",
            "s2",
            json!({"metadata": {"uid": "uid-s2"}, "spec": {}}),
        ),
        object(GARDEN, "Shoot", "garden-p1/sh1", on("s1")),
        object(GARDEN, "Shoot", "garden/s3", on("s1")),
        object(
            "seedmanagement.gardener.cloud/v1alpha1",
            "ManagedSeed",
            "garden/s3",
            managed,
        ),
        object(GARDEN, "BackupBucket", "bb1", on("s1")),
    ]
}

fn nodes() -> Vec<Value> {
    let pod = |key: &str, node: &str| object("v1", "Pod", key, json!({"spec": {"nodeName": node}}));
    vec![
        object(
            "v1",
            "Node",
            "node0",
            json!({"metadata": {"uid": "uid-n0"}}),
        ),
        pod("ns0/pod0", "node0"),
        pod("ns0/pod1", "node1"),
    ]
}

fn extension() -> UserInfo {
    let groups = ["system:serviceaccounts", "system:serviceaccounts:seed-s1"];
    user("system:serviceaccount:seed-s1:extension-x", &groups)
}

fn node() -> UserInfo {
    user("system:node:node0", &["system:nodes"])
}

fn both() -> Arc<dyn Plugin> {
    plugin(vec![
        shipped("gardener", &garden()),
        shipped("node", &nodes()),
    ])
}

fn bastion(seed: &str) -> Value {
    object(
        "operations.gardener.cloud/v1alpha1",
        "Bastion",
        "garden-p1/ba2",
        on(seed),
    )
}

#[test]
fn the_cases_of_the_reference() {
    let plugin = both();
    let create = Operation::Create;
    let at = |key: &str| object("v1", "Any", key, json!({}));
    let token = object(
        "v1",
        "Secret",
        "kube-system/bootstrap-token-x",
        json!({"type": "Opaque"}),
    );
    let pod = |key: &str, node: &str| object("v1", "Pod", key, json!({"spec": {"nodeName": node}}));
    for (case, who, operation, resource, object, expected) in [
        (
            "A01",
            gardenlet("s1"),
            create,
            "bastions.operations.gardener.cloud",
            bastion("s2"),
            "403",
        ),
        (
            "A01",
            gardenlet("s1"),
            create,
            "bastions.operations.gardener.cloud",
            bastion("s1"),
            "ok",
        ),
        (
            "A02",
            gardenlet("s1"),
            Operation::Update,
            "seeds.core.gardener.cloud",
            at("s3"),
            "403",
        ),
        (
            "A03",
            gardenlet("s1"),
            Operation::Delete,
            "backupbuckets.core.gardener.cloud",
            at("bb1"),
            "403",
        ),
        (
            "A03",
            gardenlet("s1"),
            Operation::Delete,
            "backupbuckets.core.gardener.cloud",
            at("uid-s1"),
            "ok",
        ),
        (
            "A04",
            gardenlet("s1"),
            create,
            "configmaps",
            at("garden-p1/sh1.ca-kubelet"),
            "ok",
        ),
        (
            "A04",
            gardenlet("s2"),
            create,
            "configmaps",
            at("garden-p1/sh1.ca-kubelet"),
            "403",
        ),
        ("A05", gardenlet("s1"), create, "secrets", token, "422"),
        (
            "A06",
            extension(),
            create,
            "serviceaccounts",
            at("seed-s1/x"),
            "403",
        ),
        (
            "A07",
            gardenlet("s1"),
            create,
            "leases.coordination.k8s.io",
            at("default/gardenlet-leader-election"),
            "ok",
        ),
        (
            "A08",
            gardenlet("s1"),
            create,
            "pods",
            at("default/p"),
            "400",
        ),
        (
            "N07",
            node(),
            Operation::Delete,
            "pods",
            pod("ns0/pod1", "node1"),
            "403",
        ),
        (
            "N07",
            node(),
            Operation::Delete,
            "pods",
            pod("ns0/pod0", "node0"),
            "ok",
        ),
        (
            "credentials",
            gardenlet("s1"),
            create,
            "secrets",
            at("garden/bk3"),
            "ok",
        ),
        (
            "credentials",
            gardenlet("s2"),
            create,
            "secrets",
            at("garden/bk3"),
            "403",
        ),
        (
            "existing",
            gardenlet("s2"),
            create,
            "backupbuckets.core.gardener.cloud",
            at("bb1"),
            "ok",
        ),
        (
            "not watched",
            gardenlet("s2"),
            create,
            "configmaps",
            at("garden-p1/x"),
            "403",
        ),
        (
            "other resource",
            node(),
            create,
            "events",
            at("default/e"),
            "none",
        ),
    ] {
        let asked = request(who, operation, resource, object);
        assert_eq!(
            short(&plugin, &asked),
            expected,
            "{case} {}",
            asked.subject()
        );
    }
}

#[test]
fn a_refusal_has_code_reason_words_and_a_place() {
    let plugin = both();
    let asked = request(
        gardenlet("s1"),
        Operation::Create,
        "bastions.operations.gardener.cloud",
        bastion("s2"),
    );
    let finished = finished(&plugin, &asked);
    let notes: Vec<_> = finished.notes.annotations().collect();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].0, "scoped-access");
    assert!(
        notes[0].1.starts_with("gardener: admission.rules["),
        "{notes:?}"
    );
    let denial = refusal(finished.outcome.expect("an outcome"));
    assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
    assert_eq!(denial.message, "object does not belong to seed \"s1\"");
    let pod = object("v1", "Pod", "default/p", json!({}));
    let denial = refusal(outcome(
        &plugin,
        &request(gardenlet("s1"), Operation::Create, "pods", pod),
    ));
    assert_eq!((denial.code, denial.reason.as_ref()), (400, "BadRequest"));
}

#[test]
fn what_exists_already_is_noted() {
    let plugin = both();
    let bucket = object(GARDEN, "BackupBucket", "bb1", on("s2"));
    let asked = request(
        gardenlet("s2"),
        Operation::Create,
        "backupbuckets.core.gardener.cloud",
        bucket,
    );
    // It may: it is on its own seed. Another one may not, but it is there already.
    assert_eq!(finished(&plugin, &asked).notes.annotations().count(), 0);
    let asked = portcullis_core::Attributes {
        user: gardenlet("s1"),
        ..asked
    };
    let finished = finished(&plugin, &asked);
    assert_eq!(finished.outcome.expect("an outcome"), Outcome::Pass);
    let notes: Vec<_> = finished.notes.annotations().collect();
    assert_eq!(
        notes,
        [("scoped-access", "gardener: object already exists")]
    );
}

#[test]
fn users_that_are_no_agents_cost_no_look_at_the_object() {
    let plugin = both();
    let mut asked = request(
        user("alice", &["system:authenticated"]),
        Operation::Create,
        "secrets",
        json!({}),
    );
    asked.object = Some(Document::from_text("no JSON at all"));
    assert_eq!(short(&plugin, &asked), "none");
    asked.user = gardenlet("s1");
    assert_eq!(short(&plugin, &asked), "400");
    // A user with only the name of an agent is not one.
    asked.user.groups.clear();
    assert_eq!(short(&plugin, &asked), "none");
    // Jobs of CI have users of other kinds.
    asked.user = gardenlet("s1");
    asked.door = Door::Ci;
    assert_eq!(short(&plugin, &asked), "none");
}

#[test]
fn users_of_whom_it_is_unclear_which_agent_they_are_write_nothing() {
    let plugin = both();
    let several: &[&str] = &[
        "system:serviceaccounts",
        "system:serviceaccounts:seed-s1",
        "system:serviceaccounts:seed-s2",
    ];
    let seeds: &[&str] = &["gardener.cloud:system:seeds"];
    for (name, groups) in [
        ("system:node:", &["system:nodes"][..]),
        ("system:node:a:b", &["system:nodes"]),
        ("gardener.cloud:system:seed:", seeds),
        ("gardener.cloud:system:seed:a/b", seeds),
        ("system:serviceaccount:seed-s1:extension-x", several),
    ] {
        for resource in ["nodes", "configmaps", "pods"] {
            let asked = request(
                user(name, groups),
                Operation::Create,
                resource,
                json!({"metadata": {"name": "n"}}),
            );
            assert_eq!(short(&plugin, &asked), "403", "{name} {resource}");
        }
    }
    let asked = request(
        user("system:node:a:b", &["system:nodes"]),
        Operation::Create,
        "nodes",
        json!({"metadata": {"name": "n"}}),
    );
    let denial = refusal(outcome(&plugin, &asked));
    assert_eq!(
        denial.message,
        "could not determine the Node from user \"system:node:a:b\""
    );
}

#[test]
fn hostile_objects_are_refused() {
    let plugin = both();
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let many: Vec<Value> = (0..20_000).map(|n| json!(n)).collect();
    for spec in [
        deep,
        json!(many),
        json!("s1"),
        json!([]),
        json!(null),
        json!({"seedName": {"a": 1}}),
    ] {
        let mut bastion = bastion("s1");
        bastion["spec"] = spec;
        let asked = request(
            gardenlet("s1"),
            Operation::Create,
            "bastions.operations.gardener.cloud",
            bastion,
        );
        let code = refusal(outcome(&plugin, &asked)).code;
        assert!(matches!(code, 400 | 403), "{code}");
    }
    let mut asked = request(gardenlet("s1"), Operation::Create, "secrets", json!({}));
    asked.namespace = "garden-p1".to_owned();
    for name in [
        "../../x.monitoring",
        "a/b.monitoring",
        "x\0y.monitoring",
        "\u{202e}.monitoring",
        ".monitoring",
    ] {
        asked.name = name.to_owned();
        let denial = refusal(outcome(&plugin, &asked));
        assert_eq!(denial.code, 403, "{name:?}: {}", denial.message);
    }
}

#[test]
fn the_descriptor_tells_the_truth() {
    let mut registry = Registry::default();
    register(&mut registry, &Arc::from(Vec::new()));
    let descriptor = registry.get(NAME).expect("the plug-in");
    let plugin = (descriptor.factory)(None).expect("no configuration");
    assert_eq!(plugin.phases(), descriptor.phases);
    assert_eq!(plugin.runs(), Runs::Deferred);
    for operation in Operation::ALL {
        assert!(plugin.handles(operation) && descriptor.operations.contains(operation));
    }
    assert!(descriptor.summary.ends_with('.') && descriptor.schema.is_none());
    let faults = (descriptor.factory)(Some(&json!({})))
        .map(|_| ())
        .expect_err("a fault");
    assert_eq!(faults[0].to_string(), "takes no configuration");
}
