//! Records of authorization.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::access::ResourceTarget;
use portcullis_core::authorizer::AccessStep;
use portcullis_core::{
    Access, AccessVerdict, DecisionId, Door, Opinion, OpinionKind, StepOutcome, Target,
};
use portcullis_record::{
    Answer, Authorization, Body, Decided, Decision, Material, Recorded, TraceOutcome,
};
use serde_json::json;

use crate::fixtures::masker;

fn read(target: Target, opinion: Opinion, error: Option<&str>) -> Decision {
    let body = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": "ann", "extra": {"token": ["hunter22"]}}});
    let said = match error {
        Some(error) => Err(error.to_owned()),
        None => Ok(opinion.clone()),
    };
    let nothing = AccessStep {
        authorizer: "first".into(),
        said: Ok(Opinion::NoOpinion(String::new())),
        duration: Duration::ZERO,
    };
    let verdict = AccessVerdict {
        id: DecisionId::new(SystemTime::UNIX_EPOCH),
        authorizer: (error.is_none()).then(|| "second".into()),
        error: error.map(|e| format!("second: {e}")),
        trace: vec![
            nothing,
            AccessStep {
                authorizer: "second".into(),
                said,
                duration: Duration::from_micros(5),
            },
        ],
        duration: Duration::from_micros(9),
        opinion,
    };
    let access = Access {
        user: portcullis_core::UserInfo {
            username: "ann".into(),
            ..Default::default()
        },
        verb: "get".into(),
        target,
        context: Default::default(),
    };
    let material = Material {
        body: Body(Arc::new(body.to_string().into_bytes())),
        index: None,
        received: SystemTime::UNIX_EPOCH,
        gate: "g".into(),
        traceparent: None,
        decided: Decided::Authorization(Box::new(Authorization {
            access,
            verdict,
            chain: "default".into(),
        })),
    };
    let line = masker().write(&material).unwrap().line;
    assert!(!line.contains("hunter22"));
    Decision::from_line(&line).unwrap()
}

fn logs() -> Target {
    Target::Resource(ResourceTarget {
        resource: "pods".into(),
        subresource: "log".into(),
        namespace: "shop".into(),
        name: "web".into(),
        ..ResourceTarget::default()
    })
}

#[test]
fn an_allow_names_the_authorizer_and_the_reason() {
    let decision = read(logs(), Opinion::Allow("knows hunter22".into()), None);
    let summary = decision.summary;
    assert_eq!(summary.door, Door::Authorization);
    assert_eq!(
        [
            summary.operation,
            summary.kind,
            summary.namespace,
            summary.name,
            summary.user
        ],
        ["get", "pods/log", "shop", "web", "ann"]
    );
    assert_eq!(summary.verdict, Answer::Allow);
    assert_eq!(summary.plugin.as_deref(), Some("second"));
    assert_eq!(summary.message, "knows (masked)");
    assert!(summary.concerned.is_empty());
    let said = |opinion| Recorded::Known(TraceOutcome::Opinion(opinion));
    let steps: Vec<(&str, Recorded<TraceOutcome>, Option<&str>)> = decision
        .trace
        .iter()
        .map(|s| (s.plugin.as_str(), s.outcome.clone(), s.detail.as_deref()))
        .collect();
    assert_eq!(
        steps,
        [
            ("first", said(OpinionKind::NoOpinion), None),
            ("second", said(OpinionKind::Allow), Some("knows (masked)"))
        ]
    );
    assert_eq!(decision.input.chain.as_deref(), Some("default"));
    assert_eq!(decision.input.masked, ["/review/spec/extra/token/0"]);
}

#[test]
fn nothing_else_is_an_allow() {
    let path = Target::Path("/healthz".into());
    let decision = read(path, Opinion::Deny("no".into()), None);
    assert_eq!(decision.summary.verdict, Answer::Deny);
    assert_eq!(decision.summary.kind, "/healthz");
    assert_eq!(decision.summary.concerned, ["second"]);
    let opinion = Opinion::NoOpinion("second could not decide".into());
    let decision = read(logs(), opinion, Some("broken hunter22"));
    assert_eq!(decision.summary.verdict, Answer::Deny);
    assert_eq!(decision.summary.message, "second: broken (masked)");
    assert_eq!(decision.summary.plugin, None);
    assert!(decision.trace[1].is(StepOutcome::Error));
}
