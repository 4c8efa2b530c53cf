//! Holds and states outlive the server, expire in time, and belong to their tenant.

use serde_json::{Value, json};

use super::{Api, of};
use crate::harness::{Gate, program, until};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "root", "conditions": [{"preferred_username": "root"}]}},
        {"authorization-rule": {"name": "tess", "conditions": [{"preferred_username": "tess"}]}},
        {"authorization-rule": {"name": "hal", "conditions": [{"preferred_username": "hal"}]}},
        {"role": {"name": "hals", "permissions": {"autohold": {"conditions":
            {"project": "foo", "job": "unit", "ref": "refs/heads/main"}}}}},
        {"tenant": {"name": "t1", "role-mappings": {"root": "admin", "hal": "hals"}}},
        {"tenant": {"name": "t2", "role-mappings": {"tess": "admin"}}},
    ])
}

fn place(api: &Api, who: &str, target: &str, body: Value) -> u64 {
    let (tenant, project) = target.split_once('/').unwrap();
    let path = format!("/api/tenant/{tenant}/project/{project}/autohold");
    let answer = api.post(Some(&of(who)), &path, &body);
    assert_eq!((answer.status, answer.json()), (200, json!(true)));
    let holds = holds(api, tenant);
    holds.last().unwrap()["id"].as_u64().unwrap()
}

fn holds(api: &Api, tenant: &str) -> Vec<Value> {
    let answer = api
        .get(None, &format!("/api/tenant/{tenant}/autohold"))
        .json();
    answer.as_array().unwrap().clone()
}

fn restarted(api: Api) -> Api {
    let Api { mut gate, port, .. } = api;
    gate.terminate();
    gate.wait();
    let mut folder = crate::harness::Folder::new();
    std::mem::swap(&mut gate.folder, &mut folder);
    // The folder that goes with the old one needs a log.
    gate.folder.write("log", "");
    let mut command = program(folder.root());
    command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
    let own = gate.port;
    drop(gate);
    Api::of(Gate::spawn(folder, own, command), port)
}

#[test]
fn they_are_there_after_a_restart() {
    let api = Api::start(&tenants());
    let body = json!({"job": "deploy", "count": 2, "reason": "look", "ref": "refs/heads/main",
        "change": "", "node_hold_expiration": 3600});
    let id = place(&api, "root", "t1/org/p", body);
    let state = json!({"trigger_queue_paused": true, "reason": "incident"});
    api.post(Some(&of("root")), "/api/tenant/t1/state", &state);
    let before = (
        holds(&api, "t1"),
        api.get(None, "/api/tenant/t1/status").json(),
    );
    let api = restarted(api);
    assert_eq!(
        (
            holds(&api, "t1"),
            api.get(None, "/api/tenant/t1/status").json()
        ),
        before
    );
    let (list, status) = before;
    let mut hold = list[0].clone();
    hold.as_object_mut().unwrap().remove("placed_at");
    assert_eq!(
        hold,
        json!({"id": id, "tenant": "t1", "project": "org/p", "job": "deploy",
            "ref_filter": "refs/heads/main", "max_count": 2, "current_count": 0, "reason": "look",
            "node_expiration": 3600, "expired": null, "nodes": [], "placed_by": "root",
            "expires_at": null})
    );
    assert_eq!(status["state"]["trigger_queue_paused"], true);
    assert_eq!(status["state"]["reason"], "incident");
    assert_eq!(status["state"]["set_by"], "root");
}

#[test]
fn what_is_not_named_stays_and_everything_ends_in_time() {
    let api = Api::start(&tenants());
    let set = |body: Value| {
        api.post(Some(&of("root")), "/api/tenant/t1/state", &body)
            .json()
    };
    set(json!({"trigger_queue_paused": true, "reason": "why"}));
    let state = set(json!({"result_queue_paused": true}));
    assert_eq!(
        (
            &state["trigger_queue_paused"],
            &state["result_queue_paused"],
            &state["reason"]
        ),
        (&json!(true), &json!(true), &json!("why"))
    );
    let listed = || api.get(None, "/api/tenants").json();
    assert_eq!(listed()[0]["state"]["reason"], "why");
    assert_eq!(
        listed()[1],
        json!({"name": "t2", "projects": 0, "by_pattern": true, "queue": 0})
    );
    for wrong in [json!(0), json!(-1), json!(315_360_001_u64), json!("1h")] {
        let body = json!({"trigger_queue_discarding": true, "expires_in": wrong});
        let answer = api.post(Some(&of("root")), "/api/tenant/t1/state", &body);
        let (error, _) = answer.error(400);
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("u64"), "{message}");
        let path = "/api/tenant/t1/project/foo/autohold";
        let body = json!({"job": "unit", "expires_in": wrong});
        api.post(Some(&of("root")), path, &body).error(400);
    }
    set(json!({"trigger_queue_discarding": true, "expires_in": 1}));
    let id = place(
        &api,
        "root",
        "t1/foo",
        json!({"job": "unit", "expires_in": 1}),
    );
    until("the state has ended", || {
        api.get(None, "/api/tenant/t1/status").json()["state"]["trigger_queue_discarding"] == false
    });
    until("the hold has ended", || {
        holds(&api, "t1")[0]["expired"].is_u64()
    });
    let one = api
        .get(None, &format!("/api/tenant/t1/autohold/{id}"))
        .json();
    assert!(one["expired"].is_u64(), "{one}");
}

#[test]
fn case_47_what_belongs_to_another_tenant_is_not_there() {
    let api = Api::start(&tenants());
    let id = place(&api, "tess", "t2/foo", json!({"job": "unit"}));
    let path = |tenant: &str| format!("/api/tenant/{tenant}/autohold/{id}");
    api.call(Some(&of("root")), "DELETE", &path("t1"), None)
        .error(404);
    api.get(Some(&of("root")), &path("t1")).error(404);
    assert_eq!(holds(&api, "t2").len(), 1);
    let answer = api.call(Some(&of("tess")), "DELETE", &path("t2"), None);
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    api.call(Some(&of("tess")), "DELETE", &path("t2"), None)
        .error(404);
}

#[test]
fn releasing_is_permitted_by_what_was_placed() {
    let api = Api::start(&tenants());
    let main = json!({"job": "unit", "ref": "refs/heads/main"});
    let own = place(&api, "root", "t1/foo", main.clone());
    for (target, body) in [
        ("t1/foo", json!({"job": "unit"})),
        ("t1/foo", json!({"job": "unit", "ref": "refs/heads/next"})),
        ("t1/foo", json!({"job": "deploy", "ref": "refs/heads/main"})),
        ("t1/bar", main),
    ] {
        let other = place(&api, "root", target, body);
        let path = format!("/api/tenant/t1/autohold/{other}");
        api.call(Some(&of("hal")), "DELETE", &path, None).error(403);
        api.get(None, &path).json();
    }
    let private = r#""name":"t1","anonymous-read-access":false"#;
    api.change(&tenants().to_string().replace(r#""name":"t1""#, private));
    let path = format!("/api/tenant/t1/autohold/{}", own + 1);
    until("who may not read hears nothing of other holds", || {
        api.call(Some(&of("hal")), "DELETE", &path, None).status == 404
    });
    let path = format!("/api/tenant/t1/autohold/{own}");
    assert_eq!(
        api.call(Some(&of("hal")), "DELETE", &path, None).status,
        204
    );
}
