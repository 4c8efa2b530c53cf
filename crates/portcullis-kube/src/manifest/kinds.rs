//! What can be known of a kind by its name: its resource, and whether it lives in a namespace.
//!
//! An API server knows both; here English plurals and a list of Kubernetes' own kinds must do. Kinds that
//! are not listed live in a namespace.

use portcullis_core::Kind;
use portcullis_core::text::plural;

/// The kinds of the options with which one connects, and where: resource, subresource.
const CONNECTIONS: &[(&str, &str, &str)] = &[
    ("NodeProxyOptions", "nodes", "proxy"),
    ("PodAttachOptions", "pods", "attach"),
    ("PodExecOptions", "pods", "exec"),
    ("PodPortForwardOptions", "pods", "portforward"),
    ("PodProxyOptions", "pods", "proxy"),
    ("ServiceProxyOptions", "services", "proxy"),
];

/// Kinds whose resource no rule of English gives.
const IRREGULAR: &[(&str, &str, &str)] = &[
    ("", "Endpoints", "endpoints"),
    ("metrics.k8s.io", "NodeMetrics", "nodes"),
    ("metrics.k8s.io", "PodMetrics", "pods"),
];

/// Kubernetes' kinds without a namespace, by group.
const CLUSTER_SCOPED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "ComponentStatus",
            "Namespace",
            "Node",
            "NodeProxyOptions",
            "PersistentVolume",
        ],
    ),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    (
        "authentication.k8s.io",
        &["SelfSubjectReview", "TokenReview"],
    ),
    (
        "authorization.k8s.io",
        &[
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    (
        "certificates.k8s.io",
        &["CertificateSigningRequest", "ClusterTrustBundle"],
    ),
    ("cert-manager.io", &["ClusterIssuer"]),
    (
        "flowcontrol.apiserver.k8s.io",
        &["FlowSchema", "PriorityLevelConfiguration"],
    ),
    ("gateway.networking.k8s.io", &["GatewayClass"]),
    ("internal.apiserver.k8s.io", &["StorageVersion"]),
    ("metrics.k8s.io", &["NodeMetrics"]),
    (
        "networking.k8s.io",
        &["IPAddress", "IngressClass", "ServiceCIDR"],
    ),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    (
        "rbac.authorization.k8s.io",
        &["ClusterRole", "ClusterRoleBinding"],
    ),
    (
        "resource.k8s.io",
        &["DeviceClass", "DeviceTaintRule", "ResourceSlice"],
    ),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "snapshot.storage.k8s.io",
        &["VolumeSnapshotClass", "VolumeSnapshotContent"],
    ),
    (
        "storage.k8s.io",
        &[
            "CSIDriver",
            "CSINode",
            "StorageClass",
            "VolumeAttachment",
            "VolumeAttributesClass",
        ],
    ),
    ("storagemigration.k8s.io", &["StorageVersionMigration"]),
];

/// Whether objects of this kind have no namespace.
#[must_use]
pub(super) fn is_cluster_scoped(kind: &Kind) -> bool {
    CLUSTER_SCOPED
        .iter()
        .any(|(group, kinds)| *group == kind.group && kinds.contains(&kind.kind.as_str()))
}

/// The resource of a kind, and the subresource where the kind is for one.
#[must_use]
pub fn resource(kind: &Kind) -> (String, &'static str) {
    if kind.group.is_empty()
        && let Some((_, resource, part)) = CONNECTIONS.iter().find(|(k, ..)| *k == kind.kind)
    {
        return ((*resource).to_owned(), part);
    }
    let irregular = IRREGULAR.iter().find(|(group, k, _)| kind.is(group, k));
    match irregular {
        Some((_, _, resource)) => ((*resource).to_owned(), ""),
        None => (plural(&kind.kind.to_lowercase()), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, kind: &str) -> Kind {
        Kind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn resources_are_those_of_kubernetes() {
        for (group, name, wanted) in [
            ("", "Pod", "pods"),
            ("", "Service", "services"),
            ("", "Endpoints", "endpoints"),
            ("", "ConfigMap", "configmaps"),
            ("", "ComponentStatus", "componentstatuses"),
            ("apps", "Deployment", "deployments"),
            ("batch", "CronJob", "cronjobs"),
            ("discovery.k8s.io", "EndpointSlice", "endpointslices"),
            ("gateway.networking.k8s.io", "Gateway", "gateways"),
            (
                "gateway.networking.k8s.io",
                "GatewayClass",
                "gatewayclasses",
            ),
            ("metrics.k8s.io", "PodMetrics", "pods"),
            ("networking.k8s.io", "Ingress", "ingresses"),
            ("networking.k8s.io", "IPAddress", "ipaddresses"),
            ("networking.k8s.io", "NetworkPolicy", "networkpolicies"),
            ("policy", "PodSecurityPolicy", "podsecuritypolicies"),
            ("scheduling.k8s.io", "PriorityClass", "priorityclasses"),
            ("storage.k8s.io", "StorageClass", "storageclasses"),
            ("example.com", "Mesh", "meshes"),
        ] {
            assert_eq!(resource(&kind(group, name)), (wanted.to_owned(), ""));
        }
        assert_eq!(
            resource(&kind("", "PodExecOptions")),
            ("pods".to_owned(), "exec")
        );
    }

    #[test]
    fn scope_goes_by_group_and_kind() {
        assert!(is_cluster_scoped(&kind("", "Namespace")));
        assert!(is_cluster_scoped(&kind(
            "rbac.authorization.k8s.io",
            "ClusterRole"
        )));
        assert!(!is_cluster_scoped(&kind("", "Pod")));
        assert!(!is_cluster_scoped(&kind("example.com", "Node")));
    }
}
