//! Policies that are tried: who may, what comes of it, and that nothing of it lasts.

use std::sync::Barrier;

use serde_json::{Value, json};

use super::Api;
use crate::tests::harness::{Review, eventually, pod};
use portcullis_testing::tokens::{admin, of};

const PATH: &str = "/api/v1/playground";

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "al", "conditions": [{"preferred_username": "alice"}]}},
        {"authorization-rule": {"name": "bo", "conditions": [{"preferred_username": "bob"}]}},
        {"role": {"name": "reader", "permissions": {"read-decisions": true}}},
        {"role": {"name": "author", "permissions": {"playground": true}}},
        {"tenant": {"name": "t1", "anonymous-read-access": false}},
        {"api-root": {"anonymous-read-access": false, "role-mappings": {"al": "reader", "bo": "author"}}},
    ])
}

fn playground() -> Api {
    let more = json!({
        "web": {"playground": true},
        "limits": {"deadline": "1s", "memory": "8Mi"},
        "globals": "const team = 'shop';",
        "defaultAction": "allow",
        "admission": {"order": ["Policies"]},
        "policies": [{"name": "pin", "code": "if (/:latest$/.test(object.spec.containers[0].image)) return 'no latest'"}],
    });
    Api::of(Some(&tenants()), &more)
}

#[track_caller]
fn ask(api: &Api, policy: &str) -> Value {
    let answer = api.post(
        Some(&of("bob")),
        PATH,
        &json!({"policy": policy, "object": pod()}),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn it_needs_the_permission_and_the_configuration() {
    let api = playground();
    let question = json!({"policy": "return true", "object": pod()});
    api.post(None, PATH, &question).error(401);
    let (error, _) = api.post(Some(&of("alice")), PATH, &question).error(403);
    assert_eq!(error["details"]["permission"], "playground");
    assert_eq!(
        api.post(Some(&of("bob")), PATH, &question).json()["allowed"],
        true
    );
    let off = Api::start(&tenants());
    let (error, _) = off.post(Some(&of("bob")), PATH, &question).error(404);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("web: {playground: true}"), "{message}");
    off.post(Some(&of("alice")), PATH, &question).error(403);
}

#[test]
fn a_try_tells_the_verdict_the_console_and_the_lines_and_is_recorded_without_the_text() {
    let api = playground();
    let policy = "console.warn(`of ${team}`)\nif (object.metadata.name === 'other')\n  return true\ndeny('geheim-4711')";
    let verdict = ask(&api, policy);
    assert_eq!(verdict["allowed"], false, "{verdict}");
    assert_eq!(
        (&verdict["outcome"], &verdict["message"]),
        (&json!("deny"), &json!("geheim-4711"))
    );
    assert_eq!(verdict["line"], 4);
    assert_eq!(
        verdict["console"][0],
        json!({"level": "warn", "line": 1, "text": "of shop"})
    );
    assert_eq!(
        verdict["coverage"],
        json!({"covered": [1, 2, 4], "missed": [3]})
    );
    let record = eventually("the try is recorded", || {
        let path = "/api/v1/decisions?door=api&user=bob";
        let items = api.get(Some(&admin()), path).json()["items"].clone();
        items.get(0).cloned()
    });
    assert_eq!(
        (&record["operation"], &record["verdict"]),
        (&json!("playground"), &json!("allow"))
    );
    let whole = format!("/api/v1/decisions/{}", record["id"].as_str().unwrap());
    assert!(
        !api.get(Some(&admin()), &whole).text().contains("geheim"),
        "{record}"
    );
}

#[test]
fn what_is_wrong_has_a_place() {
    let api = playground();
    let question =
        json!({"policy": "return (", "object": "apiVersion: v1\nkind: Pod\nmetadata: {name: [}\n"});
    let verdict = api.post(Some(&of("bob")), PATH, &question).json();
    assert_eq!(verdict["outcome"], "invalid", "{verdict}");
    let faults = verdict["faults"].as_array().unwrap();
    let of_field = |field: &str| faults.iter().find(|fault| fault["field"] == field).unwrap();
    assert_eq!(of_field("policy")["line"], 1);
    assert_eq!(of_field("object")["line"], 3);
    assert!(of_field("object")["column"].is_u64(), "{verdict}");
    for (field, question) in [
        (
            "policy",
            json!({"policy": " ".repeat(65 << 10), "object": pod()}),
        ),
        (
            "object",
            json!({"policy": "", "object": " ".repeat(257 << 10)}),
        ),
        (
            "groups",
            json!({"policy": "", "object": pod(), "groups": vec!["g"; 300]}),
        ),
    ] {
        let (error, _) = api.post(Some(&of("bob")), PATH, &question).error(422);
        assert_eq!(error["details"]["faults"][0]["path"], field, "{error}");
    }
    let question = json!({"policy": "", "object": "", "user": " ".repeat(2 << 20)});
    api.post(Some(&of("bob")), PATH, &question).error(413);
    let (error, _) = api
        .post(Some(&of("bob")), PATH, &json!({"polcy": ""}))
        .error(400);
    assert!(
        error["message"].as_str().unwrap().contains("polcy"),
        "{error}"
    );
}

#[test]
fn limits_end_an_evaluation_and_the_next_one_works() {
    let api = playground();
    for (policy, limit) in [
        ("for (;;) {}", "deadline"),
        // Natives of the engine that don't look at the clock.
        (
            "const n = 3n ** 60000n; for (let i = 0; i < 4000; i++) `${n}`; for (;;) {}",
            "deadline",
        ),
        (
            "const all = []; for (;;) all.push('x'.repeat(65536) + all.length)",
            "memory",
        ),
    ] {
        let verdict = ask(&api, policy);
        assert_eq!(
            (&verdict["allowed"], &verdict["outcome"]),
            (&json!(false), &json!("error"))
        );
        assert_eq!(verdict["limit"], limit, "{verdict}");
        assert_eq!(ask(&api, "return true")["outcome"], "allow");
    }
}

#[test]
fn nothing_outside_is_called_and_nothing_is_kept() {
    let api = playground();
    for call in [
        "forwardToAdmissionController('http://127.0.0.1:9/')",
        "cosignVerify('key')",
    ] {
        let verdict = ask(&api, &format!("return {call}"));
        let message = verdict["message"].as_str().unwrap();
        assert!(message.contains("makes no host calls"), "{verdict}");
    }
    let count = "ac.GlobalContext.count = (ac.GlobalContext.count ?? 0) + 1; warn(String(ac.GlobalContext.count))";
    for _ in 0..2 {
        assert_eq!(ask(&api, count)["warnings"], json!(["policy: 1"]));
    }
    let kept =
        "if (globalThis.kept) return 'kept'; globalThis.kept = true; Object.prototype.kept = true";
    assert_ne!(ask(&api, kept)["message"], "kept");
    assert_ne!(ask(&api, kept)["message"], "kept");
}

#[test]
fn only_a_few_policies_are_tried_at_once() {
    let api = playground();
    const MANY: usize = 8;
    let barrier = Barrier::new(MANY);
    let question = json!({"policy": "for (;;) {}", "object": pod()});
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let one = || {
            barrier.wait();
            let answer = api.post(Some(&of("bob")), PATH, &question);
            assert!(answer.status == 200 || answer.header("retry-after") == Some("1"));
            answer.status
        };
        let all: Vec<_> = (0..MANY).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(
        statuses.contains(&200) && statuses.contains(&429),
        "{statuses:?}"
    );
    assert_eq!(ask(&api, "return true")["outcome"], "allow");
}

/// Decisions about two pods, of which one was denied.
fn decided(api: &Api) -> Vec<Value> {
    for (name, image) in [("good", "web:1"), ("bad", "web:latest")] {
        let mut pod = pod();
        pod["metadata"]["name"] = name.into();
        pod["spec"]["containers"][0]["image"] = image.into();
        api.gate.ask("/mutate", &Review::create(&pod));
    }
    eventually("the decisions are kept", || {
        let path = "/api/v1/decisions?door=kubernetes";
        let items = api.get(Some(&admin()), path).json()["items"].clone();
        let items = items.as_array()?.clone();
        (items.len() == 2).then_some(items)
    })
}

#[test]
fn a_decision_is_replayed_by_what_is_in_force_and_becomes_a_test() {
    let api = playground();
    for one in decided(&api) {
        let path = |rest: &str| format!("/api/v1/decisions/{}/{rest}", one["id"].as_str().unwrap());
        let replayed = api.get(Some(&of("alice")), &path("replay")).json();
        assert_eq!(replayed["outcome"], "same", "{replayed}");
        assert_eq!(replayed["then"]["verdict"], one["verdict"]);
        assert_eq!(replayed["then"]["policy"], one["policy"]);
        let test = api.get(Some(&of("alice")), &path("test"));
        assert_eq!(test.header("content-type"), Some("application/yaml"));
        assert!(test.text().contains("tests:"), "{}", test.text());
        api.get(Some(&of("bob")), &path("replay")).error(403);
        api.get(Some(&of("bob")), &path("test")).error(403);
    }
    let unknown = "/api/v1/decisions/01K9ZV3N5J0000000000000ABC";
    api.get(Some(&admin()), &format!("{unknown}/replay"))
        .error(404);
    api.get(Some(&admin()), &format!("{unknown}/test"))
        .error(404);
    let path = "/api/v1/decisions?door=api";
    ask(&api, "return true");
    let of_api = eventually("the call is kept", || {
        api.get(Some(&admin()), path).json()["items"][0]["id"]
            .as_str()
            .map(str::to_owned)
    });
    let of_api = format!("/api/v1/decisions/{of_api}");
    let replayed = api.get(Some(&admin()), &format!("{of_api}/replay")).json();
    assert_eq!(replayed["outcome"], "not_applicable", "{replayed}");
    api.get(Some(&admin()), &format!("{of_api}/test"))
        .error(409);
}

#[test]
fn another_text_is_replayed_over_recorded_decisions() {
    let api = playground();
    decided(&api);
    let path = "/api/v1/policies/pin/replay";
    let ask = |body: &Value| api.post(Some(&admin()), path, body);
    let report =
        ask(&json!({"text": "if (object.metadata.name === 'good') return 'not good'"})).json();
    assert_eq!(
        (&report["looked_at"], &report["is_complete"]),
        (&json!(2), &json!(true)),
        "{report}"
    );
    assert_eq!(report["summary"]["newlyDenied"], 1);
    assert_eq!(report["summary"]["newlyAllowed"], 1);
    let example = &report["changes"][0]["examples"][0];
    assert_eq!(example["name"], "good", "{report}");
    assert!(
        example["now"]["message"]
            .as_str()
            .unwrap()
            .contains("not good"),
        "{report}"
    );
    let same = ask(
        &json!({"text": "if (/:latest$/.test(object.spec.containers[0].image)) return 'no latest'", "limit": 1}),
    );
    let same = same.json();
    assert_eq!(
        (&same["looked_at"], &same["is_complete"]),
        (&json!(1), &json!(false)),
        "{same}"
    );
    assert_eq!(same["summary"]["same"], 1);
    let invalid = ask(&json!({"text": "return ("})).json();
    assert_eq!(invalid["faults"][0]["line"], 1, "{invalid}");
    ask(&json!({"text": ""})).json()["faults"][0]["message"]
        .as_str()
        .unwrap();
    ask(&json!({"text": "x", "since": "yesterday"})).error(400);
    ask(&json!({"text": "x", "limit": 0})).error(400);
    // Nothing in force has changed.
    let mut pod = pod();
    pod["spec"]["containers"][0]["image"] = "web:latest".into();
    api.gate
        .ask("/mutate", &Review::create(&pod))
        .denied("no latest");
    let body = json!({"text": "return true"});
    api.post(Some(&admin()), "/api/v1/policies/none/replay", &body)
        .error(404);
    for who in ["alice", "bob"] {
        api.post(Some(&of(who)), path, &body).error(403);
    }
}

#[test]
fn another_text_that_does_not_end_is_ended() {
    let api = playground();
    decided(&api);
    let path = "/api/v1/policies/pin/replay";
    let report = api
        .post(Some(&admin()), path, &json!({"text": "for (;;) {}"}))
        .json();
    assert_eq!(report["summary"]["unknown"], 2, "{report}");
    let report = api
        .post(Some(&admin()), path, &json!({"text": "return true"}))
        .json();
    assert_eq!(report["summary"]["newlyAllowed"], 1, "{report}");
}

#[test]
fn a_candidate_set_is_replayed_as_a_whole() {
    let api = playground();
    decided(&api);
    let ask = |body: &Value| api.post(Some(&admin()), "/api/v1/replay", body);
    // What the one removed denied is denied by another; what nobody denied is by a third one.
    let latest = "if (/:latest$/.test(object.spec.containers[0].image)) return 'still no latest'";
    let good = "if (object.metadata.name === 'good') return 'not good'";
    let report = ask(&json!({
        "policies": [
            {"name": "latest", "text": latest},
            {"name": "good", "text": good, "match": {"kinds": ["Pod"], "namespaces": ["nowhere"]}},
        ],
        "remove": ["pin"],
    }))
    .json();
    assert_eq!(report["looked_at"], 2, "{report}");
    assert_eq!(report["summary"]["same"], 2, "{report}");
    let report = ask(&json!({"policies": [
        {"name": "pin", "mode": "warn"},
        {"name": "good", "text": good, "language": "ts"},
    ]}))
    .json();
    let summary = &report["summary"];
    assert_eq!(
        (&summary["newlyDenied"], &summary["newlyAllowed"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
    let by: Vec<&Value> = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["by"])
        .collect();
    assert!(
        by.contains(&&json!("good")) && by.contains(&&json!("pin")),
        "{report}"
    );
    // The set in force is a set as well.
    assert_eq!(ask(&json!({"limit": 1})).json()["summary"]["same"], 1);
    let invalid = ask(&json!({"policies": [
        {"name": "pin", "text": "return true"},
        {"name": "new", "text": "return ("},
    ]}))
    .json();
    assert_eq!(
        (
            &invalid["faults"][0]["source"],
            &invalid["faults"][0]["line"]
        ),
        (&json!("new"), &json!(1)),
        "{invalid}"
    );
    // Nothing in force has changed.
    let mut pod = pod();
    pod["spec"]["containers"][0]["image"] = "web:latest".into();
    api.gate
        .ask("/mutate", &Review::create(&pod))
        .denied("no latest");
}

#[test]
fn a_candidate_set_that_makes_no_sense_is_rejected_with_all_its_faults() {
    let api = playground();
    let path = "/api/v1/replay";
    let body = json!({
        "policies": [
            {"name": "new"},
            {"name": "", "text": "return true"},
            {"name": "pin", "text": " ".repeat(65 << 10)},
            {"name": "pin", "match": {"kinds": ["a/b/c/d"]}},
        ],
        "remove": ["gone", "pin"],
    });
    let (error, _) = api.post(Some(&admin()), path, &body).error(422);
    let faults = error["details"]["faults"].as_array().unwrap();
    let paths: Vec<&str> = faults
        .iter()
        .map(|fault| fault["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "policies[0].text",
            "policies[1].name",
            "policies[2].text",
            "policies[3].name",
            "policies[3].match.kinds[0]",
            "remove[0]",
            "remove[1]",
        ],
        "{error}"
    );
    let many: Vec<Value> = (0..201)
        .map(|n| json!({"name": n.to_string(), "text": "x"}))
        .collect();
    api.post(Some(&admin()), path, &json!({"policies": many}))
        .error(422);
    for (body, status) in [
        (json!({"policies": [{"name": "pin", "mode": "loud"}]}), 400),
        (json!({"polcies": []}), 400),
        (json!({"limit": 5001}), 400),
    ] {
        api.post(Some(&admin()), path, &body).error(status);
    }
    for who in ["alice", "bob"] {
        api.post(Some(&of(who)), path, &json!({})).error(403);
    }
    Api::start(&tenants())
        .post(Some(&admin()), path, &json!({}))
        .error(404);
}
