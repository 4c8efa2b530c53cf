//! Lines that were written before, and by other versions, are read back as they were.

use std::time::Duration;

use portcullis_core::{
    HostFunction, OpinionKind, Phase, PolicyLimit, PolicyMode, PolicyOutcome, StepOutcome,
};
use portcullis_record::{Decision, Recorded, TraceOutcome};

/// A line as it has been written since there are records.
const ADMISSION: &str = concat!(
    r#"{"id":"01K9ZV3N5J0000000000000002","time":"2026-11-15T09:15:40.000007Z","door":"kubernetes","#,
    r#""operation":"UPDATE","kind":"Deployment","namespace":"pay","name":"api","user":"maria","verdict":"deny","#,
    r#""mutated":false,"message":"no","plugin":"Policies","policy":"signed","digest":null,"gate":"sha256:5f","#,
    r#""duration_us":48211,"warnings":["team: missing"],"concerned":["signed"],"patch":[],"trace":["#,
    r#"{"plugin":"Quota","phase":"validate","outcome":"timeout","detail":"late","failed_open":true,"duration_us":2000},"#,
    r#"{"plugin":"Policies","phase":"admit","outcome":"denied","detail":"no","warnings":1,"policies":["#,
    r#"{"name":"prod","mode":"enforce","outcome":"skip","message":"not one of prod-*"},"#,
    r#"{"name":"limits","mode":"dry-run","outcome":"error","line":4,"column":3,"limit":"memory","duration_us":310},"#,
    r#"{"name":"signed","mode":"enforce","outcome":"deny","message":"no","source":"lib.js","line":21,"duration_us":9}],"#,
    r#""host_calls":[{"policy":"signed","function":"cosignVerify","arguments":["key"],"error":"none","duration_us":45},"#,
    r#"{"policy":"signed","function":"slsaVerify","arguments":[],"result":{"ok":true},"duration_us":5}],"#,
    r#""patch":[{"op":"remove","path":"/a"}],"duration_us":47002}],"#,
    r#""input":{"review":{"kind" : "AdmissionReview"},"http":{"method":"POST","uri":"/mutate","headers":[]},"#,
    r#""received":"2026-11-15T09:15:39.951796000Z","webhook":{"name":"mutate","may_patch":true,"refuses_pending":false}}}"#,
);

/// The same of an authorization.
const ACCESS: &str = concat!(
    r#"{"id":"01K9ZV3N5J0000000000000003","time":"2026-11-15T09:15:41Z","door":"authorization","operation":"get","#,
    r#""kind":"secrets","namespace":"shop","name":"creds","user":"n2","verdict":"deny","mutated":false,"message":"","#,
    r#""plugin":null,"policy":null,"digest":null,"gate":null,"duration_us":12,"warnings":[],"patch":[],"trace":["#,
    r#"{"plugin":"node","outcome":"no_opinion","detail":"no path","duration_us":3},"#,
    r#"{"plugin":"abac","outcome":"error","detail":"broken","duration_us":4}],"#,
    r#""input":{"review":{},"http":{"method":"POST","uri":"/authorize","headers":[]},"received":"","chain":"default"}}"#,
);

/// The same of a call of the API.
const ACTION: &str = concat!(
    r#"{"id":"01K9ZV3N5J0000000000000004","time":"2026-11-15T09:15:42Z","door":"api","operation":"autohold","#,
    r#""kind":"Autohold","namespace":"t","name":"p","user":"al","verdict":"allow","mutated":false,"message":"","#,
    r#""plugin":"Roles","policy":"ops","digest":null,"gate":null,"duration_us":12,"warnings":[],"patch":[],"trace":["#,
    r#"{"plugin":"Roles","outcome":"allow","roles":{"rule":"al","role":"ops","rules":["al"],"roles":["ops"]},"#,
    r#""duration_us":3}],"input":{"http":{"method":"POST","uri":"/api/x","headers":[]},"received":"","#,
    r#""action":{"tenant":"t","parameters":{"project":"p"},"status":201}}}"#,
);

#[test]
fn lines_come_back_byte_for_byte() {
    for line in [ADMISSION, ACCESS, ACTION] {
        let decision = Decision::from_line(line).unwrap();
        assert_eq!(serde_json::to_string(&decision).unwrap(), line);
    }
}

#[test]
fn the_words_of_a_line_have_their_meaning() {
    let decision = Decision::from_line(ADMISSION).unwrap();
    let [quota, policies] = decision.trace.as_slice() else {
        panic!("{:?}", decision.trace)
    };
    assert_eq!(quota.phase, Some(Phase::Validate.into()));
    assert_eq!(quota.ended(), Some(StepOutcome::Timeout));
    assert!(quota.is_failure() && !policies.is_failure());
    assert!(policies.is(StepOutcome::Denied));
    let [prod, limits, _] = policies.policies.as_slice() else {
        panic!("{policies:?}")
    };
    assert!(prod.mode == PolicyMode::Enforce && prod.outcome == PolicyOutcome::Skip);
    assert!(limits.mode == PolicyMode::DryRun && limits.outcome == PolicyOutcome::Error);
    assert_eq!(limits.limit, Some(PolicyLimit::Memory.into()));
    assert_eq!(limits.duration, Some(Duration::from_micros(310)));
    let functions: Vec<_> = policies.host_calls.iter().map(|c| &c.function).collect();
    let wanted = [HostFunction::CosignVerify, HostFunction::SlsaVerify].map(Recorded::Known);
    assert_eq!(functions, wanted.iter().collect::<Vec<_>>());

    let decision = Decision::from_line(ACCESS).unwrap();
    let no_opinion = TraceOutcome::Opinion(OpinionKind::NoOpinion);
    assert_eq!(decision.trace[0].outcome, no_opinion);
    assert_eq!(decision.trace[0].ended(), None);
    assert!(decision.trace[1].is(StepOutcome::Error));
}

#[test]
fn words_of_another_version_are_kept_and_are_none_of_ours() {
    let newer = ADMISSION
        .replace(r#""phase":"validate""#, r#""phase":"audit""#)
        .replace(r#""outcome":"timeout""#, r#""outcome":"postponed""#)
        .replace(r#""mode":"dry-run""#, r#""mode":"shadow""#)
        .replace(r#""outcome":"error""#, r#""outcome":"abstain""#)
        .replace(r#""limit":"memory""#, r#""limit":"regions""#)
        .replace(r#""slsaVerify""#, r#""lookUp""#);
    let decision = Decision::from_line(&newer).unwrap();
    assert_eq!(serde_json::to_string(&decision).unwrap(), newer);
    let step = &decision.trace[0];
    let phase = step.phase.as_ref().unwrap();
    assert!(Phase::ALL.iter().all(|known| phase != known));
    assert_eq!((step.ended(), step.is_failure()), (None, false));
    assert_eq!(format!("{phase} {}", step.outcome), "audit postponed");
    let policy = &decision.trace[1].policies[1];
    let shown = format!("{} {}", policy.mode, policy.outcome);
    assert_eq!(shown, "shadow abstain");
    assert!(PolicyMode::ALL.iter().all(|known| policy.mode != *known));
    assert_eq!(policy.limit, Some(Recorded::Unknown("regions".into())));
}

#[test]
fn what_is_not_a_word_is_not_read() {
    for (word, other) in [
        (r#""outcome":"timeout""#, r#""outcome":1"#),
        (r#""outcome":"timeout","#, ""),
        (r#""mode":"dry-run""#, r#""mode":null"#),
        (r#""door":"kubernetes""#, r#""door":"window""#),
    ] {
        let line = ADMISSION.replace(word, other);
        assert_ne!(line, ADMISSION, "{word}");
        assert!(Decision::from_line(&line).is_err(), "{other}");
    }
}
