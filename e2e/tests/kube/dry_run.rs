//! `--dry-run=server`: the same answers, and nothing happens.

use portcullis_e2e::Phase;
use serde_json::json;

use crate::manifests::{pod, privileged_pod, tolerations};
use crate::pod_security::BASELINE;
use crate::suite::in_namespace;

#[test]
fn a_dry_run_shows_the_patched_object_and_stores_nothing() {
    in_namespace("dry-patch", |space| {
        let _gate = space.gate(
            Phase::Mutating,
            "admission: {order: [DefaultTolerationSeconds]}\n",
        );
        let kubectl = &space.kubectl;
        let manifest = pod("web", json!({})).to_string();
        let shown = kubectl
            .run_with_input(
                &["create", "--dry-run=server", "-o", "json", "-f", "-"],
                &manifest,
            )
            .json();
        assert_eq!(tolerations(&shown).len(), 2, "{shown:#}");
        assert!(!kubectl.exists("pod", "web"));

        // What `kubectl diff` shows before an apply is what the gate will make of it.
        let diff = kubectl
            .run_with_input(&["diff", "-f", "-"], &manifest)
            .fails();
        assert!(
            diff.stdout.contains("node.kubernetes.io/unreachable"),
            "{diff:#?}"
        );
        assert!(!kubectl.exists("pod", "web"));
    });
}

#[test]
fn a_dry_run_is_refused_and_warned_of_in_the_same_words() {
    in_namespace("dry-refusal", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        let kubectl = &space.kubectl;
        let bad = privileged_pod("bad");
        assert_eq!(
            kubectl.dry_run(&bad).fails().stderr,
            kubectl.create(&bad).fails().stderr
        );
        let fair = pod("fair", json!({}));
        let tried = kubectl.dry_run(&fair).succeeds();
        assert_eq!(tried.warnings().len(), 1, "{tried:#?}");
        assert_eq!(tried.stderr, kubectl.create(&fair).succeeds().stderr);
    });
}
