//! `portcullis tenant` against a small server.

use serde_json::{Value, json};

use crate::harness::{Ran, Rest, RestAnswer, RestCall, run};

#[track_caller]
fn tenant(server: &Rest, arguments: &[&str]) -> Ran {
    let access = ["--server", &server.url, "--token", "geheim"];
    run(&[&["tenant"], arguments, &access].concat())
}

/// Answers with what was set.
fn obedient(call: &RestCall) -> RestAnswer {
    let mut state = json!({
        "trigger_queue_paused": false, "trigger_queue_discarding": false,
        "result_queue_paused": false, "reason": null, "set_by": "root", "set_at": 60,
        "expires_at": null,
    });
    for (key, value) in call.body.iter().flat_map(|body| body.as_object().unwrap()) {
        if key != "expires_in" {
            state[key] = value.clone();
        }
    }
    let answer = match call.line.as_str() {
        "GET /api/tenant/t1/status" => json!({"pipelines": [], "state": state}),
        "POST /api/tenant/t1/state" => state,
        _ => return (404, "{}".to_owned()),
    };
    (200, answer.to_string())
}

#[test]
fn tenants_are_listed() {
    let all = json!([{"name": "t1", "projects": 3, "queue": 0}, {"name": "two", "projects": 0, "queue": 0}]);
    let server = Rest::always(200, &all);
    let ran = tenant(&server, &["list"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        ran.out,
        "NAME  PROJECTS  QUEUE\nt1    3         0\ntwo   0         0\n"
    );
    assert_eq!(server.call().line, "GET /api/tenants");
    let ran = tenant(&server, &["list", "-o", "yaml"]);
    assert!(ran.out.starts_with("- name: t1\n"), "{}", ran.out);
    let none = tenant(&Rest::always(200, &json!([])), &["list"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
}

#[test]
fn a_state_is_shown() {
    let server = Rest::new(obedient);
    for verb in ["show", "state"] {
        let ran = tenant(&server, &[verb, "t1"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.contains("new pipelines  normal\n"), "{}", ran.out);
        let ran = tenant(&server, &[verb, "t1", "-o", "json"]);
        let value: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(value["set_by"], "root");
    }
    assert_eq!(tenant(&server, &["show", "nowhere"]).code, Some(6));
    let odd = Rest::always(200, &json!({}));
    assert_eq!(tenant(&odd, &["show", "t1"]).code, Some(5));
}

#[test]
fn a_tenant_is_paused_and_goes_on() {
    let server = Rest::new(obedient);
    let ran = tenant(&server, &["pause", "t1", "--reason", "fire", "--for", "2h"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("new pipelines  paused\n"), "{}", ran.out);
    assert!(ran.out.contains("reason         fire\n"), "{}", ran.out);
    let ran = tenant(&server, &["pause", "t1", "--discard", "--results"]);
    assert!(
        ran.out.contains("new pipelines  discarded\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("results        paused\n"), "{}", ran.out);
    let ran = tenant(&server, &["resume", "t1"]);
    assert!(ran.out.contains("results        normal\n"), "{}", ran.out);
    let bodies: Vec<Value> = server.calls().into_iter().filter_map(|c| c.body).collect();
    assert_eq!(
        bodies,
        [
            json!({
                "trigger_queue_paused": true, "trigger_queue_discarding": false,
                "reason": "fire", "expires_in": 7200,
            }),
            json!({"trigger_queue_discarding": true, "result_queue_paused": true}),
            json!({
                "trigger_queue_paused": false, "trigger_queue_discarding": false,
                "result_queue_paused": false, "reason": null,
            }),
        ]
    );
    let both = tenant(&server, &["pause", "t1", "--triggers", "--discard"]);
    assert_eq!(both.code, Some(2));
}
