//! Current Gardener, the graph of Seeds: the edges of every kind that is watched.

use super::edges::World;

/// Applies objects and asserts that these are all edges of the graph of Seeds.
#[track_caller]
pub(crate) fn contributes(objects: &str, edges: &str) {
    let world = World::new("gardener");
    world.put(objects);
    world.check("Seed", edges);
}

/// Applies an object that has just one thing wrong with it.
#[track_caller]
pub(crate) fn malformed(object: &str, says: &str, edges: &str) {
    let world = World::new("gardener");
    assert_eq!(world.apply(object), [says], "{object}");
    world.check("Seed", edges);
}

pub(crate) const SEED: &str = "
    Namespace:seed-s1 -> Seed:s1
    ConfigMap:kube-system/cluster-identity -> Seed:s1
    Lease:gardener-system-seed-lease/s1 -> Seed:s1
";

/// What every Shoot garden-p1/sh1 has.
pub(crate) const SHOOT: &str = "
    Namespace:garden-p1 -> Shoot:garden-p1/sh1
    Secret:garden-p1/sh1.ca-cluster -> Shoot:garden-p1/sh1
    Secret:garden-p1/sh1.ssh-keypair -> Shoot:garden-p1/sh1
    Secret:garden-p1/sh1.ssh-keypair.old -> Shoot:garden-p1/sh1
    Secret:garden-p1/sh1.monitoring -> Shoot:garden-p1/sh1
    InternalSecret:garden-p1/sh1.ca-client -> Shoot:garden-p1/sh1
    ConfigMap:garden-p1/sh1.ca-cluster -> Shoot:garden-p1/sh1
    ConfigMap:garden-p1/sh1.ca-kubelet -> Shoot:garden-p1/sh1
    ShootState:garden-p1/sh1 -> Shoot:garden-p1/sh1
";

/// A `CertificateSigningRequest` with one of the requests in `requests.txt`.
pub(crate) fn signing_request(name: &str, usages: &str) -> String {
    let mut all = include_str!("requests.txt").lines();
    let request = all
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap();
    format!(
        "
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {{name: c1}}
        spec: {{request: {request}, usages: [{usages}]}}"
    )
}

#[test]
fn a_seed() {
    let plain = "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s1}
        spec: {dns: {}}";
    contributes(plain, SEED);
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Seed
        metadata: {name: s1}
        spec:
          backup: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: bk}}
          dns:
            provider:
              credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, namespace: a, name: dp}
            internal: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: b, name: di}}
            defaults:
            - {credentialsRef: {apiVersion: v1, kind: Secret, namespace: c, name: d1}}
            - {credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, namespace: c, name: d2}}
          resources:
          - {name: a, resourceRef: {apiVersion: v1, kind: Secret, name: rs}}
          - {name: b, resourceRef: {apiVersion: v1, kind: ConfigMap, name: rc}}
          - {name: c, resourceRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: rw}}
          - {name: d, resourceRef: {apiVersion: v2, kind: Secret, name: other-version}}
          - {name: e, resourceRef: {apiVersion: v1, kind: Service, name: other-kind}}
          - {name: f, resourceRef: {apiVersion: v1, kind: Secret, namespace: elsewhere, name: own-namespace}}",
        &format!(
            "{SEED}
            Secret:garden/bk -> Seed:s1
            WorkloadIdentity:a/dp -> Seed:s1
            Secret:b/di -> Seed:s1
            Secret:c/d1 -> Seed:s1
            WorkloadIdentity:c/d2 -> Seed:s1
            Secret:garden/rs -> Seed:s1
            ConfigMap:garden/rc -> Seed:s1
            WorkloadIdentity:garden/rw -> Seed:s1
            Secret:garden/own-namespace -> Seed:s1"
        ),
    );
}

#[test]
fn a_seed_with_credentials_that_are_none() {
    for (spec, place) in [
        (
            "{backup: {provider: aws}, dns: {}}",
            "spec.backup.credentialsRef names",
        ),
        (
            "{dns: {provider: {type: aws}}}",
            "spec.dns.provider.credentialsRef names",
        ),
        (
            "{dns: {internal: {type: aws}}}",
            "spec.dns.internal.credentialsRef names",
        ),
        (
            "{dns: {defaults: [{type: aws}]}}",
            "a credentialsRef of spec.dns.defaults names",
        ),
        (
            "{backup: {credentialsRef: {apiVersion: v1, kind: ConfigMap, namespace: a, name: b}}}",
            "spec.backup.credentialsRef names",
        ),
        (
            "{backup: {credentialsRef: {apiVersion: v2, kind: Secret, namespace: a, name: b}}}",
            "spec.backup.credentialsRef names",
        ),
    ] {
        malformed(
            &format!(
                "{{apiVersion: core.gardener.cloud/v1beta1, kind: Seed, metadata: {{name: s1}}, spec: {spec}}}"
            ),
            &format!("{place} neither a Secret nor a WorkloadIdentity"),
            SEED,
        );
    }
}

#[test]
fn a_shoot() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh1, namespace: garden-p1}
        spec: {}",
        SHOOT,
    );
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Shoot
        metadata: {name: sh1, namespace: garden-p1}
        spec:
          seedName: s1
          secretBindingName: sb
          credentialsBindingName: cb
          cloudProfile: {name: cp}
          cloudProfileName: not-this
          exposureClassName: ec
          kubernetes:
            kubeAPIServer:
              auditConfig: {auditPolicy: {configMapRef: {name: audit}}}
              structuredAuthentication: {configMapName: authn}
              structuredAuthorization: {configMapName: authz, kubeconfigs: [{secretName: k1}, {secretName: k2}]}
          dns:
            providers:
            - {type: none}
            - {credentialsRef: {apiVersion: v1, kind: Secret, name: ds, namespace: elsewhere}}
            - {credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: dw}}
          resources:
          - {name: a, resourceRef: {apiVersion: v1, kind: Secret, name: rs}}
          - {name: b, resourceRef: {apiVersion: v1, kind: ConfigMap, name: rc}}
          - {name: c, resourceRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: rw}}
          - {name: d, resourceRef: {apiVersion: apps/v1, kind: Secret, name: other-version}}
        status: {seedName: s2}",
        &format!(
            "{SHOOT}
            Shoot:garden-p1/sh1 -> Seed:s1
            Shoot:garden-p1/sh1 -> Seed:s2
            SecretBinding:garden-p1/sb -> Shoot:garden-p1/sh1
            CredentialsBinding:garden-p1/cb -> Shoot:garden-p1/sh1
            CloudProfile:cp -> Shoot:garden-p1/sh1
            ExposureClass:ec -> Shoot:garden-p1/sh1
            ConfigMap:garden-p1/audit -> Shoot:garden-p1/sh1
            ConfigMap:garden-p1/authn -> Shoot:garden-p1/sh1
            ConfigMap:garden-p1/authz -> Shoot:garden-p1/sh1
            Secret:garden-p1/k1 -> Shoot:garden-p1/sh1
            Secret:garden-p1/k2 -> Shoot:garden-p1/sh1
            Secret:garden-p1/ds -> Shoot:garden-p1/sh1
            WorkloadIdentity:garden-p1/dw -> Shoot:garden-p1/sh1
            Secret:garden-p1/rs -> Shoot:garden-p1/sh1
            ConfigMap:garden-p1/rc -> Shoot:garden-p1/sh1
            WorkloadIdentity:garden-p1/rw -> Shoot:garden-p1/sh1"
        ),
    );
}

#[test]
fn the_cloud_profile_of_a_shoot() {
    for (spec, edge) in [
        (
            "{cloudProfileName: cp}",
            "CloudProfile:cp -> Shoot:garden-p1/sh1",
        ),
        (
            "{cloudProfile: {kind: CloudProfile, name: cp}}",
            "CloudProfile:cp -> Shoot:garden-p1/sh1",
        ),
        (
            "{cloudProfile: {kind: NamespacedCloudProfile, name: cp}}",
            "NamespacedCloudProfile:garden-p1/cp -> Shoot:garden-p1/sh1",
        ),
        ("{cloudProfileName: ''}", ""),
    ] {
        contributes(
            &format!(
                "{{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, metadata: {{name: sh1, namespace: garden-p1}}, spec: {spec}}}"
            ),
            &format!("{SHOOT}\n{edge}"),
        );
    }
}

#[test]
fn a_shoot_with_references_that_are_none() {
    for (spec, says) in [
        (
            "{cloudProfile: {kind: Profile, name: cp}}",
            "spec.cloudProfile.kind is neither CloudProfile nor NamespacedCloudProfile",
        ),
        (
            "{dns: {providers: [{credentialsRef: {apiVersion: v1, kind: ConfigMap, name: x}}]}}",
            "a credentialsRef of spec.dns.providers names neither a Secret nor a WorkloadIdentity",
        ),
        (
            "{dns: {providers: [{credentialsRef: {apiVersion: v2, kind: Secret, name: x}}]}}",
            "a credentialsRef of spec.dns.providers names neither a Secret nor a WorkloadIdentity",
        ),
    ] {
        malformed(
            &format!(
                "{{apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, metadata: {{name: sh1, namespace: garden-p1}}, spec: {spec}}}"
            ),
            says,
            SHOOT,
        );
    }
}

#[test]
fn projects_and_bindings() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: Project
        metadata: {name: p1}
        spec: {namespace: garden-p1}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: Project
        metadata: {name: p2}
        spec: {}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: SecretBinding
        metadata: {name: sb, namespace: garden-p1}
        secretRef: {name: s, namespace: shared}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: SecretBinding
        metadata: {name: own, namespace: garden-p1}
        secretRef: {name: s}
        ---
        apiVersion: security.gardener.cloud/v1alpha1
        kind: CredentialsBinding
        metadata: {name: c1, namespace: garden-p1}
        credentialsRef: {apiVersion: v1, kind: Secret, name: s, namespace: a}
        ---
        apiVersion: security.gardener.cloud/v1alpha1
        kind: CredentialsBinding
        metadata: {name: c2, namespace: garden-p1}
        credentialsRef: {apiVersion: core.gardener.cloud/v1beta1, kind: InternalSecret, name: s, namespace: a}
        ---
        apiVersion: security.gardener.cloud/v1alpha1
        kind: CredentialsBinding
        metadata: {name: c3, namespace: garden-p1}
        credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: s, namespace: a}
        ---
        apiVersion: security.gardener.cloud/v1alpha1
        kind: CredentialsBinding
        metadata: {name: c4, namespace: garden-p1}
        credentialsRef: {apiVersion: v1, kind: InternalSecret, name: s, namespace: a}",
        "
        Project:p1 -> Namespace:garden-p1
        Secret:shared/s -> SecretBinding:garden-p1/sb
        Secret:garden-p1/s -> SecretBinding:garden-p1/own
        Secret:a/s -> CredentialsBinding:garden-p1/c1
        InternalSecret:a/s -> CredentialsBinding:garden-p1/c2
        WorkloadIdentity:a/s -> CredentialsBinding:garden-p1/c3",
    );
}

#[test]
fn backups() {
    contributes(
        "
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b1}
        spec:
          seedName: s1
          shootRef: {name: sh9, namespace: garden-p9}
          credentialsRef: {apiVersion: v1, kind: Secret, name: c, namespace: garden}
        status: {generatedSecretRef: {name: generated-bucket-b1, namespace: garden}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupBucket
        metadata: {name: b2}
        spec:
          credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: c, namespace: garden}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: BackupEntry
        metadata:
          name: e1
          namespace: garden-p1
          ownerReferences:
          - {apiVersion: v1, kind: Namespace, name: garden-p1}
          - {apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, name: sh1}
          - {apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, name: second}
        spec: {bucketName: b1, seedName: s1, shootRef: {name: not-this}}
        status: {seedName: s2}",
        "
        Secret:garden/c -> BackupBucket:b1
        Secret:garden/generated-bucket-b1 -> BackupBucket:b1
        BackupBucket:b1 -> Seed:s1
        BackupBucket:b1 -> Shoot:garden-p9/sh9
        WorkloadIdentity:garden/c -> BackupBucket:b2
        BackupBucket:b1 -> BackupEntry:garden-p1/e1
        BackupEntry:garden-p1/e1 -> Seed:s1
        BackupEntry:garden-p1/e1 -> Seed:s2
        BackupEntry:garden-p1/e1 -> Shoot:garden-p1/sh1",
    );
    for credentials in [
        "",
        ", credentialsRef: {apiVersion: v2, kind: Secret, name: c, namespace: garden}",
    ] {
        malformed(
            &format!(
                "{{apiVersion: core.gardener.cloud/v1beta1, kind: BackupBucket, metadata: {{name: b1}}, \
                 spec: {{seedName: s1{credentials}}}}}"
            ),
            "spec.credentialsRef names neither a Secret nor a WorkloadIdentity",
            "BackupBucket:b1 -> Seed:s1",
        );
    }
}

#[test]
fn bastions_installations_and_deployments() {
    contributes(
        "
        apiVersion: operations.gardener.cloud/v1alpha1
        kind: Bastion
        metadata: {name: ba, namespace: garden-p1}
        spec: {seedName: s1, shootRef: {name: sh1}}
        ---
        apiVersion: core.gardener.cloud/v1beta1
        kind: ControllerInstallation
        metadata: {name: ci}
        spec:
          registrationRef: {name: cr}
          deploymentRef: {name: cd}
          seedRef: {name: s1}
          shootRef: {name: sh1, namespace: garden-p1}
        ---
        apiVersion: core.gardener.cloud/v1
        kind: ControllerDeployment
        metadata: {name: cd}
        helm: {ociRepository: {pullSecretRef: {name: ps}, caBundleSecretRef: {name: ca}}}
        resources:
        - {name: a, resourceRef: {apiVersion: whatever/v7, kind: Secret, name: rs}}
        - {name: b, resourceRef: {kind: ConfigMap, name: rc}}
        - {name: c, resourceRef: {apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: rw}}
        ---
        apiVersion: core.gardener.cloud/v1
        kind: ControllerDeployment
        metadata: {name: no-registry}
        helm: {rawChart: x}
        resources:
        - {name: a, resourceRef: {apiVersion: v1, kind: Secret, name: not-this}}",
        "
        Bastion:garden-p1/ba -> Seed:s1
        ControllerRegistration:cr -> ControllerInstallation:ci
        ControllerDeployment:cd -> ControllerInstallation:ci
        ControllerInstallation:ci -> Seed:s1
        ControllerInstallation:ci -> Shoot:garden-p1/sh1
        Secret:garden/ps -> ControllerDeployment:cd
        Secret:garden/ca -> ControllerDeployment:cd
        Secret:garden/rs -> ControllerDeployment:cd
        ConfigMap:garden/rc -> ControllerDeployment:cd",
    );
}

/// What every `ManagedSeed` garden/m1 over a Shoot m1 has.
const MANAGED: &str = "
    Seed:m1 -> ManagedSeed:garden/m1
    ManagedSeed:garden/m1 -> Seed:m1
    ManagedSeed:garden/m1 -> Shoot:garden/m1
";
const TOKEN: &str = "Secret:kube-system/bootstrap-token-03afe2 -> ManagedSeed:garden/m1";
const ACCOUNT: &str = "
    ServiceAccount:garden/gardenlet-bootstrap-m1 -> ManagedSeed:garden/m1
    ClusterRoleBinding:gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-m1 -> ManagedSeed:garden/m1
";

fn managed(gardenlet: &str) -> String {
    format!(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {{name: m1, namespace: garden}}
        spec: {{shoot: {{name: m1}}, gardenlet: {gardenlet}}}"
    )
}

#[test]
fn a_managed_seed() {
    let typed =
        "apiVersion: gardenlet.config.gardener.cloud/v1alpha1, kind: GardenletConfiguration";
    for (gardenlet, edges) in [
        ("{}".to_owned(), String::new()),
        ("{bootstrap: None}".to_owned(), String::new()),
        ("{bootstrap: BootstrapToken}".to_owned(), TOKEN.to_owned()),
        ("{bootstrap: BootstrapToken, config: {}}".to_owned(), TOKEN.to_owned()),
        (format!("{{bootstrap: BootstrapToken, config: {{{typed}}}}}"), TOKEN.to_owned()),
        (format!("{{bootstrap: ServiceAccount, config: {{{typed}, unknown: 1}}}}"), ACCOUNT.to_owned()),
        (
            "{bootstrap: BootstrapToken, config: {apiVersion: gardenlet.config.gardener.cloud/v1alpha1, kind: Other, \
             seedConfig: {spec: {resources: [{resourceRef: {apiVersion: v1, kind: Secret, name: rs}}]}}}}"
                .to_owned(),
            String::new(),
        ),
        (
            "{bootstrap: BootstrapToken, config: {apiVersion: gardenlet.config.gardener.cloud/v2, kind: GardenletConfiguration, \
             seedConfig: {spec: {backup: {credentialsRef: {apiVersion: v1, kind: Secret, namespace: a, name: bk}}}}}}"
                .to_owned(),
            String::new(),
        ),
        (
            format!(
                "{{bootstrap: BootstrapToken, config: {{{typed}, seedConfig: {{metadata: {{name: m1}}, spec: {{
                 backup: {{credentialsRef: {{apiVersion: v1, kind: Secret, namespace: a, name: bk}}}},
                 resources: [{{resourceRef: {{apiVersion: v1, kind: Secret, name: rs}}}},
                 {{resourceRef: {{apiVersion: v1, kind: ConfigMap, name: rc}}}},
                 {{resourceRef: {{apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, name: rw}}}}]}}}}}}}}"
            ),
            format!(
                "{TOKEN}
                Secret:a/bk -> ManagedSeed:garden/m1
                Secret:garden/rs -> Seed:m1
                ConfigMap:garden/rc -> Seed:m1
                WorkloadIdentity:garden/rw -> Seed:m1"
            ),
        ),
        (
            "{config: {seedConfig: {spec: {backup: {credentialsRef: {apiVersion: security.gardener.cloud/v1alpha1, \
             kind: WorkloadIdentity, namespace: a, name: wi}}}}}}"
                .to_owned(),
            "WorkloadIdentity:a/wi -> ManagedSeed:garden/m1".to_owned(),
        ),
    ] {
        contributes(&managed(&gardenlet), &format!("{MANAGED}{edges}"));
    }
}

/// A `ManagedSeed` is in `garden`; should one be elsewhere, what its Seed needs is still in `garden`.
#[test]
fn the_resources_of_a_seed_template_are_in_the_garden() {
    contributes(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {name: m1, namespace: other}
        spec:
          shoot: {name: m1}
          gardenlet:
            config:
              seedConfig:
                spec:
                  resources:
                  - {resourceRef: {apiVersion: v1, kind: Secret, name: rs}}
                  - {resourceRef: {apiVersion: v2, kind: Secret, name: other-version}}",
        "
        Seed:m1 -> ManagedSeed:other/m1
        ManagedSeed:other/m1 -> Seed:m1
        ManagedSeed:other/m1 -> Shoot:other/m1
        Secret:garden/rs -> Seed:m1",
    );
}

#[test]
fn a_managed_seed_with_references_that_are_none() {
    malformed(
        "
        apiVersion: seedmanagement.gardener.cloud/v1alpha1
        kind: ManagedSeed
        metadata: {name: m1, namespace: garden}
        spec: {gardenlet: {bootstrap: BootstrapToken}}",
        "spec.shoot names no Shoot",
        &format!(
            "Seed:m1 -> ManagedSeed:garden/m1
            ManagedSeed:garden/m1 -> Seed:m1
            {TOKEN}"
        ),
    );
    for backup in [
        "{provider: aws}",
        "{credentialsRef: {apiVersion: v2, kind: Secret, namespace: a, name: b}}",
    ] {
        malformed(
            &managed(&format!(
                "{{config: {{seedConfig: {{spec: {{backup: {backup}}}}}}}}}"
            )),
            "the backup of the seed template has no credentialsRef to a Secret or WorkloadIdentity",
            MANAGED,
        );
    }
}

#[test]
fn a_gardenlet() {
    let gardenlet = |name: &str, spec: &str| {
        format!(
            "
            apiVersion: seedmanagement.gardener.cloud/v1alpha1
            kind: Gardenlet
            metadata: {{name: {name}, namespace: garden}}
            spec: {spec}"
        )
    };
    let helm = "deployment: {helm: {ociRepository: {caBundleSecretRef: {name: ca}, pullSecretRef: {name: ps}}}}";
    contributes(&gardenlet("g1", "{}"), "Gardenlet:garden/g1 -> Seed:g1");
    contributes(
        &gardenlet(
            "g1",
            &format!(
                "{{{helm}, config: {{apiVersion: gardenlet.config.gardener.cloud/v1alpha1, kind: GardenletConfiguration,
                 seedConfig: {{spec: {{backup: {{credentialsRef: {{apiVersion: v1, kind: Secret, namespace: a, name: bk}}}},
                 resources: [{{resourceRef: {{apiVersion: v1, kind: Secret, name: not-this}}}}]}}}}}}}}"
            ),
        ),
        "
        Gardenlet:garden/g1 -> Seed:g1
        Secret:a/bk -> Gardenlet:garden/g1
        Secret:garden/ca -> Gardenlet:garden/g1
        Secret:garden/ps -> Gardenlet:garden/g1",
    );
    contributes(
        &gardenlet(
            "g1",
            &format!(
                "{{{helm}, config: {{apiVersion: v1, kind: GardenletConfiguration,
                 seedConfig: {{spec: {{backup: {{credentialsRef: {{apiVersion: v1, kind: Secret, namespace: a, name: bk}}}}}}}}}}}}"
            ),
        ),
        "Gardenlet:garden/g1 -> Seed:g1",
    );
    let identity = "{apiVersion: security.gardener.cloud/v1alpha1, kind: WorkloadIdentity, namespace: a, name: wi}";
    contributes(
        &gardenlet(
            "g1",
            &format!(
                "{{config: {{seedConfig: {{spec: {{backup: {{credentialsRef: {identity}}}}}}}}}}}"
            ),
        ),
        "Gardenlet:garden/g1 -> Seed:g1\nWorkloadIdentity:a/wi -> Gardenlet:garden/g1",
    );
    contributes(
        &gardenlet("self-hosted-shoot-g1", &format!("{{{helm}}}")),
        "",
    );
    for backup in [
        "{}",
        "{credentialsRef: {apiVersion: v2, kind: Secret, namespace: a, name: b}}",
    ] {
        malformed(
            &gardenlet(
                "g1",
                &format!("{{config: {{seedConfig: {{spec: {{backup: {backup}}}}}}}}}"),
            ),
            "the backup of the seed template has no credentialsRef to a Secret or WorkloadIdentity",
            "Gardenlet:garden/g1 -> Seed:g1",
        );
    }
}

#[test]
fn a_signing_request() {
    let all = "key encipherment, digital signature, client auth";
    for (name, usages, edges) in [
        ("seed", all, "CertificateSigningRequest:c1 -> Seed:s1"),
        (
            "seed",
            "client auth, digital signature, key encipherment, client auth",
            "CertificateSigningRequest:c1 -> Seed:s1",
        ),
        (
            "shoot",
            all,
            "CertificateSigningRequest:c1 -> Shoot:garden-p1/sh1",
        ),
        ("seed", "client auth", ""),
        (
            "seed",
            "key encipherment, digital signature, client auth, server auth",
            "",
        ),
        ("masters", all, ""),
        ("someone", all, ""),
        ("half", all, ""),
        ("named", all, ""),
    ] {
        contributes(&signing_request(name, usages), edges);
    }
    contributes(
        "
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: c1}
        spec: {request: bm90IGEgcmVxdWVzdA==, usages: [client auth]}",
        "",
    );
}

#[test]
fn a_service_account() {
    contributes(
        "
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: gardenlet-bootstrap-m1, namespace: garden}
        secrets: [{name: t1}, {name: t2}]
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: extension-shoot--sh1--ci, namespace: garden-p1}
        secrets: [{name: t3}]
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: gardenlet-bootstrap-m2, namespace: garden}",
        "
        Secret:garden/t1 -> ServiceAccount:garden/gardenlet-bootstrap-m1
        Secret:garden/t2 -> ServiceAccount:garden/gardenlet-bootstrap-m1
        Secret:garden-p1/t3 -> ServiceAccount:garden-p1/extension-shoot--sh1--ci",
    );
}
