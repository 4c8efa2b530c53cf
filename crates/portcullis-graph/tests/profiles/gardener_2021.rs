//! Gardener as in 2021: the edges of every kind that is watched.

use super::edges::World;

#[track_caller]
fn contributes(objects: &str, edges: &str) {
    let world = World::new("gardener-2021");
    world.put(objects);
    world.check("Seed", edges);
}

#[test]
fn a_seed() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s1}
        spec:
          backup: {secretRef: {name: old, namespace: garden}}
          dns: {provider: {secretRef: {name: dns, namespace: garden}}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s2}
        spec:
          backup: {credentialsRef: {apiVersion: v1, kind: Secret, name: new, namespace: garden}}
          dns: {provider: {credentialsRef: {apiVersion: v1, kind: Secret, name: dns2, namespace: garden}}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s3}
        spec:
          backup:
            credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: wi, namespace: garden}
          dns: {provider: {credentialsRef: {apiVersion: v2, kind: Secret, name: other-version, namespace: garden}}}",
        "
        Lease:gardener-system-seed-lease/s1 -> Seed:s1
        Secret:garden/old -> Seed:s1
        Secret:garden/dns -> Seed:s1
        Lease:gardener-system-seed-lease/s2 -> Seed:s2
        Secret:garden/new -> Seed:s2
        Secret:garden/dns2 -> Seed:s2
        Lease:gardener-system-seed-lease/s3 -> Seed:s3",
    );
}

#[test]
fn a_shoot() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh1, namespace: garden-p1}
        spec:
          seedName: s1
          secretBindingName: sb
          cloudProfileName: cp
          kubernetes: {kubeAPIServer: {auditConfig: {auditPolicy: {configMapRef: {name: audit}}}}}
          dns: {providers: [{secretName: ds}, {credentialsRef: {apiVersion: v1, kind: Secret, name: dn}}, {type: none}]}
          resources:
          - {name: a, resourceRef: {apiVersion: v1, kind: Secret, name: rs}}
          - {name: b, resourceRef: {apiVersion: v1, kind: ConfigMap, name: rc}}
          - {name: c, resourceRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: rw}}
          - {name: d, resourceRef: {apiVersion: v2, kind: Secret, name: other-version}}
        status: {seedName: s2}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh2, namespace: garden-p1}
        spec: {cloudProfile: {kind: CloudProfile, name: cp2}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh3, namespace: garden-p1}
        spec: {cloudProfile: {kind: NamespacedCloudProfile, name: cp2}}",
        "
        Shoot:garden-p1/sh1 -> Seed:s1
        Shoot:garden-p1/sh1 -> Seed:s2
        Namespace:garden-p1 -> Shoot:garden-p1/sh1
        SecretBinding:garden-p1/sb -> Shoot:garden-p1/sh1
        ShootState:garden-p1/sh1 -> Shoot:garden-p1/sh1
        CloudProfile:cp -> Shoot:garden-p1/sh1
        ConfigMap:garden-p1/audit -> Shoot:garden-p1/sh1
        Secret:garden-p1/ds -> Shoot:garden-p1/sh1
        Secret:garden-p1/dn -> Shoot:garden-p1/sh1
        Secret:garden-p1/rs -> Shoot:garden-p1/sh1
        ConfigMap:garden-p1/rc -> Shoot:garden-p1/sh1
        Namespace:garden-p1 -> Shoot:garden-p1/sh2
        ShootState:garden-p1/sh2 -> Shoot:garden-p1/sh2
        CloudProfile:cp2 -> Shoot:garden-p1/sh2
        Namespace:garden-p1 -> Shoot:garden-p1/sh3
        ShootState:garden-p1/sh3 -> Shoot:garden-p1/sh3",
    );
}

#[test]
fn the_others() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Project
        metadata: {name: p1}
        spec: {namespace: garden-p1}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: SecretBinding
        metadata: {name: sb, namespace: garden-p1}
        secretRef: {name: s, namespace: shared}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b1}
        spec: {seedName: s1, secretRef: {name: c, namespace: garden}}
        status: {generatedSecretRef: {name: g, namespace: garden}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b2}
        spec: {credentialsRef: {apiVersion: v1, kind: Secret, name: c2, namespace: garden}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b3}
        spec: {credentialsRef: {apiVersion: v2, kind: Secret, name: other-version, namespace: garden}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupEntry
        metadata: {name: e1, namespace: garden-p1}
        spec: {bucketName: b1, seedName: s1}
        status: {seedName: s2}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: ControllerInstallation
        metadata: {name: ci}
        spec: {registrationRef: {name: cr}, seedRef: {name: s1}}
        ---
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {name: m1, namespace: garden}
        spec: {shoot: {name: m1}}",
        "
        Project:p1 -> Namespace:garden-p1
        Secret:shared/s -> SecretBinding:garden-p1/sb
        Secret:garden/c -> BackupBucket:b1
        Secret:garden/g -> BackupBucket:b1
        BackupBucket:b1 -> Seed:s1
        BackupBucket:b1 -> BackupEntry:garden-p1/e1
        Secret:garden/c2 -> BackupBucket:b2
        BackupEntry:garden-p1/e1 -> Seed:s1
        BackupEntry:garden-p1/e1 -> Seed:s2
        ControllerRegistration:cr -> ControllerInstallation:ci
        ControllerInstallation:ci -> Seed:s1
        Seed:m1 -> ManagedSeed:garden/m1
        ManagedSeed:garden/m1 -> Shoot:garden/m1",
    );
}

#[test]
fn a_managed_seed_without_a_shoot_is_malformed() {
    let world = World::new("gardener-2021");
    let malformed = world.apply(
        "{apiVersion: seedmanagement.gardener.cloud/v1alpha1, kind: ManagedSeed, metadata: {name: m1, namespace: garden}, spec: {}}",
    );
    assert_eq!(malformed, ["spec.shoot names no Shoot"]);
    world.check("Seed", "Seed:m1 -> ManagedSeed:garden/m1");
}
