//! What plug-ins and policies look up in the cluster: objects that the server watches.
//!
//! The API server's own plug-ins are the oracle again: one control plane has them, in the other one Portcullis does
//! their work.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use portcullis_e2e::{Cluster, ClusterConfig, Kubectl, Phase, Portcullis, until};
use serde_json::{Value, json};

use crate::manifests::{config_map, pod, privileged_pod};
use crate::oracle::without_webhook;
use crate::suite::{Space, in_namespace};

const LIMIT: Duration = Duration::from_secs(30);

/// A configuration that may look up these kinds of the cluster in `directory`.
fn looking_up(directory: &Path, kinds: &[&str], rest: &str) -> String {
    let kube = json!({"kubeconfig": Cluster::kubeconfig(directory), "kinds": kinds});
    format!("kube: {kube}\n{rest}")
}

/// The control plane that all tests share.
fn shared(space: &Space) -> std::path::PathBuf {
    space.suite.directory.join("cluster")
}

const POLICY: &str = r#"
defaultAction: allow
policies:
- name: teams
  match: {kinds: [Pod], operations: [CREATE]}
  code: |
    const teams = kube.get("v1", "ConfigMap", req.namespace, "teams")
    if (teams === null) return "there is no list of teams"
    const team = object.metadata.labels?.team
    if (!teams.data.names.split(",").includes(team)) return "unknown team " + team
    const others = kube.list("v1", "ConfigMap", {namespace: req.namespace, labelSelector: "team=" + team})
    if (others.length > 0) warn("the team has " + others.length + " config map")
- name: forbidden
  match: {kinds: [Service]}
  code: return kube.get("v1", "Secret", req.namespace, "s") === null
"#;

#[test]
fn a_policy_decides_by_what_else_is_in_the_cluster() {
    in_namespace("lookup-policy", |space| {
        let configuration = looking_up(&shared(space), &["v1/ConfigMap"], POLICY);
        let _gate = space.gate(Phase::Validating, &configuration);
        let kubectl = &space.kubectl;
        let of_team = |name: &str, team: &str| {
            let mut pod = pod(name, json!({}));
            pod["metadata"]["labels"] = json!({"team": team});
            pod
        };
        let refusal = |text: &str| space.refusal_of(Phase::Validating, "VIOLATES_POLICY", text);
        kubectl
            .create(&of_team("web", "red"))
            .fails_saying(&refusal("teams: there is no list of teams"));
        let mut teams = config_map("teams");
        teams["data"] = json!({"names": "red,blue"});
        kubectl.create(&teams).succeeds();
        until("the policy to see the teams", LIMIT, || {
            kubectl.dry_run(&of_team("probe", "red")).is_success()
        });
        kubectl.create(&of_team("web", "red")).succeeds();
        kubectl
            .create(&of_team("db", "green"))
            .fails_saying(&refusal("teams: unknown team green"));
        let mut own = config_map("own");
        own["metadata"]["labels"] = json!({"team": "blue"});
        kubectl.create(&own).succeeds();
        until("the policy to see a config map", LIMIT, || {
            let answer = kubectl.dry_run(&of_team("probe", "blue"));
            answer.succeeds().warnings() == ["teams: the team has 1 config map"]
        });
        kubectl.run(&["delete", "configmap", "teams"]).succeeds();
        until("the policy to miss the teams", LIMIT, || {
            !kubectl.dry_run(&of_team("probe", "red")).is_success()
        });
        // What is not configured is not seen, though the server may read it.
        let answer = kubectl
            .create(&crate::manifests::service("web", json!({})))
            .fails();
        let expected = "kube.get: objects of v1/Secret are not watched: the key `kube.kinds` does not contain it";
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    });
}

const SELECTING: &str = "
defaultAction: allow
policies:
- name: frozen
  match: {kinds: [Pod], operations: [CREATE], namespaceSelector: {matchLabels: {frozen: 'yes'}}}
  code: return 'the namespace is frozen'
";

#[test]
fn a_policy_is_for_namespaces_that_have_a_label_now() {
    const NAMESPACE: &str = "lookup-selector";
    in_namespace(NAMESPACE, |space| {
        let configuration = looking_up(&shared(space), &[], SELECTING);
        let _gate = space.gate(Phase::Validating, &configuration);
        let kubectl = &space.kubectl;
        let is_frozen = || !kubectl.dry_run(&pod("probe", json!({}))).is_success();
        kubectl.create(&pod("web", json!({}))).succeeds();
        let label = |label: &str| {
            let arguments = ["label", "namespace", NAMESPACE, label];
            kubectl.run(&arguments).succeeds();
        };
        label("frozen=yes");
        until("the policy to see the label", LIMIT, is_frozen);
        let refusal = "frozen: the namespace is frozen";
        let refusal = space.refusal_of(Phase::Validating, "VIOLATES_POLICY", refusal);
        let answer = kubectl.create(&pod("db", json!({})));
        answer.fails_saying(&refusal);
        label("frozen-");
        until("the policy to miss the label", LIMIT, || !is_frozen());
    });
}

/// The pods that exist when a namespace begins to enforce more.
fn existing_pods() -> Vec<Value> {
    let host = |name: &str| pod(name, json!({"hostPID": true, "hostNetwork": true}));
    let path = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]});
    let mut fine = pod("fine", json!({}));
    fine["spec"]["containers"][0]["securityContext"] = json!({
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"},
    });
    vec![
        fine,
        host("host-a"),
        host("host-b"),
        host("host-c"),
        privileged_pod("privileged"),
        pod("path", path),
        pod("plain", json!({})),
    ]
}

/// The warnings of a dry run that makes a namespace enforce this level.
fn warned(kubectl: &Kubectl, namespace: &str, level: &str) -> Vec<String> {
    let label = format!("pod-security.kubernetes.io/enforce={level}");
    let arguments = ["label", "--dry-run=server", "--overwrite", "namespace"];
    let answer = kubectl.run(&[&arguments[..], &[namespace, label.as_str()]].concat());
    let answer = answer.succeeds();
    let lines = answer.warnings().into_iter();
    // Which of several pods is named is a matter of chance in Kubernetes.
    let line = |line: String| {
        // A webhook's are cut there.
        let line: String = line.chars().take(119).collect();
        match line.split_once(" (and ") {
            Some((_, rest)) => format!("POD (and {rest}"),
            None => line,
        }
    };
    lines.map(|one| line(one.to_owned())).collect()
}

#[test]
fn existing_pods_are_warned_about_as_the_original_does() {
    const NAMESPACE: &str = "lookup-psa";
    in_namespace(NAMESPACE, |space| {
        let original = Cluster::start(
            space.suite.programs.clone(),
            &space.suite.directory.join(NAMESPACE).join("original"),
            &space.suite.authority,
            &ClusterConfig::default(),
        );
        original
            .kubectl()
            .run(&["create", "namespace", NAMESPACE])
            .succeeds();
        let theirs = original.kubectl().in_namespace(NAMESPACE);
        for pod in existing_pods() {
            space.kubectl.create(&pod).succeeds();
            theirs.create(&pod).succeeds();
        }
        let rest = "admission: {order: [PodSecurity]}\n";
        let configuration = looking_up(&shared(space), &[], rest);
        let _gate = space.gate(Phase::Validating, &configuration);
        for level in ["baseline", "restricted"] {
            let expected = warned(&theirs, NAMESPACE, level);
            assert!(expected.len() > 2, "{expected:?}");
            let what = format!("the warnings about {level}: {expected:#?}");
            until(&what, LIMIT, || {
                warned(&space.kubectl, NAMESPACE, level) == expected
            });
        }
        let label = "pod-security.kubernetes.io/enforce=restricted";
        let arguments = ["label", "--overwrite", "namespace", NAMESPACE, label];
        for kubectl in [&space.kubectl, &theirs] {
            kubectl.run(&arguments).succeeds();
            // Less and the same is nothing to be warned about.
            for level in ["baseline", "restricted"] {
                assert_eq!(warned(kubectl, NAMESPACE, level), Vec::<String>::new());
            }
        }
        // And the labels of the namespace, which no configuration names, count.
        until("the labels to count", LIMIT, || {
            let answer = space.kubectl.dry_run(&pod("later", json!({})));
            answer
                .stderr
                .contains("violates PodSecurity \"restricted:latest\"")
        });
    });
}

/// A control plane without these plug-ins of its own, and a Portcullis with them for all its namespaces.
fn without_lifecycle(space: &Space, name: &str) -> (Cluster, Portcullis) {
    let directory = space.suite.directory.join(name).join("bare");
    let cluster = Cluster::start(
        space.suite.programs.clone(),
        &directory,
        &space.suite.authority,
        &ClusterConfig {
            disabled_plugins: &["NamespaceLifecycle", "PodSecurity"],
            ..ClusterConfig::default()
        },
    );
    let rest = "admission: {order: [NamespaceLifecycle, PodSecurity]}\n";
    let portcullis = space.portcullis("gate", &looking_up(&directory, &[], rest));
    let mut webhooks = space
        .webhooks(
            Phase::Mutating,
            vec![space.webhook(Phase::Mutating, &portcullis)],
        )
        .configuration();
    // For all namespaces, whether they exist or not.
    webhooks["webhooks"][0]
        .as_object_mut()
        .unwrap()
        .remove("namespaceSelector");
    cluster.kubectl().apply(&webhooks).succeeds();
    let kubectl = cluster.kubectl().in_namespace("nowhere");
    until("the webhook to be called", LIMIT, || {
        !kubectl.dry_run(&config_map("probe")).is_success()
    });
    (cluster, portcullis)
}

/// What a person does, and sees.
fn session(cluster: &Cluster) -> String {
    let kubectl = cluster.kubectl();
    let mut seen = String::new();
    let mut step = |what: &str, answer: portcullis_e2e::Answer| {
        let stderr: Vec<String> = answer.stderr.lines().map(without_webhook).collect();
        let _ = writeln!(seen, "{what}: {} {stderr:?}", answer.stdout.trim());
    };
    let create =
        |namespace: &str, manifest: &Value| kubectl.in_namespace(namespace).create(manifest);
    step("create in none", create("missing", &config_map("a")));
    step("a pod in none", create("missing", &pod("a", json!({}))));
    let mut generated = config_map("x");
    generated["metadata"] = json!({"generateName": "web-"});
    step("a generated name in none", create("missing", &generated));
    step(
        "create a namespace",
        kubectl.run(&["create", "namespace", "ending"]),
    );
    // At once: no watch has seen the namespace.
    step("create in it", create("ending", &config_map("kept")));
    step("create more", create("ending", &config_map("changed")));
    step(
        "delete the namespace",
        kubectl.run(&["delete", "namespace", "ending", "--wait=false"]),
    );
    // At once: no watch has seen the deletion.
    step("create in what ends", create("ending", &config_map("b")));
    step("a pod in what ends", create("ending", &pod("b", json!({}))));
    let ending = kubectl.in_namespace("ending");
    step(
        "change in what ends",
        ending.run(&["label", "configmap", "changed", "a=b"]),
    );
    step(
        "delete in what ends",
        ending.run(&["delete", "configmap", "kept"]),
    );
    for name in ["default", "kube-system", "kube-public"] {
        let deletion = ["delete", "namespace", name, "--wait=false"];
        step("delete what stays", kubectl.run(&deletion));
        let label = ["label", "namespace", name, "a=b"];
        step("label what stays", kubectl.run(&label));
    }
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "LocalSubjectAccessReview",
        "metadata": {"namespace": "missing"},
        "spec": {"user": "x", "resourceAttributes": {"namespace": "missing", "verb": "get", "resource": "pods"}}});
    step(
        "an access review in none",
        kubectl.in_namespace("missing").create(&review),
    );
    step(
        "a node",
        kubectl.create(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})),
    );
    seen
}

#[test]
fn namespaces_live_as_the_original_has_it() {
    const NAMESPACE: &str = "lookup-lifecycle";
    in_namespace(NAMESPACE, |space| {
        let original = Cluster::start(
            space.suite.programs.clone(),
            &space.suite.directory.join(NAMESPACE).join("original"),
            &space.suite.authority,
            &ClusterConfig::default(),
        );
        let (bare, _gate) = without_lifecycle(space, NAMESPACE);
        let (ours, theirs) = (session(&bare), session(&original));
        assert!(
            theirs.contains("namespaces \\\"missing\\\" not found"),
            "{theirs}"
        );
        assert!(
            theirs.contains("because it is being terminated"),
            "{theirs}"
        );
        assert!(
            theirs.contains("this namespace may not be deleted"),
            "{theirs}"
        );
        assert_eq!(ours, theirs);
        pods_are_held_to_the_labels_of_new_namespaces(&bare);
    });
}

/// A pod may come before the watch has seen its namespace, but is judged by the labels of that.
fn pods_are_held_to_the_labels_of_new_namespaces(cluster: &Cluster) {
    for round in 0..20 {
        let name = format!("new-{round}");
        let labels = json!({"pod-security.kubernetes.io/enforce": "baseline"});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": labels}});
        let mut pod = privileged_pod("web");
        pod["metadata"]["namespace"] = json!(name);
        // In one go, so that there is little time between them.
        let answer = cluster
            .kubectl()
            .create(&crate::manifests::list(&[namespace, pod]))
            .fails();
        assert!(
            answer
                .stderr
                .contains("violates PodSecurity \"baseline:latest\""),
            "{answer:?}"
        );
    }
}
