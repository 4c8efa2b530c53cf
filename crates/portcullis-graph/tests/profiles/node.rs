//! Kubernetes' nodes: the edges of every kind that is watched.

use super::edges::World;

#[track_caller]
fn contributes(objects: &str, edges: &str) {
    let world = World::new("node");
    world.put(objects);
    world.check("Node", edges);
}

/// A Pod ns/p on node n, with this spec besides.
fn pod(spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: ns}}, spec: {{nodeName: n0{spec}}}}}"
    )
}

/// Asserts the edges of a Pod besides that to its node: sources, each with its kind.
#[track_caller]
fn needs(spec: &str, wanted: &[&str]) {
    let edges: Vec<String> = wanted
        .iter()
        .map(|from| format!("{from} -> Pod:ns/p"))
        .collect();
    contributes(
        &pod(spec),
        &format!("Pod:ns/p -> Node:n0\n{}", edges.join("\n")),
    );
}

#[test]
fn a_pod_needs_its_account_and_its_pull_secrets() {
    needs("", &[]);
    needs(", serviceAccountName: sa", &["ServiceAccount:ns/sa"]);
    needs(
        ", imagePullSecrets: [{name: a}, {name: ''}, {}, {name: b}]",
        &["Secret:ns/a", "Secret:ns/b"],
    );
}

#[test]
fn a_pod_needs_what_is_in_the_environment_of_its_containers() {
    for containers in ["containers", "initContainers", "ephemeralContainers"] {
        needs(
            &format!(
                ", {containers}: [{{name: plain}}, {{name: c, env: [{{name: X, value: x}},
                 {{name: A, valueFrom: {{secretKeyRef: {{name: s1, key: k}}}}}},
                 {{name: B, valueFrom: {{configMapKeyRef: {{name: c1, key: k}}}}}},
                 {{name: C, valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}}}],
                 envFrom: [{{secretRef: {{name: s2}}}}, {{configMapRef: {{name: c2}}}}]}}]"
            ),
            &[
                "Secret:ns/s1",
                "Secret:ns/s2",
                "ConfigMap:ns/c1",
                "ConfigMap:ns/c2",
            ],
        );
    }
}

#[test]
fn a_pod_needs_its_volumes() {
    for (volume, wanted) in [
        ("emptyDir: {}", vec![]),
        ("secret: {secretName: s}", vec!["Secret:ns/s"]),
        ("configMap: {name: c}", vec!["ConfigMap:ns/c"]),
        (
            "projected: {sources: [{secret: {name: s}}, {configMap: {name: c}}, {serviceAccountToken: {path: x}}, {downwardAPI: {}}]}",
            vec!["Secret:ns/s", "ConfigMap:ns/c"],
        ),
        (
            "azureFile: {secretName: s, shareName: x}",
            vec!["Secret:ns/s"],
        ),
        ("cephfs: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("cinder: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("flexVolume: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("iscsi: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("rbd: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("scaleIO: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        ("storageos: {secretRef: {name: s}}", vec!["Secret:ns/s"]),
        (
            "csi: {driver: d, nodePublishSecretRef: {name: s}}",
            vec!["Secret:ns/s"],
        ),
        (
            "persistentVolumeClaim: {claimName: v}",
            vec!["PersistentVolumeClaim:ns/v"],
        ),
        (
            "ephemeral: {volumeClaimTemplate: {}}",
            vec!["PersistentVolumeClaim:ns/p-v0"],
        ),
    ] {
        needs(
            &format!(", volumes: [{{name: other, emptyDir: {{}}}}, {{name: v0, {volume}}}]"),
            &wanted,
        );
    }
}

#[test]
fn a_pod_needs_its_resource_claims() {
    contributes(
        "
        apiVersion: v1
        kind: Pod
        metadata: {name: p, namespace: ns}
        spec:
          nodeName: n0
          resourceClaims:
          - {name: a, resourceClaimName: named}
          - {name: b, resourceClaimTemplateName: t}
          - {name: c, resourceClaimTemplateName: t}
          - {name: d, resourceClaimTemplateName: t}
        status:
          resourceClaimStatuses:
          - {name: b, resourceClaimName: made}
          - {name: c}
          - {name: a, resourceClaimName: not-this}
          extendedResourceClaimStatus: {resourceClaimName: extended}",
        "
        Pod:ns/p -> Node:n0
        ResourceClaim:ns/named -> Pod:ns/p
        ResourceClaim:ns/made -> Pod:ns/p
        ResourceClaim:ns/extended -> Pod:ns/p",
    );
}

const EVERYTHING: &str = "
          serviceAccountName: sa
          imagePullSecrets: [{name: pull}]
          containers: [{name: c, envFrom: [{secretRef: {name: s}}, {configMapRef: {name: c}}]}]
          volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]
          resourceClaims: [{name: a, resourceClaimName: r}]";

#[test]
fn mirror_pods_and_pods_without_a_node_open_nothing() {
    contributes(
        &format!(
            "
        apiVersion: v1
        kind: Pod
        metadata: {{name: p, namespace: ns, annotations: {{kubernetes.io/config.mirror: ''}}}}
        spec:
          nodeName: n0{EVERYTHING}"
        ),
        "Pod:ns/p -> Node:n0",
    );
    contributes(
        &format!(
            "
        apiVersion: v1
        kind: Pod
        metadata: {{name: p, namespace: ns}}
        spec:
          priority: 0{EVERYTHING}"
        ),
        "",
    );
}

#[test]
fn a_pod_that_is_bound_opens_and_one_that_is_gone_shuts() {
    let world = World::new("node");
    let at = |node: &str| {
        format!(
            "
        apiVersion: v1
        kind: Pod
        metadata: {{name: p, namespace: ns}}
        spec:
          nodeName: {node}{EVERYTHING}"
        )
    };
    world.put(&at("''"));
    world.check("Node", "");
    world.put(&at("n1"));
    assert!(world.leads("Secret:ns/s", "Node:n1"));
    world.put(&at("n2"));
    assert!(!world.leads("Secret:ns/s", "Node:n1"));
    assert!(world.leads("Secret:ns/s", "Node:n2"));
    world.delete("Pod:ns/p");
    assert_eq!(world.state.graphs()[0].counts(), (0, 0));
}

#[test]
fn new_ephemeral_containers_and_claims_count() {
    let world = World::new("node");
    world.put(&pod(", containers: [{name: c}]"));
    world.put(&pod(
        ", containers: [{name: c}], ephemeralContainers: [{name: e, envFrom: [{secretRef: {name: s}}]}]",
    ));
    world.check("Node", "Pod:ns/p -> Node:n0\nSecret:ns/s -> Pod:ns/p");
}

/// A bound volume with this source.
fn volume(source: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv}}, \
         spec: {{claimRef: {{kind: PersistentVolumeClaim, namespace: ns, name: pvc}}, {source}}}}}"
    )
}

#[test]
fn a_volume_needs_the_secrets_that_a_kubelet_sees() {
    for (source, secrets) in [
        ("hostPath: {path: /x}", vec![]),
        ("azureFile: {secretName: s}", vec!["ns/s"]),
        ("azureFile: {secretName: s, secretNamespace: ''}", vec!["ns/s"]),
        ("azureFile: {secretName: s, secretNamespace: other}", vec!["other/s"]),
        ("cephfs: {secretRef: {name: s}}", vec!["ns/s"]),
        ("cephfs: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("flexVolume: {secretRef: {name: s}}", vec!["ns/s"]),
        ("flexVolume: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("iscsi: {secretRef: {name: s}}", vec!["ns/s"]),
        ("iscsi: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("rbd: {secretRef: {name: s, namespace: ''}}", vec!["ns/s"]),
        ("rbd: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("scaleIO: {secretRef: {name: s}}", vec!["ns/s"]),
        ("scaleIO: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("cinder: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        ("storageos: {secretRef: {name: s, namespace: other}}", vec!["other/s"]),
        (
            "csi: {driver: d, nodePublishSecretRef: {name: a, namespace: x}, nodeStageSecretRef: {name: b, namespace: x},
             nodeExpandSecretRef: {name: c, namespace: x}, controllerPublishSecretRef: {name: d, namespace: x},
             controllerExpandSecretRef: {name: e, namespace: x}}",
            vec!["x/a", "x/b", "x/c"],
        ),
    ] {
        let edges: Vec<String> =
            secrets.iter().map(|secret| format!("Secret:{secret} -> PersistentVolume:pv")).collect();
        contributes(
            &volume(source),
            &format!("PersistentVolume:pv -> PersistentVolumeClaim:ns/pvc\n{}", edges.join("\n")),
        );
    }
}

#[test]
fn other_volumes_must_say_where_their_secret_is() {
    for source in [
        "cinder: {secretRef: {name: s}}",
        "storageos: {secretRef: {name: s}}",
        "csi: {driver: d, nodePublishSecretRef: {name: s}}",
    ] {
        let world = World::new("node");
        let malformed = world.apply(&volume(source));
        assert!(
            malformed.len() == 1 && malformed[0].contains("namespace"),
            "{malformed:?}"
        );
        world.check(
            "Node",
            "PersistentVolume:pv -> PersistentVolumeClaim:ns/pvc",
        );
    }
}

#[test]
fn a_volume_without_a_claim_opens_nothing() {
    contributes(
        "
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: pv}
        spec: {csi: {driver: d, nodePublishSecretRef: {name: a, namespace: x}}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: pv2}
        spec: {cephfs: {secretRef: {name: a, namespace: x}}}",
        "",
    );
}

#[test]
fn a_secret_is_reached_through_volume_and_claim() {
    let world = World::new("node");
    world.put(&volume(
        "csi: {driver: d, nodePublishSecretRef: {name: a, namespace: x}}",
    ));
    world.put(
        "
        apiVersion: v1
        kind: Pod
        metadata: {name: p, namespace: ns}
        spec: {nodeName: n0, volumes: [{name: v, persistentVolumeClaim: {claimName: pvc}}]}",
    );
    assert!(world.leads("Secret:x/a", "Node:n0"));
    assert!(world.leads("PersistentVolume:pv", "Node:n0"));
    assert!(!world.leads("Secret:x/a", "Node:other"));
    world.delete("PersistentVolume:pv");
    assert!(!world.leads("Secret:x/a", "Node:n0"));
    assert!(world.leads("PersistentVolumeClaim:ns/pvc", "Node:n0"));
}

#[test]
fn what_names_a_node_leads_to_it() {
    contributes(
        "
        apiVersion: storage.k8s.io/v1
        kind: VolumeAttachment
        metadata: {name: va}
        spec: {nodeName: n0, source: {persistentVolumeName: pv}}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: rs}
        spec: {nodeName: n0}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: network}
        spec: {allNodes: true}
        ---
        apiVersion: certificates.k8s.io/v1
        kind: PodCertificateRequest
        metadata: {name: pcr, namespace: ns}
        spec: {nodeName: n0, podName: p}
        ---
        apiVersion: v1
        kind: Node
        metadata: {name: n0, uid: u}",
        "
        VolumeAttachment:va -> Node:n0
        ResourceSlice:rs -> Node:n0
        PodCertificateRequest:ns/pcr -> Node:n0",
    );
}
