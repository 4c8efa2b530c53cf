//! The standards as a whole: reference cases, version boundaries, order.

use serde_json::{Value, json};

use super::{
    Level, LevelVersion,
    evaluate::{CHECKS, NEWEST_MINOR, evaluate},
};
use crate::pod::PodObject;

mod boundaries;
mod messages;

fn found(policy: &str, pod: &Value) -> String {
    let (level, version) = policy.split_once(':').expect("level:version");
    let policy = LevelVersion::new(
        level.parse().expect("a level"),
        version.parse().expect("a version"),
    );
    let pod = PodObject::from_value(pod).expect("a pod");
    evaluate(policy, &pod).to_string()
}

/// A pod that passes every check of every version.
fn hardened() -> Value {
    json!({"metadata": {"name": "p"}, "spec": {
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "a", "image": "i", "securityContext": {
            "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}],
    }})
}

/// The hardened pod with the value at a JSON pointer replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut pod = hardened();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    pod.pointer_mut(parent).expect("a place")[key] = value;
    pod
}

#[test]
fn a_hardened_pod_passes_every_version() {
    for minor in 0..=NEWEST_MINOR + 1 {
        for level in ["privileged", "baseline", "restricted"] {
            assert_eq!(found(&format!("{level}:v1.{minor}"), &hardened()), "");
        }
    }
}

#[test]
fn privileged_lets_everything_through() {
    let pod = with("/spec/hostPID", json!(true));
    assert_eq!(found("privileged:latest", &pod), "");
}

#[test]
fn newer_versions_than_known_count_as_the_newest() {
    let pod = json!({"spec": {"containers": [{"name": "a"}], "hostPID": true}});
    let latest = found("restricted:latest", &pod);
    assert_eq!(found("restricted:v1.37", &pod), latest);
    assert_eq!(found("restricted:v1.999", &pod), latest);
}

#[test]
fn checks_are_listed_baseline_first_then_by_name() {
    let keys: Vec<_> = CHECKS.iter().map(|c| (c.level, c.id)).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(keys, sorted);
}

#[test]
fn revisions_are_in_order_and_the_last_one_is_the_newest_version() {
    for check in CHECKS {
        assert!(
            check.revisions.is_sorted_by(|a, b| a.since < b.since),
            "{}",
            check.id
        );
    }
    let all = CHECKS.iter().flat_map(|check| check.revisions);
    assert_eq!(all.map(|revision| revision.since).max(), Some(NEWEST_MINOR));
}

#[test]
fn restricted_checks_take_over_from_baseline_ones() {
    let applied = |minor| -> Vec<&str> {
        let checks = CHECKS.iter().filter(move |check| {
            check.level == Level::Baseline && !check.applies(Level::Restricted, minor)
        });
        checks.map(|check| check.id).collect()
    };
    assert_eq!(applied(0), ["hostPathVolumes"]);
    assert_eq!(applied(19), ["hostPathVolumes", "seccompProfile_baseline"]);
    let at_22 = [
        "capabilities_baseline",
        "hostPathVolumes",
        "seccompProfile_baseline",
    ];
    assert_eq!(applied(22), at_22);
    assert_eq!(applied(34), at_22);
    let at_35 = [
        "capabilities_baseline",
        "hostPathVolumes",
        "procMount",
        "seccompProfile_baseline",
    ];
    assert_eq!(applied(35), at_35);
}

#[test]
fn case_1_privileged_containers() {
    let pod = with("/spec/containers/0/securityContext/privileged", json!(true));
    let text = r#"privileged (container "a" must not set securityContext.privileged=true)"#;
    assert_eq!(found("baseline:latest", &pod), text);
}

#[test]
fn case_2_host_namespaces() {
    let text = "host namespaces (hostPID=true)";
    assert_eq!(
        found("baseline:latest", &with("/spec/hostPID", json!(true))),
        text
    );
    assert_eq!(
        found("baseline:latest", &with("/spec/hostPID", json!(false))),
        ""
    );
}

#[test]
fn case_3_capabilities_of_every_kind_of_container() {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        let adding = |capability: &str| {
            json!({"spec": {list: [{"name": "a",
                "securityContext": {"capabilities": {"add": [capability]}}}]}})
        };
        let text = r#"non-default capabilities (container "a" must not include "NET_RAW" in securityContext.capabilities.add)"#;
        assert_eq!(found("baseline:latest", &adding("NET_RAW")), text, "{list}");
        assert_eq!(
            found("baseline:latest", &adding("NET_BIND_SERVICE")),
            "",
            "{list}"
        );
    }
}

#[test]
fn case_4_one_host_path_among_ten_volumes() {
    let volumes: Vec<Value> = (0..10)
        .map(|n| match n {
            6 => json!({"name": "v6", "hostPath": {"path": "/etc"}}),
            _ => json!({"name": format!("v{n}"), "emptyDir": {}}),
        })
        .collect();
    let pod = with("/spec/volumes", json!(volumes));
    assert_eq!(
        found("baseline:latest", &pod),
        r#"hostPath volumes (volume "v6")"#
    );
    assert_eq!(
        found("restricted:latest", &pod),
        r#"restricted volume types (volume "v6" uses restricted volume type "hostPath")"#
    );
}

#[test]
fn case_5_host_ports() {
    let pod = |port: i64| with("/spec/containers/0/ports", json!([{"hostPort": port}]));
    assert_eq!(found("baseline:latest", &pod(0)), "");
    assert_eq!(
        found("baseline:latest", &pod(8080)),
        r#"hostPort (container "a" uses hostPort 8080)"#
    );
}

#[test]
fn case_6_privilege_escalation_and_windows() {
    let mut pod = with(
        "/spec/containers/0/securityContext/allowPrivilegeEscalation",
        Value::Null,
    );
    let text = r#"allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)"#;
    assert_eq!(found("restricted:latest", &pod), text);
    pod["spec"]["os"] = json!({"name": "windows"});
    assert_eq!(found("restricted:v1.24", &pod), text);
    assert_eq!(found("restricted:v1.25", &pod), "");
    pod["spec"]["os"] = json!({"name": "linux"});
    assert_eq!(found("restricted:v1.25", &pod), text);
}

#[test]
fn case_7_running_as_non_root() {
    let mut pod = hardened();
    let first = pod["spec"]["containers"][0].clone();
    let mut second = first.clone();
    second["name"] = json!("b");
    second["securityContext"]["runAsNonRoot"] = json!(false);
    pod["spec"]["containers"] = json!([first, second]);
    assert_eq!(
        found("restricted:latest", &pod),
        r#"runAsNonRoot != true (container "b" must not set securityContext.runAsNonRoot=false)"#
    );
    pod["spec"]["securityContext"]["runAsNonRoot"] = Value::Null;
    for container in 0..2 {
        pod["spec"]["containers"][container]["securityContext"]["runAsNonRoot"] = json!(true);
    }
    assert_eq!(found("restricted:latest", &pod), "");
}

#[test]
fn case_8_seccomp() {
    let mut pod = with("/spec/securityContext/seccompProfile", Value::Null);
    assert_eq!(
        found("restricted:latest", &pod),
        r#"seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")"#
    );
    pod["spec"]["containers"][0]["securityContext"]["seccompProfile"] =
        json!({"type": "Localhost"});
    assert_eq!(found("restricted:latest", &pod), "");
    let profile = "/spec/containers/0/securityContext/seccompProfile";
    let pod = with(profile, json!({"type": "Unconfined"}));
    let text = r#"seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")"#;
    assert_eq!(found("restricted:latest", &pod), text);
    assert_eq!(found("baseline:latest", &pod), text);
}

#[test]
fn case_9_capabilities_are_reported_once() {
    let capabilities = "/spec/containers/0/securityContext/capabilities";
    let pod = with(capabilities, json!({"drop": ["ALL"], "add": ["NET_ADMIN"]}));
    let text =
        r#"(container "a" must not include "NET_ADMIN" in securityContext.capabilities.add)"#;
    assert_eq!(
        found("restricted:latest", &pod),
        format!("unrestricted capabilities {text}")
    );
    // Before restricted had a check of its own, baseline's was all there was.
    assert_eq!(
        found("restricted:v1.21", &pod),
        format!("non-default capabilities {text}")
    );
}

#[test]
fn case_10_a_pinned_version_knows_fewer_sysctls() {
    let name = "net.ipv4.tcp_keepalive_time";
    let pod = with(
        "/spec/securityContext/sysctls",
        json!([{"name": name, "value": "1"}]),
    );
    assert_eq!(
        found("baseline:v1.28", &pod),
        format!("forbidden sysctls ({name})")
    );
    assert_eq!(found("baseline:v1.29", &pod), "");
}
