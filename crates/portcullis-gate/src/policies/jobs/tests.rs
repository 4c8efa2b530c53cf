//! Jobs are judged by the policies that were named, and by no others.

use serde_json::json;

use super::*;
use crate::{Before, Gate};
use portcullis_config::{ConfigSource, Listening, LoadOptions};

fn gate(policies: &Value) -> Gate {
    let text = json!({
        "listeners": [{"name": "ci", "tcp": "127.0.0.1:0", "serves": ["ci"]}],
        "policies": policies,
    });
    let text = text.to_string();
    let registry = crate::registry();
    let loaded = config::load(&LoadOptions {
        source: ConfigSource::BuiltIn(&text),
        admission_control: None,
        admission_control_config_file: None,
        known_plugins: &registry.names(),
        listeners: Listening::Needed,
        objects: None,
        coverage: false,
        env: &|_| None,
    });
    let loaded = loaded.unwrap_or_else(|faults| panic!("{faults}"));
    let mut faults = Vec::new();
    let context = crate::global_context(&loaded);
    let gate = crate::build(&loaded, None, &context, Before::default(), &mut faults);
    let gate = gate.unwrap_or_else(|| panic!("{faults:?}"));
    gate.engine.start().unwrap();
    gate
}

fn asked(gate: &Gate, policy: JobPolicy<'_>) -> JobJudgement {
    let object = json!({
        "apiVersion": "ci.portcullis.dev/v1", "kind": "Job",
        "metadata": {"name": "build", "namespace": "g/p"}, "project": "g/p",
        "tags": ["linux"], "user": {"id": 1, "username": "alice"},
    });
    let request = job_request(object, 1, "1-1".to_owned(), None);
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(gate.job_policies.judge(policy, request))
}

#[test]
fn a_policy_is_found_by_name_whatever_its_door() {
    let gate = gate(&json!([
        {"name": "pods", "code": "return 'for ' + object.metadata.name"},
        {"name": "zone", "code": "object.tags.push('zone')", "match": {"doors": ["ci"]}},
    ]));
    let denied = asked(&gate, JobPolicy::Named("pods"));
    let why = JobOutcome::Denied(Some("pods".to_owned()), "for build".to_owned());
    assert_eq!(denied.outcome, why);
    let judged = asked(&gate, JobPolicy::Door);
    assert_eq!(judged.outcome, JobOutcome::Accepted(None));
    assert_eq!(judged.object.unwrap()["tags"], json!(["linux", "zone"]));
    assert!(matches!(
        asked(&gate, JobPolicy::Named("nothing")).outcome,
        JobOutcome::Failed(None, _)
    ));
    assert_eq!(gate.job_policies.for_door(), ["zone"]);
}

#[test]
fn a_policy_given_as_text_is_compiled_once() {
    let gate = gate(&json!([]));
    for _ in 0..2 {
        let judged = asked(&gate, JobPolicy::Code("allow('as it is')"));
        let reason = Some("as it is".to_owned());
        assert_eq!(judged.outcome, JobOutcome::Accepted(reason));
    }
    assert_eq!(gate.job_policies.texts.lock().compiled.len(), 1);
    assert!(gate.job_policies.check("return (").is_err());
    let failed = asked(&gate, JobPolicy::Code("throw new Error('oh')"));
    assert!(
        matches!(failed.outcome, JobOutcome::Failed(..)),
        "{failed:?}"
    );
    assert_eq!(asked(&gate, JobPolicy::Door).outcome, JobOutcome::NotAsked);
}
