//! What operators do with the queue of CI jobs: running again, cancelling, promoting, pausing.

use portcullis_testing::tokens::{admin, claims, token};
use portcullis_testing::{Answer, Folder, until};
use serde_json::{Value, json};

use super::Api;

/// Tenant `t1` holds `shop/**`, `t2` the project `lab/x`, and `quiet` holds `shop/web` too. Bob reads and submits in
/// `t1` only.
fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "bob", "conditions": [{"preferred_username": "bob"}]}},
        {"role": {"name": "submitter", "permissions": {"read": true, "submit-job": true}}},
        {"tenant": {"name": "t1", "projects": ["shop/**"], "anonymous-read-access": false,
            "role-mappings": {"bob": ["submitter"]}}},
        {"tenant": {"name": "t2", "projects": ["lab/x"], "anonymous-read-access": false}},
        {"tenant": {"name": "quiet", "projects": ["shop/web"], "anonymous-read-access": false}},
        {"api-root": {"anonymous-read-access": false}},
    ])
}

fn bob() -> String {
    token("op", &claims("op", "bob"))
}

fn post(api: &Api, path: &str, body: Value) -> Answer {
    api.call(Some(&admin()), "POST", path, Some(&body))
}

/// Submits a pipeline of two stages, and gives its number.
#[track_caller]
fn submit(api: &Api, project: &str, name: &str, change: &str) -> u64 {
    let job = |name: &str, stage: &str| json!({"name": name, "stage": stage, "script": ["true"]});
    let body = json!({"project": project, "name": name, "ref": "main", "ref_protected": false,
        "change": change, "source": "push", "user": {"id": 1, "username": "alice"},
        "jobs": [job("unit", "test"), job("push", "deploy")]});
    let answer = post(api, "/api/v1/pipelines", body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_u64().unwrap()
}

#[track_caller]
fn get(api: &Api, path: &str) -> Value {
    let answer = api.get(Some(&admin()), path);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The statuses of the jobs of a pipeline.
#[track_caller]
fn statuses(api: &Api, pipeline: u64) -> Value {
    let shown = get(api, &format!("/api/v1/pipelines/{pipeline}"));
    let jobs = shown["jobs"].as_array().unwrap().iter();
    jobs.map(|job| job["status"].clone()).collect()
}

/// The first job of a pipeline, as this caller sees it.
#[track_caller]
fn first_job(api: &Api, who: &str, pipeline: u64) -> Value {
    let shown = get(api, &format!("/api/v1/pipelines/{pipeline}"));
    let id = &shown["jobs"][0]["id"];
    let answer = api.get(Some(who), &format!("/api/v1/jobs/{id}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[track_caller]
fn set(api: &Api, tenant: &str, state: Value) {
    let answer = post(api, &format!("/api/tenant/{tenant}/state"), state);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[track_caller]
fn goes_on(api: &Api, pipeline: u64) {
    until("the pipeline goes on", || {
        statuses(api, pipeline) == json!(["pending", "created"])
    });
}

const WAITING: [&str; 2] = ["created", "created"];

#[test]
fn pipelines_are_run_again_canceled_and_promoted() {
    let api = Api::start(&tenants());
    let on = |verb: &str| format!("/api/tenant/t1/project/shop%2Fweb/{verb}");
    let change = json!({"pipeline": "check", "change": "7,1"});
    for verb in ["enqueue", "dequeue"] {
        let (error, _) = post(&api, &on(verb), change.clone()).error(404);
        assert!(
            error["message"].as_str().unwrap().contains("7,1"),
            "{error}"
        );
        let both = json!({"pipeline": "check", "change": "7,1", "ref": "main"});
        post(&api, &on(verb), both).error(400);
    }
    let first = submit(&api, "shop/web", "check", "7,1");
    let other = submit(&api, "shop/web", "check", "8,1");
    assert_eq!(
        post(&api, &on("enqueue"), change.clone()).json(),
        json!(true)
    );
    let queue = get(&api, "/api/tenant/t1/pipelines");
    assert_eq!(queue, json!([{"name": "check", "queue": 3}]));
    let status = get(&api, "/api/tenant/t1/status");
    let items = &status["pipelines"][0]["change_queues"][0]["heads"][0];
    let items: Vec<[&Value; 2]> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| [&item["pipeline"], &item["id"]])
        .collect();
    let again = other + 1;
    let expected = [(first, "7,1"), (other, "8,1"), (again, "7,1")];
    let expected = expected.map(|(id, change)| [json!(id), json!(change)]);
    let expected: Vec<[&Value; 2]> = expected.iter().map(|[a, b]| [a, b]).collect();
    assert_eq!(items, expected);
    let jobs = get(&api, "/api/tenant/t1/jobs");
    assert_eq!(jobs.as_array().unwrap().len(), 6);
    let projects = get(&api, "/api/tenant/t1/projects");
    assert_eq!(projects[0]["name"], "shop/web", "held by a pattern");
    let listed = get(&api, "/api/tenants");
    let queues: Vec<[&Value; 2]> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tenant| [&tenant["name"], &tenant["queue"]])
        .collect();
    assert!(queues.contains(&[&json!("t1"), &json!(3)]), "{queues:?}");
    assert!(queues.contains(&[&json!("t2"), &json!(0)]), "{queues:?}");
    // Another tenant that doesn't hold the project finds nothing.
    let foreign = "/api/tenant/t2/project/shop%2Fweb/dequeue";
    post(&api, foreign, change.clone()).error(404);
    let wanted = |changes: Value| json!({"pipeline": "check", "changes": changes});
    for changes in [json!(["8,1"]), json!(["8,1", "none"])] {
        let answer = post(&api, "/api/tenant/t1/promote", wanted(changes));
        assert_eq!(answer.json(), json!(true));
    }
    post(&api, "/api/tenant/t1/promote", wanted(json!(["none"]))).error(404);
    post(&api, "/api/tenant/t2/promote", wanted(json!(["8,1"]))).error(404);
    assert_eq!(
        post(&api, &on("dequeue"), change.clone()).json(),
        json!(true)
    );
    for gone in [first, again] {
        assert_eq!(statuses(&api, gone), json!(["canceled", "canceled"]));
    }
    assert_eq!(statuses(&api, other), json!(["pending", "created"]));
    post(&api, &on("dequeue"), change).error(404);
}

#[test]
fn a_paused_tenant_holds_back_what_it_holds_and_says_why() {
    let api = Api::start(&tenants());
    let paused = json!({"trigger_queue_paused": true, "reason": "incident 42"});
    set(&api, "t1", paused);
    let held = submit(&api, "shop/web", "check", "1,1");
    assert_eq!(statuses(&api, held), json!(WAITING));
    let item = &first_job(&api, &bob(), held)["prerequisites"]["items"][0];
    assert_eq!(
        (&item["name"], &item["by"]),
        (&json!("tenant"), &json!("t1"))
    );
    assert_eq!(item["detail"], "new pipelines are paused: incident 42");
    let status = get(&api, "/api/tenant/t1/status");
    assert_eq!(status["trigger_event_queue"]["length"], 1);
    let free = submit(&api, "lab/x", "check", "1,1");
    assert_eq!(statuses(&api, free), json!(["pending", "created"]));
    set(&api, "t1", json!({"trigger_queue_paused": false}));
    goes_on(&api, held);
}

#[test]
fn of_several_tenants_the_most_restrictive_counts_and_a_private_one_is_not_named() {
    let api = Api::start(&tenants());
    let secret = json!({"trigger_queue_paused": true, "reason": "the merger"});
    set(&api, "quiet", secret);
    let held = submit(&api, "shop/web", "check", "1,1");
    let free = submit(&api, "shop/app", "check", "1,1");
    assert_eq!(statuses(&api, held), json!(WAITING));
    assert_eq!(statuses(&api, free), json!(["pending", "created"]));
    let admins = first_job(&api, &admin(), held);
    assert_eq!(admins["prerequisites"]["items"][0]["by"], "quiet");
    let bobs = first_job(&api, &bob(), held);
    let item = &bobs["prerequisites"]["items"][0];
    assert_eq!(item["by"], Value::Null);
    assert_eq!(item["detail"], "a tenant that holds the project is paused");
    let list = api.get(Some(&bob()), "/api/v1/jobs").text();
    assert!(
        !list.contains("quiet") && !list.contains("merger"),
        "{list}"
    );
    set(
        &api,
        "quiet",
        json!({"trigger_queue_paused": false, "trigger_queue_discarding": true}),
    );
    goes_on(&api, held);
    let job = json!({"project": "shop/web", "name": "unit", "ref": "main", "ref_protected": false,
        "user": {"id": 1, "username": "alice"}, "script": ["true"]});
    let submit = |who: &str| api.call(Some(who), "POST", "/api/v1/jobs", Some(&job));
    let (error, _) = submit(&bob()).error(409);
    assert_eq!(
        error["message"],
        "new pipelines of this project are discarded"
    );
    let (error, _) = submit(&admin()).error(409);
    assert_eq!(
        error["message"],
        "tenant `quiet` discards new pipelines: the merger"
    );
    let on = "/api/tenant/t1/project/shop%2Fweb/enqueue";
    let (error, _) = post(&api, on, json!({"pipeline": "check", "change": "1,1"})).error(409);
    assert_eq!(error["code"], "discarding");
}

#[test]
fn states_survive_a_restart_and_reach_other_servers() {
    let folder = Folder::new();
    let url = format!("sqlite:{}", folder.path("shared.db").display());
    let start = || Api::of(Some(&tenants()), &json!({"store": {"url": url}}));
    let (one, two) = (start(), start());
    // What is not open yet is opened.
    let before = submit(&two, "lab/x", "check", "1,1");
    set(
        &one,
        "t1",
        json!({"trigger_queue_paused": true, "reason": "incident"}),
    );
    let held = submit(&one, "shop/web", "check", "1,1");
    until("the other server knows", || {
        let id = submit(&two, "shop/web", "probe", "1,1");
        statuses(&two, id) == json!(WAITING)
    });
    drop(one);
    let one = start();
    let later = submit(&one, "shop/web", "check", "2,1");
    assert_eq!(statuses(&one, later), json!(WAITING));
    assert_eq!(statuses(&one, held), json!(WAITING));
    set(&two, "t1", json!({"trigger_queue_paused": false}));
    goes_on(&one, held);
    goes_on(&one, later);
    assert_eq!(statuses(&one, before), json!(["pending", "created"]));
}

#[test]
fn what_was_lifted_while_no_server_ran_goes_on_at_the_start() {
    let folder = Folder::new();
    let url = format!("sqlite:{}", folder.path("shared.db").display());
    let start = || Api::of(Some(&tenants()), &json!({"store": {"url": url}}));
    let one = start();
    set(
        &one,
        "t1",
        json!({"trigger_queue_paused": true, "expires_in": 2}),
    );
    let held = submit(&one, "shop/web", "check", "1,1");
    assert_eq!(statuses(&one, held), json!(WAITING));
    drop(one);
    let one = start();
    goes_on(&one, held);
}
