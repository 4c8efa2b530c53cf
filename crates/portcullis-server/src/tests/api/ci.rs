//! Jobs and controllers belong to the tenants that hold their projects.

use portcullis_testing::tokens::{admin, claims, token};
use portcullis_testing::until;
use serde_json::{Value, json};

use super::Api;

/// Tenant `t1` holds the group `shop`, `t2` holds `lab/*`. Bob may do everything with jobs and controllers in `t1`,
/// Carol may submit to `t2`, but only `unit`, and read nothing.
fn api() -> Api {
    let rules = json!([
        {"authorization-rule": {"name": "bob", "conditions": [{"preferred_username": "bob"}]}},
        {"authorization-rule": {"name": "carol", "conditions": [{"preferred_username": "carol"}]}},
        {"role": {"name": "maintainer", "permissions": {"read": true, "submit-job": true,
            "retry-job": true, "cancel-job": true, "manage-controllers": true,
            "manage-runners": true, "manage-exemptions": true}}},
        {"role": {"name": "tester", "permissions":
            {"submit-job": {"conditions": {"job": "unit"}}}}},
        {"tenant": {"name": "t1", "projects": ["shop/**"], "anonymous-read-access": false,
            "role-mappings": {"bob": ["maintainer"]}}},
        {"tenant": {"name": "t2", "projects": ["lab/*"], "anonymous-read-access": false,
            "role-mappings": {"carol": ["tester"]}}},
        {"api-root": {"anonymous-read-access": false}},
    ]);
    Api::start(&rules)
}

fn of(name: &str) -> String {
    token("op", &claims("op", name))
}

fn job(project: &str, name: &str) -> Value {
    json!({"project": project, "name": name, "ref": "main", "ref_protected": false,
        "user": {"id": 1, "username": "alice"}, "tags": ["linux"], "script": ["true"]})
}

fn controller(level: &str, path: Option<&str>, code: &str) -> Value {
    let mut body = json!({"name": format!("at-{level}"), "level": level, "kind": "both",
        "policy": {"code": code}, "state": "enabled", "failure_policy": "closed"});
    if let Some(path) = path {
        body["path"] = path.into();
    }
    body
}

#[track_caller]
fn settled(api: &Api, id: u64) -> Value {
    let mut job = Value::Null;
    until("settled", || {
        job = api
            .get(Some(&admin()), &format!("/api/v1/jobs/{id}"))
            .json();
        job["status"] != "preparing" && job["status"] != "created"
    });
    job
}

#[test]
fn a_job_is_submitted_where_the_caller_may_and_hidden_elsewhere() {
    let api = api();
    let (bob, carol) = (of("bob"), of("carol"));
    let submit = |who: &str, project: &str, name: &str| {
        api.call(Some(who), "POST", "/api/v1/jobs", Some(&job(project, name)))
    };
    let made = submit(&bob, "shop/web", "build");
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["id"].as_u64().unwrap();
    assert_eq!(settled(&api, id)["status"], "pending");
    let (error, _) = submit(&bob, "lab/x", "unit").error(403);
    assert_eq!(error["details"]["permission"], "submit-job");
    submit(&carol, "lab/x", "build").error(403);
    assert_eq!(submit(&carol, "lab/x", "unit").status, 201);
    submit(&admin(), "no-one/holds", "it");
    let path = format!("/api/v1/jobs/{id}");
    assert_eq!(api.get(Some(&bob), &path).status, 200);
    // Carol may not read anything, Bob not what others have.
    api.get(Some(&carol), &path).error(403);
    api.get(None, &path).error(401);
    let seen = api.get(Some(&bob), "/api/v1/jobs").json();
    let projects = seen["items"].as_array().unwrap().iter();
    let projects: Vec<&Value> = projects.map(|job| &job["project"]).collect();
    assert_eq!(projects, [&json!("shop/web")]);
    api.get(Some(&bob), "/api/v1/jobs/999999").error(404);
    let lab = submit(&admin(), "lab/x", "unit").json()["id"].clone();
    for verb in ["retry", "cancel"] {
        let path = format!("/api/v1/jobs/{lab}/{verb}");
        api.call(Some(&bob), "POST", &path, None).error(404);
    }
}

#[test]
fn what_is_wrong_with_a_body_is_said_at_once_and_in_full() {
    let api = api();
    let mut body = job("shop/web", "");
    body["tags"] = json!(["a\u{7}"]);
    body["user"]["username"] = json!("");
    let answer = api.call(Some(&of("bob")), "POST", "/api/v1/jobs", Some(&body));
    let (error, _) = answer.error(422);
    let faults = error["details"]["faults"].as_array().unwrap();
    let paths: Vec<&str> = faults
        .iter()
        .filter_map(|fault| fault["path"].as_str())
        .collect();
    assert!(
        ["name", "tags[0]", "user.username"]
            .iter()
            .all(|path| paths.contains(path)),
        "{paths:?}"
    );
}

#[test]
fn controllers_belong_to_who_holds_their_project_or_whole_group() {
    let api = api();
    let bob = of("bob");
    let add =
        |who: &str, body: &Value| api.call(Some(who), "POST", "/api/v1/controllers", Some(body));
    let denies = "return 'not today'";
    for (level, path, status) in [
        ("project", Some("shop/web"), 201),
        ("group", Some("shop"), 201),
        ("group", Some("lab"), 403),
        ("instance", None, 403),
        ("project", Some("lab/x"), 403),
    ] {
        let answer = add(&bob, &controller(level, path, denies));
        assert_eq!(answer.status, status, "{level} {path:?}: {}", answer.text());
    }
    let made = api.call(
        Some(&bob),
        "POST",
        "/api/v1/jobs",
        Some(&job("shop/web", "build")),
    );
    let failed = settled(&api, made.json()["id"].as_u64().unwrap());
    assert_eq!(failed["failure_reason"], "admission_denied");
    assert_eq!(failed["admission"]["decisions"][0]["reason"], "not today");
    let all = api.get(Some(&bob), "/api/v1/controllers").json();
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    let id = all["items"][0]["id"].clone();
    let path = format!("/api/v1/controllers/{id}");
    // It can't be moved to where Bob may manage none.
    let moved = json!({"level": "project", "path": "lab/x"});
    api.call(Some(&bob), "PATCH", &path, Some(&moved))
        .error(403);
    let paused = api.call(
        Some(&bob),
        "PATCH",
        &path,
        Some(&json!({"state": "disabled"})),
    );
    assert_eq!(paused.json()["state"], "disabled");
    assert_eq!(api.call(Some(&bob), "DELETE", &path, None).status, 204);
    api.get(Some(&bob), &path).error(404);
    add(&bob, &controller("project", Some("shop/web"), "return (")).error(422);
}

#[test]
fn each_attempt_of_a_job_is_one_record() {
    let api = api();
    let bob = of("bob");
    let body = controller("project", Some("shop/web"), "return 'not today'");
    api.call(Some(&bob), "POST", "/api/v1/controllers", Some(&body));
    let made = api.call(
        Some(&bob),
        "POST",
        "/api/v1/jobs",
        Some(&job("shop/web", "build")),
    );
    let id = made.json()["id"].as_u64().unwrap();
    settled(&api, id);
    let records = || api.get(Some(&admin()), "/api/v1/decisions?door=ci").json();
    until("recorded", || {
        records()["items"].as_array().unwrap().len() == 1
    });
    let first = &records()["items"][0];
    assert_eq!(first["verdict"], "deny");
    assert_eq!(first["namespace"], "shop/web");
    assert_eq!(first["message"], "at-project: not today");
    let retry = format!("/api/v1/jobs/{id}/retry");
    assert_eq!(api.call(Some(&bob), "POST", &retry, None).status, 200);
    until("recorded again", || {
        records()["items"].as_array().unwrap().len() == 2
    });
}

#[test]
fn an_exemption_needs_the_permission_where_its_controller_is_managed() {
    let api = api();
    let bob = of("bob");
    for (level, path) in [
        ("project", Some("shop/web")),
        ("group", Some("shop")),
        ("instance", None),
    ] {
        let body = controller(level, path, "return");
        let made = api.call(Some(&admin()), "POST", "/api/v1/controllers", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text());
    }
    let grant = |who: &str, from: Value| {
        let mut body = json!({"project": "shop/web", "reason": "migration",
            "until": "2090-01-01T00:00:00Z"});
        for (key, value) in from.as_object().unwrap() {
            body[key] = value.clone();
        }
        api.call(Some(who), "POST", "/api/v1/exemptions", Some(&body))
    };
    for own in ["at-project", "at-group"] {
        let made = grant(&bob, json!({"controller": own}));
        assert_eq!(made.status, 201, "{own}: {}", made.text());
        // Whoever may grant it may revoke it.
        let path = format!("/api/v1/exemptions/{}", made.json()["id"]);
        assert_eq!(api.call(Some(&bob), "DELETE", &path, None).status, 204);
    }
    for above in [
        json!({"controller": "at-instance"}),
        json!({"controller": "not-there-yet"}),
        json!({"policy": "some"}),
        json!({"user": "alice"}),
        json!({}),
    ] {
        let (error, _) = grant(&bob, above.clone()).error(403);
        assert_eq!(
            error["details"]["permission"], "manage-exemptions",
            "{above}"
        );
        let made = grant(&admin(), above.clone());
        assert_eq!(made.status, 201, "{above}: {}", made.text());
    }
}

#[test]
fn counts_of_jobs_are_of_what_the_caller_may_see() {
    let api = api();
    for (project, name) in [
        ("shop/web", "build"),
        ("shop/web", "unit"),
        ("lab/x", "unit"),
    ] {
        let job = job(project, name);
        let made = api
            .call(Some(&admin()), "POST", "/api/v1/jobs", Some(&job))
            .json();
        assert_eq!(
            settled(&api, made["id"].as_u64().unwrap())["status"],
            "pending"
        );
    }
    let pending = |who: &str, query: &str| {
        let path = format!("/api/v1/jobs/summary{query}");
        let counts = api.get(Some(who), &path).json();
        let statuses = counts["statuses"].as_array().unwrap().iter();
        let of = |status: &Value| status["status"] == "pending";
        let pending = statuses.clone().find(|one| of(one)).unwrap()["count"]
            .as_u64()
            .unwrap();
        let waiting = counts["waiting"].as_array().unwrap().iter();
        let waiting: u64 = waiting.map(|one| one["count"].as_u64().unwrap()).sum();
        assert_eq!(waiting, pending, "{counts}");
        assert_eq!(counts["oldest_queued_at"].is_string(), pending > 0);
        pending
    };
    assert_eq!(pending(&admin(), ""), 3);
    assert_eq!(pending(&admin(), "?tenant=t2"), 1);
    assert_eq!(pending(&admin(), "?project=shop/web"), 2);
    let bob = of("bob");
    assert_eq!(pending(&bob, ""), 2);
    assert_eq!(pending(&bob, "?project=lab/x"), 0);
    // A tenant that he may not read looks as if it did not exist.
    let (hidden, _) = api
        .get(Some(&bob), "/api/v1/jobs/summary?tenant=t2")
        .error(404);
    let (unknown, _) = api
        .get(Some(&bob), "/api/v1/jobs/summary?tenant=t9")
        .error(404);
    assert_eq!(hidden, unknown);
    api.get(None, "/api/v1/jobs/summary").error(401);
    api.get(Some(&of("carol")), "/api/v1/jobs/summary")
        .error(403);
}
