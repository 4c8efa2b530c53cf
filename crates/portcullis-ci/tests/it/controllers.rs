//! Registering and changing controllers, exemptions and runners.

use portcullis_ci::{CiError, PageRequest};
use portcullis_jobs::{
    ControllerDefinition, ControllerState, DecisionVerdict, ExemptionBody, JobStatus, Timestamp,
};
use portcullis_testing::Request;
use serde_json::{Value, json};

use crate::bench::{Bench, accepts, answers, status, until};

fn definition(keys: &Value) -> ControllerDefinition {
    let mut body = json!({"name": "C", "level": "instance", "kind": "both"});
    for (key, value) in keys.as_object().unwrap() {
        body[key] = value.clone();
    }
    ControllerDefinition::read(&body).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_called_is_refused() {
    // Case 59.
    let bench = Bench::new().await;
    for keys in [
        json!({"url": "https://127.0.0.1/hook"}),
        json!({"url": "https://169.254.169.254/latest"}),
        json!({"url": "https://10.0.0.1/"}),
        json!({"url": "http://8.8.8.8/"}),
        json!({"policy": "unknown"}),
        json!({"policy": {"code": "syntax error"}}),
    ] {
        let refused = bench.service.add_controller(definition(&keys)).await;
        assert!(
            matches!(refused, Err(CiError::Invalid(_))),
            "{keys}: {refused:?}"
        );
    }
    let id = bench.controller(json!({})).await.controller.id;
    let patch = json!({"url": "https://127.0.0.1/hook"});
    let refused = bench.service.change_controller(id, patch).await;
    assert!(matches!(refused, Err(CiError::Invalid(_))), "{refused:?}");
    // What was allowed when it was saved is checked again when it is called.
    let mut settings = bench.settings.clone();
    settings.webhooks.allow.clear();
    settings.webhooks.allow_http = true;
    bench.service.change(settings);
    let job = bench.submit(json!({})).await.id;
    let is_tried = |delivery: &portcullis_ci::DeliveryDetails| !delivery.tries.is_empty();
    let delivery = bench.delivery_when(job, "a try", is_tried).await;
    let error = delivery.tries[0].error.clone().unwrap();
    assert!(error.contains("not allowed"), "{error}");
    assert_eq!(bench.hook.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controllers_are_listed_changed_and_deleted() {
    let bench = Bench::new().await;
    let created = bench.controller(json!({})).await;
    assert!(created.secret.starts_with("whsec_"));
    let body = serde_json::to_value(&created).unwrap();
    assert_eq!(body["name"], "C");
    assert_eq!(body["state"], "enabled");
    let taken = definition(&json!({"url": format!("{}/x", bench.hook.url())}));
    let taken = bench.service.add_controller(taken).await;
    assert!(matches!(taken, Err(CiError::Conflict(_))), "{taken:?}");
    for name in ["A", "B"] {
        bench.controller(json!({"name": name})).await;
    }
    let first = PageRequest {
        after: None,
        limit: Some(2),
    };
    let page = bench.service.controllers(first).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let rest = PageRequest {
        after: page.next,
        limit: Some(2),
    };
    let rest = bench.service.controllers(rest).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));
    assert!(!serde_json::to_string(&rest).unwrap().contains("whsec_"));
    let id = created.controller.id;
    let patch = json!({"state": "dry_run", "timeout": "5s"});
    let changed = bench.service.change_controller(id, patch).await.unwrap();
    assert_eq!(changed.definition.state, ControllerState::DryRun);
    assert_eq!(changed.revision, 2);
    bench.service.delete_controller(id).await.unwrap();
    let gone = bench.service.delete_controller(id).await;
    assert!(matches!(gone, Err(CiError::NotFound)));
    assert!(matches!(
        bench.service.controller(id).await,
        Err(CiError::NotFound)
    ));
}

/// Whether a request is signed with a secret.
fn is_signed(request: &Request, secret: &str) -> bool {
    use aws_lc_rs::hmac;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let header = |name: &str| request.header(name).unwrap().to_owned();
    let text = format!(
        "{}.{}.{}",
        header("webhook-id"),
        header("webhook-timestamp"),
        request.text()
    );
    let expected = format!("v1,{}", STANDARD.encode(hmac::sign(&key, text.as_bytes())));
    header("webhook-signature")
        .split(' ')
        .any(|one| one == expected)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_secret_signs_along_for_a_while() {
    // Case 60.
    let bench = Bench::new().await;
    let created = bench.controller(json!({})).await;
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    let new = bench
        .service
        .rotate_secret(created.controller.id)
        .await
        .unwrap();
    assert_ne!(new, created.secret);
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    let [before, after] = bench.hook.requests().try_into().unwrap();
    assert!(is_signed(&before, &created.secret) && !is_signed(&before, &new));
    assert!(is_signed(&after, &created.secret) && is_signed(&after, &new));
    let newest = bench
        .service
        .rotate_secret(created.controller.id)
        .await
        .unwrap();
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    let last = bench.hook.requests().pop().unwrap();
    assert!(is_signed(&last, &new) && is_signed(&last, &newest));
    assert!(!is_signed(&last, &created.secret), "never more than two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_go_on_without_a_controller_that_is_disabled_or_deleted() {
    let bench = Bench::new().await;
    bench.hook.answer(status(202));
    for deletes in [false, true] {
        let id = bench.controller(json!({})).await.controller.id;
        let job = bench.submit(json!({})).await.id;
        assert_eq!(
            bench.service.job(job).await.unwrap().status,
            JobStatus::Preparing
        );
        if deletes {
            bench.service.delete_controller(id).await.unwrap();
        } else {
            let patch = json!({"state": "disabled", "name": "off"});
            bench.service.change_controller(id, patch).await.unwrap();
        }
        let job = bench.settled(job).await;
        assert_eq!(job.status, JobStatus::Pending);
        let verdict = job.admission.unwrap().decisions[0].verdict;
        assert_eq!(verdict, DecisionVerdict::Skipped);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_can_be_tested() {
    let bench = Bench::new().await;
    let id = bench.controller(json!({})).await.controller.id;
    bench.hook.answer(answers(json!({"reason": "fine"})));
    let result = bench.service.test_controller(id).await.unwrap();
    assert_eq!(result.verdict.unwrap().reason.as_deref(), Some("fine"));
    bench.hook.answer(answers(json!({"admission": "maybe"})));
    let result = bench.service.test_controller(id).await.unwrap();
    assert!(result.error.unwrap().starts_with("invalid verdict"));
    bench.hook.answer(status(500));
    let result = bench.service.test_controller(id).await.unwrap();
    assert_eq!(result.error.as_deref(), Some("status 500"));
    let policy = bench
        .controller(json!({"name": "P", "policy": "known"}))
        .await;
    let result = bench
        .service
        .test_controller(policy.controller.id)
        .await
        .unwrap();
    assert!(result.verdict.unwrap().is_accepted());
    let pulls = bench.controller(json!({"name": "Q", "pull": true})).await;
    let result = bench.service.test_controller(pulls.controller.id).await;
    assert!(matches!(result, Err(CiError::Conflict(_))), "{result:?}");
    let jobs = bench
        .service
        .jobs(portcullis_ci::JobFilter::default(), PageRequest::default());
    assert_eq!(jobs.await.unwrap().items.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exempted_denial_does_not_count() {
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    bench
        .hook
        .answer(answers(json!({"admission": "denied", "reason": "no"})));
    let now = Timestamp::from(portcullis_core::clock::wall());
    let until = now.after(std::time::Duration::from_secs(600));
    let body = json!({"controller": "C", "project": "g/p", "reason": "migration", "until": until});
    let body = ExemptionBody::read(&body, now).unwrap();
    let granted = bench.service.add_exemption(body, "ada").await.unwrap();
    assert_eq!((granted.uses, granted.last_used_at), (0, None));
    let exemption = granted.exemption;
    assert_eq!(exemption.granted_by.as_deref(), Some("ada"));
    let job = bench.submit(json!({})).await.id;
    let job = bench.settled(job).await;
    assert_eq!(job.status, JobStatus::Pending);
    let decision = &job.admission.unwrap().decisions[0];
    assert_eq!(decision.verdict, DecisionVerdict::Denied);
    assert_eq!(decision.exempted_by, Some(exemption.id));
    let listed = bench
        .service
        .exemptions(PageRequest::default())
        .await
        .unwrap();
    let one = &listed.items[0];
    assert_eq!((listed.items.len(), &one.exemption), (1, &exemption));
    assert_eq!((one.uses, one.last_used_at), (1, Some(decision.at)));
    assert!((1..=600).contains(&one.expires_in_seconds), "{one:?}");
    bench.service.delete_exemption(exemption.id).await.unwrap();
    let again = bench.service.delete_exemption(exemption.id).await;
    assert!(matches!(again, Err(CiError::NotFound)));
    let job = bench.submit(json!({})).await.id;
    assert_eq!(bench.settled(job).await.status, JobStatus::Failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runners_are_registered_and_known_by_their_tokens() {
    let bench = Bench::new().await;
    bench.runners().await;
    let new = portcullis_ci::NewRunner {
        kind: portcullis_jobs::RunnerType::Instance,
        path: None,
        description: "seventh".to_owned(),
        tags: vec!["x".to_owned(), "x".to_owned()],
        run_untagged: false,
        access_level: portcullis_jobs::AccessLevel::NotProtected,
        paused: false,
        locked: false,
    };
    let created = bench.service.add_runner(new.clone()).await.unwrap();
    assert!(created.token.starts_with("glrt-"));
    assert_eq!(created.runner.tags, ["x"]);
    let found = bench.service.verify_runner(&created.token).await.unwrap();
    assert_eq!(found, Some(created.runner.clone()));
    assert_eq!(bench.service.verify_runner("glrt-x").await.unwrap(), None);
    let patch = json!({"paused": true, "tag_list": ["y"]});
    let changed = bench.service.change_runner(7, patch).await.unwrap();
    assert!(changed.paused);
    assert_eq!(changed.tags, ["y"]);
    for bad in [
        json!({"tag_list": []}),
        json!({"colour": "red"}),
        json!({"tag_list": [""]}),
    ] {
        let refused = bench.service.change_runner(7, bad).await;
        assert!(matches!(refused, Err(CiError::Invalid(_))), "{refused:?}");
    }
    let lacking = portcullis_ci::NewRunner {
        kind: portcullis_jobs::RunnerType::Group,
        ..new
    };
    let refused = bench.service.add_runner(lacking).await;
    assert!(matches!(refused, Err(CiError::Invalid(_))), "{refused:?}");
    let page = bench.service.runners(PageRequest::default()).await.unwrap();
    assert_eq!(page.items.len(), 7);
    bench.service.delete_runner(7).await.unwrap();
    assert_eq!(
        bench.service.verify_runner(&created.token).await.unwrap(),
        None
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_shuts_down_ends_what_is_under_way() {
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    bench.hook.hold();
    let job = bench.submit(json!({})).await.id;
    until("the webhook is called", || bench.hook.requests().len() == 1).await;
    let (hook, service) = (&bench.hook, &bench.service);
    hook.answer(accepts);
    let shut_down = service.shut_down(portcullis_testing::PATIENCE);
    tokio::join!(shut_down, async { hook.release() });
    assert_eq!(service.job(job).await.unwrap().status, JobStatus::Pending);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controllers_with_code_are_limited() {
    let bench = Bench::with(|settings| {
        settings.max_code_controllers = 3;
        settings.max_code_controllers_per_group = 1;
    })
    .await;
    let add = async |name: &str, path: Option<&str>, policy: Value| {
        let mut body = json!({"name": name, "level": "instance", "kind": "both", "policy": policy});
        if let Some(path) = path {
            body["level"] = json!("project");
            body["path"] = json!(path);
        }
        let definition = ControllerDefinition::read(&body).unwrap();
        bench.service.add_controller(definition).await
    };
    let code = json!({"code": "return"});
    let first = add("a", Some("g/p"), code.clone()).await.unwrap();
    let refused = add("b", Some("g/q"), code.clone()).await.unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused, CiError::Conflict(_)), "{said}");
    assert!(
        said.contains("in `g`: at most 1 (ci.maxCodeControllersPerGroup)"),
        "{said}"
    );
    // Configured policies share engines.
    let named = add("c", Some("g/q"), json!("known")).await.unwrap();
    let patch = json!({"policy": code});
    let refused = bench
        .service
        .change_controller(named.controller.id, patch)
        .await;
    assert!(matches!(refused, Err(CiError::Conflict(_))), "{refused:?}");
    let id = first.controller.id;
    let patch = json!({"policy": {"code": "return true"}});
    bench.service.change_controller(id, patch).await.unwrap();
    add("d", Some("h/p"), code.clone()).await.unwrap();
    add("e", None, code.clone()).await.unwrap();
    let refused = add("f", None, code.clone()).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("at most 3 (ci.maxCodeControllers)"),
        "{refused}"
    );
    bench.service.delete_controller(id).await.unwrap();
    add("f", None, code).await.unwrap();
}
