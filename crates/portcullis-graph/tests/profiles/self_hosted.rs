//! Current Gardener, the graph of self-hosted Shoots.

use super::edges::World;
use super::gardener::{SHOOT, signing_request};

#[track_caller]
fn contributes(objects: &str, edges: &str) {
    let world = World::new("gardener");
    world.put(objects);
    world.check("Shoot", edges);
}

#[test]
fn seeds_and_secret_bindings_are_not_in_it() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s1}
        spec: {backup: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: bk}}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: SecretBinding
        metadata: {name: sb, namespace: garden-p1}
        secretRef: {name: s, namespace: shared}",
        "",
    );
}

#[test]
fn a_shoot_has_a_lease_and_the_identity_of_the_garden_besides() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh1, namespace: garden-p1}
        spec: {seedName: s1, secretBindingName: sb, credentialsBindingName: cb, cloudProfileName: cp}",
        &format!(
            "{SHOOT}
            ConfigMap:kube-system/cluster-identity -> Shoot:garden-p1/sh1
            Lease:garden-p1/self-hosted-shoot-sh1 -> Shoot:garden-p1/sh1
            SecretBinding:garden-p1/sb -> Shoot:garden-p1/sh1
            CredentialsBinding:garden-p1/cb -> Shoot:garden-p1/sh1
            CloudProfile:cp -> Shoot:garden-p1/sh1
            Shoot:garden-p1/sh1 -> Seed:s1"
        ),
    );
}

#[test]
fn what_belongs_to_seeds_elsewhere_belongs_to_the_shoot_here() {
    contributes(
        "
        apiVersion: operations.gardener.cloud/v1alpha1
        kind: Bastion
        metadata: {name: ba, namespace: garden-p1}
        spec: {seedName: s1, shootRef: {name: sh1}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b1}
        spec:
          seedName: s1
          shootRef: {name: sh1, namespace: garden-p1}
          credentialsRef: {apiVersion: v1, kind: Secret, name: c, namespace: garden}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupEntry
        metadata:
          name: e1
          namespace: garden-p1
          ownerReferences: [{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, name: not-this}]
        spec: {bucketName: b1, shootRef: {name: sh1, namespace: not-this}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: ControllerInstallation
        metadata: {name: ci}
        spec:
          registrationRef: {name: cr}
          deploymentRef: {name: cd}
          shootRef: {name: sh1, namespace: garden-p1}
        ---
        apiVersion: core.gardener.cloud/v1
        kind: ControllerDeployment
        metadata: {name: cd}
        helm: {ociRepository: {pullSecretRef: {name: ps}}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Project
        metadata: {name: p1}
        spec: {namespace: garden-p1}
        ---
        apiVersion: security.gardener.cloud/v1alpha1
        kind: CredentialsBinding
        metadata: {name: cb, namespace: garden-p1}
        credentialsRef: {apiVersion: v1, kind: Secret, name: s, namespace: a}",
        "
        Bastion:garden-p1/ba -> Shoot:garden-p1/sh1
        Secret:garden/c -> BackupBucket:b1
        BackupBucket:b1 -> Seed:s1
        BackupBucket:b1 -> Shoot:garden-p1/sh1
        BackupBucket:b1 -> BackupEntry:garden-p1/e1
        BackupEntry:garden-p1/e1 -> Shoot:garden-p1/sh1
        ControllerRegistration:cr -> ControllerInstallation:ci
        ControllerDeployment:cd -> ControllerInstallation:ci
        ControllerInstallation:ci -> Shoot:garden-p1/sh1
        Secret:garden/ps -> ControllerDeployment:cd
        Project:p1 -> Namespace:garden-p1
        Secret:a/s -> CredentialsBinding:garden-p1/cb",
    );
}

#[test]
fn the_token_of_a_managed_seed_is_always_there() {
    let world = World::new("gardener");
    let wanted = "
        Seed:m1 -> ManagedSeed:garden/m1
        ManagedSeed:garden/m1 -> Shoot:garden/sh
        Secret:kube-system/bootstrap-token-03afe2 -> ManagedSeed:garden/m1";
    world.put(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {name: m1, namespace: garden}
        spec:
          shoot: {name: sh}
          gardenlet:
            bootstrap: BootstrapToken
            config:
              kind: Other
              seedConfig: {spec: {backup: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: a, name: bk}}}}",
    );
    world.check("Shoot", wanted);
    world.put(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: m1}
        status: {clientCertificateExpirationTimestamp: \"2100-01-01T00:00:00Z\"}",
    );
    world.check("Shoot", wanted);
    assert!(world.leads("Seed:m1", "Shoot:garden/sh"));
}

/// What the gardenlet of a Seed may have to prepare for another is nothing for a Shoot.
#[test]
fn templates_and_bootstrapping_of_seeds_are_not_in_it() {
    let template = "seedConfig: {spec: {backup: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: a, name: bk}},
        resources: [{resourceRef: {apiVersion: v1, kind: Secret, name: rs}}]}}";
    contributes(
        &format!(
            "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {{name: m1, namespace: garden}}
        spec: {{shoot: {{name: sh}}, gardenlet: {{bootstrap: ServiceAccount, config: {{{template}}}}}}}
        ---
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {{name: m2, namespace: garden}}
        spec: {{shoot: {{name: sh}}, gardenlet: {{bootstrap: None}}}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {{name: g1}}
        status: {{clientCertificateExpirationTimestamp: \"2001-01-01T00:00:00Z\"}}
        ---
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: Gardenlet
        metadata: {{name: g1, namespace: garden}}
        spec:
          deployment: {{helm: {{ociRepository: {{pullSecretRef: {{name: ps}}}}}}}}
          config: {{{template}}}"
        ),
        "
        Seed:m1 -> ManagedSeed:garden/m1
        ManagedSeed:garden/m1 -> Shoot:garden/sh
        Seed:m2 -> ManagedSeed:garden/m2
        ManagedSeed:garden/m2 -> Shoot:garden/sh",
    );
}

#[test]
fn gardenlets_and_accounts_are_named_after_their_shoot() {
    contributes(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: Gardenlet
        metadata: {name: self-hosted-shoot-sh1, namespace: garden-p1}
        spec: {deployment: {helm: {ociRepository: {pullSecretRef: {name: not-this}}}}}
        ---
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: Gardenlet
        metadata: {name: s1, namespace: garden}
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: extension-shoot--sh1--ci--1, namespace: garden-p1}
        secrets: [{name: not-this}]
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: extension-shoot--sh1, namespace: garden-p1}
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: extension-shoot----ci, namespace: garden-p1}
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: gardenlet-bootstrap-m1, namespace: garden}
        secrets: [{name: not-this}]",
        "
        Gardenlet:garden-p1/self-hosted-shoot-sh1 -> Shoot:garden-p1/sh1
        ServiceAccount:garden-p1/extension-shoot--sh1--ci--1 -> Shoot:garden-p1/sh1",
    );
    contributes(
        &signing_request("shoot", "key encipherment, digital signature, client auth"),
        "CertificateSigningRequest:c1 -> Shoot:garden-p1/sh1",
    );
}
