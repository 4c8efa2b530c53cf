//! Messages where there is more than one culprit, in upstream's words.

use serde_json::{Value, json};

use super::found;

fn pod(pod_context: &Value, contexts: [Value; 3]) -> Value {
    let [init, regular, ephemeral] = contexts;
    json!({"spec": {
        "securityContext": pod_context,
        "initContainers": [{"name": "i", "securityContext": init}],
        "containers": [{"name": "c", "securityContext": regular}],
        "ephemeralContainers": [{"name": "e", "securityContext": ephemeral}],
    }})
}

/// The same context everywhere.
fn everywhere(context: &Value) -> Value {
    pod(context, [context.clone(), context.clone(), context.clone()])
}

#[test]
fn pod_and_containers_are_named_together() {
    for (context, text) in [
        (
            json!({"windowsOptions": {"hostProcess": true}}),
            r#"hostProcess (pod and containers "i", "c", "e" must not set securityContext.windowsOptions.hostProcess=true)"#,
        ),
        (
            json!({"seccompProfile": {"type": "Unconfined"}}),
            r#"seccompProfile (pod and containers "i", "c", "e" must not set securityContext.seccompProfile.type to "Unconfined")"#,
        ),
        (
            json!({"seLinuxOptions": {"type": "x", "user": "u", "role": "r"}}),
            r#"seLinuxOptions (pod and containers "i", "c", "e" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)"#,
        ),
        (
            json!({"appArmorProfile": {"type": "Unconfined"}}),
            r#"forbidden AppArmor profile (pod and containers "i", "c", "e" must not set AppArmor profile type to "Unconfined")"#,
        ),
    ] {
        assert_eq!(found("baseline:latest", &everywhere(&context)), text);
    }
    let root = everywhere(&json!({"runAsUser": 0, "runAsNonRoot": false}));
    let text = found("restricted:v1.23", &root);
    assert!(text.contains(r#"runAsNonRoot != true (pod and containers "i", "c", "e" must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and containers "i", "c", "e" must not set runAsUser=0)"#), "{text}");
}

#[test]
fn values_are_distinct_and_sorted() {
    let mount = |value: &str| json!({"procMount": value});
    let contexts = [mount("b"), mount("a"), mount("b")];
    assert_eq!(
        found("baseline:latest", &pod(&Value::Null, contexts)),
        r#"procMount (containers "i", "c", "e" must not set securityContext.procMount to "a", "b")"#
    );
}

#[test]
fn ports_are_sorted_as_text() {
    let pod = json!({"spec": {"containers": [
        {"name": "a", "ports": [{"hostPort": 80}, {"hostPort": 10080}]},
        {"name": "b", "ports": [{"hostPort": 80}, {"containerPort": 1}]},
    ]}});
    assert_eq!(
        found("baseline:latest", &pod),
        r#"hostPort (containers "a", "b" use hostPorts 10080, 80)"#
    );
}

#[test]
fn app_armor_annotations_are_quoted_within_quotes() {
    let pod = json!({
        "metadata": {"annotations": {
            "container.apparmor.security.beta.kubernetes.io/b": "un\"confined",
            "container.apparmor.security.beta.kubernetes.io/a": "unconfined",
            "container.apparmor.security.beta.kubernetes.io/ok": "localhost/x",
        }},
        "spec": {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
    });
    assert_eq!(
        found("baseline:latest", &pod),
        r#"forbidden AppArmor profiles (pod and annotations must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/a="unconfined"", "container.apparmor.security.beta.kubernetes.io/b="un\"confined"")"#
    );
}

#[test]
fn seccomp_annotations_are_listed() {
    let pod = json!({
        "metadata": {"annotations": {
            "seccomp.security.alpha.kubernetes.io/pod": "x",
            "container.seccomp.security.alpha.kubernetes.io/a": "y",
        }},
        "spec": {"containers": [{"name": "a"}]},
    });
    assert_eq!(
        found("baseline:v1.18", &pod),
        r#"seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="y", seccomp.security.alpha.kubernetes.io/pod="x")"#
    );
}

#[test]
fn hosts_name_each_container_once() {
    let probe = |host: &str| json!({"httpGet": {"host": host}});
    let pod = json!({"spec": {"containers": [
        {"name": "b", "livenessProbe": probe("z"), "readinessProbe": probe("a")},
        {"name": "a", "startupProbe": {"tcpSocket": {"host": "z"}}},
    ]}});
    assert_eq!(
        found("baseline:latest", &pod),
        r#"probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "a", "z")"#
    );
}

#[test]
fn capabilities_kept_and_added_are_told_in_one() {
    let contexts = [
        json!({"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}),
        json!({"capabilities": {"drop": ["ALL"]}}),
        Value::Null,
    ];
    let text = found("restricted:v1.22", &pod(&Value::Null, contexts));
    assert!(
        text.contains(r#"unrestricted capabilities (containers "i", "e" must set securityContext.capabilities.drop=["ALL"]; container "i" must not include "CHOWN", "SYS_ADMIN" in securityContext.capabilities.add)"#),
        "{text}"
    );
}

#[test]
fn many_violations_keep_the_order_of_the_checks() {
    let pod = json!({"spec": {"hostNetwork": true, "hostIPC": true,
        "containers": [{"name": "evil", "securityContext": {"privileged": true}}]}});
    assert_eq!(
        found("restricted:latest", &pod),
        r#"host namespaces (hostNetwork=true, hostIPC=true), privileged (container "evil" must not set securityContext.privileged=true), allowPrivilegeEscalation != false (container "evil" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "evil" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "evil" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "evil" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")"#
    );
}
