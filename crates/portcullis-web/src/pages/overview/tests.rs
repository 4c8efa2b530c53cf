//! The first page with everything, with nothing, and for those who may see little.

use serde_json::{Value, json};

use crate::testing::Fake;

fn bucket(start: &str, allowed: u64, denied: u64) -> Value {
    let took = |value: u64| (allowed + denied > 0).then_some(value);
    json!({"start": start, "allowed": allowed, "denied": denied, "mutated": 0, "p50_us": took(120), "p99_us": took(4300),
        "at_least": false})
}

fn counts(buckets: &[Value], at_least: bool) -> Value {
    let sum = |name: &str| {
        buckets
            .iter()
            .filter_map(|one| one[name].as_u64())
            .sum::<u64>()
    };
    let named = json!([{"name": "<b>pin</b>", "allowed": 0, "denied": 2}]);
    json!({"since": "2026-11-17T12:00:00.000Z", "until": "2026-11-17T14:00:00.000Z", "bucket_seconds": 3600, "buckets": buckets,
        "totals": {"allowed": sum("allowed"), "denied": sum("denied"), "at_least": at_least, "sampled": at_least,
            "by_door": [], "by_policy": named, "by_user": []}})
}

const COUNTS: &str = "/api/v1/decisions/summary?since=24h&buckets=48";
const DENIED: &str = "/api/v1/decisions?verdict=deny&since=24h&limit=5";

fn denial() -> Value {
    json!({"id": "01JD8Q3V5W0000000000000000", "time": "2026-11-17T13:10:00.000Z", "door": "kubernetes", "operation": "CREATE",
        "kind": "Pod", "namespace": "a", "name": "b", "user": "bob", "verdict": "deny", "mutated": false, "message": "no",
        "plugin": null, "policy": null, "digest": null, "duration_us": 5})
}

fn status(is_demonstration: bool) -> Value {
    json!({"is_demonstration": is_demonstration, "checks": [{"state": "ok"}, {"state": "warning"}],
        "listeners": [{"name": "front", "is_development": false, "certificate_days_left": 12},
            {"name": "dev", "is_development": true, "certificate_days_left": 1}],
        "last_reload": {"at": "2026-11-17T13:00:00.000Z", "successful": false}})
}

fn jobs() -> Value {
    json!({"statuses": [{"status": "preparing", "count": 2, "at_least": false}],
        "waiting": [{"from_seconds": 0, "to_seconds": null, "count": 0}], "oldest_queued_at": null})
}

fn busy(at_least: bool) -> Fake {
    let buckets = [
        bucket("2026-11-17T12:00:00.000Z", 0, 0),
        bucket("2026-11-17T13:00:00.000Z", 30, 7),
    ];
    Fake::new()
        .with("/api/tenants", json!([{"name": "a b"}]))
        .with(COUNTS, counts(&buckets, at_least))
        .with(DENIED, json!({"items": [denial()], "next": null}))
}

#[test]
fn numbers_lead_to_the_decisions_they_count() {
    let html = busy(false).page_with("/", 200);
    for part in [
        "<span class=\"count\">7</span> denied in 24 hours",
        "href=\"/decisions?verdict=deny&#38;since=24h\"",
        // The part with decisions, to its end; the other one is left out of the table.
        "since=2026-11-17T13%3A00%3A00.000Z&#38;until=2026-11-17T14%3A00%3A00.000Z&#38;verdict=deny\">7</a>",
        "/decisions/01JD8Q3V5W0000000000000000",
        "policy=%3Cb%3Epin%3C%2Fb%3E&#38;since=24h&#38;verdict=deny\">",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(
        !html.contains("until=2026-11-17T13%3A00%3A00.000Z"),
        "{html}"
    );
    assert!(!html.contains("<b>pin"), "{html}");
}

#[test]
fn plots_have_a_title_and_the_same_in_words() {
    let html = busy(false).page_with("/", 200);
    for part in [
        "role=\"img\" aria-labelledby=\"decided-title decided-words\"",
        "<title id=\"decided-title\">Decisions over time</title>",
        "30 allowed and 7 denied from 2026-11-17 12:00:00 UTC to 2026-11-17 14:00:00 UTC. The most in one part: 37 at 2026-11-17 13:00:00 UTC.",
        "Highest p50 120 µs, highest p99 4.3 ms",
        ">13:00</text>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("style="), "{html}");
}

#[test]
fn what_was_not_counted_is_said() {
    let html = busy(true).page_with("/", 200);
    assert!(html.contains("<span class=\"count\">7+</span>"), "{html}");
    assert!(
        html.contains("There are more decisions than were counted"),
        "{html}"
    );
    assert!(
        !busy(false)
            .page_with("/", 200)
            .contains("more decisions than")
    );
}

#[test]
fn no_decisions_are_no_plot() {
    let none = counts(&[bucket("2026-11-17T12:00:00.000Z", 0, 0)], false);
    let fake = Fake::new()
        .with("/api/tenants", json!([]))
        .with(COUNTS, none);
    let html = fake.page_with("/", 200);
    assert!(
        html.contains("No decisions were made in the last 24 hours."),
        "{html}"
    );
    assert!(!html.contains("<svg class=\"plot\""), "{html}");
}

#[test]
fn the_server_and_its_policies_are_summed_up() {
    let policies =
        json!({"items": [{"name": "a/b", "evaluations": {"error": 3, "pass": 9}}, {"name": "c"}]});
    let fake = busy(false)
        .with("/api/v1/policies", policies)
        .with("/api/v1/jobs/summary", jobs())
        .with("/api/v1/status", status(false));
    let html = fake.page_with("/", 200);
    for part in [
        "href=\"/policies/a%2Fb\"><span class=\"count\">3</span> errors of a/b",
        "<span class=\"count\">1</span> policies with errors",
        "<span class=\"count\">1</span> checks failed or with a warning",
        "<span class=\"count\">12 days</span> until the certificate of front expires",
        "<span class=\"count\">failed</span> last reload, 2026-11-17 13:00:00 UTC",
        "2 jobs wait for admission.",
        "href=\"/jobs?status=preparing\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("What to try next"), "{html}");
}

#[test]
fn a_demonstration_says_what_to_try() {
    let fake = busy(false)
        .with("/api/v1/jobs/summary", jobs())
        .with("/api/v1/status", status(true));
    let html = fake.page_with("/", 200);
    let (_, after) = html.split_once("What to try next").unwrap();
    let (steps, _) = after.split_once("id=\"decisions\"").unwrap();
    for path in [
        "/decisions/01JD8Q3V5W0000000000000000",
        "/jobs?status=preparing",
        "/playground",
    ] {
        assert!(
            steps.contains(&format!("href=\"{path}\"")),
            "{path}: {steps}"
        );
    }
}

#[test]
fn who_may_read_nothing_sees_no_numbers() {
    let fake = busy(false).refusing("read-decisions").refusing("read");
    let html = fake.page_with("/", 200);
    assert!(!html.contains("denied in 24 hours"), "{html}");
    assert!(!html.contains("/tenants/a%20b"), "{html}");
}

#[test]
fn the_page_is_there_for_those_whom_the_api_tells_nothing() {
    let fake = busy(false)
        .refusing("read-decisions")
        .failing("/api/v1/status", 404, "no such path")
        .failing("/api/v1/jobs/summary", 403, "no role");
    let html = fake.page_with("/", 200);
    assert!(html.contains("/tenants/a%20b"), "{html}");
    assert!(!html.contains("wait for admission"), "{html}");
}
