use serde_json::{Value, json};

use crate::backend::{Problem, Verb};
use crate::reply::Reply;
use crate::testing::Fake;

const CALL: &str = "/api/v1/replay";

fn fake() -> Fake {
    let items = json!([{"name": "pin", "mode": "warn"}, {"name": "a \"b\"", "mode": "enforce"}, {"name": "old", "mode": "dry-run"}]);
    Fake::new()
        .with_playground()
        .with("/api/v1/policies", json!({"items": items}))
        .with(
            "/api/v1/policies/pin",
            json!({"text": "return '</textarea>'"}),
        )
}

fn page(reply: Reply) -> (u16, String) {
    match reply {
        Reply::Page { status, html } => (status, html),
        Reply::SeeOther(to) => panic!("leads to {to}"),
    }
}

fn report(faults: &Value) -> Value {
    let example = json!({"id": "01K", "operation": "CREATE", "kind": "Pod", "namespace": "shop", "name": "web",
        "user": "eve", "was": {"message": ""}, "now": {"message": "no"}});
    let summary = json!({"same": 9, "newlyDenied": 2, "newlyAllowed": 0, "patchDiffers": 0, "unknown": 0, "failed": 0});
    json!({"looked_at": 11, "is_complete": true, "summary": summary, "faults": faults, "unknown": [],
        "changes": [{"change": "newlyDenied", "by": "new", "count": 2, "examples": [example]}]})
}

#[test]
fn it_is_for_those_who_may_try_policies() {
    let off = Fake::new().page_with("/replay", 404);
    assert!(off.contains("Playground"), "{off}");
    fake().refusing("playground").page_with("/replay", 403);
    let html = fake().page_with("/replay", 200);
    assert!(
        html.contains("name=\"plan:pin\"") && html.contains("dry-run"),
        "{html}"
    );
    assert!(html.contains("plan:a &#34;b&#34;"), "{html}");
    assert!(!html.contains("<textarea"), "{html}");
}

#[test]
fn a_policy_begins_with_its_source_in_force() {
    let html = fake().page_with("/replay?policy=pin", 200);
    assert!(
        html.contains("return &#39;&#60;/textarea&#62;&#39;"),
        "{html}"
    );
    assert!(html.contains("value=\"change\" selected"), "{html}");
    fake().page_with("/replay?policy=none", 404);
    let fake = fake();
    let (status, html) = page(fake.send("/replay", &[("plan:pin", "change"), ("do", "sources")]));
    assert_eq!(status, 200);
    assert!(
        html.contains("name=\"text:pin\"") && html.contains("Source of pin"),
        "{html}"
    );
    assert!(fake.changes().is_empty());
}

#[test]
fn a_policy_is_added_and_what_was_typed_stays() {
    let fake = fake();
    let typed = [
        ("plan:pin", "change"),
        ("text:pin", "return 'mine'"),
        ("mode:old", "enforce"),
        ("new-name:0", "first"),
        ("new-text:0", "return 1"),
        ("since", "7d"),
        ("do", "add"),
    ];
    let (_, html) = page(fake.send("/replay", &typed));
    assert!(html.contains("return &#39;mine&#39;"), "{html}");
    assert!(
        html.contains("value=\"first\"") && html.contains("name=\"new-name:1\""),
        "{html}"
    );
    assert!(html.contains("value=\"7d\" selected"), "{html}");
    assert!(fake.changes().is_empty());
}

#[test]
fn a_set_is_one_call_and_its_report_is_shown_with_it() {
    let fake = fake().answering(Verb::Post, CALL, Ok(report(&json!([]))));
    let sent = [
        ("plan:pin", "change"),
        ("text:pin", "return true\r\n"),
        ("mode:pin", "enforce"),
        ("plan:a \"b\"", "keep"),
        ("plan:old", "remove"),
        ("mode:old", "warn"),
        ("new-name:0", " new "),
        ("new-language:0", "ts"),
        ("new-text:0", "return 'no'"),
        ("new-name:1", ""),
        ("new-text:1", " "),
        ("since", "1h"),
        ("do", "replay"),
    ];
    let (status, html) = page(fake.send("/replay", &sent));
    assert_eq!(status, 200);
    let (_, _, body) = fake.changes().remove(0);
    assert_eq!(
        body,
        json!({"policies": [
                {"name": "pin", "text": "return true\n", "mode": "enforce"},
                {"name": "new", "language": "ts", "text": "return 'no'"}],
            "remove": ["old"], "since": "1h"})
    );
    for part in [
        "11 decisions",
        "2 would now be denied by new",
        "href=\"/decisions/01K\"",
        "value=\"remove\" selected",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn another_mode_alone_is_a_change() {
    let fake = fake().answering(Verb::Post, CALL, Ok(report(&json!([]))));
    page(fake.send("/replay", &[("mode:pin", "enforce"), ("do", "replay")]));
    let (_, _, body) = fake.changes().remove(0);
    assert_eq!(
        body["policies"],
        json!([{"name": "pin", "mode": "enforce"}])
    );
}

#[test]
fn faults_name_their_policy_and_a_rejected_set_is_shown_again() {
    let fault = json!({"field": "policy", "source": "new", "message": "unexpected token", "line": 1, "column": 2});
    let fault = fake().answering(Verb::Post, CALL, Ok(report(&json!([fault]))));
    let (_, html) = page(fault.send("/replay", &[("new-text:0", "("), ("do", "replay")]));
    assert!(
        html.contains("<code>new</code>: Line 1, column 2: Unexpected token."),
        "{html}"
    );
    let problem = Problem {
        status: 422,
        message: "policies[0].name: expected 1 to 256 bytes".to_owned(),
    };
    let rejected = fake().answering(Verb::Post, CALL, Err(problem));
    let (status, html) =
        page(rejected.send("/replay", &[("new-text:0", "return 1"), ("do", "replay")]));
    assert_eq!(status, 422);
    assert!(
        html.contains("expected 1 to 256 bytes") && html.contains("return 1"),
        "{html}"
    );
}
