//! Plug-ins that are pure functions of a pod.

use portcullis_e2e::Phase;
use serde_json::{Value, json};

use crate::manifests::{IMAGE, pod, pod_of_container, tolerations};
use crate::suite::in_namespace;

#[test]
fn always_pull_images_reaches_every_kind_of_container_and_image_volumes() {
    in_namespace("always-pull", |space| {
        let _gate = space.gate(Phase::Mutating, "admission: {order: [AlwaysPullImages]}\n");
        let kubectl = &space.kubectl;
        let lazy = |name: &str| json!({"name": name, "image": IMAGE, "imagePullPolicy": "Never"});
        let created = kubectl.created(&pod(
            "web",
            json!({
                "initContainers": [lazy("first")],
                "containers": [lazy("app"), lazy("side")],
                "volumes": [{"name": "data", "image": {"reference": IMAGE, "pullPolicy": "Never"}}],
            }),
        ));
        let policies = [
            "/spec/initContainers/0",
            "/spec/containers/0",
            "/spec/containers/1",
        ]
        .map(|path| created.pointer(path).unwrap()["imagePullPolicy"].clone());
        assert_eq!(policies, ["Always", "Always", "Always"]);
        assert_eq!(
            created["spec"]["volumes"][0]["image"]["pullPolicy"],
            "Always"
        );
        assert_eq!(kubectl.stored("pod", "web")["spec"], created["spec"]);

        // A new label is no new image; the pod is left alone and the update goes through.
        kubectl
            .run(&["label", "pod", "web", "colour=blue"])
            .succeeds();
        // A new image is one.
        kubectl
            .run(&["set", "image", "pod/web", "app=registry.example/app:2"])
            .succeeds();
        assert_eq!(
            kubectl.stored("pod", "web")["spec"]["containers"][0]["imagePullPolicy"],
            "Always"
        );
    });
}

#[test]
fn a_validating_webhook_never_patches() {
    in_namespace("never-patches", |space| {
        let _gate = space.gate(
            Phase::Validating,
            "admission: {order: [AlwaysPullImages, DefaultTolerationSeconds]}\n",
        );
        let created = space.kubectl.created(&pod("web", json!({})));
        assert_eq!(
            created["spec"]["containers"][0]["imagePullPolicy"],
            "IfNotPresent"
        );
        assert_eq!(created["spec"]["tolerations"], Value::Null);
    });
}

#[test]
fn hard_anti_affinity_is_for_host_names_only() {
    in_namespace("anti-affinity", |space| {
        let _gate = space.gate(
            Phase::Validating,
            "admission: {order: [LimitPodHardAntiAffinityTopology]}\n",
        );
        let apart = |name: &str, topology_key: &str| {
            pod(
                name,
                json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": topology_key},
                ]}}}),
            )
        };
        space
            .kubectl
            .create(&apart("hosts", "kubernetes.io/hostname"))
            .succeeds();
        space.kubectl.create(&apart("zones", "topology.kubernetes.io/zone")).fails_saying(&space.refusal(
            "pods \"zones\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey \
             topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed",
        ));
    });
}

#[test]
fn extended_resources_bring_their_toleration() {
    in_namespace("extended-resources", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            "admission: {order: [ExtendedResourceToleration]}\n",
        );
        let with_limits = |name: &str, limits: Value| {
            pod_of_container(name, json!({"resources": {"limits": limits}}))
        };
        let created = space
            .kubectl
            .created(&with_limits("gpu", json!({"example.com/gpu": 1, "cpu": 1})));
        assert_eq!(
            created["spec"]["tolerations"],
            json!([{"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]),
        );
        let created = space
            .kubectl
            .created(&with_limits("cpu", json!({"cpu": 1})));
        assert_eq!(created["spec"]["tolerations"], Value::Null);
    });
}

#[test]
fn default_toleration_seconds_fill_what_the_pod_leaves_open() {
    in_namespace("toleration-seconds", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            "admission: {order: [DefaultTolerationSeconds]}\n",
        );
        let created = space.kubectl.created(&pod("plain", json!({})));
        assert_eq!(
            tolerations(&created),
            [
                "node.kubernetes.io/not-ready NoExecute 300s",
                "node.kubernetes.io/unreachable NoExecute 300s"
            ],
        );
        let own = json!({"tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7},
        ]});
        let created = space.kubectl.created(&pod("own", own));
        assert_eq!(
            tolerations(&created),
            [
                "node.kubernetes.io/not-ready NoExecute 7s",
                "node.kubernetes.io/unreachable NoExecute 300s"
            ],
        );
    });
}

#[test]
fn plugins_of_one_chain_add_up_in_one_patch() {
    in_namespace("one-patch", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            "admission: {order: [ExtendedResourceToleration, AlwaysPullImages, DefaultTolerationSeconds]}\n",
        );
        let created = space.kubectl.created(&pod_of_container(
            "gpu",
            json!({"resources": {"limits": {"example.com/gpu": 1}}}),
        ));
        assert_eq!(
            created["spec"]["containers"][0]["imagePullPolicy"],
            "Always"
        );
        assert_eq!(
            tolerations(&created),
            [
                "example.com/gpu NoSchedule",
                "node.kubernetes.io/not-ready NoExecute 300s",
                "node.kubernetes.io/unreachable NoExecute 300s",
            ],
        );
    });
}
