use std::time::Duration;

use portcullis_core::patch::PatchOperation;
use portcullis_core::{Decision, DecisionId, clock};
use serde_json::{Value, json};

use super::*;

fn wire(version: &str) -> Value {
    json!({
        "apiVersion": format!("admission.k8s.io/{version}"), "kind": "AdmissionReview",
        "request": {
            "uid": "u-1", "operation": "UPDATE", "dryRun": true, "name": "web", "namespace": "shop",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"}, "subResource": "status",
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "userInfo": {"username": "ann", "groups": ["a"], "extra": {"k": ["v"]}, "uid": "7"},
            "object": {"kind": "Pod"}, "oldObject": {"kind": "Pod", "old": 1}, "options": null,
            "futureField": {"a": 1}
        }
    })
}

fn decode(value: &Value) -> Result<AdmissionReview, JsonFault> {
    decode_admission(
        value.to_string().as_bytes(),
        DoorContext::default(),
        clock::monotonic(),
        None,
    )
}

fn verdict(decision: Decision) -> Verdict {
    Verdict {
        id: DecisionId::new(clock::wall()),
        decision,
        plugin: Some("P".into()),
        policy: None,
        warnings: vec![],
        annotations: BTreeMap::new(),
        patch: vec![PatchOperation::Remove { path: "/a".into() }],
        trace: vec![],
        duration: Duration::ZERO,
    }
}

fn encode(verdict: &Verdict, may_patch: bool) -> Value {
    let review = decode(&wire("v1")).unwrap();
    let answer = Answer {
        version: &review.version,
        attributes: &review.attributes,
        may_patch,
        shape: Shape::Kubernetes,
    };
    serde_json::from_slice(&encode_admission(answer, verdict)).unwrap()
}

#[test]
fn reads_everything_the_proposal_lists() {
    for version in ["v1", "v1beta1"] {
        let review = decode(&wire(version)).unwrap();
        let a = review.attributes;
        assert_eq!(review.version, format!("admission.k8s.io/{version}"));
        assert_eq!(
            (a.uid.as_str(), a.operation, a.dry_run),
            ("u-1", Operation::Update, true)
        );
        assert_eq!(
            (
                a.name.as_str(),
                a.namespace.as_str(),
                a.subresource.as_str()
            ),
            ("web", "shop", "status")
        );
        assert!(a.kind.is("", "Pod") && a.resource.is("", "pods"));
        assert_eq!(
            (a.user.username.as_str(), a.user.uid.as_str()),
            ("ann", "7")
        );
        assert_eq!(a.user.extra["k"], ["v"]);
        assert_eq!(a.object.unwrap().original_text(), r#"{"kind":"Pod"}"#);
        assert_eq!(a.old_object.unwrap().value().unwrap()["old"], 1);
        assert!(a.options.is_none());
        assert!(a.context.request_kind.as_ref().unwrap().is("", "Pod"));
    }
}

#[test]
fn optional_members_may_be_missing() {
    let mut value = wire("v1");
    for key in [
        "oldObject",
        "options",
        "dryRun",
        "requestKind",
        "name",
        "userInfo",
        "namespace",
    ] {
        value["request"].as_object_mut().unwrap().remove(key);
    }
    assert!(decode(&value).is_ok());
}

#[test]
fn refuses_what_is_no_review_and_says_where() {
    let refused = |change: &dyn Fn(&mut Value), needle: &str| {
        let mut value = wire("v1");
        change(&mut value);
        let fault = decode(&value).expect_err(needle);
        assert!(fault.message.contains(needle), "{fault}");
        assert!(fault.line == 1 && fault.column >= 1);
    };
    refused(&|v| *v = json!([1]), "AdmissionReview");
    refused(&|v| v["kind"] = json!("Pod"), "AdmissionReview");
    refused(
        &|v| v["apiVersion"] = json!("admission.k8s.io/v2"),
        "v1beta1",
    );
    refused(&|v| v["request"] = json!(null), "request");
    refused(&|v| v["request"] = json!({}), "uid is missing");
    refused(&|v| v["request"]["uid"] = json!(null), "uid is missing");
    refused(&|v| v["request"]["uid"] = json!(7), "request.uid");
    refused(
        &|v| v["request"]["operation"] = json!("PATCH"),
        "CREATE, UPDATE, DELETE or CONNECT",
    );
    refused(
        &|v| v["request"]["operation"] = json!(null),
        "operation is missing",
    );
    refused(&|v| v["request"]["kind"] = json!("Pod"), "request.kind");
    refused(
        &|v| v["request"]["resource"] = json!(null),
        "resource is missing",
    );
    refused(
        &|v| v["request"]["userInfo"] = json!("alice"),
        "request.userInfo",
    );
    refused(&|v| v["request"]["dryRun"] = json!("yes"), "request.dryRun");
    refused(&|v| v["request"]["object"] = json!([]), "request.object");
}

#[test]
fn a_patch_leaves_only_where_it_may() {
    let answer = encode(&verdict(Decision::Allow), true);
    assert_eq!(answer["response"]["patchType"], "JSONPatch");
    let patch = STANDARD
        .decode(answer["response"]["patch"].as_str().unwrap())
        .unwrap();
    assert_eq!(patch, br#"[{"op":"remove","path":"/a"}]"#);
    let answer = encode(&verdict(Decision::Allow), false);
    assert_eq!(
        (
            answer["response"].get("patch"),
            answer["response"].get("patchType")
        ),
        (None, None)
    );
}

#[test]
fn a_refusal_has_code_reason_message_and_details() {
    let denial = Denial {
        retry_after_seconds: Some(3),
        ..Denial::too_many_requests("slow down")
    };
    let answer = encode(
        &Verdict {
            patch: vec![],
            ..verdict(Decision::Deny(denial))
        },
        true,
    );
    let response = &answer["response"];
    assert_eq!(
        (&response["uid"], &response["allowed"]),
        (&json!("u-1"), &json!(false))
    );
    assert_eq!(
        response["status"],
        json!({"status": "Failure", "code": 429, "reason": "TooManyRequests", "message": "slow down",
               "details": {"name": "web", "kind": "pods", "retryAfterSeconds": 3}})
    );
    assert_eq!(response["auditAnnotations"]["plugin"], "P");
    assert_eq!(
        response["auditAnnotations"]["decision-id"]
            .as_str()
            .unwrap()
            .len(),
        26
    );
}

#[test]
fn warnings_are_cut_and_kept_whole_for_the_auditor() {
    let long = "ü".repeat(130);
    let warned = Verdict {
        warnings: vec![long.clone(), "a\nb".into()],
        ..verdict(Decision::Allow)
    };
    let answer = encode(&warned, false);
    let warnings = answer["response"]["warnings"].as_array().unwrap();
    assert_eq!(warnings[0].as_str().unwrap().chars().count(), 120);
    assert!(warnings[0].as_str().unwrap().ends_with('…'));
    assert_eq!(warnings[1], "a b");
    assert_eq!(
        answer["response"]["auditAnnotations"]["warnings"],
        format!("{long}\na\nb")
    );
}

#[test]
fn a_warning_of_exactly_the_limit_stays_whole() {
    for text in ["w".repeat(120), "ü".repeat(120)] {
        assert_eq!(cut(&text), text);
    }
}

#[test]
fn hands_out_where_the_parts_of_the_body_are() {
    let body = wire("v1").to_string();
    let review = decode(&wire("v1")).unwrap();
    assert_eq!(review.index.end_of(0), Some(body.len()));
}

#[test]
fn an_object_that_should_be_there_must_be_there() {
    for (operation, is_needed) in [
        ("CREATE", true),
        ("UPDATE", true),
        ("DELETE", false),
        ("CONNECT", false),
    ] {
        for object in [None, Some(Value::Null)] {
            let mut review = wire("v1");
            review["request"]["operation"] = operation.into();
            match object {
                Some(object) => review["request"]["object"] = object,
                None => {
                    let request = review["request"].as_object_mut().unwrap();
                    request.remove("object");
                }
            }
            let outcome = decode(&review);
            assert_eq!(outcome.is_err(), is_needed, "{operation}: {outcome:?}");
            if let Err(fault) = outcome {
                assert!(
                    fault.to_string().contains("request.object is missing"),
                    "{fault}"
                );
            }
        }
    }
}

#[test]
fn members_in_another_case_are_refused_and_unknown_ones_are_not() {
    for known in MEMBERS {
        let upper = known.to_ascii_uppercase();
        for other in [
            upper.as_str(),
            &upper.replace('K', "\u{212a}").replace('S', "\u{17f}"),
        ] {
            let mut review = wire("v1");
            review["request"][other] = json!({"spec": {"hostPID": true}});
            let fault = decode(&review).unwrap_err().to_string();
            assert!(
                fault.contains(&format!("did you mean `{known}`?")),
                "{fault}"
            );
        }
        let mut review = wire("v1");
        review["request"][format!("{known}s")] = json!(1);
        decode(&review).unwrap();
    }
}
