//! Each check's first version, and what its later revisions change.

use serde_json::{Value, json};

use super::{super::evaluate::NEWEST_MINOR, found, hardened, with};

/// No version at all.
const NEVER: [u64; 0] = [];

/// The versions at which a pod is denied at a level.
fn refused(level: &str, pod: &Value) -> Vec<u64> {
    (0..=NEWEST_MINOR)
        .filter(|minor| !found(&format!("{level}:v1.{minor}"), pod).is_empty())
        .collect()
}

fn from(minor: u64) -> Vec<u64> {
    (minor..=NEWEST_MINOR).collect()
}

fn until(minor: u64) -> Vec<u64> {
    (0..=minor).collect()
}

fn context(key: &str, value: Value) -> Value {
    with(&format!("/spec/containers/0/securityContext/{key}"), value)
}

fn in_user_namespace(mut pod: Value) -> Value {
    pod["spec"]["hostUsers"] = json!(false);
    pod
}

fn windows(mut pod: Value) -> Value {
    pod["spec"]["os"] = json!({"name": "windows"});
    pod
}

#[test]
fn checks_of_all_versions() {
    for pod in [
        with("/spec/hostNetwork", json!(true)),
        with("/spec/hostIPC", json!(true)),
        with("/spec/containers/0/ports", json!([{"hostPort": 1}])),
        with("/spec/volumes", json!([{"name": "v", "hostPath": {}}])),
        with(
            "/metadata/annotations",
            json!({"container.apparmor.security.beta.kubernetes.io/a": "unconfined"}),
        ),
        with(
            "/spec/securityContext/appArmorProfile",
            json!({"type": "Unconfined"}),
        ),
        with(
            "/spec/securityContext/windowsOptions",
            json!({"hostProcess": true}),
        ),
        with("/spec/securityContext/seLinuxOptions", json!({"user": "u"})),
        context("windowsOptions", json!({"hostProcess": true})),
        context("seLinuxOptions", json!({"type": "spc_t"})),
        context("seLinuxOptions", json!({"role": "r"})),
        context("privileged", json!(true)),
        context("appArmorProfile", json!({"type": ""})),
        context(
            "capabilities",
            json!({"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
        ),
        context("procMount", json!("Unmasked")),
    ] {
        assert_eq!(refused("baseline", &pod), from(0), "{pod}");
        assert_eq!(refused("restricted", &pod), from(0), "{pod}");
    }
    for pod in [
        with("/spec/volumes", json!([{"name": "v", "nfs": {}}])),
        with("/spec/volumes", json!([{"name": "v", "somethingNew": {}}])),
        with("/spec/securityContext/runAsNonRoot", Value::Null),
    ] {
        assert_eq!(refused("baseline", &pod), NEVER, "{pod}");
        assert_eq!(refused("restricted", &pod), from(0), "{pod}");
    }
}

#[test]
fn privilege_escalation_from_1_8_for_windows_until_1_24() {
    let pod = context("allowPrivilegeEscalation", json!(true));
    assert_eq!(refused("baseline", &pod), NEVER);
    assert_eq!(refused("restricted", &pod), from(8));
    assert_eq!(
        refused("restricted", &windows(pod)),
        (8..=24).collect::<Vec<_>>()
    );
}

#[test]
fn dropping_capabilities_from_1_22_for_windows_until_1_24() {
    for capabilities in [
        Value::Null,
        json!({"drop": ["NET_RAW"]}),
        json!({"drop": ["all"]}),
    ] {
        let pod = context("capabilities", capabilities);
        assert_eq!(refused("baseline", &pod), NEVER);
        assert_eq!(refused("restricted", &pod), from(22));
        assert_eq!(refused("restricted", &windows(pod)), [22, 23, 24]);
    }
    let pod = context("capabilities", json!({"drop": ["ALL"], "add": ["CHOWN"]}));
    assert_eq!(refused("restricted", &pod), from(22));
    let pod = context(
        "capabilities",
        json!({"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
    );
    assert_eq!(refused("restricted", &pod), NEVER);
}

#[test]
fn seccomp_by_annotations_until_1_18_and_by_fields_from_1_19() {
    for key in [
        "seccomp.security.alpha.kubernetes.io/pod",
        "container.seccomp.security.alpha.kubernetes.io/a",
    ] {
        let pod = |value: &str| with("/metadata/annotations", json!({key: value}));
        for level in ["baseline", "restricted"] {
            assert_eq!(refused(level, &pod("unconfined")), until(18));
            assert_eq!(refused(level, &pod("")), until(18));
            for fine in ["runtime/default", "docker/default", "localhost/x"] {
                assert_eq!(refused(level, &pod(fine)), NEVER);
            }
        }
    }
    let key = "container.seccomp.security.alpha.kubernetes.io/other";
    let of_no_container = with("/metadata/annotations", json!({key: "unconfined"}));
    assert_eq!(refused("baseline", &of_no_container), NEVER);

    let pod = with(
        "/spec/securityContext/seccompProfile",
        json!({"type": "Unconfined"}),
    );
    assert_eq!(refused("baseline", &pod), from(19));
    assert_eq!(refused("restricted", &pod), from(19));
    let pod = with("/spec/securityContext/seccompProfile", Value::Null);
    assert_eq!(refused("baseline", &pod), NEVER);
    assert_eq!(refused("restricted", &pod), from(19));
    assert_eq!(
        refused("restricted", &windows(pod)),
        (19..=24).collect::<Vec<_>>()
    );
}

#[test]
fn user_0_from_1_23_but_not_in_user_namespaces_from_1_35() {
    for pod in [
        with("/spec/securityContext/runAsUser", json!(0)),
        context("runAsUser", json!(0)),
    ] {
        assert_eq!(refused("baseline", &pod), NEVER);
        assert_eq!(refused("restricted", &pod), from(23));
        let relaxed = in_user_namespace(pod);
        assert_eq!(
            refused("restricted", &relaxed),
            (23..=34).collect::<Vec<_>>()
        );
    }
    assert_eq!(
        refused("restricted", &context("runAsUser", json!(1))),
        NEVER
    );
}

#[test]
fn non_root_is_not_asked_of_user_namespaces_from_1_35() {
    let pod = with("/spec/securityContext/runAsNonRoot", json!(false));
    assert_eq!(refused("restricted", &pod), from(0));
    assert_eq!(
        refused("restricted", &in_user_namespace(pod.clone())),
        until(34)
    );
    let mut explicit = pod;
    explicit["spec"]["hostUsers"] = json!(true);
    assert_eq!(refused("restricted", &explicit), from(0));
}

#[test]
fn proc_mount_in_user_namespaces_is_free_from_1_35_at_baseline_only() {
    let pod = in_user_namespace(context("procMount", json!("Unmasked")));
    assert_eq!(refused("baseline", &pod), until(34));
    assert_eq!(refused("restricted", &pod), from(0));
    assert_eq!(
        refused("restricted", &context("procMount", json!("Default"))),
        NEVER
    );
}

#[test]
fn container_engine_t_from_1_31() {
    let pod = |kind: &str| context("seLinuxOptions", json!({"type": kind, "level": "s0"}));
    assert_eq!(refused("baseline", &pod("container_engine_t")), until(30));
    for kind in ["", "container_t", "container_init_t", "container_kvm_t"] {
        assert_eq!(refused("restricted", &pod(kind)), NEVER);
    }
}

#[test]
fn sysctls_by_version() {
    for (name, last_refused) in [
        ("net.ipv4.ip_local_reserved_ports", 26),
        ("net.ipv4.tcp_keepalive_time", 28),
        ("net.ipv4.tcp_fin_timeout", 28),
        ("net.ipv4.tcp_keepalive_intvl", 28),
        ("net.ipv4.tcp_keepalive_probes", 28),
        ("net.ipv4.tcp_rmem", 31),
        ("net.ipv4.tcp_wmem", 31),
        ("net.ipv4.tcp_slow_start_after_idle", 36),
        ("net.ipv4.tcp_notsent_lowat", 36),
        ("kernel.msgmax", NEWEST_MINOR),
    ] {
        let pod = with("/spec/securityContext/sysctls", json!([{"name": name}]));
        assert_eq!(refused("baseline", &pod), until(last_refused), "{name}");
    }
    for name in [
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    ] {
        let pod = with("/spec/securityContext/sysctls", json!([{"name": name}]));
        assert_eq!(refused("restricted", &pod), NEVER, "{name}");
    }
}

#[test]
fn hosts_of_probes_and_hooks_from_1_34() {
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        for handler in ["httpGet", "tcpSocket"] {
            let probe = |host: &str| {
                with(
                    &format!("/spec/containers/0/{key}"),
                    json!({handler: {"host": host, "port": 1}}),
                )
            };
            assert_eq!(refused("baseline", &probe("10.0.0.1")), from(34));
            assert_eq!(refused("baseline", &probe("")), NEVER);
        }
    }
    for key in ["postStart", "preStop"] {
        for handler in ["httpGet", "tcpSocket"] {
            let hook = json!({key: {handler: {"host": "127.0.0.1"}}});
            let pod = with("/spec/containers/0/lifecycle", hook);
            assert_eq!(refused("restricted", &pod), from(34));
        }
    }
}

#[test]
fn allowed_volumes_pass_and_all_others_are_named() {
    for kind in [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ] {
        let pod = with("/spec/volumes", json!([{"name": "v", kind: {}}]));
        assert_eq!(refused("restricted", &pod), NEVER, "{kind}");
    }
    for kind in [
        "hostPath",
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "gitRepo",
        "nfs",
        "iscsi",
        "glusterfs",
        "rbd",
        "flexVolume",
        "cinder",
        "cephfs",
        "flocker",
        "fc",
        "azureFile",
        "vsphereVolume",
        "quobyte",
        "azureDisk",
        "portworxVolume",
        "photonPersistentDisk",
        "scaleIO",
        "storageos",
    ] {
        let pod = with("/spec/volumes", json!([{"name": "v", kind: {}}]));
        let text =
            format!(r#"restricted volume types (volume "v" uses restricted volume type "{kind}")"#);
        assert_eq!(found("restricted:latest", &pod), text);
    }
}

#[test]
fn a_pod_without_containers_passes() {
    assert_eq!(refused("restricted", &json!({})), NEVER);
    let mut pod = hardened();
    pod["spec"]["containers"] = json!([]);
    assert_eq!(refused("restricted", &pod), NEVER);
}
