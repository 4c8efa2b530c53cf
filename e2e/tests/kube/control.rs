//! The control group: what the API server does by itself, and the two
//! plug-ins that say the same to everything.

use portcullis_e2e::Phase;
use serde_json::Value;

use crate::manifests::{config_map, pod, privileged_pod, service};
use crate::suite::in_namespace;

#[test]
fn without_portcullis_the_api_server_does_none_of_it() {
    in_namespace("no-gate", |space| {
        space
            .kubectl
            .run(&[
                "label",
                "namespace",
                "no-gate",
                "pod-security.kubernetes.io/enforce=baseline",
            ])
            .succeeds();
        let created = space.kubectl.created(&privileged_pod("web"));
        assert_eq!(created["spec"]["tolerations"], Value::Null);
        assert_eq!(
            created["spec"]["containers"][0]["imagePullPolicy"],
            "IfNotPresent"
        );
    });
}

#[test]
fn always_admit_admits_every_operation() {
    in_namespace("always-admit", |space| {
        let _gate = space.gate(Phase::Validating, "admission: {order: [AlwaysAdmit]}\n");
        let kubectl = &space.kubectl;
        kubectl
            .create(&pod("web", serde_json::json!({})))
            .succeeds();
        kubectl
            .create(&service("web", serde_json::json!({})))
            .succeeds();
        kubectl
            .run(&["label", "pod", "web", "colour=blue"])
            .succeeds();
        let exec = kubectl.run(&["exec", "web", "--", "true"]).fails();
        assert!(
            exec.stderr
                .contains("pod web does not have a host assigned"),
            "{exec:#?}"
        );
        kubectl.run(&["delete", "pod", "web", "--now"]).succeeds();
    });
}

#[test]
fn always_deny_denies_every_operation() {
    in_namespace("always-deny", |space| {
        let kubectl = &space.kubectl;
        kubectl
            .create(&pod("old", serde_json::json!({})))
            .succeeds();
        let _gate = space.gate(Phase::Validating, "admission: {order: [AlwaysDeny]}\n");

        const WHY: &str = "is forbidden: admission control is denying all modifications";
        kubectl
            .create(&pod("web", serde_json::json!({})))
            .fails_saying(&space.refusal(&format!("pods \"web\" {WHY}")));
        kubectl
            .create(&config_map("web"))
            .fails_saying(&space.refusal(&format!("configmaps \"web\" {WHY}")));

        let webhook = space.webhook_name(Phase::Validating);
        let denied =
            format!("admission webhook \"{webhook}\" denied the request: pods \"old\" {WHY}");
        for (command, prefix) in [
            (
                ["label", "pod", "old", "colour=blue"].as_slice(),
                "Error from server (Forbidden)",
            ),
            (
                &["delete", "pod", "old", "--now"],
                "Error from server (Forbidden)",
            ),
            (
                &["exec", "old", "--", "true"],
                "error: unable to upgrade connection",
            ),
        ] {
            kubectl
                .run(command)
                .fails_saying(&format!("{prefix}: {denied}"));
        }
        assert!(kubectl.exists("pod", "old"));
    });
}
