//! Policies that are for namespaces with certain labels: jsPolicy's, and `match.namespaceSelector`.

use serde_json::{Value, json};

use super::{Evaluated, eval};
use crate::harness::{Folder, Review, Setup, pod, run_in};

/// A policy of jsPolicy for namespaces of production, for whatever kind of object.
const POLICY: &str = "apiVersion: policy.jspolicy.com/v1beta1\nkind: JsPolicy\nmetadata: {name: frozen}\nspec:\n  \
    operations: ['*']\n  resources: ['*']\n  namespaceSelector:\n    matchLabels: {env: production}\n    \
    matchExpressions: [{key: team, operator: NotIn, values: [platform]}]\n  \
    javascript: deny('production is frozen')\n";

fn namespace(name: &str, env: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"env": env}}})
}

fn secret(namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": namespace}})
}

/// Objects in and outside of namespaces, and the policy.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/frozen.yaml", POLICY);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}});
    let objects = [
        secret("prod"),
        secret("dev"),
        secret("unheard-of"),
        namespace("new-prod", "production"),
        namespace("new-dev", "dev"),
        role,
    ];
    let text: Vec<String> = objects.iter().map(Value::to_string).collect();
    folder.write("objects.yaml", text.join("\n---\n"));
    folder
}

fn configuration(more: &str) -> String {
    format!("policyDirs: [policies]\ndefaultAction: allow\n{more}\n")
}

/// What the first policy said of each object.
fn outcomes(done: &Evaluated) -> Vec<&str> {
    let results = done.results().iter();
    results
        .map(|one| one["policies"][0]["outcome"].as_str().unwrap())
        .collect()
}

const NAMESPACES: &str =
    "namespaces: [{name: prod, labels: {env: production}}, {name: dev, labels: {env: dev}}]";

#[test]
fn namespaces_are_selected_by_labels_as_in_kubernetes() {
    let folder = folder();
    folder.write("portcullis.yaml", configuration(NAMESPACES));
    let done = eval(&folder, &["objects.yaml"]);
    assert_eq!(done.code, Some(1), "{:#}{}", done.value, done.err);
    // A namespace has labels of its own; what is in no namespace is always selected.
    assert_eq!(
        outcomes(&done),
        ["deny", "skip", "skip", "deny", "skip", "deny"]
    );
    assert_eq!(done.results()[0]["message"], "frozen: production is frozen");
    assert_eq!(
        done.results()[1]["policies"][0]["message"],
        "labels of the namespace do not match"
    );
    // A team that the expressions exclude.
    let labels = ["--namespace-labels", "env=production,team=platform"];
    let done = eval(&folder, &[&["objects.yaml"], &labels[..]].concat());
    assert_eq!(outcomes(&done)[..3], ["skip"; 3]);
    // Nothing is known of any namespace.
    let done = eval(&folder, &["objects.yaml", "--policies", "policies"]);
    assert_eq!(
        outcomes(&done),
        ["skip", "skip", "skip", "deny", "skip", "deny"]
    );
}

#[test]
fn labels_may_come_from_objects_of_the_cluster() {
    let folder = folder();
    folder.write("portcullis.yaml", configuration("kube: {}"));
    folder.write(
        "cluster/prod.yaml",
        namespace("prod", "production").to_string(),
    );
    let done = eval(&folder, &["objects.yaml", "--objects", "cluster"]);
    assert_eq!(
        outcomes(&done),
        ["deny", "skip", "skip", "deny", "skip", "deny"],
        "{:#}",
        done.value
    );
    // In a test, the labels are those of the case.
    let case = json!({"tests": [
        {"name": "dev", "object": secret("shop"), "namespaceLabels": {"env": "dev"}, "expect": {"allowed": true}},
        {"name": "prod", "object": secret("shop"), "namespaceLabels": {"env": "production"},
            "expect": {"allowed": false, "policy": "frozen"}},
        {"name": "cluster", "object": secret("shop"), "kube": [namespace("shop", "production")],
            "expect": {"allowed": false, "policy": "frozen"}},
    ]});
    folder.write("tests/frozen.test.yaml", case.to_string());
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

/// What is not known of the cluster is not taken for a namespace without labels.
#[test]
fn unknown_labels_are_an_error_of_the_policy() {
    let folder = folder();
    let unknown = "the labels of the namespace `prod` are not known: the namespace could not be read: the objects of the \
                   cluster are not read here: give them with `--objects DIR`, or in a test with `kube`";
    folder.write("prod.yaml", secret("prod").to_string());
    folder.write("portcullis.yaml", configuration("kube: {}"));
    let done = eval(&folder, &["prod.yaml"]);
    assert_eq!(done.code, Some(5), "{:#}", done.value);
    let message = done.results()[0]["message"].as_str().unwrap();
    assert!(
        message.ends_with(&format!("frozen: {unknown}")),
        "{message}"
    );
    // Where errors pass, so does this one; a policy that is asked anyway decides.
    let open = "kube: {}\nadmission: {plugins: [{name: Policies, failure: open}]}\npolicies: [{name: other, code: 'warn(\"asked\")'}]";
    folder.write("portcullis.yaml", configuration(open));
    let done = eval(&folder, &["prod.yaml"]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
    let said: Vec<_> = done.results()[0]["policies"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(
        (&said[0]["outcome"], &said[1]["outcome"]),
        (&json!("warn"), &json!("error"))
    );
    assert_eq!(said[1]["message"], unknown);
    // In mode `warn`, it is a warning.
    let warning = POLICY.replace("spec:\n", "spec:\n  violationPolicy: Warn\n");
    folder.write("policies/frozen.yaml", warning);
    folder.write("portcullis.yaml", configuration("kube: {}"));
    let done = eval(&folder, &["prod.yaml"]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
    assert_eq!(
        done.results()[0]["warnings"],
        json!([format!("frozen: {unknown}")])
    );
}

#[test]
fn a_server_selects_by_the_namespaces_of_its_configuration() {
    let setup = json!({"policyDirs": ["policies"], "defaultAction": "allow",
        "namespaces": [{"name": "prod", "labels": {"env": "production"}}]});
    let gate = Setup::new(setup)
        .file("policies/frozen.yaml", POLICY)
        .start();
    for (namespace, allowed) in [("prod", false), ("dev", true)] {
        let review = Review::create(&pod()).set("namespace", namespace);
        let verdict = gate.ask("/validate", &review);
        assert_eq!(verdict.is_allowed(), allowed, "{namespace}: {verdict:?}");
    }
}

#[test]
fn a_webhook_says_that_it_does_not_support_them() {
    let folder = Folder::new();
    let hook = json!({"name": "a", "url": "https://hook.example/", "match": {"namespaceSelector": {"matchLabels": {"a": "b"}}}});
    let plugin = json!({"name": "Webhook", "configuration": {"webhooks": [hook]}});
    let text = json!({"admission": {"plugins": [plugin]}}).to_string();
    folder.write("portcullis.yaml", text);
    let ran = run_in(&folder, &["check"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&[
        "webhooks[0].match.namespaceSelector",
        "not supported for webhooks: use `namespaces`",
    ]);
}
