//! A Portcullis that is slow, or gone.

use portcullis_e2e::{FailurePolicy, Phase, Portcullis, Signal};
use serde_json::json;

use crate::manifests::{config_map, pod, privileged_pod};
use crate::pod_security::BASELINE;
use crate::suite::{Space, in_namespace};

fn gate(space: &Space, failure_policy: FailurePolicy) -> Portcullis {
    let portcullis = space.portcullis("gate", BASELINE);
    let mut webhook = space.webhook(Phase::Validating, &portcullis);
    webhook.failure_policy = failure_policy;
    webhook.timeout_seconds = 2;
    space.webhooks(Phase::Validating, vec![webhook]).register();
    portcullis
}

#[test]
fn fail_refuses_while_portcullis_hangs_and_no_longer() {
    in_namespace("hangs-fail", |space| {
        let portcullis = gate(space, FailurePolicy::Fail);
        portcullis.signal(Signal::Pause);
        let answer = space.kubectl.create(&config_map("during")).fails();
        portcullis.signal(Signal::Resume);
        let failure = format!(
            "Error from server (InternalError): error when creating \"STDIN\": Internal error occurred: \
             failed calling webhook \"{}\": failed to call webhook: Post \"{}?timeout=2s\": ",
            space.webhook_name(Phase::Validating),
            portcullis.url("/validate"),
        );
        assert!(answer.stderr.starts_with(&failure), "{answer:#?}");
        assert!(answer.stderr.contains("deadline exceeded"), "{answer:#?}");
        space.kubectl.create(&config_map("after")).succeeds();
        space.kubectl.create(&privileged_pod("after")).fails();
    });
}

#[test]
fn ignore_goes_on_without_a_portcullis_that_hangs() {
    in_namespace("hangs-ignore", |space| {
        let portcullis = gate(space, FailurePolicy::Ignore);
        portcullis.signal(Signal::Pause);
        let answer = space.kubectl.create(&privileged_pod("during"));
        portcullis.signal(Signal::Resume);
        answer.succeeds();
        // A refusal is no failure: it counts under `Ignore` too.
        space.kubectl.create(&privileged_pod("after")).fails();
    });
}

#[test]
fn fail_refuses_while_portcullis_is_gone_and_no_longer() {
    in_namespace("gone-fail", |space| {
        let mut portcullis = gate(space, FailurePolicy::Fail);
        for end in [Portcullis::stop, Portcullis::kill] {
            end(&mut portcullis);
            let answer = space.kubectl.create(&pod("web", json!({}))).fails();
            assert!(
                answer.stderr.contains("failed calling webhook"),
                "{answer:#?}"
            );
            assert!(answer.stderr.contains("connection refused"), "{answer:#?}");
            portcullis.start_again();
            space.kubectl.dry_run(&pod("web", json!({}))).succeeds();
        }
    });
}

#[test]
fn ignore_goes_on_without_a_portcullis_that_is_gone_and_notes_it() {
    in_namespace("gone-ignore", |space| {
        let mut portcullis = gate(space, FailurePolicy::Ignore);
        portcullis.stop();
        space.kubectl.create(&privileged_pod("web")).succeeds();
        let entry = space
            .suite
            .cluster
            .audited("the audit entry of the pod", |entry| {
                entry["objectRef"]["namespace"] == "gone-ignore"
                    && entry["objectRef"]["resource"] == "pods"
            });
        let key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_0";
        assert_eq!(
            entry["annotations"][key],
            space.webhook_name(Phase::Validating),
            "{entry:#}"
        );
        portcullis.start_again();
        space.kubectl.create(&privileged_pod("after")).fails();
    });
}

#[test]
fn a_reload_changes_the_answers_and_a_bad_file_does_not() {
    in_namespace("reloads", |space| {
        let portcullis = space.gate(Phase::Validating, "admission: {order: [AlwaysAdmit]}\n");
        let admitted = || space.kubectl.dry_run(&config_map("web")).is_success();
        let configuration = portcullis.file("portcullis.yaml");
        let reload = |from: &str, to: &str| {
            portcullis.replace_file("portcullis.yaml", &configuration.replace(from, to));
            portcullis.signal(Signal::Reload);
        };
        assert!(admitted());
        reload("AlwaysAdmit", "AlwaysDeny");
        portcullis_e2e::until("the new chain", std::time::Duration::from_secs(10), || {
            !admitted()
        });
        reload("AlwaysAdmit", "NoSuchPlugin");
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(!admitted());
        reload("AlwaysAdmit", "AlwaysAdmit");
        portcullis_e2e::until(
            "the old chain",
            std::time::Duration::from_secs(10),
            admitted,
        );
    });
}
