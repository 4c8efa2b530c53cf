//! The page of the playground.

use serde_json::{Value, json};

use crate::backend::{Problem, Verb};
use crate::reply::Reply;
use crate::testing::Fake;

fn verdict(more: &Value) -> Value {
    let mut verdict = json!({"allowed": false, "outcome": "deny", "message": "no <web>", "line": 2, "limit": null,
        "warnings": ["old"], "patch": [{"op": "add", "path": "/metadata/labels", "value": 1}], "object": {"kind": "Pod"},
        "console": [{"level": "log", "line": 1, "text": "<i>seen</i>"}],
        "coverage": {"covered": [1, 2, 3, 7], "missed": [5]}, "duration_us": 120, "faults": []});
    for (key, value) in more.as_object().unwrap() {
        verdict[key] = value.clone();
    }
    verdict
}

fn playground(answer: Result<Value, Problem>) -> Fake {
    Fake::new()
        .with_playground()
        .answering(Verb::Post, "/api/v1/playground", answer)
}

fn sent(fake: &Fake, form: &[(&str, &str)]) -> (u16, String) {
    match fake.send("/playground", form) {
        Reply::Page { status, html } => (status, html),
        Reply::SeeOther(to) => panic!("leads to {to}"),
    }
}

#[test]
fn it_says_that_it_is_off_and_how_to_turn_it_on() {
    let html = Fake::new().page_with("/playground", 404);
    assert!(html.contains("playground is off"), "{html}");
    assert!(html.contains("web: {playground: true}"), "{html}");
    assert!(!html.contains("href=\"/playground\""), "{html}");
}

#[test]
fn it_is_for_those_with_the_permission() {
    let fake = Fake::new().with_playground().refusing("playground");
    let html = fake.page_with("/playground", 403);
    assert!(!html.contains("href=\"/playground\""), "{html}");
}

#[test]
fn it_starts_with_an_example_that_scripts_can_take_over() {
    let html = Fake::new().with_playground().page_with("/playground", 200);
    for part in [
        "<form id=\"playground\"",
        "action=\"/playground\"",
        "name=\"policy\" id=\"policy\" data-editor=\"javascript\"",
        "name=\"object\" id=\"object\" data-editor=\"yaml\"",
        "name=\"user\"",
        "name=\"groups\"",
        "<select name=\"operation\"",
        "name=\"namespace\"",
        "value=\"token-of-the-session\"",
        "data-share",
        "kind: Pod",
        "href=\"/playground\" aria-current=\"page\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn a_policy_of_the_configuration_can_be_opened() {
    let policy = json!({"place": "policies/a.ts", "text": "return '</textarea>'", "match": {"doors": ["ci"]}});
    let fake = Fake::new()
        .with_playground()
        .with("/api/v1/policies/a%20b", policy);
    let html = fake.page_with("/playground?policy=a+b", 200);
    assert!(
        html.contains("return &#39;&#60;/textarea&#62;&#39;"),
        "{html}"
    );
    assert!(html.contains("value=\"ts\" selected"), "{html}");
    assert!(html.contains("kind: Job"), "{html}");
}

#[test]
fn what_was_typed_is_kept_and_the_result_is_shown() {
    let fake = playground(Ok(verdict(&json!({}))));
    let form = [
        ("policy", "a\r\nb\r\n"),
        ("object", "kind: Pod"),
        ("groups", "x, y,"),
        ("user", "eve"),
        ("operation", "UPDATE"),
        ("language", "js"),
        ("mode", ""),
    ];
    let (status, html) = sent(&fake, &form);
    assert_eq!(status, 200);
    let (_, _, asked) = fake.changes().remove(0);
    assert_eq!(
        asked,
        json!({"policy": "a\nb\n", "object": "kind: Pod", "groups": ["x", "y"], "user": "eve", "operation": "UPDATE",
            "language": "js"})
    );
    for part in [
        "<section id=\"result\"",
        "denied",
        "no &#60;web&#62;",
        "/metadata/labels",
        "&#60;i&#62;seen&#60;/i&#62;",
        "data-covered=\"1-3,7\"",
        "data-missed=\"5\"",
        "value=\"eve\"",
        "value=\"UPDATE\" selected",
        "line 2",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn faults_name_their_places() {
    let faults = json!([{"field": "policy", "message": "unexpected token", "line": 3, "column": 5},
        {"field": "object", "message": "there is no object", "line": null, "column": null}]);
    let fake = playground(Ok(verdict(
        &json!({"outcome": "invalid", "faults": faults}),
    )));
    let (status, html) = sent(&fake, &[("policy", "x")]);
    assert_eq!(status, 200);
    assert!(html.contains("line 3, column 5"), "{html}");
    assert!(html.contains("Unexpected token."), "{html}");
    assert!(!html.contains("denied"), "{html}");
}

#[test]
fn when_it_is_busy_nothing_is_lost() {
    let busy = Problem {
        status: 429,
        message: "too many policies are being tried".to_owned(),
    };
    let (status, html) = sent(&playground(Err(busy)), &[("policy", "return 42")]);
    assert_eq!(status, 429);
    assert!(
        html.contains("Too many policies") && html.contains("return 42"),
        "{html}"
    );
}
