//! The API server's own plug-ins as the oracle.
//!
//! A second control plane has the original plug-ins switched on. The same
//! manifests go to it and to the shared one, where Portcullis does that work
//! through both webhooks; people must see the same objects and the same words.
//! Three differences are wanted, and written down in [`words`].

use portcullis_e2e::{Answer, Cluster, ClusterConfig, Kubectl, Phase, Portcullis};
use serde_json::{Value, json};

use crate::manifests::{
    IMAGE, deployment, pod, pod_of_container, privileged_pod, restricted_pod, service,
};
use crate::suite::{Space, in_namespace};

/// Where `baseline` is enforced, and nodes and tolerations are restricted.
const NAMESPACE: &str = "oracle";
/// Where `restricted` is enforced.
const RESTRICTED: &str = "oracle-restricted";

#[test]
fn people_see_what_the_original_plugins_would_show_them() {
    in_namespace(NAMESPACE, |space| {
        let original = original(space);
        let mut differences = Vec::new();
        for space in [space, &Space::create(space.suite, RESTRICTED)] {
            let _gate = gate(space);
            let original = original.kubectl().in_namespace(space.name);
            for manifest in manifests() {
                let [ours, theirs] =
                    [&space.kubectl, &original].map(|kubectl| seen(kubectl, &manifest));
                if ours != theirs {
                    let name = &manifest["metadata"]["name"];
                    differences.push(format!("{name}: ours {ours:#}\ntheirs {theirs:#}"));
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    });
}

/// Portcullis, registered for both phases.
fn gate(space: &Space) -> Portcullis {
    let plugins: Vec<_> = plugins()
        .iter()
        .map(|(name, configuration)| json!({"name": name, "configuration": configuration}))
        .collect();
    // In the order in which the API server has them.
    let order = [
        "LimitPodHardAntiAffinityTopology",
        "AlwaysPullImages",
        "PodSecurity",
        "PodNodeSelector",
        "DefaultTolerationSeconds",
        "PodTolerationRestriction",
        "ExtendedResourceToleration",
        "DenyServiceExternalIPs",
    ];
    let admission = json!({"order": order, "plugins": plugins});
    let configuration = format!(
        "admission: {admission}\nnamespaces: {}\n",
        json!(namespaces())
    );
    let portcullis = space.gate(Phase::Mutating, &configuration);
    let validating = space.webhook(Phase::Validating, &portcullis);
    space
        .webhooks(Phase::Validating, vec![validating])
        .register();
    portcullis
}

/// A control plane with the original plug-ins, configured in the same way.
fn original(space: &Space) -> Cluster {
    let cluster = Cluster::start(
        space.suite.programs.clone(),
        &space.suite.directory.join(NAMESPACE).join("original"),
        &space.suite.authority,
        &ClusterConfig {
            enabled_plugins: &[
                "AlwaysPullImages",
                "DenyServiceExternalIPs",
                "ExtendedResourceToleration",
                "LimitPodHardAntiAffinityTopology",
                "PodNodeSelector",
                "PodTolerationRestriction",
            ],
            plugin_configurations: &plugins(),
            ..ClusterConfig::default()
        },
    );
    for metadata in namespaces() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        cluster.kubectl().create(&namespace).succeeds();
    }
    cluster
}

/// The plug-ins that have a configuration, and it.
fn plugins() -> [(&'static str, Value); 3] {
    [
        (
            "PodSecurity",
            json!({
                "apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
                "defaults": {"enforce": "baseline"},
            }),
        ),
        (
            "PodNodeSelector",
            json!({"podNodeSelectorPluginConfig": {NAMESPACE: "env=test,disk=ssd"}}),
        ),
        (
            "PodTolerationRestriction",
            json!({
                "apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1", "kind": "Configuration",
                "default": [{"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}],
            }),
        ),
    ]
}

/// Name, labels and annotations of both namespaces.
fn namespaces() -> [Value; 2] {
    let allowed = [
        "team",
        "example.org/fpga",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/memory-pressure",
    ]
    .map(|key| json!({"key": key, "operator": "Exists"}));
    [
        json!({"name": NAMESPACE, "annotations": {
            "scheduler.alpha.kubernetes.io/node-selector": "env=test",
            "scheduler.alpha.kubernetes.io/tolerationsWhitelist": json!(allowed).to_string(),
        }}),
        json!({"name": RESTRICTED, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}),
    ]
}

/// A pod that `restricted` lets pass but for these fields of its container.
fn nearly_restricted(name: &str, security_context: &Value) -> Value {
    let mut pod = restricted_pod(name);
    let fields = security_context.as_object().into_iter().flatten();
    for (key, value) in fields {
        pod["spec"]["containers"][0]["securityContext"][key] = value.clone();
    }
    pod
}

fn manifests() -> Vec<Value> {
    let mut volumes = restricted_pod("volumes");
    volumes["spec"]["volumes"] = json!([
        {"name": "empty", "emptyDir": {}},
        {"name": "nfs", "nfs": {"server": "192.0.2.1", "path": "/"}},
        {"name": "disk", "iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}},
    ]);
    let mut of_two = restricted_pod("of-two");
    of_two["spec"]["initContainers"] = json!([{"name": "first", "image": IMAGE}]);
    let mut as_root = restricted_pod("as-root");
    as_root["spec"]["securityContext"] = json!({"runAsUser": 0});
    let tolerating =
        |name: &str, toleration: Value| pod(name, json!({"tolerations": [toleration]}));
    let apart = |name: &str, topology_key: &str| {
        pod(
            name,
            json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": topology_key},
            ]}}}),
        )
    };
    let sysctl = json!({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}});
    vec![
        pod("plain", json!({})),
        restricted_pod("restricted"),
        volumes,
        of_two,
        as_root,
        nearly_restricted("escalating", &json!({"allowPrivilegeEscalation": true})),
        nearly_restricted("maybe-root", &json!({"runAsNonRoot": false})),
        nearly_restricted("user-zero", &json!({"runAsUser": 0})),
        nearly_restricted(
            "drops-little",
            &json!({"capabilities": {"drop": ["CHOWN"]}}),
        ),
        nearly_restricted(
            "binds",
            &json!({"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}),
        ),
        nearly_restricted(
            "administers",
            &json!({"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}}),
        ),
        nearly_restricted(
            "local-seccomp",
            &json!({"seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"}}),
        ),
        nearly_restricted("no-seccomp", &json!({"seccompProfile": null})),
        pod("selected", json!({"nodeSelector": {"disk": "ssd"}})),
        pod("conflicting", json!({"nodeSelector": {"env": "live"}})),
        pod("unlisted", json!({"nodeSelector": {"disk": "tape"}})),
        apart("hosts", "kubernetes.io/hostname"),
        apart("zones", "topology.kubernetes.io/zone"),
        pod(
            "lazy",
            json!({
                "initContainers": [{"name": "first", "image": IMAGE, "imagePullPolicy": "Never"}],
                "volumes": [{"name": "data", "image": {"reference": IMAGE, "pullPolicy": "IfNotPresent"}}],
            }),
        ),
        pod_of_container(
            "gpu",
            json!({"resources": {"limits": {"example.com/gpu": 2, "example.org/fpga": 1}}}),
        ),
        pod_of_container(
            "fpga",
            json!({"resources": {"limits": {"example.org/fpga": 1}}}),
        ),
        pod_of_container(
            "burstable",
            json!({"resources": {"requests": {"cpu": "10m"}}}),
        ),
        pod_of_container(
            "guaranteed",
            json!({"resources": {"limits": {"cpu": "10m", "memory": "1Mi"}}}),
        ),
        tolerating(
            "own-seconds",
            json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}),
        ),
        tolerating(
            "same-team",
            json!({"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}),
        ),
        tolerating(
            "other-team",
            json!({"key": "team", "operator": "Equal", "value": "db", "effect": "NoSchedule"}),
        ),
        tolerating(
            "stranger",
            json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
        ),
        tolerating("everything", json!({"operator": "Exists"})),
        privileged_pod("privileged"),
        pod(
            "host",
            json!({"hostNetwork": true, "hostPID": true, "hostIPC": true}),
        ),
        pod(
            "host-path",
            json!({"volumes": [{"name": "root", "hostPath": {"path": "/"}}, {"name": "etc", "hostPath": {"path": "/etc"}}]}),
        ),
        pod_of_container(
            "ports",
            json!({"ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81, "hostPort": 8081}]}),
        ),
        pod_of_container(
            "capabilities",
            json!({"securityContext": {"capabilities": {"add": ["NET_RAW", "SYS_ADMIN", "CHOWN"]}}}),
        ),
        pod_of_container(
            "seccomp",
            json!({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
        ),
        pod_of_container(
            "selinux",
            json!({"securityContext": {"seLinuxOptions": {"type": "custom_t", "user": "root"}}}),
        ),
        pod(
            "proc",
            json!({
                "hostUsers": false,
                "containers": [{"name": "app", "image": IMAGE, "securityContext": {"procMount": "Unmasked"}}],
            }),
        ),
        pod_of_container(
            "apparmor",
            json!({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}),
        ),
        pod_of_container(
            "probe",
            json!({"livenessProbe": {"httpGet": {"host": "192.0.2.1", "port": 80}}}),
        ),
        pod("sysctl", sysctl),
        deployment("deployment", &privileged_pod("web")),
        service("service", json!({})),
        service("external", json!({"externalIPs": ["192.0.2.1"]})),
    ]
}

/// What a person sees: the object that would be stored, or the refusal, and warnings.
pub(crate) fn seen(kubectl: &Kubectl, manifest: &Value) -> Value {
    let answer = kubectl.run_with_input(
        &["create", "--dry-run=server", "-o", "json", "-f", "-"],
        &manifest.to_string(),
    );
    json!({"object": object(&answer), "words": words(manifest, &answer)})
}

/// The object, without what differs from one creation to the next.
pub(crate) fn object(answer: &Answer) -> Value {
    let Ok(mut object) = serde_json::from_str::<Value>(&answer.stdout) else {
        return Value::Null;
    };
    for (part, keys) in [
        ("metadata", ["uid", "creationTimestamp"]),
        ("spec", ["clusterIP", "clusterIPs"]),
    ] {
        if let Some(part) = object[part].as_object_mut() {
            part.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }
    object
}

/// Standard error, without the mention of the webhook that spoke, and with the
/// original's words changed where ours differ from them on purpose.
fn words(manifest: &Value, answer: &Answer) -> Vec<String> {
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
    answer
        .stderr
        .lines()
        // The API server's own, which it has no time for when a mutating webhook refuses.
        .filter(|line| !line.starts_with("Warning: spec.externalIPs is deprecated"))
        .map(without_webhook)
        // Warnings are cut as Kubernetes asks of webhooks.
        .map(|line| match line.strip_prefix("Warning: ") {
            Some(text) if text.chars().count() > 120 => {
                let start: String = text.chars().take(119).collect();
                format!("Warning: {start}…")
            }
            _ => line,
        })
        // The original forgets to say what is forbidden, and so calls it an error of its own.
        .map(|line| {
            line.replace(
                "Error from server: error when creating \"STDIN\": pod tolerations",
                &format!(
                    "Error from server (Forbidden): error when creating \"STDIN\": \
                     pods \"{name}\" is forbidden: pod tolerations"
                ),
            )
        })
        .collect()
}

/// A line of standard error without the mention of the webhook that spoke.
pub(crate) fn without_webhook(line: &str) -> String {
    let parts = line
        .split_once("admission webhook \"")
        .and_then(|(before, rest)| {
            let (_, after) = rest.split_once("denied the request: ")?;
            Some(format!("{before}{after}"))
        });
    parts.unwrap_or_else(|| line.to_owned())
}
