//! ResourceQuotas: what is counted, in which scopes, and requests that come at once.

use std::thread;

use portcullis_e2e::{Kubectl, until};
use serde_json::{Value, json};

use super::{Differences, LIMIT, Sides, asking, claim, denied};
use crate::manifests::{IMAGE, config_map, deployment, pod, service};
use crate::suite::in_namespace;

/// A quota that limits this, and what is used of it.
struct Quota {
    name: &'static str,
    spec: Value,
    used: Value,
}

impl Quota {
    fn create(&self, kubectl: &Kubectl) {
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": self.name}, "spec": self.spec});
        kubectl.create(&quota).succeeds();
        set_status(kubectl, self.name, &self.spec["hard"], &self.used);
    }
}

/// Writes what a controller would.
fn set_status(kubectl: &Kubectl, name: &str, hard: &Value, used: &Value) {
    let status = json!({"status": {"hard": hard, "used": used}}).to_string();
    let arguments = [
        "patch",
        "resourcequota",
        name,
        "--subresource=status",
        "--type=merge",
        "-p",
        &status,
    ];
    kubectl.run(&arguments).succeeds();
}

/// Waits until both sides know the quotas: this is denied then.
fn until_denied(both: &[Kubectl; 2], manifest: &Value, words: &str) {
    for kubectl in both {
        until(words, LIMIT, || {
            kubectl.dry_run(manifest).stderr.contains(words)
        });
    }
}

#[test]
fn quotas_hold_as_with_the_original() {
    in_namespace("limits-quotas", |space| {
        let sides = Sides::start(space);
        let mut differences = Differences::default();
        everything_is_counted(&sides, &mut differences);
        scopes_and_limited_resources_count(&sides, &mut differences);
        bursts_are_held_to_quotas(&sides, &mut differences);
        differences.are_none();
    });
}

fn everything_is_counted(sides: &Sides, differences: &mut Differences) {
    let both = sides.namespace("compute", &[]);
    let hard = json!({
        "requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "2", "pods": 3, "requests.example.com/gpu": 2,
        "services": 5, "services.nodeports": 2, "services.loadbalancers": 0,
        "persistentvolumeclaims": 2, "requests.storage": "10Gi",
        "gold.storageclass.storage.k8s.io/requests.storage": "5Gi",
        "count/configmaps": 1, "secrets": 0, "count/deployments.apps": 0,
    });
    let used = json!({
        "requests.cpu": "250m", "requests.memory": "0", "limits.cpu": "500m", "pods": 1, "requests.example.com/gpu": 1,
        "services": 0, "services.nodeports": 1, "services.loadbalancers": 0,
        "persistentvolumeclaims": 1, "requests.storage": "1Gi",
        "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
        "count/configmaps": 1, "secrets": 0, "count/deployments.apps": 0,
    });
    let quota = Quota {
        name: "compute",
        spec: json!({"hard": hard}),
        used,
    };
    both.iter().for_each(|kubectl| quota.create(kubectl));
    until_denied(&both, &config_map("probe"), "exceeded quota: compute");
    let resources = |cpu: &str, memory: &str, limit: &str| json!({"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": limit}});
    let small = resources("100m", "10Mi", "200m");
    let mut gpu = small.clone();
    for key in ["requests", "limits"] {
        gpu[key]["example.com/gpu"] = json!(2);
    }
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let manifests = [
        pod("nothing", json!({})),
        asking("half", &json!({"requests": {"cpu": "100m"}})),
        asking("fits", &small),
        asking("cpu", &resources("800m", "10Mi", "900m")),
        asking("memory", &resources("100m", "1.5Gi", "200m")),
        asking("several", &resources("2", "2Gi", "3")),
        asking("gpu", &gpu),
        pod(
            "init",
            json!({
                "containers": [{"name": "app", "image": IMAGE, "resources": small}],
                "initContainers": [{"name": "first", "image": IMAGE, "resources": resources("900m", "10Mi", "1")}],
            }),
        ),
        pod(
            "whole",
            json!({
                "containers": [{"name": "app", "image": IMAGE}],
                "resources": resources("900m", "10Mi", "1"),
            }),
        ),
        service("plain", json!({})),
        service("node-port", json!({"type": "NodePort"})),
        service("node-ports", json!({"type": "NodePort", "ports": ports})),
        service(
            "balancer",
            json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false}),
        ),
        claim("fits", "bronze", "2Gi"),
        claim("large", "bronze", "9.5Gi"),
        claim("gold", "gold", "5Gi"),
        config_map("more"),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "secret"}}),
        deployment("deployment", &pod("web", json!({}))),
    ];
    let seen = differences.dry_runs(&both, &manifests);
    assert_eq!(denied(&seen), 15, "{seen:#?}");
    for kubectl in &both {
        kubectl
            .create(&service("web", json!({"ports": ports})))
            .succeeds();
    }
    let change = [
        "patch",
        "service",
        "web",
        "-p",
        r#"{"spec": {"type": "NodePort"}}"#,
    ];
    let seen = differences.compare(&both, "service", |kubectl| kubectl.run(&change));
    assert!(
        seen["words"]
            .to_string()
            .contains("requested: services.nodeports=2, used: services.nodeports=1"),
        "{seen}"
    );
}

fn scopes_and_limited_resources_count(sides: &Sides, differences: &mut Differences) {
    let both = sides.namespace("scoped", &[]);
    let none = json!({"pods": 0});
    let scopes = |scopes: Value| json!({"hard": none, "scopes": scopes});
    let quotas = [
        ("best-effort", scopes(json!(["BestEffort"]))),
        ("ending", scopes(json!(["Terminating", "NotBestEffort"]))),
    ];
    for (name, spec) in quotas {
        let quota = Quota {
            name,
            spec,
            used: none.clone(),
        };
        both.iter().for_each(|kubectl| quota.create(kubectl));
    }
    until_denied(
        &both,
        &pod("probe", json!({})),
        "exceeded quota: best-effort",
    );
    let asks = json!({"requests": {"cpu": "1"}});
    let ends = pod(
        "ends",
        json!({
            "activeDeadlineSeconds": 60, "containers": [{"name": "app", "image": IMAGE, "resources": asks}],
        }),
    );
    until_denied(&both, &ends, "exceeded quota: ending");
    let of_class = |class: &str| {
        let mut pod = asking(class, &asks);
        pod["spec"]["priorityClassName"] = json!(class);
        pod
    };
    let manifests = [
        pod("best-effort", json!({})),
        asking("burstable", &asks),
        ends,
        pod("ends-soon", json!({"activeDeadlineSeconds": 60})),
        of_class("high"),
        of_class("low"),
        claim("silver", "silver", "1Gi"),
        claim("gold", "gold", "1Gi"),
    ];
    let seen = differences.dry_runs(&both, &manifests);
    assert_eq!(denied(&seen), 5, "{seen:#?}");
    let spec = json!({"hard": {"pods": 1}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
    ]}});
    let quota = Quota {
        name: "high",
        spec,
        used: none,
    };
    for kubectl in &both {
        quota.create(kubectl);
        until("the quota of the class", LIMIT, || {
            kubectl.dry_run(&of_class("high")).is_success()
        });
    }
    differences.dry_runs(&both, &[of_class("high"), of_class("low")]);
}

fn bursts_are_held_to_quotas(sides: &Sides, differences: &mut Differences) {
    let both = sides.namespace("burst", &[]);
    let quota = |pods: u32| Quota {
        name: "burst",
        spec: json!({"hard": {"pods": pods, "services": 0}}),
        used: json!({"pods": 0, "services": 0}),
    };
    both.iter().for_each(|kubectl| quota(3).create(kubectl));
    until_denied(&both, &service("probe", json!({})), "exceeded quota: burst");
    for (n, is_denied) in [false, false, false, true, true].into_iter().enumerate() {
        let name = format!("pod-{n}");
        let words = |kubectl: &Kubectl| kubectl.create(&pod(&name, json!({})));
        let seen = differences.compare(&both, &name, words);
        let said = seen["words"].to_string();
        assert_eq!(
            said.contains("used: pods=3, limited: pods=3"),
            is_denied,
            "{seen}"
        );
    }
    // Once the status tells of all of them, they are not counted a second time.
    let ours = &both[0];
    let (hard, used) = (
        json!({"pods": 4, "services": 0}),
        json!({"pods": 3, "services": 0}),
    );
    set_status(ours, "burst", &hard, &used);
    until("room for one more", LIMIT, || {
        ours.dry_run(&pod("more", json!({}))).is_success()
    });
    // All at once.
    let rush = &sides.namespace("rush", &[])[0];
    quota(5).create(rush);
    until("the quota", LIMIT, || {
        rush.dry_run(&service("probe", json!({})))
            .stderr
            .contains("exceeded quota: burst")
    });
    let created = thread::scope(|scope| {
        let creating: Vec<_> = (0..12)
            .map(|n| {
                scope.spawn(move || {
                    rush.create(&pod(&format!("pod-{n}"), json!({})))
                        .is_success()
                })
            })
            .collect();
        creating
            .into_iter()
            .filter_map(|one| one.join().ok())
            .filter(|is_created| *is_created)
            .count()
    });
    assert_eq!(created, 5);
    // Names that the API server makes are known in the second phase only.
    let generated = &sides.namespace("generated", &[])[0];
    quota(2).create(generated);
    until("the quota", LIMIT, || {
        generated
            .dry_run(&service("probe", json!({})))
            .stderr
            .contains("exceeded quota: burst")
    });
    let mut web = pod("web", json!({}));
    web["metadata"] = json!({"generateName": "web-"});
    let created = (0..3)
        .filter(|_| generated.create(&web).is_success())
        .count();
    assert_eq!(created, 2);
}
