//! Two mutating webhooks, where the second changes what the first has seen.

use portcullis_e2e::{Phase, Portcullis, Webhook};
use serde_json::json;

use crate::manifests::{pod, tolerations};
use crate::suite::{Space, in_namespace};

/// The entry of a second or third Portcullis.
fn webhook(space: &Space, name: &str, portcullis: &Portcullis, reinvocation: bool) -> Webhook {
    Webhook {
        name: format!("{name}.{}.portcullis.dev", space.name),
        reinvocation,
        ..space.webhook(Phase::Mutating, portcullis)
    }
}

#[test]
fn a_second_pass_finds_its_own_work_done() {
    in_namespace("second-pass", |space| {
        let images = space.portcullis("images", "admission: {order: [AlwaysPullImages]}\n");
        let seconds = space.portcullis(
            "seconds",
            "admission: {order: [DefaultTolerationSeconds]}\n",
        );
        let webhooks = space.webhooks(
            Phase::Mutating,
            vec![
                webhook(space, "images", &images, true),
                webhook(space, "seconds", &seconds, true),
            ],
        );
        webhooks.register();
        let calls =
            || [&webhooks.entries[0], &webhooks.entries[1]].map(|entry| webhooks.calls(entry));

        let before = calls();
        let created = space.kubectl.created(&pod("web", json!({})));
        let after = calls();
        // The first is asked again because the second changed the pod; the second is not,
        // because nobody changed the pod after it.
        assert_eq!([after[0] - before[0], after[1] - before[1]], [2, 1]);
        assert_eq!(
            created["spec"]["containers"][0]["imagePullPolicy"],
            "Always"
        );
        assert_eq!(tolerations(&created).len(), 2);

        let entry = space
            .suite
            .cluster
            .audited("the audit entry of the pod", |entry| {
                entry["objectRef"]["namespace"] == "second-pass"
                    && entry["objectRef"]["resource"] == "pods"
            });
        // The index counts the webhooks of all namespaces.
        let mutated = |round: &str, name: &str| {
            let annotations = entry["annotations"].as_object().unwrap();
            let (_, note) = annotations
                .iter()
                .filter(|(key, _)| key.contains(round))
                .find(|(_, note)| note.as_str().is_some_and(|note| note.contains(name)))
                .unwrap_or_else(|| panic!("nothing of {name} in {round}: {entry:#}"));
            note.as_str().unwrap().contains("\"mutated\":true")
        };
        assert!(mutated("/round_0_", "images.second-pass"));
        assert!(mutated("/round_0_", "seconds.second-pass"));
        assert!(!mutated("/round_1_", "images.second-pass"));
    });
}

#[test]
fn a_second_pass_refuses_what_the_first_could_not_see() {
    in_namespace("second-thoughts", |space| {
        let strict = space.portcullis(
            "strict",
            r#"
namespaces:
- name: second-thoughts
  annotations: {scheduler.alpha.kubernetes.io/tolerationsWhitelist: '[{"key": "team", "operator": "Exists"}]'}
admission: {order: [PodTolerationRestriction]}
"#,
        );
        let seconds = space.portcullis(
            "seconds",
            "admission: {order: [DefaultTolerationSeconds]}\n",
        );
        let register = |reinvocation| {
            let entries = vec![
                webhook(space, "strict", &strict, reinvocation),
                webhook(space, "seconds", &seconds, false),
            ];
            space.webhooks(Phase::Mutating, entries).register();
        };

        register(false);
        space.kubectl.create(&pod("never", json!({}))).succeeds();
        register(true);
        portcullis_e2e::until(
            "the second pass",
            std::time::Duration::from_secs(10),
            || {
                let answer = space.kubectl.dry_run(&pod("if-needed", json!({})));
                answer
                    .stderr
                    .contains("conflict with its namespace whitelist")
            },
        );
    });
}
