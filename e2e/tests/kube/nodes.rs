//! Plug-ins that look at a namespace's annotations: `PodNodeSelector` and
//! `PodTolerationRestriction`.

use portcullis_e2e::Phase;
use serde_json::json;

use crate::manifests::{pod, pod_of_container, tolerations};
use crate::suite::in_namespace;

#[test]
fn node_selectors_of_pod_and_namespace_are_merged_or_conflict() {
    in_namespace("node-selector", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            "\
namespaces:
- name: node-selector
  annotations: {scheduler.alpha.kubernetes.io/node-selector: 'env=test,tier=web'}
admission:
  plugins:
  - name: PodNodeSelector
    configuration:
      podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: 'env=none', node-selector: 'env=test,tier=web,disk=ssd'}
",
        );
        let kubectl = &space.kubectl;
        let on =
            |name: &str, selector: serde_json::Value| pod(name, json!({"nodeSelector": selector}));

        assert_eq!(
            kubectl.created(&pod("plain", json!({})))["spec"]["nodeSelector"],
            json!({"env": "test", "tier": "web"}),
        );
        assert_eq!(
            kubectl.created(&on("disk", json!({"disk": "ssd"})))["spec"]["nodeSelector"],
            json!({"env": "test", "tier": "web", "disk": "ssd"}),
        );
        let refusal = |text: &str| space.refusal_of(Phase::Mutating, "Forbidden", text);
        kubectl.create(&on("other", json!({"env": "live"}))).fails_saying(&refusal(
            "pods \"other\" is forbidden: pod node label selector conflicts with its namespace node label selector",
        ));
        kubectl.create(&on("unlisted", json!({"disk": "tape"}))).fails_saying(&refusal(
            "pods \"unlisted\" is forbidden: pod node label selector labels conflict with its namespace whitelist",
        ));
    });
}

#[test]
fn tolerations_of_a_namespace_are_added_and_others_kept_out() {
    in_namespace("toleration-lists", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            r#"
namespaces:
- name: toleration-lists
  annotations:
    scheduler.alpha.kubernetes.io/defaultTolerations: '[{"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}]'
    scheduler.alpha.kubernetes.io/tolerationsWhitelist: '[{"key": "team", "operator": "Exists"}, {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}]'
admission: {order: [PodTolerationRestriction]}
"#,
        );
        let kubectl = &space.kubectl;
        assert_eq!(
            tolerations(&kubectl.created(&pod("plain", json!({})))),
            ["team NoSchedule"]
        );

        let burstable = pod_of_container(
            "burstable",
            json!({"resources": {"requests": {"cpu": "10m"}}}),
        );
        let mut found = tolerations(&kubectl.created(&burstable));
        found.sort();
        assert_eq!(
            found,
            [
                "node.kubernetes.io/memory-pressure NoSchedule",
                "team NoSchedule"
            ]
        );

        let stranger =
            json!({"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]});
        let answer = kubectl.create(&pod("stranger", stranger)).fails();
        assert!(
            answer.stderr.trim_end().ends_with(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
            ),
            "{answer:#?}",
        );
    });
}
