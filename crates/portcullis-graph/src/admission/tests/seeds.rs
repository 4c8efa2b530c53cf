//! `SeedRestriction`: every resource with what is allowed and what is denied, current and as of 2021.

use serde_json::{Value, json};

use super::requests;
use super::world::{Ask, World, wanted};
use crate::admission::Judgement;
use crate::lookups::LookupResult;

type Who = (&'static str, &'static str, &'static str);

const U1: Who = ("gardenlet", "Seed", "s1");
const U2: Who = ("gardenlet", "Seed", "s2");
const U3: Who = ("gardenlet", "Seed", "s3");
const X1: Who = ("extension", "Seed", "s1");

const PAST: &str = "2020-01-01T00:00:00Z";
const FUTURE: &str = "2200-01-01T00:00:00Z";
const BUCKETS: &str = "backupbuckets.core.gardener.cloud";
const ENTRIES: &str = "backupentries.core.gardener.cloud";
const SEEDS: &str = "seeds.core.gardener.cloud";
const LEASES: &str = "leases.coordination.k8s.io";
const BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";
const REQUESTS: &str = "certificatesigningrequests.certificates.k8s.io";
const BOOTSTRAPPER: &str = "gardener.cloud:system:seed-bootstrapper";

fn on(seed: &str) -> Value {
    json!({"spec": {"seedName": seed}})
}

fn managed(shoot: &str) -> Value {
    json!({"spec": {"shoot": {"name": shoot}}})
}

/// Fixture F of the reference, as far as admission looks at it.
fn world() -> World {
    World::of("gardener")
        .with("Seed", "s1", json!({"metadata": {"uid": "uid-s1"}}))
        .with("Seed", "s2", json!({"metadata": {"uid": "uid-s2"}}))
        .with("Shoot", "garden-p1/sh1", on("s1"))
        .with("BackupBucket", "bb1", on("s1"))
        .with("BackupBucket", "bb2", on("s2"))
        .with(
            "BackupEntry",
            "garden-p1/be1",
            json!({"spec": {"bucketName": "bb1", "seedName": "s1"}}),
        )
        .with("Shoot", "garden/s3", on("s1"))
        .with("ManagedSeed", "garden/s3", managed("s3"))
        .with("Shoot", "garden-p2/sh3", on("s3"))
}

fn encoded(data: &[(&str, &str)]) -> Value {
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    let data = data
        .iter()
        .map(|(key, text)| ((*key).to_owned(), json!(engine.encode(text))));
    Value::Object(data.collect())
}

#[test]
fn a01_and_buckets_and_bastions_are_of_the_own_seed() {
    let world = world();
    for (resource, key) in [
        (BUCKETS, "new"),
        ("bastions.operations.gardener.cloud", "garden-p1/new"),
    ] {
        for (object, expected) in [
            (on("s1"), "ok"),
            (on("s2"), "403"),
            (json!({}), "403"),
            (json!({"spec": {}}), "403"),
            (json!({"spec": {"seedName": null}}), "403"),
            (json!({"spec": {"seedName": ["s1"]}}), "403"),
            (json!({"spec": "s1"}), "400"),
        ] {
            let ask = Ask::create(resource, key, object.clone());
            for who in [U1, X1] {
                let judgement = world.judge(&ask.by(who));
                let is_ok = judgement == Judgement::Pass;
                assert_eq!(is_ok, expected == "ok", "{object}: {judgement:?}");
                assert!(
                    is_ok
                        || matches!(
                            judgement,
                            Judgement::Refuse {
                                code: 400 | 403,
                                ..
                            }
                        )
                );
            }
        }
        let ask = Ask::create(resource, key, on("s2")).by(U1);
        assert_eq!(world.message(&ask), "object does not belong to seed \"s1\"");
    }
}

#[test]
fn a02_a_seed_is_written_by_its_own_gardenlet() {
    let world = world();
    for resource in [SEEDS, "seeds.core.gardener.cloud/status"] {
        world.expect(
            &Ask::update(resource, "s3", json!({}), json!({})).by(U1),
            "403",
        );
        world.expect(
            &Ask::update(resource, "s1", json!({}), json!({})).by(U1),
            "ok",
        );
    }
    world.expect(&Ask::create(SEEDS, "s3", json!({})).by(U1), "403");
    world.expect(&Ask::create(SEEDS, "s3", json!({})).by(U3), "ok");
}

#[test]
fn a03_a_bucket_is_deleted_by_the_gardenlet_whose_seed_has_its_name_as_uid() {
    let world = world();
    world.expect(&Ask::delete(BUCKETS, "bb1", on("s1")).by(U1), "403");
    world.expect(&Ask::delete(BUCKETS, "uid-s1", on("s1")).by(U1), "ok");
    world.expect(&Ask::delete(BUCKETS, "uid-s1", on("s1")).by(U2), "403");
    world.expect(&Ask::delete(BUCKETS, "", on("s1")).by(U1), "403");
    // No Seed, or one that can't be read.
    world.expect(&Ask::delete(BUCKETS, "uid-s3", on("s3")).by(U3), "500");
    let broken = world.with_found("Seed", "s1", LookupResult::Failed("no answer".into()));
    broken.expect(&Ask::delete(BUCKETS, "uid-s1", on("s1")).by(U1), "failed");
}

#[test]
fn the_seed_of_a_managed_seed_goes_with_it() {
    let going = |shoot: &str| {
        let mut managed = managed(shoot);
        managed["metadata"] = json!({"deletionTimestamp": PAST});
        managed
    };
    let world = world();
    world.expect(&Ask::delete(SEEDS, "s1", json!({})).by(U1), "ok");
    world.expect(&Ask::delete(SEEDS, "s2", json!({})).by(U1), "403");
    world.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "403");
    let world = world.with("ManagedSeed", "garden/s3", going("s3"));
    world.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "ok");
    world.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U2), "403");
    let world = world.with("ManagedSeed", "garden/s3", going("nosuch"));
    world.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "500");
    let world = world.with(
        "ManagedSeed",
        "garden/s3",
        json!({"metadata": {"deletionTimestamp": PAST}}),
    );
    world.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "500");
}

#[test]
fn an_entry_is_of_the_own_seed_and_of_one_of_its_buckets() {
    let world = world();
    let entry =
        |bucket: &str, seed: &str| json!({"spec": {"bucketName": bucket, "seedName": seed}});
    for (object, expected) in [
        (entry("bb1", "s1"), "ok"),
        (entry("bb1", "s2"), "403"),
        (entry("bb2", "s1"), "403"),
        (entry("nosuch", "s1"), "500"),
        (on("s1"), "500"),
    ] {
        world.expect(
            &Ask::create(ENTRIES, "garden-p1/be2", object).by(U1),
            expected,
        );
    }
}

#[test]
fn a_source_entry_is_for_a_shoot_that_is_being_restored() {
    let restored = |kind: &str, state: &str| {
        let mut shoot = on("s1");
        shoot["status"] = json!({"lastOperation": {"type": kind, "state": state}});
        shoot
    };
    let entry = |bucket: &str, owner: &str| {
        json!({
            "metadata": {"ownerReferences": [{"kind": "Other"}, {"kind": "Shoot", "name": owner}]},
            "spec": {"bucketName": bucket, "seedName": "s1"},
        })
    };
    let named = |name: &str, object: Value| Ask::create(ENTRIES, name, object).by(U1);
    let idle = world();
    idle.expect(&named("garden-p1/source-be1", entry("bb1", "sh1")), "403");
    let world = idle.with("Shoot", "garden-p1/sh1", restored("Restore", "Processing"));
    for (name, object, expected) in [
        ("source-be1", entry("bb1", "sh1"), "ok"),
        ("source-be1", entry("bb2", "sh1"), "403"),
        ("source-be1", entry("bb1", "nosuch"), "500"),
        ("source-be1", on("s1"), "500"),
        ("source-be1", on("s2"), "403"),
        ("source-nosuch", entry("bb1", "sh1"), "403"),
        ("sourcebe1", entry("bb1", "sh1"), "403"),
    ] {
        world.expect(&named(&format!("garden-p1/{name}"), object), expected);
    }
    let world = world.with("Shoot", "garden-p1/sh1", restored("Restore", "Succeeded"));
    world.expect(&named("garden-p1/source-be1", entry("bb1", "sh1")), "403");
}

#[test]
fn a04_what_is_named_after_a_shoot_belongs_to_its_seed() {
    let secrets = "internalsecrets.core.gardener.cloud";
    let world = world();
    for (resource, key, expected) in [
        ("configmaps", "garden-p1/sh1.ca-kubelet", "ok"),
        ("configmaps", "garden-p1/sh1.ca-cluster", "ok"),
        ("configmaps", "garden-p1/sh1.ca-client", "403"),
        ("configmaps", "garden-p2/sh3.ca-cluster", "403"),
        ("configmaps", "garden-p2/sh1.ca-cluster", "403"),
        ("configmaps", "garden-p1/sh1.ca-kubelet.ca-cluster", "403"),
        ("configmaps", "garden-p1/.ca-cluster", "403"),
        ("configmaps", "garden-p1/other", "403"),
        (secrets, "garden-p1/sh1.ca-client", "ok"),
        (secrets, "garden-p2/sh3.ca-client", "403"),
        (secrets, "garden-p1/sh1.ca-cluster", "403"),
        ("secrets", "garden-p1/sh1.ca-cluster", "ok"),
        ("secrets", "garden-p1/sh1.ssh-keypair", "ok"),
        ("secrets", "garden-p1/sh1.ssh-keypair.old", "ok"),
        ("secrets", "garden-p1/sh1.monitoring", "ok"),
        ("secrets", "garden-p2/sh3.monitoring", "403"),
        ("secrets", "garden-p1/nosuch.monitoring", "403"),
        ("secrets", "garden-p1/other", "403"),
        ("secrets", "garden/generated-bucket-bb1", "ok"),
        ("secrets", "garden/generated-bucket-bb2", "403"),
        ("secrets", "garden/generated-bucket-nosuch", "403"),
    ] {
        for who in [U1, X1] {
            world.expect(&Ask::create(resource, key, json!({})).by(who), expected);
        }
    }
    let failed = LookupResult::Failed("no answer".into());
    let broken = world.with_found("Shoot", "garden-p1/sh1", failed);
    broken.expect(
        &Ask::create("configmaps", "garden-p1/sh1.ca-kubelet", json!({})).by(U1),
        "failed",
    );
}

fn token(description: &str) -> Value {
    let mut data = encoded(&[
        ("usage-bootstrap-authentication", "true"),
        ("usage-bootstrap-signing", "true"),
    ]);
    data["description"] = encoded(&[("d", description)])["d"].clone();
    json!({"type": "bootstrap.kubernetes.io/token", "data": data})
}

fn described(kind: &str, key: &str) -> String {
    let api = "seedmanagement.gardener.cloud/v1alpha1";
    format!("A bootstrap token for the Gardenlet for {api}.{kind} resource {key}.")
}

#[test]
fn a05_a_bootstrap_token_is_one() {
    let world = world();
    let create =
        |object: Value| Ask::create("secrets", "kube-system/bootstrap-token-x", object).by(U1);
    let managed = || token(&described("ManagedSeed", "garden/s3"));
    world.expect(&create(managed()), "ok");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut object = managed();
        change(&mut object);
        create(object)
    };
    for change in [
        &(|o: &mut Value| o["type"] = json!("Opaque")) as &dyn Fn(&mut Value),
        &|o| o["type"] = Value::Null,
        &|o| o["data"]["usage-bootstrap-authentication"] = json!("ZmFsc2U="),
        &|o| o["data"]["usage-bootstrap-authentication"] = json!("="),
        &|o| o["data"]["usage-bootstrap-signing"] = Value::Null,
        &|o| o["data"]["auth-extra-groups"] = json!(""),
        &|o| o["data"]["auth-extra-groups"] = json!("c3lzdGVtOm1hc3RlcnM="),
    ] {
        world.expect(&changed(change), "422");
    }
    // The usages count before the description does.
    world.expect(&changed(&|o| o["data"] = json!({})), "422");
    world.expect(&create(json!({"type": "Opaque"})), "422");
    for description in [
        "",
        "something else",
        &described("Shoot", "garden/s3"),
        &described("ManagedSeed", "s3"),
        &described("ManagedSeed", "a/b/c"),
        described("ManagedSeed", "garden/s3").trim_end_matches('.'),
    ] {
        world.expect(&create(token(description)), "400");
    }
    let in_other_namespace = Ask::create("secrets", "default/bootstrap-token-x", managed()).by(U1);
    world.expect(&in_other_namespace, "403");
}

/// Asks for the same as `ask` in all states of a managed seed that bootstraps.
fn expect_bootstrap(ask: &Ask) {
    world().expect(&ask.by(U1), "ok");
    world().expect(&ask.by(U2), "403");
    let seed = |expiry: Value| json!({"status": {"clientCertificateExpirationTimestamp": expiry}});
    world()
        .with("Seed", "s3", seed(json!(PAST)))
        .expect(&ask.by(U1), "ok");
    world()
        .with("Seed", "s3", seed(json!(FUTURE)))
        .expect(&ask.by(U1), "400");
    world()
        .with("Seed", "s3", json!({}))
        .expect(&ask.by(U1), "400");
    let mut renewed = managed("s3");
    renewed["metadata"] = json!({"annotations": {"gardener.cloud/operation": "renew-kubeconfig"}});
    let renewal = world().with("ManagedSeed", "garden/s3", renewed);
    renewal
        .with("Seed", "s3", seed(json!(FUTURE)))
        .expect(&ask.by(U1), "ok");
    world()
        .with_found("ManagedSeed", "garden/s3", LookupResult::Absent)
        .expect(&ask.by(U1), "403");
    world()
        .with_found("Shoot", "garden/s3", LookupResult::Absent)
        .expect(&ask.by(U1), "500");
    for kind in ["ManagedSeed", "Shoot"] {
        let failed = LookupResult::Failed("no answer".into());
        world()
            .with_found(kind, "garden/s3", failed)
            .expect(&ask.by(U1), "failed");
    }
    let unread = world().with_found("Seed", "s3", LookupResult::Unread);
    assert_eq!(
        unread.judge(&ask.by(U1)),
        Judgement::Needs(vec![wanted("Seed", "s3")])
    );
}

#[test]
fn a_managed_seed_is_bootstrapped_by_the_gardenlet_of_its_shoot() {
    let object = token(&described("ManagedSeed", "garden/s3"));
    expect_bootstrap(&Ask::create(
        "secrets",
        "kube-system/bootstrap-token-x",
        object,
    ));
    expect_bootstrap(&Ask::create(
        "serviceaccounts",
        "garden/gardenlet-bootstrap-s3",
        json!({}),
    ));
    let role = |name: &str| json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}});
    let name = |rest: &str| format!("{BOOTSTRAPPER}:{rest}");
    let binding = |rest: &str, role: Value| Ask::create(BINDINGS, &name(rest), role);
    let right = binding("garden:gardenlet-bootstrap-s3", role(BOOTSTRAPPER));
    expect_bootstrap(&right);
    for wrong in [
        binding("garden:gardenlet-bootstrap-s3", role("cluster-admin")),
        binding("garden:gardenlet-bootstrap-s3", json!({})),
        binding("garden:s3", role(BOOTSTRAPPER)),
        binding("garden:gardenlet-bootstrap-s3:x", role(BOOTSTRAPPER)),
        Ask::create(BINDINGS, "admin", role(BOOTSTRAPPER)),
    ] {
        world().expect(&wrong.by(U1), "403");
    }
    world().expect(&right.by(X1), "403");
}

#[test]
fn a_gardenlet_is_bootstrapped_by_itself() {
    let ask = |key: &str| {
        let object = token(&described("Gardenlet", key));
        Ask::create("secrets", "kube-system/bootstrap-token-x", object)
    };
    let seed = |expiry: &str| json!({"status": {"clientCertificateExpirationTimestamp": expiry}});
    let renewal =
        json!({"metadata": {"annotations": {"gardener.cloud/operation": "renew-kubeconfig"}}});
    let known = || world().with("Gardenlet", "garden/s1", json!({}));
    world().expect(&ask("garden/s1").by(U1), "403");
    known().expect(&ask("garden/s1").by(U1), "400");
    known()
        .with("Seed", "s1", seed(FUTURE))
        .expect(&ask("garden/s1").by(U1), "400");
    known()
        .with("Seed", "s1", seed(PAST))
        .expect(&ask("garden/s1").by(U1), "ok");
    known()
        .with("Seed", "s1", seed(PAST))
        .expect(&ask("garden/s1").by(U2), "403");
    known()
        .with("Seed", "s1", seed(PAST))
        .expect(&ask("other/s1").by(U1), "403");
    known()
        .with_found("Seed", "s1", LookupResult::Absent)
        .expect(&ask("garden/s1").by(U1), "403");
    let renewed = known().with("Gardenlet", "garden/s1", renewal);
    renewed.expect(&ask("garden/s1").by(U1), "ok");
}

#[test]
fn the_keys_of_an_issuer_name_their_shoot() {
    let world = world();
    let labels = |name: &str, namespace: &str, public: &str| {
        json!({"metadata": {"labels": {
            "shoot.gardener.cloud/name": name,
            "shoot.gardener.cloud/namespace": namespace,
            "discovery.gardener.cloud/public": public,
        }}})
    };
    for (object, expected) in [
        (labels("sh1", "garden-p1", "serviceaccount"), "ok"),
        (labels("sh1", "garden-p1", "other"), "422"),
        (labels("", "garden-p1", "serviceaccount"), "422"),
        (labels("sh1", "", "serviceaccount"), "422"),
        (labels("sh3", "garden-p2", "serviceaccount"), "403"),
        (labels("nosuch", "garden-p1", "serviceaccount"), "403"),
        (json!({}), "422"),
    ] {
        let key = "gardener-system-shoot-issuer/p1--uid";
        world.expect(&Ask::create("secrets", key, object).by(U1), expected);
    }
}

#[test]
fn backup_credentials_of_a_managed_seed_are_written_by_the_gardenlet_of_its_shoot() {
    let ask = Ask::create("secrets", "garden/bk3", json!({}));
    world().expect(&ask.by(U1), "403");
    let world = world().with_edge(("Secret", "garden/bk3"), ("ManagedSeed", "garden/s3"));
    world.expect(&ask.by(U1), "ok");
    world.expect(&ask.by(U2), "403");
    // One that is gone meanwhile doesn't hide the others.
    let world = world.with_edge(("Secret", "garden/bk4"), ("ManagedSeed", "garden/gone"));
    let world = world.with_edge(("Secret", "garden/bk4"), ("ManagedSeed", "garden/s3"));
    world.expect(
        &Ask::create("secrets", "garden/bk4", json!({})).by(U1),
        "ok",
    );
}

#[test]
fn a06_extensions_make_no_accounts_and_gardenlets_some() {
    let world = world();
    let account = |key: &str| Ask::create("serviceaccounts", key, json!({}));
    world.expect(&account("seed-s1/x").by(X1), "403");
    world.expect(&account("seed-s1/x").by(U1), "ok");
    world.expect(&account("seed-s2/x").by(U1), "403");
    world.expect(&account("garden/x").by(U1), "403");
    let token = |key: &str| Ask::create("serviceaccounts/token", key, json!({}));
    world.expect(&token("seed-s1/x").by(U1), "ok");
    world.expect(&token("seed-s2/x").by(U1), "403");
    world.expect(&token("seed-s1/x").by(X1), "400");
}

#[test]
fn a07_leases() {
    let world = world();
    for (who, key, expected) in [
        (U1, "default/gardenlet-leader-election", "ok"),
        (U1, "gardener-system-seed-lease/s1", "ok"),
        (U1, "gardener-system-seed-lease/s2", "403"),
        (U1, "default/s1", "403"),
        (X1, "default/gardenlet-leader-election", "403"),
        (X1, "seed-s1/anything", "ok"),
        (X1, "seed-s2/anything", "403"),
    ] {
        world.expect(&Ask::create(LEASES, key, json!({})).by(who), expected);
    }
}

#[test]
fn a08_what_is_unexpected_is_told() {
    let world = world();
    let pod = Ask::create("pods", "default/p", json!({})).by(U1);
    world.expect(&pod, "400");
    assert_eq!(world.message(&pod), "unexpected resource: \"pods\"");
    let change = Ask::update("secrets", "garden-p1/x", json!({}), json!({})).by(U1);
    world.expect(&change, "400");
    assert_eq!(world.message(&change), "unexpected operation: \"UPDATE\"");
    // Subresources are not as the object itself, and the group counts.
    let part = Ask::create("secrets/status", "garden-p1/sh1.monitoring", json!({}));
    world.expect(&part.by(U1), "400");
    world.expect(
        &Ask::create("secrets.example.org", "garden-p1/sh1.monitoring", json!({})).by(U1),
        "400",
    );
    for object in [json!([]), json!("x"), json!(1)] {
        world.expect(&Ask::create(BUCKETS, "new", object).by(U1), "400");
    }
}

#[test]
fn gardenlets_and_shoot_states() {
    let world = world();
    let resource = "gardenlets.seedmanagement.gardener.cloud";
    for (key, expected) in [
        ("garden/s1", "ok"),
        ("garden/s2", "403"),
        ("other/s1", "400"),
    ] {
        world.expect(&Ask::create(resource, key, json!({})).by(U1), expected);
    }
    let resource = "shootstates.core.gardener.cloud";
    for (key, expected) in [
        ("garden-p1/sh1", "ok"),
        ("garden-p2/sh3", "403"),
        ("garden-p1/nosuch", "500"),
    ] {
        world.expect(&Ask::create(resource, key, json!({})).by(U1), expected);
    }
    let mut moving = on("s2");
    moving["status"] = json!({"seedName": "s1"});
    let world = world.with("Shoot", "garden-p1/sh1", moving);
    for who in [U1, U2] {
        world.expect(
            &Ask::create(resource, "garden-p1/sh1", json!({})).by(who),
            "ok",
        );
    }
    world.expect(
        &Ask::create(resource, "garden-p1/sh1", json!({})).by(U3),
        "403",
    );
}

#[test]
fn what_exists_already_is_left_to_the_api_server() {
    let world = world();
    let bucket = |name: &str| Ask::create(BUCKETS, name, on("s2")).by(U1);
    world.expect(&bucket("bb2"), "exists");
    world.expect(&bucket("bb3"), "403");
    let world = world.with_found("BackupBucket", "bb4", LookupResult::Unread);
    assert_eq!(
        world.judge(&bucket("bb4")),
        Judgement::Needs(vec![wanted("BackupBucket", "bb4")])
    );
    let world = world.with_found(
        "BackupBucket",
        "bb5",
        LookupResult::Failed("no answer".into()),
    );
    world.expect(&bucket("bb5"), "403");
    // What passes anyway asks for nothing.
    world.expect(&Ask::create(BUCKETS, "bb4", on("s1")).by(U1), "ok");
    // A change of what exists is another thing.
    world.expect(
        &Ask::update(SEEDS, "s2", json!({}), json!({})).by(U1),
        "403",
    );
}

#[test]
fn certificate_requests_are_for_the_own_seed() {
    let world = world();
    let usages = ["digital signature", "key encipherment", "client auth"];
    let ask = |request: Value, usages: &[&str]| {
        let spec = json!({"request": request, "usages": usages});
        Ask::create(REQUESTS, "csr", json!({"spec": spec}))
    };
    let right = ask(json!(requests::SEED_S1), &usages);
    world.expect(&right.by(U1), "ok");
    world.expect(&right.by(U2), "403");
    world.expect(&right.by(X1), "403");
    for wrong in [
        requests::TWO_ORGANIZATIONS,
        requests::OTHER_NAME,
        requests::WITH_HOST,
        requests::WITH_ADDRESS,
        requests::WITH_URI,
        requests::SHOOT,
        requests::NODE_0,
    ] {
        world.expect(&ask(json!(wrong), &usages).by(U1), "403");
    }
    world.expect(&ask(json!(requests::SEED_S1), &usages[..2]).by(U1), "403");
    let more = [
        "digital signature",
        "key encipherment",
        "client auth",
        "server auth",
    ];
    world.expect(&ask(json!(requests::SEED_S1), &more).by(U1), "403");
    for none in [
        json!("bm90aGluZw=="),
        json!("???"),
        json!(""),
        Value::Null,
        json!({}),
    ] {
        world.expect(&ask(none, &usages).by(U1), "400");
    }
}

#[test]
fn hostile_names_stay_inside_their_quotes() {
    let world = world();
    let name = format!("{}\"\n\u{1b}[2J.monitoring", "x".repeat(100_000));
    let ask = Ask::create("secrets", &format!("garden-p1/{name}"), json!({})).by(U1);
    let message = world.message(&ask);
    assert!(
        message.starts_with("shoot \"xxx") && message.ends_with("…\" was not found"),
        "{message}"
    );
    assert!(message.chars().count() < 400 && !message.contains('\n'));
}

#[test]
fn an_object_must_be_what_the_request_says() {
    let world = world();
    let mut ask = Ask::create(SEEDS, "s1", json!({})).by(U1);
    ask.object = Some(json!({"metadata": {"name": "s2"}}));
    world.expect(&ask, "400");
    let mut ask = Ask::create("configmaps", "garden-p1/sh1.ca-cluster", json!({})).by(U1);
    ask.object = Some(json!({"metadata": {"name": "sh1.ca-cluster", "namespace": "kube-system"}}));
    world.expect(&ask, "400");
    // The name may be in the object alone.
    let mut ask = Ask::create(SEEDS, "s1", json!({})).by(U1);
    ask.key = String::new();
    world.expect(&ask, "ok");
    world.expect(&ask.by(U2), "exists");
    world.expect(&ask.by(("gardenlet", "Seed", "nosuch")), "exists");
    ask.object = None;
    world.expect(&ask, "400");
}

#[test]
fn the_footnote_of_2021() {
    let world = || {
        World::of("gardener-2021")
            .with("Shoot", "garden/s3", on("s1"))
            .with("ManagedSeed", "garden/s3", managed("s3"))
            .with("BackupBucket", "bb1", on("s1"))
    };
    let mut templated = managed("s3");
    templated["spec"]["seedTemplate"] = json!({"spec": {}});
    let mut going = managed("s3");
    going["metadata"] = json!({"deletionTimestamp": PAST});
    let write = Ask::update(SEEDS, "s3", json!({}), json!({}));
    world().expect(&write.by(U1), "403");
    world().expect(&write.by(U3), "ok");
    let with_template = world().with("ManagedSeed", "garden/s3", templated);
    with_template.expect(&write.by(U1), "ok");
    with_template.expect(&write.by(U2), "403");
    with_template.expect(&Ask::create(SEEDS, "s3", json!({})).by(U1), "ok");
    with_template.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "403");
    let without = world().with("ManagedSeed", "garden/s3", going);
    without.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U1), "ok");
    without.expect(&Ask::delete(SEEDS, "s3", json!({})).by(U2), "403");
    without.expect(&write.by(U1), "403");

    let world = world();
    world.expect(&Ask::create(BUCKETS, "new", on("s1")).by(U1), "ok");
    world.expect(&Ask::create(BUCKETS, "new", on("s2")).by(U1), "403");
    world.expect(
        &Ask::update(BUCKETS, "bb1", on("s1"), on("s2")).by(U1),
        "403",
    );
    world.expect(&Ask::delete(BUCKETS, "bb1", on("s1")).by(U1), "ok");
    world.expect(&Ask::delete(BUCKETS, "bb1", on("s1")).by(U2), "403");
    let entry = json!({"spec": {"bucketName": "bb1", "seedName": "s1"}});
    world.expect(&Ask::create(ENTRIES, "garden-p1/be1", entry).by(U1), "ok");
    world.expect(
        &Ask::create(ENTRIES, "garden-p1/be1", on("s1")).by(U1),
        "500",
    );
    world.expect(
        &Ask::create(LEASES, "gardener-system-seed-lease/s1", json!({})).by(U1),
        "ok",
    );
    world.expect(
        &Ask::create(LEASES, "gardener-system-seed-lease/s1", json!({})).by(U2),
        "403",
    );
    let states = "shootstates.core.gardener.cloud";
    world.expect(&Ask::create(states, "garden/s3", json!({})).by(U1), "ok");
    world.expect(&Ask::create(states, "garden/s3", json!({})).by(U2), "403");
    // What the table doesn't name is left alone.
    world.expect(&Ask::create("pods", "default/p", json!({})).by(U1), "none");
}
