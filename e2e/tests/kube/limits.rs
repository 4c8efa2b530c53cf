//! LimitRanges and ResourceQuotas, with the API server's own plug-ins as the oracle.
//!
//! One control plane has the originals; in the other one they are off, and Portcullis does their work through both
//! webhooks. No controller runs in either, so the test writes the status of quotas.

mod quotas;

use std::time::Duration;

use portcullis_e2e::{Answer, Cluster, ClusterConfig, Kubectl, Phase, Portcullis, until};
use serde_json::{Value, json};

use crate::manifests::{IMAGE, deployment, pod, pod_of_container, service};
use crate::oracle::{object, without_webhook};
use crate::suite::{Space, in_namespace};

const LIMIT: Duration = Duration::from_secs(30);

/// Two control planes that are to say the same.
struct Sides {
    /// With Portcullis.
    bare: Cluster,
    /// With the original plug-ins.
    original: Cluster,
    _gate: Portcullis,
}

impl Sides {
    fn start(space: &Space) -> Self {
        let directory = space.suite.directory.join(space.name);
        let quota = quota_configuration();
        let start = |name: &str, disabled: &[&str]| {
            Cluster::start(
                space.suite.programs.clone(),
                &directory.join(name),
                &space.suite.authority,
                &ClusterConfig {
                    disabled_plugins: disabled,
                    plugin_configurations: &[("ResourceQuota", quota.clone())],
                    ..ClusterConfig::default()
                },
            )
        };
        let bare = start("bare", &["LimitRanger", "ResourceQuota"]);
        let original = start("original", &[]);
        let gate = gate(space, &bare, &directory.join("bare"), &quota);
        let sides = Self {
            bare,
            original,
            _gate: gate,
        };
        for cluster in [&sides.bare, &sides.original] {
            for (name, value) in [("high", 1000), ("low", 10)] {
                let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                    "metadata": {"name": name}, "value": value});
                cluster.kubectl().create(&class).succeeds();
            }
        }
        sides
    }

    /// `kubectl` on both sides, in a new namespace with these objects.
    fn namespace(&self, name: &str, objects: &[Value]) -> [Kubectl; 2] {
        [&self.bare, &self.original].map(|cluster| {
            cluster
                .kubectl()
                .run(&["create", "namespace", name])
                .succeeds();
            let kubectl = cluster.kubectl().in_namespace(name);
            for object in objects {
                kubectl.create(object).succeeds();
            }
            kubectl
        })
    }
}

fn quota_configuration() -> Value {
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration",
        "limitedResources": [
            {"resource": "pods", "matchScopes": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
            ]},
            {"resource": "persistentvolumeclaims", "matchContains": ["silver.storageclass.storage.k8s.io/requests.storage"]},
        ],
    })
}

/// A Portcullis for all namespaces of a control plane, registered for both phases.
fn gate(
    space: &Space,
    cluster: &Cluster,
    directory: &std::path::Path,
    quota: &Value,
) -> Portcullis {
    let admission = json!({
        "order": ["LimitRanger", "ResourceQuota"],
        "plugins": [{"name": "ResourceQuota", "configuration": quota}],
    });
    let kube = json!({"kubeconfig": Cluster::kubeconfig(directory)});
    let portcullis = space.portcullis("gate", &format!("kube: {kube}\nadmission: {admission}\n"));
    for phase in [Phase::Mutating, Phase::Validating] {
        let entries = vec![space.webhook(phase, &portcullis)];
        let mut webhooks = space.webhooks(phase, entries).configuration();
        let webhook = webhooks["webhooks"][0].as_object_mut().unwrap();
        webhook.remove("namespaceSelector");
        cluster.kubectl().apply(&webhooks).succeeds();
    }
    let range = limit_range(&json!([{"type": "Pod", "max": {"cpu": "1m"}}]));
    let probe = cluster.kubectl();
    probe.create(&range).succeeds();
    let pod = asking("probe", &json!({"limits": {"cpu": "2m"}}));
    until("the webhooks to be called", LIMIT, || {
        let answer = probe.dry_run(&pod);
        answer.stderr.contains("maximum cpu usage per Pod is 1m")
    });
    portcullis
}

fn limit_range(limits: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits"}, "spec": {"limits": limits}})
}

/// A pod of one container with these resources.
fn asking(name: &str, resources: &Value) -> Value {
    pod_of_container(name, json!({"resources": resources}))
}

fn claim(name: &str, class: &str, storage: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": storage}},
    }})
}

/// What a person sees: objects, and words without the mention of a webhook.
fn seen(answer: &Answer, name: &str) -> Value {
    let words = answer.stderr.lines().map(without_webhook).map(|line| {
        // The original forgets to say what is forbidden, and so calls it an error of its own.
        line.replace(
            "Error from server: error when creating \"STDIN\": insufficient quota",
            &format!(
                "Error from server (Forbidden): error when creating \"STDIN\": \
                 pods \"{name}\" is forbidden: insufficient quota"
            ),
        )
    });
    let words: Vec<String> = words.collect();
    let mut object = object(answer);
    // Ports of nodes are drawn.
    for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
        port["nodePort"] = Value::Null;
    }
    json!({"object": object, "words": words})
}

/// Differences between the sides.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    /// Does the same on both sides, ours first; what ours says.
    fn compare(
        &mut self,
        sides: &[Kubectl; 2],
        name: &str,
        act: impl Fn(&Kubectl) -> Answer,
    ) -> Value {
        let [ours, theirs] = [0, 1].map(|side| seen(&act(&sides[side]), name));
        if ours != theirs {
            self.0
                .push(format!("{name}: ours {ours:#}\ntheirs {theirs:#}"));
        }
        ours
    }

    /// Tries to create all of these.
    fn dry_runs(&mut self, sides: &[Kubectl; 2], manifests: &[Value]) -> Vec<Value> {
        let run = |kubectl: &Kubectl, manifest: &Value| {
            let arguments = ["create", "--dry-run=server", "-o", "json", "-f", "-"];
            kubectl.run_with_input(&arguments, &manifest.to_string())
        };
        let manifests = manifests.iter();
        manifests
            .map(|manifest| {
                let name = manifest["metadata"]["name"].as_str().unwrap();
                self.compare(sides, name, |kubectl| run(kubectl, manifest))
            })
            .collect()
    }

    #[track_caller]
    fn are_none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n\n"));
    }
}

/// How many of these were denied by the rules.
fn denied(seen: &[Value]) -> usize {
    let is_denied = |seen: &&Value| seen["words"].to_string().contains("(Forbidden)");
    seen.iter().filter(is_denied).count()
}

#[test]
fn limit_ranges_hold_as_with_the_original() {
    in_namespace("limits-ranges", |space| {
        let sides = Sides::start(space);
        let mut differences = Differences::default();
        let defaults = json!([{
            "type": "Container",
            "default": {"cpu": "200m", "memory": "256Mi"}, "defaultRequest": {"cpu": "100m"},
        }]);
        let both = sides.namespace("defaults", &[limit_range(&defaults)]);
        let seen = differences.dry_runs(&both, &pods());
        assert_eq!(denied(&seen), 0);
        let annotations = &seen[0]["object"]["metadata"]["annotations"];
        assert_eq!(
            annotations["kubernetes.io/limit-ranger"],
            "LimitRanger plugin set: cpu, memory request for container app; cpu, memory limit for container app"
        );
        let bounds = json!([
            {"type": "Container", "min": {"cpu": "100m"}, "max": {"memory": "1Gi"}, "maxLimitRequestRatio": {"cpu": "1500m"}},
            {"type": "Pod", "max": {"cpu": "2"}, "min": {"memory": "64Mi"}, "maxLimitRequestRatio": {"memory": 3}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}},
        ]);
        let both = sides.namespace("bounds", &[limit_range(&bounds)]);
        let seen = differences.dry_runs(&both, &pods());
        assert!(denied(&seen) > 8, "{}", denied(&seen));
        let claims = [
            ("small", "500Mi"),
            ("fine", "1Gi"),
            ("large", "10.5Gi"),
            ("odd", "1.5G"),
        ];
        let claims = claims.map(|(name, storage)| claim(name, "gold", storage));
        let seen = differences.dry_runs(&both, &claims);
        assert_eq!(denied(&seen), 2);
        resized_pods_are_held_to_limits(&both, &mut differences);
        differences.are_none();
    });
}

fn resized_pods_are_held_to_limits(both: &[Kubectl; 2], differences: &mut Differences) {
    let amounts = |cpu: &str| json!({"cpu": cpu, "memory": "100Mi"});
    let web = asking(
        "web",
        &json!({"requests": amounts("1"), "limits": amounts("1")}),
    );
    for kubectl in both {
        kubectl.create(&web).succeeds();
    }
    for (what, cpu, is_denied) in [
        ("up", "3", true),
        ("down", "50m", true),
        ("little", "1500m", false),
    ] {
        let resources = json!({"requests": amounts(cpu), "limits": amounts(cpu)});
        let patch = json!({"spec": {"containers": [{"name": "app", "resources": resources}]}});
        let patch = patch.to_string();
        let arguments = [
            "patch",
            "pod",
            "web",
            "--subresource=resize",
            "--dry-run=server",
            "-p",
            &patch,
        ];
        let seen = differences.compare(both, what, |kubectl| kubectl.run(&arguments));
        assert_eq!(
            seen["words"].to_string().contains("(Forbidden)"),
            is_denied,
            "{seen}"
        );
    }
    // Other changes are not looked at.
    differences.compare(both, "label", |kubectl| {
        kubectl.run(&["label", "pod", "web", "a=b"])
    });
}

/// Pods that ask for resources in many ways.
fn pods() -> Vec<Value> {
    let container = |name: &str, resources: Value| json!({"name": name, "image": IMAGE, "resources": resources});
    let sidecar = |name: &str, resources: Value| {
        let mut sidecar = container(name, resources);
        sidecar["restartPolicy"] = json!("Always");
        sidecar
    };
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}, "limits": {"cpu": amount}});
    let mut annotated = pod("annotated", json!({}));
    annotated["metadata"]["annotations"] = json!({"a": "b"});
    vec![
        pod("plain", json!({})),
        annotated,
        asking(
            "limits-only",
            &json!({"limits": {"cpu": "300m", "memory": "1Gi"}}),
        ),
        asking("requests-only", &json!({"requests": {"cpu": "150m"}})),
        asking(
            "small",
            &json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "60m"}}),
        ),
        asking(
            "small-limit",
            &json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "200m"}}),
        ),
        asking("large", &json!({"limits": {"memory": "1.5Gi"}})),
        asking(
            "larger",
            &json!({"requests": {"memory": "2G"}, "limits": {"memory": "2G"}}),
        ),
        asking(
            "ratio",
            &json!({"requests": {"cpu": "300m"}, "limits": {"cpu": "1"}}),
        ),
        asking(
            "fraction",
            &json!({"requests": {"cpu": "0.3333"}, "limits": {"cpu": "0.4"}}),
        ),
        asking(
            "zero",
            &json!({"requests": {"cpu": "0"}, "limits": {"cpu": "0"}}),
        ),
        asking(
            "exponent",
            &json!({"requests": {"cpu": "1e3", "memory": "1e6"}, "limits": {"cpu": "1E3", "memory": "12E6"}}),
        ),
        asking(
            "written",
            &json!({"requests": {"cpu": "0.500", "memory": "0001Mi"}, "limits": {"cpu": "1.500", "memory": "007Mi"}}),
        ),
        asking(
            "huge",
            &json!({"requests": {"memory": "7Pi"}, "limits": {"memory": "7Pi"}}),
        ),
        asking("device", &json!({"limits": {"example.com/gpu": 2}})),
        pod(
            "two",
            json!({"containers": [container("a", cpu("1")), container("b", cpu("1500m"))]}),
        ),
        pod(
            "init",
            json!({
                "containers": [container("a", cpu("1"))],
                "initContainers": [container("b", cpu("3")), container("c", json!({}))],
            }),
        ),
        pod(
            "sidecars",
            json!({
                "containers": [container("a", cpu("500m"))],
                "initContainers": [sidecar("b", cpu("1")), container("c", cpu("500m")), sidecar("d", cpu("750m"))],
            }),
        ),
        pod(
            "whole",
            json!({
                "containers": [container("a", cpu("500m"))],
                "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "3", "memory": "7Gi"}},
            }),
        ),
        deployment("deployment", &pod("web", json!({}))),
        service("service", json!({})),
    ]
}
