//! The page of a tenant: its forms as they come back, and what asks first.

use serde_json::{Value, json};

use crate::backend::{Problem, Verb};
use crate::reply::Reply;
use crate::testing::Fake;

fn fake() -> Fake {
    let state = json!({"trigger_queue_discarding": false, "trigger_queue_paused": false, "result_queue_paused": false,
        "reason": null, "set_by": null, "set_at": null, "expires_at": null});
    let counts = json!({"statuses": [{"status": "created", "count": 1, "at_least": false},
        {"status": "failed", "count": 4, "at_least": false}], "waiting": [], "oldest_queued_at": null});
    Fake::new()
        .with(
            "/api/tenant/shop/status",
            json!({"pipelines": [], "state": state}),
        )
        .with("/api/tenant/shop/autohold", json!([]))
        .with("/api/v1/jobs/summary?tenant=shop", counts)
}

/// The parts of a page with each form: state, enqueue, holds.
fn forms(html: &str) -> [&str; 3] {
    let (state, rest) = html.split_once("id=\"queue\"").unwrap();
    let (queue, holds) = rest.split_once("id=\"holds\"").unwrap();
    [state, queue, holds]
}

fn again(path: &str, form: &[(&str, &str)], api: &str) -> String {
    let wrong = Problem {
        status: 404,
        message: "no such `project`".to_owned(),
    };
    let fake = fake().answering(Verb::Post, api, Err(wrong));
    let Reply::Page { status, html } = fake.send(path, form) else {
        panic!("it was taken");
    };
    assert_eq!(status, 404, "{html}");
    html
}

#[test]
fn only_the_form_that_was_sent_is_opened_and_filled_in() {
    let sent = [
        ("project", "typo/x"),
        ("pipeline", "check"),
        ("ref", "main"),
        ("job", "unit"),
        ("reason", "why"),
    ];
    for (place, form, api) in [
        (1, "enqueue", "/api/tenant/shop/project/typo%2Fx/enqueue"),
        (2, "holds", "/api/tenant/shop/project/typo%2Fx/autohold"),
    ] {
        let html = again(&format!("/tenants/shop/{form}"), &sent, api);
        for (other, part) in forms(&html).into_iter().enumerate() {
            let is_it = other == place;
            assert_eq!(part.contains("<details open>"), is_it, "{form}: {part}");
            assert_eq!(part.contains("value=\"typo/x\""), is_it, "{form}: {part}");
            assert_eq!(
                part.contains("No such <code>project</code>."),
                is_it,
                "{form}: {part}"
            );
        }
    }
    let sent = [
        ("result_queue_paused", "true"),
        ("reason", "why"),
        ("minutes", "soon"),
    ];
    let Reply::Page { html, .. } = fake().send("/tenants/shop/state", &sent) else {
        panic!("it was taken");
    };
    let [state, queue, holds] = forms(&html);
    assert!(
        state.contains("<details open>") && state.contains("value=\"soon\""),
        "{state}"
    );
    assert!(
        state.contains("name=\"result_queue_paused\" value=\"true\" checked"),
        "{state}"
    );
    assert!(
        !queue.contains("<details open>") && !holds.contains("value=\"why\""),
        "{html}"
    );
}

#[test]
fn what_a_button_sends_in_vain_is_said_above_all() {
    let run = [
        ("project", "shop/web"),
        ("pipeline", "check"),
        ("change", "1,1"),
    ];
    let html = again("/tenants/shop/promote", &run, "/api/tenant/shop/promote");
    assert!(html.contains("No such <code>project</code>."), "{html}");
    assert!(
        !html.contains("<details open>") && !html.contains("value=\"1,1\""),
        "{html}"
    );
}

#[test]
fn counts_lead_to_the_jobs_of_the_tenant() {
    let html = fake().page_with("/tenants/shop", 200);
    assert!(
        html.contains("href=\"/jobs?tenant=shop&#38;status=created\">1</a>"),
        "{html}"
    );
    assert!(!html.contains("status=failed"), "{html}");
}

#[test]
fn discarding_pipelines_asks_first() {
    let fake = fake().answering(Verb::Post, "/api/tenant/shop/state", Ok(Value::Null));
    let sent = [
        ("csrf", "x"),
        ("trigger_queue_discarding", "true"),
        ("reason", "disk \"full\""),
    ];
    let Reply::Page { status, html } = fake.send("/tenants/shop/state", &sent) else {
        panic!("it did not ask");
    };
    assert_eq!(status, 200);
    assert!(fake.changes().is_empty());
    assert!(html.contains("Discard new pipelines of shop?"), "{html}");
    assert!(
        html.contains("name=\"reason\" value=\"disk &#34;full&#34;\""),
        "{html}"
    );
    assert_eq!(
        html.matches("name=\"csrf\"").count(),
        2,
        "one to sign out, one to go on"
    );
    let confirmed = [&sent[..], &[("confirmed", "true")]].concat();
    let to = fake.send("/tenants/shop/state", &confirmed);
    assert_eq!(to, Reply::SeeOther("/tenants/shop".to_owned()));
    assert_eq!(fake.changes()[0].2["trigger_queue_discarding"], json!(true));
}
