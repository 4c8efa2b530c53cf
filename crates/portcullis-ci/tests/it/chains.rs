//! Several controllers, one after the other.

use portcullis_jobs::{FailureReason, JobStatus};
use portcullis_testing::Reply;
use serde_json::{Value, json};

use crate::bench::{Bench, id_of, words};

/// Controllers of the project, its group and the instance, each with a path of its own.
async fn three(bench: &Bench) {
    let url = bench.hook.url();
    for keys in [
        json!({"name": "I", "level": "instance", "url": format!("{url}/i")}),
        json!({"name": "G", "level": "group", "path": "g", "url": format!("{url}/g")}),
        json!({"name": "P", "level": "project", "path": "g/p", "url": format!("{url}/p")}),
    ] {
        bench.controller(keys).await;
    }
}

/// Answers by the path that is asked.
fn by_path(bench: &Bench, verdicts: Value) {
    bench.hook.answer(move |request| {
        let mut verdict = json!({"id": id_of(request), "admission": "accepted"});
        let keys = verdicts[request.target()].as_object().cloned();
        for (key, value) in keys.unwrap_or_default() {
            verdict[key] = value;
        }
        Reply::json(&json!([verdict]))
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_controller_sees_what_those_before_it_changed() {
    // Cases 41 and 46.
    let bench = Bench::new().await;
    three(&bench).await;
    by_path(
        &bench,
        json!({
            "/p": {"reason": "one", "tags": {"add": ["a"]}},
            "/g": {"reason": "two", "tags": {"add": ["b"]}},
            "/i": {"reason": "three", "tags": {"add": ["c"]}},
        }),
    );
    let submitted = bench.submit(json!({})).await;
    let job = bench.settled(submitted.id).await;
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(job.tags, words("linux a b c"));
    let reason = job.admission.unwrap().reason.unwrap();
    assert_eq!(reason, "P: one; G: two; I: three");
    let asked: Vec<String> = bench
        .hook
        .requests()
        .iter()
        .map(|r| r.target().to_owned())
        .collect();
    assert_eq!(asked, ["/p", "/g", "/i"]);
    let entries = bench.entries();
    let tags: Vec<&Value> = entries.iter().map(|entry| &entry["tags"]).collect();
    assert_eq!(
        tags,
        [
            &json!(["linux"]),
            &json!(["linux", "a"]),
            &json!(["linux", "a", "b"])
        ]
    );
    assert_eq!(
        entries[0]["deadline"], entries[2]["deadline"],
        "one deadline for all"
    );
    let finished = &bench.finished(1).await[0];
    assert_eq!(finished.object["tags"], json!(["linux"]));
    assert_eq!(
        finished.changed_object["tags"],
        json!(["linux", "a", "b", "c"])
    );
    assert_eq!(finished.decisions.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_denial_ends_the_chain() {
    // Case 42.
    let bench = Bench::new().await;
    three(&bench).await;
    by_path(
        &bench,
        json!({
            "/p": {"reason": "fine"},
            "/g": {"admission": "denied", "reason": "not here"},
        }),
    );
    let submitted = bench.submit(json!({})).await;
    let job = bench.settled(submitted.id).await;
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionDenied));
    assert_eq!(
        job.admission.unwrap().reason.unwrap(),
        "P: fine; G: not here"
    );
    assert_eq!(bench.hook.count("/i"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_runners_intersect_and_rejected_ones_unite() {
    // Cases 43 to 45.
    let bench = Bench::new().await;
    bench.runners().await;
    three(&bench).await;
    by_path(
        &bench,
        json!({
            "/p": {"runners": {"accepted_ids": ["1", "2"]}},
            "/i": {"runners": {"accepted_ids": ["2", "3"]}},
        }),
    );
    let submitted = bench.submit(json!({})).await;
    assert_eq!(bench.settled(submitted.id).await.eligible_runners, [2]);
    by_path(
        &bench,
        json!({
            "/p": {"runners": {"rejected_ids": ["1"]}},
            "/g": {"runners": {"rejected_ids": ["2"]}},
        }),
    );
    let submitted = bench.submit(json!({})).await;
    assert_eq!(bench.settled(submitted.id).await.eligible_runners, [3]);
    let reasons = bench.service.runners_of_job(submitted.id).await.unwrap();
    let rejected = reasons.iter().find(|one| one.id == 1).unwrap();
    assert!(!rejected.eligible && !rejected.reasons.is_empty());
    let changes = bench.service.runner_changes_of_job(submitted.id).await;
    let changes = changes.unwrap();
    assert!(
        changes[0].before.contains(&1) && !changes[0].after.contains(&1),
        "{changes:?}"
    );
    assert_eq!(changes[1].before, changes[0].after);
    assert_eq!(changes.last().unwrap().after, [3]);
    let bench = Bench::new().await;
    let url = bench.hook.url();
    for (name, path) in [("outer", "g"), ("inner", "g/h")] {
        let url = format!("{url}/{name}");
        let keys = json!({"name": name, "level": "group", "path": path, "url": url});
        bench.controller(keys).await;
    }
    let submitted = bench.submit(json!({"project": "g/h/p"})).await;
    bench.settled(submitted.id).await;
    let asked: Vec<String> = bench
        .hook
        .requests()
        .iter()
        .map(|r| r.target().to_owned())
        .collect();
    assert_eq!(asked, ["/inner", "/outer"]);
}
