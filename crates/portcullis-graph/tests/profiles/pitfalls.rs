//! What upstream's graph gets wrong or had to fix: objects that go and come back, references that
//! move, and edges that depend on other objects or on the clock.

use std::time::{Duration, UNIX_EPOCH};

use portcullis_graph::Graph;

use super::edges::World;
use super::gardener::SHOOT;

const LONG_AGO: &str = "2001-01-01T00:00:00Z";
const FAR_OFF: &str = "2100-01-01T00:00:00Z";
/// The same, in seconds.
const FAR_OFF_SECONDS: u64 = 4_102_444_800;

fn seed(name: &str, expires: Option<&str>) -> String {
    let status = expires.map_or_else(String::new, |e| {
        format!("clientCertificateExpirationTimestamp: \"{e}\"")
    });
    format!(
        "{{apiVersion: core.gardener.cloud/v1beta1, kind: Seed, metadata: {{name: {name}}}, spec: {{dns: {{}}}}, status: {{{status}}}}}"
    )
}

fn shoot(spec: &str, status: &str) -> String {
    format!(
        "{{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, metadata: {{name: sh1, namespace: garden-p1}}, \
         spec: {spec}, status: {status}}}"
    )
}

fn managed(annotations: &str) -> String {
    format!(
        "{{apiVersion: seedmanagement.gardener.cloud/v1alpha1, kind: ManagedSeed, \
         metadata: {{name: m1, namespace: garden, annotations: {annotations}}}, \
         spec: {{shoot: {{name: m1}}, gardenlet: {{bootstrap: BootstrapToken}}}}}}"
    )
}

fn gardenlet(annotations: &str) -> String {
    format!(
        "{{apiVersion: seedmanagement.gardener.cloud/v1alpha1, kind: Gardenlet, \
         metadata: {{name: m1, namespace: garden, annotations: {annotations}}}, spec: {{config: {{}}}}}}"
    )
}

const RENEW: &str = "{gardener.cloud/operation: renew-kubeconfig}";
const OF_MANAGED_SEED: &str = "Secret:kube-system/bootstrap-token-03afe2 -> ManagedSeed:garden/m1";
const OF_GARDENLET: &str = "Secret:kube-system/bootstrap-token-03afe2 -> Gardenlet:garden/m1";

#[track_caller]
fn has(world: &World, edge: &str, wanted: bool) {
    assert_eq!(world.edges("Seed").contains(edge), wanted, "{edge}");
}

#[test]
fn a_token_is_there_until_the_seed_is_registered() {
    for order in [true, false] {
        let world = World::new("gardener");
        if order {
            world.put(&managed("{}"));
            has(&world, OF_MANAGED_SEED, true);
        }
        world.put(&seed("m1", Some(FAR_OFF)));
        if !order {
            world.put(&managed("{}"));
        }
        has(&world, OF_MANAGED_SEED, false);
        world.delete("Seed:m1");
        has(&world, OF_MANAGED_SEED, true);
    }
}

#[test]
fn a_token_is_there_again_when_the_certificate_has_expired() {
    let world = World::new("gardener");
    world.put(&managed("{}"));
    world.put(&gardenlet("{}"));
    has(&world, OF_GARDENLET, false);
    for (expires, wanted) in [
        (Some(LONG_AGO), true),
        (Some(FAR_OFF), false),
        (None, false),
        (Some(LONG_AGO), true),
        (None, false),
    ] {
        world.put(&seed("m1", expires));
        has(&world, OF_MANAGED_SEED, wanted);
        has(&world, OF_GARDENLET, wanted);
    }
    world.put(&seed("m1", Some(FAR_OFF)));
    assert_eq!(
        world.state.tick(),
        Some(UNIX_EPOCH + Duration::from_secs(FAR_OFF_SECONDS))
    );
    world.delete("Seed:m1");
    has(&world, OF_MANAGED_SEED, true);
    has(&world, OF_GARDENLET, false);
    assert_eq!(world.state.tick(), None);
}

#[test]
fn a_token_is_there_while_a_renewal_is_wanted() {
    let world = World::new("gardener");
    world.put(&seed("m1", Some(FAR_OFF)));
    for (annotations, wanted) in [
        (RENEW, true),
        ("{gardener.cloud/operation: reconcile}", false),
        ("{}", false),
        (RENEW, true),
    ] {
        world.put(&managed(annotations));
        world.put(&gardenlet(annotations));
        has(&world, OF_MANAGED_SEED, wanted);
        has(&world, OF_GARDENLET, wanted);
    }
    world.delete("Seed:m1");
    has(&world, OF_MANAGED_SEED, true);
    has(&world, OF_GARDENLET, false);
}

#[test]
fn the_issuer_follows_the_label_of_the_namespace() {
    let namespace = |labels: &str| {
        format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: garden-p1, labels: {labels}}}}}"
        )
    };
    let with_issuer = |value: &str| {
        format!(
            "{{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, metadata: {{name: sh1, namespace: garden-p1, uid: u-1, \
             annotations: {{authentication.gardener.cloud/issuer: {value}}}}}, spec: {{}}}}"
        )
    };
    let edge = |project: &str| {
        format!(
            "{SHOOT}\nSecret:gardener-system-shoot-issuer/{project}--u-1 -> Shoot:garden-p1/sh1"
        )
    };
    let world = World::new("gardener");
    world.put(&with_issuer("managed"));
    world.check("Seed", SHOOT);
    world.put(&namespace("{project.gardener.cloud/name: p1}"));
    world.check("Seed", &edge("p1"));
    world.put(&namespace(
        "{project.gardener.cloud/name: p7, other: label}",
    ));
    world.check("Seed", &edge("p7"));
    world.put(&namespace("{other: label}"));
    world.check("Seed", SHOOT);
    world.put(&namespace("{project.gardener.cloud/name: p1}"));
    world.put(&with_issuer("own"));
    world.check("Seed", SHOOT);
    world.put(&with_issuer("managed"));
    world.check("Seed", &edge("p1"));
    world.delete("Namespace:garden-p1");
    world.check("Seed", SHOOT);
}

#[test]
fn a_shoot_moves_from_seed_to_seed() {
    let world = World::new("gardener");
    let on = |seeds: &[&str]| {
        let edges: Vec<String> = seeds
            .iter()
            .map(|s| format!("Shoot:garden-p1/sh1 -> Seed:{s}"))
            .collect();
        format!("{SHOOT}\n{}", edges.join("\n"))
    };
    for (spec, status, seeds) in [
        ("{}", "{}", vec![]),
        ("{seedName: s1}", "{}", vec!["s1"]),
        ("{seedName: s1}", "{seedName: s1}", vec!["s1"]),
        ("{seedName: s2}", "{seedName: s1}", vec!["s1", "s2"]),
        ("{seedName: s2}", "{}", vec!["s2"]),
        ("{seedName: s2}", "{seedName: s2}", vec!["s2"]),
    ] {
        world.put(&shoot(spec, status));
        world.check("Seed", &on(&seeds));
    }
    assert!(world.leads("Secret:garden-p1/sh1.monitoring", "Seed:s2"));
    assert!(!world.leads("Secret:garden-p1/sh1.monitoring", "Seed:s1"));
}

/// Each of these loses what others say about it upstream.
#[test]
fn what_is_deleted_and_created_again_keeps_the_edges_of_others() {
    let objects = [
        ("Seed:s1", seed("s1", None)),
        ("Shoot:garden-p1/sh1", shoot("{seedName: s1, secretBindingName: sb}", "{}")),
        (
            "SecretBinding:garden-p1/sb",
            "{apiVersion: core.gardener.cloud/v1beta1, kind: SecretBinding, metadata: {name: sb, namespace: garden-p1}, \
             secretRef: {name: infra, namespace: shared}}"
                .to_owned(),
        ),
        (
            "BackupBucket:b1",
            "{apiVersion: core.gardener.cloud/v1beta1, kind: BackupBucket, metadata: {name: b1}, spec: {seedName: s1, \
             credentialsRef: {apiVersion: v1, kind: Secret, name: c, namespace: garden}}}"
                .to_owned(),
        ),
        (
            "BackupEntry:garden-p1/e1",
            "{apiVersion: core.gardener.cloud/v1beta1, kind: BackupEntry, metadata: {name: e1, namespace: garden-p1}, \
             spec: {bucketName: b1, seedName: s1}}"
                .to_owned(),
        ),
        (
            "ControllerInstallation:ci",
            "{apiVersion: core.gardener.cloud/v1beta1, kind: ControllerInstallation, metadata: {name: ci}, \
             spec: {registrationRef: {name: cr}, deploymentRef: {name: cd}, seedRef: {name: s1}}}"
                .to_owned(),
        ),
        (
            "ControllerDeployment:cd",
            "{apiVersion: core.gardener.cloud/v1, kind: ControllerDeployment, metadata: {name: cd}, \
             helm: {ociRepository: {pullSecretRef: {name: ps}}}}"
                .to_owned(),
        ),
        (
            "Project:p1",
            "{apiVersion: core.gardener.cloud/v1beta1, kind: Project, metadata: {name: p1}, spec: {namespace: garden-p1}}".to_owned(),
        ),
        ("ManagedSeed:garden/m1", managed("{}")),
        (
            "ServiceAccount:garden/gardenlet-bootstrap-m1",
            "{apiVersion: v1, kind: ServiceAccount, metadata: {name: gardenlet-bootstrap-m1, namespace: garden}, \
             secrets: [{name: t1}]}"
                .to_owned(),
        ),
    ];
    let whole = World::new("gardener");
    for (_, object) in &objects {
        whole.put(object);
    }
    let wanted = whole.edges("Seed");
    assert!(whole.leads("Secret:shared/infra", "Seed:s1"));
    for (vertex, object) in &objects {
        let world = World::new("gardener");
        for (_, object) in objects.iter().rev() {
            world.put(object);
        }
        assert_eq!(world.edges("Seed"), wanted, "{vertex}");
        world.delete(vertex);
        let without = World::new("gardener");
        for (_, object) in objects.iter().filter(|(other, _)| other != vertex) {
            without.put(object);
        }
        assert_eq!(
            world.edges("Seed"),
            without.edges("Seed"),
            "without {vertex}"
        );
        world.put(object);
        assert_eq!(world.edges("Seed"), wanted, "{vertex} again");
    }
}

#[test]
fn references_that_upstream_does_not_watch_are_followed() {
    let world = World::new("gardener");
    let installation = |refs: &str| {
        format!(
            "{{apiVersion: core.gardener.cloud/v1beta1, kind: ControllerInstallation, metadata: {{name: ci}}, \
             spec: {{registrationRef: {{name: cr}}{refs}}}}}"
        )
    };
    let base = "ControllerRegistration:cr -> ControllerInstallation:ci";
    for (refs, edge) in [
        ("", ""),
        (
            ", seedRef: {name: s1}",
            "ControllerInstallation:ci -> Seed:s1",
        ),
        ("", ""),
        (
            ", shootRef: {name: a, namespace: ns}",
            "ControllerInstallation:ci -> Shoot:ns/a",
        ),
        (
            ", shootRef: {name: b, namespace: ns}",
            "ControllerInstallation:ci -> Shoot:ns/b",
        ),
    ] {
        world.put(&installation(refs));
        world.check("Seed", &format!("{base}\n{edge}"));
    }
    let world = World::new("gardener");
    for shoot in ["a", "b"] {
        world.put(&format!(
            "{{apiVersion: core.gardener.cloud/v1beta1, kind: BackupBucket, metadata: {{name: b1}}, spec: {{ \
             credentialsRef: {{apiVersion: v1, kind: Secret, name: c, namespace: garden}}, shootRef: {{name: {shoot}, namespace: ns}}}}}}"
        ));
        world.check(
            "Seed",
            &format!("Secret:garden/c -> BackupBucket:b1\nBackupBucket:b1 -> Shoot:ns/{shoot}"),
        );
    }
    let world = World::new("gardener");
    world.put(&shoot("{exposureClassName: a}", "{}"));
    world.put(&shoot("{exposureClassName: b}", "{}"));
    world.check(
        "Seed",
        &format!("{SHOOT}\nExposureClass:b -> Shoot:garden-p1/sh1"),
    );
}

#[test]
fn service_accounts_without_the_prefix_never_count() {
    let world = World::new("gardener");
    let account = |secret: &str| {
        format!(
            "{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: default, namespace: garden}}, secrets: [{{name: {secret}}}]}}"
        )
    };
    let object = |secret: &str| serde_saphyr::from_str(&account(secret)).unwrap();
    let _ = world.state.apply(&object("a"));
    let _ = world.state.apply(&object("b"));
    world.check("Seed", "");
    assert_eq!(
        world
            .state
            .graphs()
            .iter()
            .map(Graph::counts)
            .collect::<Vec<_>>(),
        [(0, 0), (0, 0)]
    );
}

#[test]
fn nothing_is_left_of_a_managed_seed() {
    let world = World::new("gardener");
    world.put(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {name: m1, namespace: garden}
        spec:
          shoot: {name: m1}
          gardenlet:
            bootstrap: ServiceAccount
            config: {seedConfig: {spec: {resources: [{resourceRef: {apiVersion: v1, kind: Secret, name: rs}}]}}}",
    );
    assert_eq!(world.edges("Seed").len(), 6);
    world.delete("ManagedSeed:garden/m1");
    for graph in world.state.graphs() {
        assert_eq!(graph.counts(), (0, 0));
    }
}

/// What leads to a child seed leads to its parent: a known property of the table.
#[test]
fn managed_seeds_are_transitive() {
    let world = World::new("gardener");
    world.put(&managed("{}"));
    world.put("{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, metadata: {name: m1, namespace: garden}, spec: {seedName: s1}}");
    world.put(&shoot("{seedName: m1}", "{}"));
    for seed in ["m1", "s1"] {
        assert!(world.leads("Secret:garden-p1/sh1.monitoring", &format!("Seed:{seed}")));
        assert!(world.leads("Seed:m1", &format!("Seed:{seed}")));
    }
    assert!(!world.leads("Seed:s1", "Seed:m1"));
    world.delete("ManagedSeed:garden/m1");
    assert!(!world.leads("Secret:garden-p1/sh1.monitoring", "Seed:s1"));
}
