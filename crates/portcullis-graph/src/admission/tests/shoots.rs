//! What agents of self-hosted shoots, and gardenadm, may write.

use serde_json::json;

use super::requests;
use super::world::{Ask, World};

type Who = (&'static str, &'static str, &'static str);

const S1: Who = ("shoot-gardenlet", "Shoot", "garden-p1/sh1");
const S2: Who = ("shoot-gardenlet", "Shoot", "garden-p2/sh3");
const D1: Who = ("gardenadm", "Shoot", "garden-p1/sh1");
const E1: Who = ("shoot-extension", "Shoot", "garden-p1/sh1");

#[test]
fn what_belongs_to_the_shoot_by_name_or_reference() {
    let world = World::of("gardener").with(
        "BackupBucket",
        "bb1",
        json!({"spec": {"shootRef": {"namespace": "garden-p1", "name": "sh1"}}}),
    );
    let referring = json!({"spec": {"shootRef": {"namespace": "garden-p1", "name": "sh1"}, "bucketName": "bb1"}});
    let issuer = json!({"metadata": {"labels": {
        "shoot.gardener.cloud/name": "sh1",
        "shoot.gardener.cloud/namespace": "garden-p1",
        "discovery.gardener.cloud/public": "serviceaccount",
    }}});
    let usages = ["digital signature", "key encipherment", "client auth"];
    let request = json!({"spec": {"request": requests::SHOOT, "usages": usages}});
    let managed = json!({"spec": {"shoot": {"name": "sh1"}}});
    let own = [
        Ask::create(
            "backupbuckets.core.gardener.cloud",
            "new",
            referring.clone(),
        ),
        Ask::create(
            "backupentries.core.gardener.cloud",
            "garden-p1/new",
            referring,
        ),
        Ask::create("configmaps", "garden-p1/sh1.ca-cluster", json!({})),
        Ask::create(
            "internalsecrets.core.gardener.cloud",
            "garden-p1/sh1.ca-client",
            json!({}),
        ),
        Ask::create("secrets", "garden-p1/sh1.ssh-keypair.old", json!({})),
        Ask::create("secrets", "garden/generated-bucket-bb1", json!({})),
        Ask::create("secrets", "gardener-system-shoot-issuer/x", issuer),
        Ask::create(
            "certificatesigningrequests.certificates.k8s.io",
            "csr",
            request,
        ),
        Ask::create(
            "gardenlets.seedmanagement.gardener.cloud",
            "garden-p1/self-hosted-shoot-sh1",
            json!({}),
        ),
        Ask::create(
            "leases.coordination.k8s.io",
            "garden-p1/self-hosted-shoot-sh1",
            json!({}),
        ),
        Ask::create(
            "serviceaccounts",
            "garden-p1/extension-shoot--sh1--ci",
            json!({}),
        ),
        Ask::create(
            "shootstates.core.gardener.cloud",
            "garden-p1/sh1",
            json!({}),
        ),
        Ask::update(
            "shoots.core.gardener.cloud/status",
            "garden-p1/sh1",
            json!({}),
            json!({}),
        ),
        Ask::update(
            "managedseeds.seedmanagement.gardener.cloud",
            "garden-p1/sh1",
            managed.clone(),
            managed,
        ),
    ];
    for ask in &own {
        world.expect(&ask.by(S1), "ok");
        world.expect(&ask.by(S2), "403");
    }
    for foreign in [
        Ask::create("secrets", "garden-p1/sh2.monitoring", json!({})),
        Ask::create("secrets", "garden-p1/sh1.kubeconfig", json!({})),
        Ask::create("configmaps", "garden/sh1.ca-cluster", json!({})),
        Ask::create("leases.coordination.k8s.io", "garden-p1/sh1--x", json!({})),
    ] {
        world.expect(&foreign.by(S1), "403");
    }
    for none in [
        "bastions.operations.gardener.cloud",
        "seeds.core.gardener.cloud",
        "pods",
    ] {
        world.expect(&Ask::create(none, "garden-p1/sh1", json!({})).by(S1), "400");
    }
}

#[test]
fn extensions_have_leases_of_their_own() {
    let world = World::of("gardener");
    let lease = |key: &str| Ask::create("leases.coordination.k8s.io", key, json!({})).by(E1);
    world.expect(&lease("garden-p1/sh1--lock"), "ok");
    world.expect(&lease("garden-p1/sh2--lock"), "403");
    world.expect(&lease("garden-p2/sh1--lock"), "403");
    let request = Ask::create(
        "certificatesigningrequests.certificates.k8s.io",
        "csr",
        json!({}),
    );
    world.expect(&request.by(E1), "403");
    let account = Ask::create(
        "serviceaccounts",
        "garden-p1/extension-shoot--sh1--ci",
        json!({}),
    );
    world.expect(&account.by(E1), "400");
}

#[test]
fn gardenadm_stays_in_its_namespace() {
    let world = World::of("gardener");
    for resource in [
        "configmaps",
        "secrets",
        "secretbindings.core.gardener.cloud",
        "credentialsbindings.security.gardener.cloud",
        "workloadidentities.security.gardener.cloud",
    ] {
        world.expect(
            &Ask::create(resource, "garden-p1/any", json!({})).by(D1),
            "ok",
        );
        world.expect(
            &Ask::create(resource, "garden-p2/any", json!({})).by(D1),
            "403",
        );
    }
    let project = |namespace: &str| {
        let object = json!({"spec": {"namespace": namespace}});
        Ask::create("projects.core.gardener.cloud", "p1", object).by(D1)
    };
    world.expect(&project("garden-p1"), "ok");
    world.expect(&project("garden-p2"), "403");
    let shoots = "shoots.core.gardener.cloud";
    world.expect(
        &Ask::create(shoots, "garden-p1/sh1", json!({})).by(D1),
        "ok",
    );
    world.expect(
        &Ask::create(shoots, "garden-p1/sh2", json!({})).by(D1),
        "403",
    );
    world.expect(
        &Ask::create("backupbuckets.core.gardener.cloud", "x", json!({})).by(D1),
        "400",
    );
}
