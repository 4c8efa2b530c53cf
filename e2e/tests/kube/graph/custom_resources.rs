//! The resources of Gardener, with just the fields that the profile reads.
//!
//! An API server drops everything else before it stores or tells anything, so whatever the profile
//! answers comes from these fields. Not from Gardener: written from the list of fields.

use serde_json::{Value, json};

/// Group, version, kind, plural, whether in namespaces, and fields: texts, at paths with `[]` for lists
/// and `*` for anything below.
type Resource = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static [&'static str],
);

const CORE: &str = "core.gardener.cloud";
const SEED_MANAGEMENT: &str = "seedmanagement.gardener.cloud";
const SECURITY: &str = "security.gardener.cloud";

const RESOURCES: &[Resource] = &[
    (
        CORE,
        "v1beta1",
        "Seed",
        "seeds",
        false,
        &[
            "spec.backup.credentialsRef.apiVersion",
            "spec.backup.credentialsRef.kind",
            "spec.backup.credentialsRef.namespace",
            "spec.backup.credentialsRef.name",
            "spec.dns.provider.credentialsRef.*",
            "spec.dns.internal.credentialsRef.*",
            "spec.dns.defaults[].credentialsRef.*",
            "spec.resources[].name",
            "spec.resources[].resourceRef.apiVersion",
            "spec.resources[].resourceRef.kind",
            "spec.resources[].resourceRef.name",
            "status.clientCertificateExpirationTimestamp",
        ],
    ),
    (
        CORE,
        "v1beta1",
        "Shoot",
        "shoots",
        true,
        &[
            "spec.seedName",
            "spec.secretBindingName",
            "spec.credentialsBindingName",
            "spec.cloudProfileName",
            "spec.cloudProfile.kind",
            "spec.cloudProfile.name",
            "spec.exposureClassName",
            "spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef.name",
            "spec.kubernetes.kubeAPIServer.structuredAuthentication.configMapName",
            "spec.kubernetes.kubeAPIServer.structuredAuthorization.configMapName",
            "spec.kubernetes.kubeAPIServer.structuredAuthorization.kubeconfigs[].secretName",
            "spec.dns.providers[].credentialsRef.apiVersion",
            "spec.dns.providers[].credentialsRef.kind",
            "spec.dns.providers[].credentialsRef.name",
            "spec.resources[].name",
            "spec.resources[].resourceRef.apiVersion",
            "spec.resources[].resourceRef.kind",
            "spec.resources[].resourceRef.name",
            "status.seedName",
            "status.lastOperation.type",
            "status.lastOperation.state",
        ],
    ),
    (
        CORE,
        "v1beta1",
        "Project",
        "projects",
        false,
        &["spec.namespace"],
    ),
    (
        CORE,
        "v1beta1",
        "SecretBinding",
        "secretbindings",
        true,
        &["secretRef.namespace", "secretRef.name"],
    ),
    (
        CORE,
        "v1beta1",
        "BackupBucket",
        "backupbuckets",
        false,
        &[
            "spec.seedName",
            "spec.credentialsRef.apiVersion",
            "spec.credentialsRef.kind",
            "spec.credentialsRef.namespace",
            "spec.credentialsRef.name",
            "spec.shootRef.namespace",
            "spec.shootRef.name",
            "status.generatedSecretRef.namespace",
            "status.generatedSecretRef.name",
        ],
    ),
    (
        CORE,
        "v1beta1",
        "BackupEntry",
        "backupentries",
        true,
        &[
            "spec.bucketName",
            "spec.seedName",
            "spec.shootRef.namespace",
            "spec.shootRef.name",
            "status.seedName",
        ],
    ),
    (
        CORE,
        "v1beta1",
        "ControllerInstallation",
        "controllerinstallations",
        false,
        &[
            "spec.registrationRef.name",
            "spec.deploymentRef.name",
            "spec.seedRef.name",
            "spec.shootRef.namespace",
            "spec.shootRef.name",
        ],
    ),
    (
        CORE,
        "v1",
        "ControllerDeployment",
        "controllerdeployments",
        false,
        &[
            "helm.ociRepository.pullSecretRef.name",
            "helm.ociRepository.caBundleSecretRef.name",
            "resources[].name",
            "resources[].resourceRef.kind",
            "resources[].resourceRef.name",
        ],
    ),
    (
        CORE,
        "v1beta1",
        "ControllerRegistration",
        "controllerregistrations",
        false,
        &[],
    ),
    (CORE, "v1beta1", "CloudProfile", "cloudprofiles", false, &[]),
    (
        CORE,
        "v1beta1",
        "NamespacedCloudProfile",
        "namespacedcloudprofiles",
        true,
        &[],
    ),
    (
        CORE,
        "v1beta1",
        "ExposureClass",
        "exposureclasses",
        false,
        &[],
    ),
    (
        CORE,
        "v1beta1",
        "InternalSecret",
        "internalsecrets",
        true,
        &[],
    ),
    (CORE, "v1beta1", "ShootState", "shootstates", true, &[]),
    (
        SEED_MANAGEMENT,
        "v1alpha1",
        "ManagedSeed",
        "managedseeds",
        true,
        &[
            "spec.shoot.name",
            "spec.gardenlet.bootstrap",
            "spec.gardenlet.config.*",
        ],
    ),
    (
        SEED_MANAGEMENT,
        "v1alpha1",
        "Gardenlet",
        "gardenlets",
        true,
        &[
            "spec.config.*",
            "spec.deployment.helm.ociRepository.caBundleSecretRef.name",
            "spec.deployment.helm.ociRepository.pullSecretRef.name",
        ],
    ),
    (
        SECURITY,
        "v1alpha1",
        "CredentialsBinding",
        "credentialsbindings",
        true,
        &[
            "credentialsRef.apiVersion",
            "credentialsRef.kind",
            "credentialsRef.namespace",
            "credentialsRef.name",
        ],
    ),
    (
        SECURITY,
        "v1alpha1",
        "WorkloadIdentity",
        "workloadidentities",
        true,
        &[],
    ),
    (
        "operations.gardener.cloud",
        "v1alpha1",
        "Bastion",
        "bastions",
        true,
        &["spec.seedName", "spec.shootRef.name"],
    ),
];

/// The definitions of all of them.
pub(crate) fn definitions() -> Vec<Value> {
    RESOURCES.iter().map(definition).collect()
}

fn definition((group, version, kind, plural, namespaced, fields): &Resource) -> Value {
    let mut schema = json!({"type": "object"});
    for field in *fields {
        add(&mut schema, field);
    }
    let mut served = json!({
        "name": version, "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema},
    });
    if fields.iter().any(|field| field.starts_with("status.")) {
        served["subresources"] = json!({"status": {}});
    }
    if *kind == "Bastion" {
        served["selectableFields"] = json!([{"jsonPath": ".spec.seedName"}]);
    }
    let singular = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": if *namespaced { "Namespaced" } else { "Cluster" },
            "names": {"kind": kind, "plural": plural, "singular": singular, "listKind": format!("{kind}List")},
            "versions": [served],
        },
    })
}

/// Adds a text at a path to the schema of an object.
fn add(schema: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    if first == "*" {
        schema["x-kubernetes-preserve-unknown-fields"] = true.into();
        return;
    }
    let (name, is_list) = match first.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (first, false),
    };
    let member = &mut schema["properties"][name];
    let inner = if is_list {
        member["type"] = "array".into();
        &mut member["items"]
    } else {
        member
    };
    if rest.is_empty() {
        inner["type"] = "string".into();
    } else {
        inner["type"] = "object".into();
        add(inner, rest);
    }
}

#[test]
fn a_schema_has_just_the_fields() {
    let mut schema = json!({"type": "object"});
    for path in ["a.b", "a.c[].d", "e.*"] {
        add(&mut schema, path);
    }
    let text = json!({"type": "string"});
    let expected = json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {
            "b": text,
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": text}}},
        }},
        "e": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    assert_eq!(schema, expected);
}
