use serde_json::{Value, json};

use super::*;
use crate::pages::eligibility::tests::answer;
use crate::testing::Fake;

const CHANGES: &str = "/api/v1/jobs/7/runners/changes";
const AT: &str = "2026-11-18T12:30:05.000Z";

fn decision(verdict: &str, dry_run: bool) -> Value {
    json!({
        "controller": "budget", "level": "project", "attempt": 1, "verdict": verdict, "dry_run": dry_run,
        "reason": "no <script>deployments</script>", "tags": {"add": ["zone"], "remove": ["linux"]},
        "tags_before": ["linux"], "tags_after": if dry_run { ["linux"] } else { ["zone"] },
        "runners": {"accepted_ids": ["5"], "rejected_ids": []}, "latency_ms": 12, "at": AT,
    })
}

/// A job, changed in these keys.
fn job(changes: &Value) -> Value {
    let mut job = json!({
        "id": 7, "project": "shop/web", "name": "deploy", "pipeline": 3, "stage": "ship", "ref": "main",
        "ref_protected": true, "source": "push", "user": {"id": 1, "username": "alice"},
        "status": "preparing", "failure_reason": null, "allowed_to_fail": false, "tags": ["linux"],
        "original_tags": ["linux"], "attempt": 1, "created_at": AT, "queued_at": null,
        "started_at": null, "finished_at": null, "runner_id": null,
        "prerequisites": {"overall": "waiting", "items": [{
            "name": "admission", "state": "waiting", "since": AT, "by": "budget",
            "deadline": "2026-11-18T13:30:05.000Z", "detail": null,
        }]},
        "admission": {"state": "waiting", "reason": null, "decisions": []},
        "eligible_runners": [], "stuck_reason": null,
    });
    let changes = changes.as_object().unwrap().clone();
    job.as_object_mut().unwrap().extend(changes);
    job
}

fn fake(changes: &Value) -> Fake {
    let controller = json!({
        "id": 3, "name": "budget", "level": "project", "path": "shop/web", "kind": "both",
        "state": "enabled", "created_at": AT, "revision": 1,
    });
    let empty = json!({"items": [], "next": null});
    Fake::new()
        .with("/api/v1/jobs/7", job(changes))
        .with("/api/v1/jobs/7/runners", answer())
        .with(CHANGES, json!([]))
        .with(
            "/api/v1/jobs/7/trace?tail=65536",
            Value::from("compiling <main>\n"),
        )
        .with(
            "/api/v1/controllers?limit=500",
            json!({"items": [controller], "next": null}),
        )
        .with("/api/v1/deliveries?job=7", empty)
}

#[test]
fn a_job_that_waits_says_for_whom_and_until_when() {
    let (status, html) = fake(&json!({})).page("/jobs/7");
    assert_eq!(status, 200, "{html}");
    assert!(html.contains("Waiting for admission by budget."), "{html}");
    assert!(html.contains("2026-11-18 13:30:05 UTC"));
    assert!(
        html.contains(r#"<a href="/controllers/3">budget</a>"#),
        "{html}"
    );
    assert!(html.contains(r#"<a href="/pipelines/3">"#));
    let current = html.split("aria-current=\"step\">").nth(1).unwrap();
    assert!(
        current.starts_with("<span class=\"step\">preparing"),
        "{html}"
    );
}

#[test]
fn a_denial_says_who_denied_and_why() {
    let denied = json!({
        "status": "failed", "failure_reason": "admission_denied", "finished_at": AT,
        "admission": {"state": "denied", "reason": "no deployments", "decisions": [decision("denied", false)]},
    });
    let (_, html) = fake(&denied).page("/jobs/7");
    assert!(
        html.contains("Denied in admission: no deployments."),
        "{html}"
    );
    assert!(html.contains("&#60;script&#62;deployments"), "{html}");
    assert!(!html.contains("<script>"));
    assert!(html.contains("before") && html.contains("after"), "{html}");
    assert!(html.contains(r#"only <a href="/runners/5">"#), "{html}");
    assert!(html.contains("not reached"), "{html}");
}

#[test]
fn a_dry_run_says_what_it_would_have_changed() {
    let admission =
        json!({"state": "waiting", "reason": null, "decisions": [decision("denied", true)]});
    let (_, html) = fake(&json!({"admission": admission})).page("/jobs/7");
    assert!(html.contains("dry run: it does not count"), "{html}");
    assert!(
        html.contains("would add") && html.contains("would drop"),
        "{html}"
    );
}

#[test]
fn runners_before_and_after_a_decision_are_named_and_many_are_counted() {
    let shown = |dry_run: bool, before: Vec<u64>, after: Vec<u64>| {
        let one = decision("accepted", dry_run);
        let admission = json!({"state": "accepted", "reason": null, "decisions": [one]});
        let change = json!([{"dry_run": dry_run, "before": before, "after": after}]);
        let changed = Fake::new().with(CHANGES, change);
        changed
            .and(fake(&json!({"admission": admission})))
            .page("/jobs/7")
            .1
    };
    let html = shown(false, (1..=14).collect(), vec![5]);
    assert!(
        html.contains(r#"<a href="/runners/10">#10</a> and 4 more"#),
        "{html}"
    );
    assert!(!html.contains(r#"href="/runners/11""#), "{html}");
    assert!(
        html.contains(r#"after</span> <a href="/runners/5">"#),
        "{html}"
    );
    let html = shown(true, vec![5], vec![]);
    assert!(html.contains("after, if it counted</span> none"), "{html}");
    let html = shown(false, vec![5], vec![5]);
    assert!(!html.contains("Before and after"), "{html}");
}

#[test]
fn runners_that_may_take_it_come_first_and_others_say_why_not() {
    let (_, html) =
        fake(&json!({"status": "pending", "stuck_reason": "no runner"})).page("/jobs/7");
    assert!(html.contains("Stuck: no runner."), "{html}");
    let place = |text: &str| {
        html.find(text)
            .unwrap_or_else(|| panic!("no {text}: {html}"))
    };
    assert!(place("/runners/5") < place("/runners/6"));
    assert!(
        html.contains("It lacks the tag <code>linux</code>."),
        "{html}"
    );
}

#[test]
fn output_is_text_and_only_the_end_of_a_long_one_is_shown() {
    let (_, html) = fake(&json!({})).page("/jobs/7");
    assert!(html.contains("compiling &#60;main&#62;"), "{html}");
    assert!(!html.contains("64 KiB"));
    let long = format!("half a line\n{}", "x".repeat(64 << 10));
    let long = Fake::new().with("/api/v1/jobs/7/trace?tail=65536", Value::from(long));
    let trace = crate::testing::ready(trace::read(&long, 7)).unwrap();
    assert!(trace.is_cut && trace.text.starts_with('x'));
}

#[test]
fn actions_that_are_not_possible_say_why() {
    let (_, html) = fake(&json!({})).page("/jobs/7");
    assert!(
        html.contains(r#"method="get" action="/jobs/7/cancel">"#),
        "{html}"
    );
    assert!(html.contains("the job has not finished"), "{html}");
    assert!(!html.contains("/jobs/7/retry"), "{html}");
    let (_, html) = fake(&json!({"status": "canceled"})).page("/jobs/7");
    assert!(
        html.contains("the job has finished") && !html.contains("/jobs/7/cancel"),
        "{html}"
    );
    assert!(html.contains(r#"action="/jobs/7/retry""#), "{html}");
    assert!(html.contains(r#"name="csrf" value="token-of-the-session""#));
    let (_, html) = fake(&json!({})).refusing("cancel-job").page("/jobs/7");
    assert!(
        html.contains("none of your roles here permits `cancel-job`"),
        "{html}"
    );
    assert!(!html.contains("/jobs/7/cancel"), "{html}");
}

#[test]
fn canceling_asks_first_and_a_conflict_is_explained() {
    let fake = fake(&json!({})).answering(Verb::Post, "/api/v1/jobs/7/cancel", Ok(Value::Null));
    let (status, html) = fake.page("/jobs/7/cancel");
    assert_eq!(status, 200);
    assert!(
        html.contains(r#"<form method="post" action="/jobs/7/cancel">"#),
        "{html}"
    );
    assert!(fake.changes().is_empty());
    let to = fake.send("/jobs/7/cancel", &[]);
    assert_eq!(to, Reply::SeeOther("/jobs/7".to_owned()));
    let conflict = Problem {
        status: 409,
        message: "the job has not finished".to_owned(),
    };
    let fake = fake.answering(Verb::Post, "/api/v1/jobs/7/retry", Err(conflict));
    let Reply::Page { status, html } = fake.send("/jobs/7/retry", &[]) else {
        panic!("a live job was retried");
    };
    assert_eq!(status, 409);
    assert!(html.contains("The job has not finished."), "{html}");
}
