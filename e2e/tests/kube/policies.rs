//! Policies in JavaScript behind a real API server.

use portcullis_e2e::Phase;
use serde_json::{Value, json};

use crate::manifests::{config_map, pod};
use crate::suite::in_namespace;

/// A name is refused, images get a registry, gitRepo volumes become init containers.
const POLICIES: &str = r#"
defaultAction: allow
policies:
- name: fruit
  match: {kinds: [Pod], operations: [CREATE]}
  code: |
    if (object.metadata.name.includes("apple"))
      return "please choose a different fruit"
- name: team
  match: {kinds: [Pod]}
  code: |
    if (req.operation === "DELETE") {
      if (oldObject.metadata.labels?.keep) deny("it is kept", "Kept", 409)
      return
    }
    object.metadata.labels = {...object.metadata.labels, team: "of-" + req.userInfo.username.replace(/[^a-z]/g, "-")}
    if (object.spec.containers.length > 1) warn("more than one container")
- name: soon
  mode: warn
  match: {kinds: [ConfigMap]}
  code: return "config maps will be refused soon"
- name: git
  match: {kinds: [Pod], operations: [CREATE]}
  code: |
    for (const [i, volume] of (object.spec.volumes || []).entries()) {
      if (!volume.gitRepo) continue
      const clone = ["git", "clone", "--", volume.gitRepo.repository]
      object.spec.initContainers = [...(object.spec.initContainers || []),
        {name: "git-" + i, image: "registry.example/git", command: clone,
         volumeMounts: [{name: volume.name, mountPath: "/repo"}]}]
      volume.emptyDir = {}
      delete volume.gitRepo
    }
"#;

#[test]
fn a_refusal_reaches_kubectl_in_the_policys_words() {
    in_namespace("policy-refuses", |space| {
        let _gate = space.gate(Phase::Validating, POLICIES);
        space
            .kubectl
            .create(&pod("apple", json!({})))
            .fails_saying(&space.refusal_of(
                Phase::Validating,
                "VIOLATES_POLICY",
                "fruit: please choose a different fruit",
            ));
        space.kubectl.create(&pod("pear", json!({}))).succeeds();
    });
}

#[test]
fn changes_are_stored_and_deletion_is_judged() {
    in_namespace("policy-changes", |space| {
        let _gate = space.gate(Phase::Mutating, POLICIES);
        let kubectl = &space.kubectl;
        let git = json!({"volumes": [
            {"name": "cache", "emptyDir": {}},
            {"name": "code", "gitRepo": {"repository": "https://git.example/code"}}]});
        let created = kubectl.created(&pod("web", git));
        let team = created["metadata"]["labels"]["team"].as_str();
        assert!(team.is_some_and(|t| t.starts_with("of-")), "{created:#}");
        assert_eq!(created["spec"]["volumes"][1]["gitRepo"], Value::Null);
        assert_eq!(created["spec"]["volumes"][1]["emptyDir"], json!({}));
        assert_eq!(created["spec"]["initContainers"][0]["name"], "git-1");
        assert_eq!(
            created["spec"]["initContainers"][0]["command"],
            json!(["git", "clone", "--", "https://git.example/code"])
        );
        kubectl.run(&["label", "pod", "web", "keep=yes"]).succeeds();
        kubectl
            .run(&["delete", "pod", "web", "--now"])
            .fails_saying(&format!(
                "Error from server (Kept): admission webhook \"{}\" denied the request: team: it is kept",
                space.webhook_name(Phase::Mutating),
            ));
        kubectl.run(&["label", "pod", "web", "keep-"]).succeeds();
        kubectl.run(&["delete", "pod", "web", "--now"]).succeeds();
    });
}

#[test]
fn a_policy_that_only_warns_warns() {
    in_namespace("policy-warns", |space| {
        let _gate = space.gate(Phase::Validating, POLICIES);
        let answer = space.kubectl.create(&config_map("settings")).succeeds();
        assert_eq!(
            answer.warnings(),
            ["soon: config maps will be refused soon"]
        );
    });
}
