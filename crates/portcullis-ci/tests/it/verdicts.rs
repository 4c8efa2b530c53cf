//! Verdicts that come as the answer to a webhook.

use portcullis_jobs::{AdmissionState, DecisionVerdict, FailureReason, JobStatus};
use serde_json::{Value, json};

use crate::bench::{Bench, accepts, answers, id_of, status, words};
use portcullis_testing::Reply;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_without_controllers_is_queued_at_once() {
    // Cases 1, 48 and 50.
    let bench = Bench::new().await;
    bench.runners().await;
    let disabled = json!({"name": "off", "state": "disabled"});
    bench.controller(disabled).await;
    let elsewhere = json!({"name": "other", "level": "project", "path": "g/other"});
    bench.controller(elsewhere).await;
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(job.eligible_runners, [1, 2, 3]);
    assert_eq!(job.admission, None);
    assert_eq!(job.stuck_reason, None);
    let stuck = bench.submit(json!({"tags": ["secure"]})).await;
    assert_eq!(stuck.status, JobStatus::Pending);
    assert_eq!(stuck.eligible_runners, [0; 0]);
    assert!(stuck.stuck_reason.is_some());
    let protected = json!({"tags": ["secure"], "ref_protected": true});
    assert_eq!(bench.submit(protected).await.eligible_runners, [4]);
    assert_eq!(bench.hook.requests().len(), 0);
    assert_eq!(bench.memory.finished().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acceptances_change_tags_and_runners() {
    let bench = Bench::new().await;
    bench.runners().await;
    bench.controller(json!({"may_untag": true})).await;
    for (case, tags, keys, after, eligible) in [
        (2, "linux", json!({"reason": "ok"}), "linux", &[1, 2, 3][..]),
        (
            6,
            "linux",
            json!({"tags": {"add": ["us-west"]}}),
            "linux us-west",
            &[2],
        ),
        (
            7,
            "linux docker",
            json!({"tags": {"remove": ["linux"]}}),
            "docker",
            &[1],
        ),
        (
            8,
            "linux",
            json!({"tags": {"add": ["linux"]}}),
            "linux",
            &[1, 2, 3],
        ),
        (
            9,
            "linux",
            json!({"tags": {"add": ["linux"], "remove": ["linux"]}}),
            "linux",
            &[1, 2, 3],
        ),
        (
            11,
            "linux",
            json!({"tags": {"remove": ["linux"]}}),
            "",
            &[2, 5],
        ),
        (
            12,
            "linux",
            json!({"runners": {"accepted_ids": ["2"]}}),
            "linux",
            &[2],
        ),
        (
            18,
            "linux",
            json!({"runners": {"accepted_ids": [2]}}),
            "linux",
            &[2],
        ),
        (
            13,
            "linux",
            json!({"runners": {"rejected_ids": ["1"]}}),
            "linux",
            &[2, 3],
        ),
        (
            14,
            "linux",
            json!({"runners": {"accepted_ids": ["1", "2"], "rejected_ids": ["2"]}}),
            "linux",
            &[1],
        ),
        (
            15,
            "linux",
            json!({"runners": {"accepted_ids": [], "rejected_ids": []}}),
            "linux",
            &[1, 2, 3],
        ),
    ] {
        bench.hook.answer(answers(keys.clone()));
        let submitted = bench.submit(json!({"tags": words(tags)})).await;
        let job = bench.settled(submitted.id).await;
        assert_eq!(job.status, JobStatus::Pending, "case {case}");
        assert_eq!(job.tags, words(after), "case {case}");
        assert_eq!(job.original_tags, words(tags), "case {case}");
        assert_eq!(job.eligible_runners, eligible, "case {case}");
        let admission = job.admission.unwrap();
        let [decision] = admission.decisions.as_slice() else {
            panic!("case {case}: {admission:?}");
        };
        assert_eq!(decision.verdict, DecisionVerdict::Accepted);
        assert_eq!(decision.reason.as_deref(), keys["reason"].as_str());
        assert_eq!(
            decision.warnings.len(),
            usize::from(case == 9),
            "case {case}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denials_fail_the_job_and_change_nothing() {
    let bench = Bench::new().await;
    bench.runners().await;
    bench.controller(json!({})).await;
    let reason = "not on list";
    for (case, keys, wanted) in [
        (
            3,
            json!({"admission": "denied", "reason": reason}),
            FailureReason::AdmissionDenied,
        ),
        (
            4,
            json!({"admission": "rejected", "reason": reason}),
            FailureReason::AdmissionDenied,
        ),
        (
            19,
            json!({"admission": "denied", "reason": reason, "tags": {"add": ["x"]}}),
            FailureReason::AdmissionDenied,
        ),
        (
            16,
            json!({"runners": {"accepted_ids": ["99"]}}),
            FailureReason::AdmissionNoRunner,
        ),
        (
            17,
            json!({"runners": {"rejected_ids": ["1", "2", "3", "6"]}}),
            FailureReason::AdmissionNoRunner,
        ),
    ] {
        bench.hook.answer(answers(keys));
        let submitted = bench.submit(json!({})).await;
        let job = bench.settled(submitted.id).await;
        assert_eq!(job.status, JobStatus::Failed, "case {case}");
        assert_eq!(job.failure_reason, Some(wanted), "case {case}");
        assert_eq!(job.tags, words("linux"), "case {case}");
        assert_eq!(job.eligible_runners, [0; 0], "case {case}");
        if wanted == FailureReason::AdmissionDenied {
            let admission = job.admission.unwrap();
            assert_eq!(admission.state, AdmissionState::Denied);
            assert_eq!(admission.decisions[0].verdict, DecisionVerdict::Denied);
            assert_eq!(admission.reason.unwrap(), "C: not on list", "case {case}");
        }
    }
    let finished = bench.finished(5).await;
    assert_eq!(
        finished[0].failure_reason,
        Some(FailureReason::AdmissionDenied)
    );
    assert_eq!(finished[0].decisions.len(), 1);
    assert_eq!(finished[0].object["tags"], json!(["linux"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalid_verdict_is_a_failed_try_and_is_delivered_again() {
    // Cases 5, 10, 20, 21 and 22.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    let foreign = |request: &portcullis_testing::Request| {
        Reply::json(&json!([{"id": id_of(request) + 1, "admission": "accepted"}]))
    };
    let two = |request: &portcullis_testing::Request| {
        let one = json!({"id": id_of(request), "admission": "accepted"});
        Reply::json(&json!([one, one]))
    };
    for case in [5, 10, 20, 21] {
        match case {
            5 => bench.hook.answer(answers(json!({"admission": "maybe"}))),
            10 => bench
                .hook
                .answer(answers(json!({"tags": {"remove": ["linux"]}}))),
            20 => bench.hook.answer(foreign),
            _ => bench.hook.answer(two),
        }
        let submitted = bench.submit(json!({})).await;
        let tried = |delivery: &portcullis_ci::DeliveryDetails| !delivery.tries.is_empty();
        let delivery = bench.delivery_when(submitted.id, "a try", tried).await;
        let error = delivery.tries[0].error.clone().unwrap();
        assert!(
            error.starts_with("invalid verdict: "),
            "case {case}: {error}"
        );
        assert_eq!(delivery.state, "waiting", "case {case}");
        let job = bench.service.job(submitted.id).await.unwrap();
        assert_eq!(job.status, JobStatus::Preparing, "case {case}");
        assert_eq!(job.tags, words("linux"), "case {case}");
        // Case 22: a bare object is as good as a list of one.
        bench
            .hook
            .answer(|request| Reply::json(&json!({"id": id_of(request), "admission": "accepted"})));
        bench.service.redeliver(delivery.id).await.unwrap();
        let job = bench.settled(submitted.id).await;
        assert_eq!(job.status, JobStatus::Pending, "case {case}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_validating_controller_can_not_change_anything() {
    let bench = Bench::new().await;
    bench.controller(json!({"kind": "validating"})).await;
    bench.hook.answer(answers(json!({"tags": {"add": ["x"]}})));
    let submitted = bench.submit(json!({})).await;
    let tried = |delivery: &portcullis_ci::DeliveryDetails| !delivery.tries.is_empty();
    let delivery = bench.delivery_when(submitted.id, "a try", tried).await;
    assert!(
        delivery.tries[0]
            .error
            .as_ref()
            .unwrap()
            .contains("validating")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_is_recorded_and_never_counts() {
    // Case 47; and one that fails or is gone holds up nothing.
    let bench = Bench::new().await;
    bench.runners().await;
    bench.controller(json!({"state": "dry_run"})).await;
    bench
        .hook
        .answer(answers(json!({"admission": "denied", "reason": "no"})));
    let submitted = bench.submit(json!({})).await;
    let job = bench.settled(submitted.id).await;
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(job.eligible_runners, [1, 2, 3]);
    let decision = &job.admission.unwrap().decisions[0];
    assert!(decision.dry_run);
    assert_eq!(decision.verdict, DecisionVerdict::Denied);
    for code in [500, 410] {
        bench.hook.answer(status(code));
        let submitted = bench.submit(json!({})).await;
        let job = bench.settled(submitted.id).await;
        assert_eq!(job.status, JobStatus::Pending);
        let verdict = job.admission.unwrap().decisions[0].verdict;
        assert_eq!(verdict, DecisionVerdict::Error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_does_not_match_is_skipped() {
    // Case 49.
    let bench = Bench::new().await;
    let conditions = json!({"match": {"projects": ["other/*"]}});
    bench.controller(conditions).await;
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Pending);
    let decision = &job.admission.unwrap().decisions[0];
    assert_eq!(decision.verdict, DecisionVerdict::Skipped);
    assert_eq!(bench.hook.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_says_what_the_contract_says() {
    let bench = Bench::new().await;
    bench.controller(json!({"variables": ["REGION"]})).await;
    let variables =
        json!({"REGION": "eu", "OTHER": "x", "KEY": {"value": "s3cret", "masked": true}});
    let submitted = bench.submit(json!({"variables": variables})).await;
    bench.settled(submitted.id).await;
    let request = &bench.hook.requests()[0];
    assert_eq!(request.method(), "POST");
    assert_eq!(request.target(), "/hook");
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body = request.json();
    assert_eq!(body.as_array().unwrap().len(), 1);
    let entry = &body[0];
    assert_eq!(entry["id"], submitted.id);
    assert_eq!(entry["attempt"], 1);
    assert_eq!(entry["variables"]["REGION"], "eu");
    assert_eq!(entry["variables"]["OTHER"], Value::Null);
    assert!(!request.text().contains("s3cret"));
    let url = entry["callback_url"].as_str().unwrap();
    let start = "https://portcullis.example/api/v1/admission/callback/";
    assert!(url.starts_with(start), "{url}");
    // Answers of more than 64 KiB are failures.
    bench.hook.answer(|_| Reply::Body("x".repeat(70_000)));
    let submitted = bench.submit(json!({})).await;
    let tried = |delivery: &portcullis_ci::DeliveryDetails| !delivery.tries.is_empty();
    let delivery = bench.delivery_when(submitted.id, "a try", tried).await;
    assert!(delivery.tries[0].error.as_ref().unwrap().contains("bytes"));
    bench.hook.answer(accepts);
}
