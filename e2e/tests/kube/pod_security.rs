//! `PodSecurity`.

use portcullis_e2e::Phase;
use serde_json::json;

use crate::manifests::{deployment, pod, pod_of_container, privileged_pod, restricted_pod};
use crate::suite::in_namespace;

/// Enforces `baseline`, warns of what `restricted` would refuse.
pub(crate) const BASELINE: &str = "\
admission:
  plugins:
  - name: PodSecurity
    configuration:
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: {enforce: baseline, warn: restricted, audit: restricted}
      exemptions: {usernames: [operator]}
";

const WOULD_VIOLATE: &str = "would violate PodSecurity \"restricted:latest\": \
    allowPrivilegeEscalation != false (container \"app\" must set securityContext.allowPrivilegeEscalation=false), \
    unrestricted capabilities (container \"app\" must set securityContext.capabilities.drop=[\"ALL\"]), \
    runAsNonRoot != true (pod or container \"app\" must set securityContext.runAsNonRoot=true), \
    seccompProfile (pod or container \"app\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";

fn privileged(pod: &str, container: &str) -> String {
    format!(
        "pods \"{pod}\" is forbidden: violates PodSecurity \"baseline:latest\": \
         privileged (container \"{container}\" must not set securityContext.privileged=true)"
    )
}

#[test]
fn a_refusal_says_everything_and_warns_of_nothing() {
    in_namespace("psa-refuses", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        let answer = space
            .kubectl
            .create(&privileged_pod("web"))
            .fails_saying(&space.refusal(&privileged("web", "app")));
        assert_eq!(answer.warnings(), [""; 0]);
        let several = pod(
            "several",
            json!({
                "hostNetwork": true,
                "containers": [
                    {"name": "a", "image": "registry.example/a", "securityContext": {"privileged": true}},
                    {"name": "b", "image": "registry.example/b", "securityContext": {"privileged": true, "capabilities": {"add": ["NET_RAW"]}}},
                ],
                "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
            }),
        );
        space.kubectl.create(&several).fails_saying(&space.refusal(
            "pods \"several\" is forbidden: violates PodSecurity \"baseline:latest\": \
             non-default capabilities (container \"b\" must not include \"NET_RAW\" in securityContext.capabilities.add), \
             host namespaces (hostNetwork=true), \
             hostPath volumes (volume \"root\"), \
             privileged (containers \"a\", \"b\" must not set securityContext.privileged=true)",
        ));
    });
}

#[test]
fn warnings_reach_the_person_in_kubectl_cut_at_120_characters() {
    in_namespace("psa-warns", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        let kubectl = &space.kubectl;
        for manifest in [
            pod("web", json!({})),
            deployment("web", &pod("web", json!({}))),
        ] {
            let answer = kubectl.create(&manifest).succeeds();
            let [warning] = answer.warnings()[..] else {
                panic!("not one warning: {answer:#?}")
            };
            assert_eq!(warning.chars().count(), 120, "{warning}");
            let text = warning.trim_end_matches(['.', '…']);
            assert!(WOULD_VIOLATE.starts_with(text), "{warning}");
        }
        let answer = kubectl.create(&restricted_pod("good")).succeeds();
        assert_eq!(answer.stderr, "");
    });
}

#[test]
fn the_whole_warning_is_in_the_audit_log() {
    in_namespace("psa-warns-whole", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        space.kubectl.create(&pod("web", json!({}))).succeeds();
        let key = |name: &str| format!("{}/{name}", space.webhook_name(Phase::Validating));
        let entry = space
            .suite
            .cluster
            .audited("the audit entry of the pod", |entry| {
                entry["objectRef"]["namespace"] == "psa-warns-whole"
                    && entry["objectRef"]["resource"] == "pods"
            });
        let warnings = entry["annotations"][key("warnings")]
            .as_str()
            .unwrap_or_default();
        assert!(warnings.contains(WOULD_VIOLATE), "{entry:#}");
        assert_eq!(entry["annotations"][key("audit-violations")], WOULD_VIOLATE);
        assert_eq!(
            entry["annotations"][key("enforce-policy")],
            "baseline:latest"
        );
    });
}

#[test]
fn a_template_is_only_warned_of_but_the_pod_refused() {
    in_namespace("psa-templates", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        let answer = space
            .kubectl
            .create(&deployment("web", &privileged_pod("web")))
            .succeeds();
        assert_eq!(answer.warnings().len(), 1, "{answer:#?}");
    });
}

#[test]
fn updates_are_judged_when_they_touch_what_matters() {
    in_namespace("psa-updates", |space| {
        let kubectl = &space.kubectl;
        kubectl.create(&privileged_pod("old")).succeeds();
        kubectl.create(&restricted_pod("good")).succeeds();
        let _gate = space.gate(Phase::Validating, BASELINE);
        let denied = |text: &str| {
            let webhook = space.webhook_name(Phase::Validating);
            format!(
                "Error from server (Forbidden): admission webhook \"{webhook}\" denied the request: {text}"
            )
        };

        kubectl
            .run(&["label", "pod", "old", "colour=blue"])
            .succeeds();
        let answer = kubectl
            .run(&["set", "image", "pod/old", "app=registry.example/app:2"])
            .fails();
        assert!(
            answer.stderr.contains(&privileged("old", "app")),
            "{answer:#?}"
        );

        let debug = |profile: &str| {
            kubectl.run(&[
                "debug",
                "good",
                "--image=registry.example/debug",
                "--container=debugger",
                "--attach=false",
                "--quiet",
                profile,
            ])
        };
        debug("--profile=sysadmin").fails_saying(&denied(&privileged("good", "debugger")));
        debug("--profile=baseline").succeeds();
    });
}

#[test]
fn levels_and_versions_come_from_the_labels_of_the_namespace() {
    in_namespace("psa-labels", |space| {
        let _gate = space.gate(
            Phase::Validating,
            "\
namespaces:
- name: psa-labels
  labels: {pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.28}
admission: {order: [PodSecurity]}
",
        );
        let sysctl = |name: &str, value: &str| json!({"securityContext": {"sysctls": [{"name": name, "value": value}]}});
        space
            .kubectl
            .create(&pod("old", sysctl("net.ipv4.tcp_syncookies", "1")))
            .succeeds();
        // Allowed from 1.29 on.
        space
            .kubectl
            .create(&pod("new", sysctl("net.ipv4.tcp_keepalive_time", "60")))
            .fails_saying(&space.refusal(
                "pods \"new\" is forbidden: violates PodSecurity \"baseline:v1.28\": \
             forbidden sysctls (net.ipv4.tcp_keepalive_time)",
            ));
    });
}

#[test]
fn exempt_users_pass_and_it_is_noted() {
    in_namespace("psa-exempt", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        space.grant(&["operator", "developer"], "create");
        let as_user = |user: &str| {
            space
                .kubectl
                .impersonating(user)
                .create(&privileged_pod(user))
        };
        as_user("developer").fails_saying(&space.refusal(&privileged("developer", "app")));
        let answer = as_user("operator").succeeds();
        assert_eq!(answer.warnings(), [""; 0]);

        let entry = space
            .suite
            .cluster
            .audited("the operator's audit entry", |entry| {
                entry["objectRef"]["namespace"] == "psa-exempt"
                    && entry["impersonatedUser"]["username"] == "operator"
            });
        let key = format!("{}/exempt", space.webhook_name(Phase::Validating));
        assert_eq!(entry["annotations"][key], "user", "{entry:#}");
    });
}

#[test]
fn a_namespace_cannot_be_given_a_level_that_is_none() {
    in_namespace("psa-namespace", |space| {
        let _gate = space.gate(Phase::Validating, "admission: {order: [PodSecurity]}\n");
        let label = |text: &str| {
            space
                .kubectl
                .run(&["label", "namespace", "psa-namespace", "--overwrite", text])
        };
        label("pod-security.kubernetes.io/enforce=restricted").succeeds();
        let answer = label("pod-security.kubernetes.io/enforce=tight").fails();
        assert!(
            answer.stderr.contains("\"tight\"")
                && answer
                    .stderr
                    .contains("must be one of privileged, baseline, restricted"),
            "{answer:#?}",
        );
        let answer = label("pod-security.kubernetes.io/enforce-version=newest").fails();
        assert!(
            answer.stderr.contains("\"newest\"")
                && answer.stderr.contains("must be \"latest\" or \"v1.x\""),
            "{answer:#?}",
        );
    });
}

#[test]
fn windows_pods_are_excused_from_what_windows_does_not_have() {
    in_namespace("psa-windows", |space| {
        let _gate = space.gate(
            Phase::Validating,
            "namespaces: [{name: psa-windows, labels: {pod-security.kubernetes.io/enforce: restricted}}]\nadmission: {order: [PodSecurity]}\n",
        );
        let mut windows = pod_of_container(
            "windows",
            json!({"securityContext": {"runAsNonRoot": true}}),
        );
        space.kubectl.create(&windows).fails();
        windows["spec"]["os"] = json!({"name": "windows"});
        space.kubectl.create(&windows).succeeds();
    });
}
