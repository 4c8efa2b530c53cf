//! The `node` profile beside the API server's own Node authorizer, over the same objects.
//!
//! A control plane of its own has the Node authorizer and no other, and a Portcullis watches it. Both are
//! asked everything: all nodes, verbs, objects and subresources, and selectors. What they answer must be
//! the same, but for what [`explained`] lists. Then objects change, and everything is asked again.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

use portcullis_e2e::{
    Cluster, ClusterConfig, Connection, Kubectl, Portcullis, PortcullisConfig, until,
};
use serde_json::{Value, json};

use super::objects::{list, namespace, object, secret};
use super::requests::{API_SERVER, Request, Verdict, Who};
use crate::suite::in_namespace;

const LIMIT: Duration = Duration::from_secs(60);

const fn node(user: &'static str) -> Who {
    Who {
        user,
        groups: &["system:nodes", "system:authenticated"],
    }
}

const NODES: [Who; 4] = [
    node("system:node:n0"),
    node("system:node:n1"),
    node("system:node:n2"),
    // There is no such Node.
    node("system:node:n9"),
];
const STRANGERS: [Who; 4] = [
    node("system:node:"),
    node("n0"),
    node("system:nodes:n0"),
    Who {
        user: "system:node:n0",
        groups: &["system:authenticated"],
    },
];
const VERBS: [&str; 9] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "impersonate",
];
const RESOURCES: [(&str, &str); 32] = [
    ("", "secrets"),
    ("", "configmaps"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "nodes"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("", "endpoints"),
    ("", "events"),
    ("", "namespaces"),
    ("", "replicationcontrollers"),
    ("events.k8s.io", "events"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("resource.k8s.io", "deviceclasses"),
    ("storage.k8s.io", "volumeattachments"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "storageclasses"),
    ("node.k8s.io", "runtimeclasses"),
    ("coordination.k8s.io", "leases"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("certificates.k8s.io", "podcertificaterequests"),
    ("certificates.k8s.io", "clustertrustbundles"),
    ("discovery.k8s.io", "endpointslices"),
    ("apps", "deployments"),
    // The right resource in a wrong group.
    ("apps", "secrets"),
];
const SUBRESOURCES: [&str; 9] = [
    "status",
    "token",
    "eviction",
    "binding",
    "log",
    "exec",
    "finalizers",
    "proxy",
    "approval",
];

struct Comparison {
    theirs: Connection,
    ours: Connection,
    asked: usize,
    allowed: usize,
    differences: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

#[test]
fn nodes_get_the_answers_of_the_original() {
    in_namespace("graph-nodes", |space| {
        let directory = space.suite.directory.join(space.name);
        let cluster = Cluster::start(
            space.suite.programs.clone(),
            &directory.join("cluster"),
            &space.suite.authority,
            &ClusterConfig {
                only_nodes: true,
                ..ClusterConfig::default()
            },
        );
        let kubectl = cluster.kubectl();
        let mut objects = fixture();
        let create = |objects: &[Value]| {
            let text = list(objects).to_string();
            kubectl
                .run_with_input(&["create", "-f", "-"], &text)
                .succeeds();
        };
        create(&objects);
        let kubeconfig = Cluster::kubeconfig(&directory.join("cluster"));
        let portcullis = Portcullis::start(PortcullisConfig {
            directory: &directory.join("portcullis"),
            authority: &space.suite.authority,
            client_authority: None,
            configuration: &format!(
                "graph: {{profiles: [{{name: node, profile: node, kubeconfig: {}}}]}}\n\
                 authorization: {{chains: {{node: [node]}}}}\n",
                json!(kubeconfig),
            ),
            files: &[],
        });
        let proxy = cluster.proxy();
        let mut comparison = Comparison {
            theirs: proxy.connection(),
            ours: portcullis.connection(),
            asked: 0,
            allowed: 0,
            differences: BTreeMap::new(),
            wrong: Vec::new(),
        };

        comparison.mark(&kubectl, "first", &mut objects);
        comparison.compare(&everything(&objects));

        // The status of a Pod names the claim that was made for it.
        let status = json!({"status": {"resourceClaimStatuses": [{"name": "made", "resourceClaimName": "claim-made"}]}});
        patch(&kubectl, "a/full", "status", &status);
        // A Pod gets its Node, one goes, and one comes back under the old name on another Node.
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "pending"}, "target": {"kind": "Node", "name": "n2"}});
        let path = "/api/v1/namespaces/a/pods/pending/binding";
        let bind = ["create", "--raw", path, "-f", "-"];
        kubectl
            .run_with_input(&bind, &binding.to_string())
            .succeeds();
        let delete = [
            "delete",
            "pod",
            "other",
            "shared",
            "--namespace=a",
            "--grace-period=0",
            "--force",
        ];
        kubectl.run(&delete).succeeds();
        create(&[pod(
            "a/other",
            "n2",
            json!({"serviceAccountName": "other", "volumes": [volume("v", json!({"secret": {"secretName": "other"}}))]}),
        )]);
        // A container that is added later counts, too.
        let added = json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "image", "envFrom": [{"secretRef": {"name": "added"}}]}]}});
        patch(&kubectl, "a/full", "ephemeralcontainers", &added);
        // A volume loses its claim.
        let released = json!({"spec": {"claimRef": null}});
        kubectl
            .run(&[
                "patch",
                "pv",
                "azure",
                "--type=merge",
                &format!("--patch={released}"),
            ])
            .succeeds();

        comparison.mark(&kubectl, "second", &mut objects);
        comparison.compare(&of_objects(&objects, &["get", "list"], &NODES));
        comparison.tell();
    });
}

fn patch(kubectl: &Kubectl, key: &str, subresource: &str, patch: &Value) {
    let (namespace, name) = key.rsplit_once('/').unwrap();
    kubectl
        .in_namespace(namespace)
        .run(&[
            "patch",
            "pod",
            name,
            &format!("--subresource={subresource}"),
            &format!("--patch={patch}"),
        ])
        .succeeds();
}

impl Comparison {
    /// Creates a Pod after everything else, and waits until both know it. Kinds are told apart from each
    /// other, so a little more patience is needed where something differs: see [`Comparison::compare`].
    fn mark(&self, kubectl: &Kubectl, name: &'static str, objects: &mut Vec<Value>) {
        let secret_name = format!("mark-{name}");
        let volumes = json!([volume("v", json!({"secret": {"secretName": secret_name}}))]);
        let mark = pod(&format!("b/mark-{name}"), "n2", json!({"volumes": volumes}));
        kubectl.create(&mark).succeeds();
        objects.push(mark);
        let request = Request::new(NODES[2], "get", ("", "secrets"), ("b", &secret_name));
        let (mut ours, mut theirs) = (self.ours.another(), self.theirs.another());
        until("both to have seen everything", LIMIT, || {
            request.ask(&mut ours, OURS) == Verdict::Allowed
                && request.ask(&mut theirs, API_SERVER) == Verdict::Allowed
        });
    }

    fn compare(&mut self, requests: &[Request]) {
        let mut different = Vec::new();
        for request in requests {
            let (ours, theirs) = self.both(request);
            self.asked += 1;
            self.allowed += usize::from(theirs == Verdict::Allowed);
            if ours != theirs {
                different.push(request);
            }
        }
        // One of the two may have been slower than the other.
        let mut lasting = Vec::new();
        for request in different {
            let answers = self.both(request);
            if let Some(why) = explained(request, answers) {
                *self.differences.entry(why).or_default() += 1;
                continue;
            }
            let mut last = Some(answers);
            let tries = if lasting.is_empty() { 200 } else { 0 };
            for _ in 0..tries {
                if last.is_none_or(|(ours, theirs)| ours == theirs) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
                last = Some(self.both(request));
            }
            let last = last.filter(|(ours, theirs)| ours != theirs);
            if let Some((ours, theirs)) = last {
                lasting.push(format!("{request}: ours {ours:?}, theirs {theirs:?}"));
            }
        }
        self.wrong.extend(lasting);
    }

    fn both(&mut self, request: &Request) -> (Verdict, Verdict) {
        let ours = request.ask(&mut self.ours, OURS);
        (ours, request.ask(&mut self.theirs, API_SERVER))
    }

    /// Past libtest's capture of output, which would swallow it.
    fn tell(&self) {
        let explained: usize = self.differences.values().sum();
        let same = self.asked - explained - self.wrong.len();
        let _ = writeln!(
            std::io::stderr(),
            "node profile and Node authorizer: {} requests ({} allowed), {same} answered alike, {explained} differ as \
             explained, {} differ otherwise",
            self.asked,
            self.allowed,
            self.wrong.len(),
        );
        for (why, count) in &self.differences {
            let _ = writeln!(std::io::stderr(), "  {count}: {why}");
        }
        assert!(
            self.allowed > 500,
            "{} are too few to mean something",
            self.allowed
        );
        let some: Vec<_> = self.wrong.iter().take(40).map(String::as_str).collect();
        assert!(
            self.wrong.is_empty(),
            "{} differ:\n{}",
            self.wrong.len(),
            some.join("\n")
        );
    }
}

const OURS: &str = "/authorize/node";

/// Why ours may allow more: the profile is of Kubernetes 1.37, where two features are on by default that are
/// off in the API server of this suite.
fn explained(request: &Request, answers: (Verdict, Verdict)) -> Option<&'static str> {
    if answers != (Verdict::Allowed, Verdict::NoOpinion) {
        return None;
    }
    match request.resource {
        "podcertificaterequests" => Some("pod certificates are on since 1.37"),
        "clustertrustbundles" => Some("trust bundles are on since 1.37"),
        _ => None,
    }
}

fn everything(objects: &[Value]) -> Vec<Request> {
    let mut all = of_objects(objects, &VERBS, &NODES);
    all.extend(of_objects(objects, &["get"], &STRANGERS));
    // Every resource, with and without name and namespace.
    for who in [NODES[0], NODES[3], STRANGERS[3]] {
        for (group, resource) in RESOURCES {
            for verb in VERBS {
                for of in [
                    ("", ""),
                    ("a", ""),
                    ("", "n0"),
                    ("a", "n0"),
                    ("a", "unknown"),
                    ("kube-node-lease", ""),
                    ("kube-node-lease", "n0"),
                    ("kube-node-lease", "n1"),
                ] {
                    all.push(Request::new(who, verb, (group, resource), of));
                }
            }
        }
    }
    // Every subresource, of the own and of others.
    for (group, resource) in RESOURCES {
        for subresource in SUBRESOURCES {
            for verb in VERBS {
                for of in [("a", "full"), ("a", "other"), ("", "n0")] {
                    let mut request = Request::new(NODES[0], verb, (group, resource), of);
                    request.subresource = subresource;
                    all.push(request);
                }
            }
        }
    }
    all.extend(with_selectors());
    all
}

/// Every object of the fixture, by every node, with every verb; and the subresources that count.
fn of_objects(objects: &[Value], verbs: &[&'static str], nodes: &[Who]) -> Vec<Request> {
    let mut all = Vec::new();
    for object in objects {
        let text = |at: &str| {
            object
                .pointer(at)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let of = (text("/metadata/namespace"), text("/metadata/name"));
        let resources: &[(&str, &str)] = match text("/kind") {
            "Secret" => &[("", "secrets")],
            "ConfigMap" => &[("", "configmaps")],
            "ServiceAccount" => &[("", "serviceaccounts"), ("", "serviceaccounts/token")],
            "Pod" => &[("", "pods"), ("", "pods/status"), ("", "pods/eviction")],
            "PersistentVolume" => &[("", "persistentvolumes"), ("", "persistentvolumes/status")],
            "PersistentVolumeClaim" => &[
                ("", "persistentvolumeclaims"),
                ("", "persistentvolumeclaims/status"),
            ],
            "Node" => &[("", "nodes"), ("", "nodes/status")],
            "VolumeAttachment" => &[
                ("storage.k8s.io", "volumeattachments"),
                ("storage.k8s.io", "volumeattachments/status"),
            ],
            "ResourceClaim" => &[
                ("resource.k8s.io", "resourceclaims"),
                ("resource.k8s.io", "resourceclaims/status"),
            ],
            "ResourceSlice" => &[("resource.k8s.io", "resourceslices")],
            _ => &[],
        };
        for who in nodes {
            for verb in verbs {
                for resource in resources {
                    all.push(Request::new(*who, verb, *resource, of));
                }
            }
        }
    }
    all
}

fn with_selectors() -> Vec<Request> {
    let selectors: [Vec<(&'static str, &'static str, Vec<String>)>; 10] = [
        vec![("spec.nodeName", "In", vec!["n0".to_owned()])],
        vec![("spec.nodeName", "In", vec!["n1".to_owned()])],
        vec![("spec.nodeName", "NotIn", vec!["n0".to_owned()])],
        vec![("spec.nodeName", "NotIn", vec!["n1".to_owned()])],
        vec![("metadata.name", "In", vec!["full".to_owned()])],
        vec![("metadata.name", "In", vec!["n0".to_owned()])],
        vec![("nodeName", "In", vec!["n0".to_owned()])],
        vec![
            ("spec.nodeName", "In", vec!["n0".to_owned()]),
            ("metadata.name", "In", vec!["full".to_owned()]),
        ],
        vec![
            ("spec.nodeName", "In", vec!["n0".to_owned()]),
            ("metadata.name", "In", vec!["n0".to_owned()]),
        ],
        vec![
            ("status.phase", "In", vec!["Running".to_owned()]),
            ("spec.nodeName", "In", vec!["n0".to_owned()]),
        ],
    ];
    let mut all = Vec::new();
    for (group, resource) in [
        ("", "pods"),
        ("", "nodes"),
        ("", "secrets"),
        ("resource.k8s.io", "resourceslices"),
        ("certificates.k8s.io", "podcertificaterequests"),
        ("storage.k8s.io", "csinodes"),
    ] {
        for who in [NODES[0], NODES[1], NODES[3], STRANGERS[1]] {
            for verb in ["get", "list", "watch", "delete", "deletecollection"] {
                for of in [
                    ("", ""),
                    ("a", ""),
                    ("a", "full"),
                    ("", "n0"),
                    ("", "slice0"),
                ] {
                    for fields in &selectors {
                        let mut request = Request::new(who, verb, (group, resource), of);
                        request.fields.clone_from(fields);
                        all.push(request);
                    }
                }
            }
        }
    }
    all
}

fn volume(name: &str, source: Value) -> Value {
    let mut volume = source;
    volume["name"] = name.into();
    volume
}

/// A Pod on a Node, or on none yet.
fn pod(key: &str, node: &str, spec: Value) -> Value {
    let mut spec = spec;
    if spec["containers"].is_null() {
        spec["containers"] = json!([{"name": "main", "image": "image"}]);
    }
    if !node.is_empty() {
        spec["nodeName"] = node.into();
    }
    object("v1", "Pod", key, json!({"spec": spec}))
}

fn claim(key: &str) -> Value {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""});
    object("v1", "PersistentVolumeClaim", key, json!({"spec": spec}))
}

/// A volume of a claim, or of none.
fn persistent(name: &str, claim: &str, source: Value) -> Value {
    let mut spec = source;
    spec["capacity"] = json!({"storage": "1Gi"});
    spec["accessModes"] = json!(["ReadWriteOnce"]);
    if let Some((namespace, name)) = claim.split_once('/') {
        spec["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name});
    }
    object("v1", "PersistentVolume", name, json!({"spec": spec}))
}

/// A Pod with every kind of reference.
fn full() -> Value {
    let reference = |name: &str| json!({"name": name});
    pod(
        "a/full",
        "n0",
        json!({
            "serviceAccountName": "full",
            "imagePullSecrets": [reference("pull")],
            "containers": [
                {"name": "main", "image": "image",
                 "envFrom": [{"secretRef": reference("env-from")}, {"configMapRef": reference("env-from")}],
                 "env": [
                    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "env", "key": "k"}}},
                    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "k"}}},
                    {"name": "C", "value": "plain"},
                 ]},
                {"name": "second", "image": "image", "envFrom": [{"secretRef": reference("second")}],
                 "resources": {"claims": [{"name": "named"}, {"name": "made"}]}},
            ],
            "initContainers": [{"name": "init", "image": "image", "env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "init", "key": "k"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "init", "key": "k"}}},
            ]}],
            "resourceClaims": [
                {"name": "named", "resourceClaimName": "claim-named"},
                {"name": "made", "resourceClaimTemplateName": "template"},
            ],
            "volumes": [
                volume("secret", json!({"secret": {"secretName": "volume"}})),
                volume("config", json!({"configMap": reference("volume")})),
                volume("projected", json!({"projected": {"sources": [
                    {"secret": reference("projected")}, {"configMap": reference("projected")},
                    {"serviceAccountToken": {"path": "token"}},
                    {"secret": reference("projected-too")},
                ]}})),
                volume("claim", json!({"persistentVolumeClaim": {"claimName": "data"}})),
                volume("scratch", json!({"ephemeral": {"volumeClaimTemplate": {"spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}})),
                volume("inline", json!({"csi": {"driver": "d.example", "nodePublishSecretRef": reference("inline")}})),
                volume("azure", json!({"azureFile": {"secretName": "azure", "shareName": "s"}})),
                volume("ceph", json!({"cephfs": {"monitors": ["m"], "secretRef": reference("ceph")}})),
                volume("cinder", json!({"cinder": {"volumeID": "v", "secretRef": reference("cinder")}})),
                volume("flex", json!({"flexVolume": {"driver": "d.example/x", "secretRef": reference("flex")}})),
                volume("iscsi", json!({"iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:disk", "lun": 0,
                    "secretRef": reference("iscsi")}})),
                volume("rbd", json!({"rbd": {"monitors": ["m"], "image": "i", "secretRef": reference("rbd")}})),
                volume("scale", json!({"scaleIO": {"gateway": "https://g.example", "system": "s", "volumeName": "v",
                    "secretRef": reference("scale")}})),
                volume("storageos", json!({"storageos": {"volumeName": "v", "secretRef": reference("storageos")}})),
                volume("empty", json!({"emptyDir": {}})),
            ],
        }),
    )
}

fn fixture() -> Vec<Value> {
    let node = |name: &str| object("v1", "Node", name, json!({}));
    let account = |key: &str| object("v1", "ServiceAccount", key, json!({}));
    let config = |key: &str| object("v1", "ConfigMap", key, json!({}));
    let attachment = |name: &str, node: &str| {
        let spec = json!({"attacher": "d.example", "nodeName": node, "source": {"persistentVolumeName": "csi"}});
        object(
            "storage.k8s.io/v1",
            "VolumeAttachment",
            name,
            json!({"spec": spec}),
        )
    };
    let resource_claim = |key: &str| {
        object(
            "resource.k8s.io/v1",
            "ResourceClaim",
            key,
            json!({"spec": {}}),
        )
    };
    let slice = |name: &str, place: Value| {
        let mut spec = place;
        spec["driver"] = "d.example".into();
        spec["pool"] = json!({"name": name, "generation": 1, "resourceSliceCount": 1});
        object(
            "resource.k8s.io/v1",
            "ResourceSlice",
            name,
            json!({"spec": spec}),
        )
    };
    let of_secret = |name: &str| json!([volume("v", json!({"secret": {"secretName": name}}))]);
    let reference = |name: &str| json!({"name": name});
    let mut mirror = pod(
        "a/mirror",
        "n0",
        json!({"volumes": of_secret("mirror"), "serviceAccountName": "mirror"}),
    );
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});

    let mut all = vec![
        namespace("a"),
        namespace("b"),
        node("n0"),
        node("n1"),
        node("n2"),
    ];
    all.extend(["a/full", "a/other", "a/mirror", "a/unused", "b/full"].map(account));
    all.push(full());
    all.extend([
        pod("a/other", "n1", json!({
            "serviceAccountName": "other",
            "volumes": [
                volume("v", json!({"secret": {"secretName": "other"}})),
                volume("c", json!({"configMap": {"name": "other"}})),
                volume("p", json!({"persistentVolumeClaim": {"claimName": "shared"}})),
            ],
        })),
        // Two Nodes need one and the same.
        pod("a/shared", "n1", json!({"volumes": of_secret("volume")})),
        pod("a/too", "n2", json!({"volumes": [volume("p", json!({"persistentVolumeClaim": {"claimName": "shared"}}))]})),
        // The same names in another namespace.
        pod("b/full", "n2", json!({"serviceAccountName": "full", "volumes": of_secret("volume")})),
        pod("a/pending", "", json!({"volumes": of_secret("pending")})),
        mirror,
    ]);
    all.extend(
        [
            "pull",
            "env-from",
            "env",
            "second",
            "init",
            "volume",
            "projected",
            "projected-too",
            "inline",
            "azure",
            "ceph",
            "cinder",
            "flex",
            "iscsi",
            "rbd",
            "scale",
            "storageos",
            "other",
            "pending",
            "mirror",
            "unused",
            "added",
            "pv-azure",
            "pv-ceph",
            "pv-flex",
            "pv-iscsi",
            "pv-rbd",
            "pv-scale",
            "pv-cinder",
            "pv-storageos",
        ]
        .map(|name| secret(&format!("a/{name}"))),
    );
    all.extend(
        [
            "publish",
            "stage",
            "expand",
            "controller-publish",
            "controller-expand",
            "free",
        ]
        .map(|name| secret(&format!("kube-system/csi-{name}"))),
    );
    all.extend(["b/volume", "b/pv-azure", "b/elsewhere", "b/mark-first"].map(secret));
    all.extend(
        [
            "a/env-from",
            "a/env",
            "a/init",
            "a/volume",
            "a/projected",
            "a/other",
            "a/unused",
            "b/volume",
        ]
        .map(config),
    );
    all.extend(["a/data", "a/full-scratch", "a/shared", "a/unused", "b/data"].map(claim));
    let csi = |secrets: Value| {
        let mut source = secrets;
        source["driver"] = "d.example".into();
        source["volumeHandle"] = "h".into();
        json!({"csi": source})
    };
    let in_system = |name: &str| json!({"namespace": "kube-system", "name": name});
    all.extend([
        persistent("csi", "a/data", csi(json!({
            "nodePublishSecretRef": in_system("csi-publish"), "nodeStageSecretRef": in_system("csi-stage"),
            "nodeExpandSecretRef": in_system("csi-expand"), "controllerPublishSecretRef": in_system("csi-controller-publish"),
            "controllerExpandSecretRef": in_system("csi-controller-expand"),
        }))),
        persistent("free", "", csi(json!({"nodePublishSecretRef": in_system("csi-free")}))),
        persistent("azure", "a/shared", json!({"azureFile": {"secretName": "pv-azure", "shareName": "s"}})),
        persistent("azure-elsewhere", "a/shared", json!({"azureFile": {"secretName": "elsewhere", "secretNamespace": "b", "shareName": "s"}})),
        persistent("ceph", "a/full-scratch", json!({"cephfs": {"monitors": ["m"], "secretRef": reference("pv-ceph")}})),
        persistent("flex", "a/data", json!({"flexVolume": {"driver": "d.example/x", "secretRef": reference("pv-flex")}})),
        persistent("iscsi", "a/data", json!({"iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:disk", "lun": 0,
            "secretRef": reference("pv-iscsi")}})),
        persistent("rbd", "a/data", json!({"rbd": {"monitors": ["m"], "image": "i", "secretRef": reference("pv-rbd")}})),
        persistent("scale", "a/data", json!({"scaleIO": {"gateway": "https://g.example", "system": "s", "volumeName": "v",
            "secretRef": reference("pv-scale")}})),
        persistent("cinder", "a/data", json!({"cinder": {"volumeID": "v", "secretRef": {"name": "pv-cinder", "namespace": "a"}}})),
        persistent("storageos", "a/data", json!({"storageos": {"volumeName": "v", "secretRef": {"kind": "Secret", "name": "pv-storageos", "namespace": "a"}}})),
        persistent("unused", "a/unused", csi(json!({}))),
    ]);
    all.extend([attachment("va0", "n0"), attachment("va1", "n1")]);
    all.extend(["a/claim-named", "a/claim-made", "a/claim-unused"].map(resource_claim));
    all.extend([
        slice("slice0", json!({"nodeName": "n0"})),
        slice("slice1", json!({"nodeName": "n1"})),
        slice("slice-all", json!({"allNodes": true})),
    ]);
    all
}
