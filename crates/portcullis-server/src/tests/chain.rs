//! The chain: which plug-in decides, in which order, and where plug-ins are named, except by flags.

use serde_json::{Value, json};

use crate::tests::harness::{
    Gate, Review, Setup, chain, container, pod, pod_security, pod_with, privileged,
};

const TOPOLOGY: &str = "LimitPodHardAntiAffinityTopology";

/// Denied by two plug-ins, for two reasons.
fn wrong_twice() -> Value {
    let term = json!({"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {}});
    let terms = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    pod_with(&json!({
        "containers": [container("app")],
        "hostNetwork": true,
        "affinity": {"podAntiAffinity": terms},
    }))
}

fn first_decides(gate: &Gate, first: &str) {
    let verdict = gate.validate(&wrong_twice());
    verdict.denied("");
    assert_eq!(
        verdict.annotation("plugin"),
        Some(first),
        "{}",
        verdict.message()
    );
    let is_topology = verdict.message().to_lowercase().contains("topology");
    assert_eq!(is_topology, first == TOPOLOGY, "{}", verdict.message());
    gate.validate(&pod()).allowed();
}

#[test]
fn the_first_refusal_in_the_configured_order_decides() {
    for order in [[TOPOLOGY, "PodSecurity"], ["PodSecurity", TOPOLOGY]] {
        let mut config = pod_security(&json!({"enforce": "baseline"}));
        config["admission"]["order"] = json!(order);
        first_decides(&Gate::start(config), order[0]);
    }
}

#[test]
fn without_an_order_plugins_run_as_listed() {
    for reversed in [false, true] {
        let mut config = pod_security(&json!({"enforce": "baseline"}));
        let plugins = config["admission"]["plugins"].as_array_mut().unwrap();
        plugins.push(json!({"name": TOPOLOGY}));
        if reversed {
            plugins.reverse();
        }
        let first = plugins[0]["name"].as_str().unwrap().to_owned();
        first_decides(&Gate::start(config), &first);
    }
}

#[test]
fn mutations_are_made_in_the_configured_order() {
    let (seconds, extended) = ("DefaultTolerationSeconds", "ExtendedResourceToleration");
    let mut pod = pod();
    let gpu = json!({"nvidia.com/gpu": "1"});
    pod["spec"]["containers"][0]["resources"] = json!({"requests": gpu, "limits": gpu});
    for (order, place) in [([seconds, extended], 2), ([extended, seconds], 0)] {
        let patched = Gate::of(&order).mutate(&pod).patched(&pod);
        let tolerations = patched["spec"]["tolerations"].as_array().unwrap();
        assert_eq!(tolerations.len(), 3, "{patched}");
        assert_eq!(tolerations[place]["key"], "nvidia.com/gpu", "{patched}");
    }
}

#[test]
fn a_refusal_carries_nothing_of_earlier_mutations() {
    for order in [
        ["AlwaysPullImages", "AlwaysDeny"],
        ["AlwaysDeny", "AlwaysPullImages"],
    ] {
        // Every answer is checked for a patch beside a denial.
        Gate::of(&order).mutate(&pod()).denied("");
    }
}

#[test]
fn every_operation_is_judged() {
    let exec = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]});
    let reviews = [
        Review::create(&pod()),
        Review::create(&pod())
            .set("operation", "UPDATE")
            .set("oldObject", pod()),
        Review::create(&pod())
            .set("operation", "DELETE")
            .set("oldObject", pod())
            .set("object", Value::Null),
        Review::create(&exec)
            .set("operation", "CONNECT")
            .set("subResource", "exec")
            .set("name", "web"),
    ];
    let (open, shut) = (Gate::of(&["AlwaysAdmit"]), Gate::of(&["AlwaysDeny"]));
    for review in &reviews {
        open.ask("/validate", review).allowed();
        shut.ask("/validate", review).denied("");
    }
}

#[test]
fn only_mutating_paths_answer_with_a_patch() {
    let gate = Gate::of(&["AlwaysPullImages"]);
    for path in [
        "/mutate",
        "/mutate/some/hook?timeout=10s",
        "/admit",
        "/admit/some/hook",
    ] {
        let verdict = gate.ask(path, &Review::create(&pod()));
        assert_eq!(
            verdict.patched(&pod())["spec"]["containers"][0]["imagePullPolicy"],
            "Always"
        );
    }
    for path in ["/validate", "/validate/some/hook", "/validate?timeout=5s"] {
        let verdict = gate.ask(path, &Review::create(&pod()));
        verdict.allowed();
        assert_eq!(verdict.patch(), None, "{path}");
    }
}

#[test]
fn validation_refuses_a_pending_mutation_when_told_to() {
    let mut config = chain(&["AlwaysPullImages"]);
    config["admission"]["pendingMutation"] = json!("refuse");
    let gate = Gate::start(config);
    gate.validate(&pod()).denied("AlwaysPullImages");
    let patched = gate.mutate(&pod()).patched(&pod());
    gate.validate(&patched).allowed();
}

#[test]
fn the_configuration_of_kubernetes_names_files_beside_itself() {
    const FILE: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n\
                        plugins:\n- {name: PodSecurity, path: pss.yaml}\n";
    const OWN: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\n\
                       kind: PodSecurityConfiguration\ndefaults: {enforce: baseline}\n";
    let config =
        json!({"admission": {"order": ["PodSecurity"], "configFile": "sub/admission.yaml"}});
    let setup = Setup::new(config)
        .file("sub/admission.yaml", FILE)
        .file("sub/pss.yaml", OWN);
    let gate = setup.start();
    gate.validate(&privileged()).denied("privileged");
    gate.validate(&pod()).allowed();
}
