//! The shape of the answers.

use serde_json::{Value, json};

use crate::tests::harness::Acjs;
use portcullis_testing::policies::{named, native};

/// The whole answer without what acjs does not have.
fn whole(server: &Acjs, name: &str) -> Value {
    let review = named(name);
    let answer = server.connect().post("/", &review.value()).unwrap();
    let mut answer = answer.json();
    let response = answer["response"].as_object_mut().unwrap();
    response.remove("auditAnnotations");
    answer
}

fn with(response: &Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

fn refused(message: &str, reason: &str) -> Value {
    let status = json!({"metadata": {}, "status": "Failure", "message": message, "reason": reason});
    with(&json!({"uid": "u1", "allowed": false, "status": status}))
}

#[test]
fn refusals() {
    let code = "if (req.name === 'no') return 'no <b>&</b>'; if (req.name === 'throw') throw 'a text'; if (req.name === 'code') deny('late', 'TooLate', 429); return true";
    let server = Acjs::of(&[("P", code)]);
    assert_eq!(
        whole(&server, "no"),
        refused("P: no <b>&</b>", "VIOLATES_POLICY")
    );
    assert_eq!(
        whole(&server, "throw"),
        refused("P: unable to evaluate policy:a text", "INTERNAL_ERROR")
    );
    let mut late = refused("P: late", "TooLate");
    late["response"]["status"]["code"] = json!(429);
    assert_eq!(whole(&server, "code"), late);
}

#[test]
fn allows() {
    let code = "if (req.name === 'change') object.x = 1; return true";
    let server = Acjs::of(&[("P", code)]);
    let status = json!({"metadata": {}, "status": "Success"});
    let plain = json!({"uid": "u1", "allowed": true, "status": status});
    assert_eq!(whole(&server, "plain"), with(&plain));
    let mut changed = plain;
    changed["patchType"] = "JSONPatch".into();
    changed["patch"] = whole(&server, "change")["response"]["patch"].clone();
    assert!(changed["patch"].is_string());
    assert_eq!(whole(&server, "change"), with(&changed));
}

#[test]
fn a_refusal_by_default_is_not_empty() {
    for config in [native(&[("P", "")]), native(&[])] {
        let server = Acjs::start(config);
        let answer = whole(&server, "any");
        let status = &answer["response"]["status"];
        assert_eq!(answer["response"]["allowed"], false);
        assert_eq!(status["status"], "Failure");
        for key in ["message", "reason"] {
            assert!(!status[key].as_str().unwrap().is_empty(), "{answer}");
        }
    }
}

#[test]
fn a_refusal_by_default_carries_no_code() {
    let server = Acjs::of(&[("P", "")]);
    let answer = whole(&server, "any");
    assert_eq!(answer["response"]["status"].get("code"), None, "{answer}");
}
