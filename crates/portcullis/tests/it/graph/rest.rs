//! The calls of a running server, and the commands that ask it.

use serde_json::{Value, json};

use super::{OBJECTS, PROFILE, configuration, json_of};
use crate::api::{Api, admin, of, setup};
use crate::harness::{Ran, run, until};

/// A server with the office's graph, whose readers are in a role.
pub(super) fn served() -> Api {
    let tenants = json!([
        {"authorization-rule": {"name": "graphs", "conditions": [{"preferred_username": "grace"}]}},
        {"role": {"name": "graph-reader", "permissions": {"read-graph": true}}},
        {"api-root": {"anonymous-read-access": false, "role-mappings": {"graphs": "graph-reader"}}},
        {"tenant": {"name": "t1"}},
    ]);
    let (mut setup, port) = setup(Some(&tenants));
    for (key, value) in configuration().as_object().unwrap() {
        setup = setup.key(key, value.clone());
    }
    let setup = setup
        .file("office.yaml", PROFILE)
        .file("objects/all.yaml", OBJECTS);
    let gate = setup.start();
    Api::of(gate, port)
}

const CALLS: [&str; 7] = [
    "/api/v1/graph/profiles",
    "/api/v1/graph/path?from=Badge:hq/b1&to=Robot:r1",
    "/api/v1/graph/neighbors?vertex=Robot:r1",
    "/api/v1/graph/export",
    "/api/v1/graph/can-i?verb=get&user=robot:r1&groups=robots&resource=badges&namespace=hq&name=b1",
    "/debug/resource-dependency-graph",
    "/api/v1/graph/vertices?text=robot",
];

#[test]
fn only_those_who_may_read_the_graph_get_it() {
    let api = served();
    for path in CALLS {
        let (error, _) = api.get(None, path).error(401);
        assert_eq!(error["code"], "missing_token", "{path}");
        let (error, _) = api.get(Some(&of("bob")), path).error(403);
        assert_eq!(error["details"]["permission"], "read-graph", "{path}");
        for who in [of("grace"), admin()] {
            assert_eq!(api.get(Some(&who), path).status, 200, "{path}");
        }
    }
}

#[test]
fn calls_answer_what_commands_print() {
    let api = served();
    let get = |path: &str| api.get(Some(&of("grace")), path).json();
    let profiles = get(CALLS[0]);
    assert_eq!(profiles["profiles"][0]["name"], "office");
    assert_eq!(profiles["profiles"][0]["is_caught_up"], true);
    assert_eq!(profiles["profiles"][0]["graphs"][0]["target"], "Robot");
    let authorizers = profiles["authorizers"].as_array().unwrap();
    assert!(authorizers.contains(&json!("office")) && authorizers.contains(&json!("nobody")));
    assert_eq!(
        get(CALLS[1])["path"],
        json!(["Badge:hq/b1", "Desk:hq/d1", "Robot:r1"])
    );
    assert_eq!(get(CALLS[2])["incoming"][0]["vertex"], "Desk:hq/d1");
    assert_eq!(get(CALLS[3])["edges"].as_array().unwrap().len(), 4);
    let found = get("/api/v1/graph/vertices?text=HQ%20d1");
    assert_eq!(found, json!({"items": ["Desk:hq/d1"], "is_cut": false}));
    let cut = get("/api/v1/graph/vertices?text=robot&limit=1");
    assert_eq!(
        (&cut["items"], &cut["is_cut"]),
        (&json!(["Robot:r1"]), &json!(true))
    );
    let only = format!("{}&authorizer=office", CALLS[4]);
    let said = get(&only);
    assert_eq!(
        (&said["allowed"], &said["authorizer"]),
        (&json!(true), &json!("office"))
    );
    let dot = api.get(Some(&of("grace")), "/api/v1/graph/export?format=dot");
    assert!(
        dot.header("content-type")
            .unwrap()
            .starts_with("text/vnd.graphviz")
    );
    assert!(
        dot.text().starts_with("digraph \"office\" {"),
        "{}",
        dot.text()
    );
}

#[test]
fn what_is_wrong_is_told_apart() {
    let api = served();
    for (path, status, code) in [
        ("/path?from=Badge:hq/b1", 400, "malformed"),
        ("/path?from=Badge&to=Robot:r1", 400, "malformed"),
        ("/path?from=Badge:hq/b9&to=Robot:r1", 404, "unknown_vertex"),
        (
            "/path?from=Badge:hq/b1&to=Robot:r1&profile=x",
            404,
            "unknown_profile",
        ),
        (
            "/path?from=Badge:hq/b1&to=Robot:r1&target=Desk",
            400,
            "malformed",
        ),
        ("/neighbors?vertex=Nothing:x", 404, "unknown_vertex"),
        ("/neighbors?vertex=Robot:r1&colour=red", 400, "malformed"),
        ("/vertices?text=%20", 400, "malformed"),
        ("/vertices?text=a&limit=0", 400, "malformed"),
        ("/vertices?text=a&limit=1001", 400, "malformed"),
        ("/vertices?text=a&profile=x", 404, "unknown_profile"),
        ("/export?format=png", 400, "malformed"),
        ("/can-i?verb=get&user=u", 400, "malformed"),
        (
            "/can-i?verb=get&user=u&resource=pods&authorizer=x",
            404,
            "unknown_authorizer",
        ),
        ("/can-i?verb=list&user=u&resource=pods&selector=a=", 200, ""),
        (
            "/can-i?verb=list&user=u&resource=pods&selector=%3D",
            400,
            "malformed",
        ),
    ] {
        let answer = api.get(Some(&admin()), &format!("/api/v1/graph{path}"));
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        if status != 200 {
            assert_eq!(answer.error(status).0["code"], code, "{path}");
        }
    }
}

#[test]
fn commands_ask_a_running_server() {
    let api = served();
    let url = format!("http://127.0.0.1:{}", api.port);
    let ask = |command: &str, token: Option<&str>| -> Ran {
        let mut all: Vec<&str> = command.split(' ').collect();
        all.extend(["--server", &url]);
        all.extend(token.into_iter().flat_map(|token| ["--token", token]));
        run(&all)
    };
    let grace = of("grace");
    for (command, code) in [
        ("graph path Badge:hq/b1 Robot:r1", 0),
        ("graph path Badge:hq/b1 Robot:r2", 1),
        ("graph path Badge:hq/b9 Robot:r2", 6),
        ("graph path Badge:hq/b1 Robot:r1 --profile office", 0),
        ("graph path Badge:hq/b1 Robot:r1 --profile other", 3),
        ("graph path Badge:hq/b1 Robot:r1 --target Desk", 2),
        ("graph neighbors Robot:r1", 0),
        ("graph neighbors Robot:r9", 6),
        ("graph export --json", 0),
        ("graph export --dot", 0),
        (
            "can-i get badges/b1 -n hq --as robot:r1 --as-group robots --authorizer office",
            0,
        ),
        (
            "can-i get badges/b1 -n hq --as robot:r2 --as-group robots --authorizer office",
            1,
        ),
        (
            "can-i get badges/b1 -n hq --as robot:r2 --as-group robots --authorizer other",
            3,
        ),
    ] {
        let ran = ask(command, Some(&grace));
        assert_eq!(ran.code, Some(code), "{command}: {}{}", ran.out, ran.err);
        for token in [None, Some(of("bob"))] {
            let ran = ask(command, token.as_deref());
            assert_eq!(ran.code, Some(4), "{command}: {}{}", ran.out, ran.err);
            assert_eq!(ran.out, "", "{command}");
        }
    }
    let ran = ask("graph export --json", Some(&grace));
    let value: Value = json_of(&ran);
    assert_eq!(value["vertices"].as_array().unwrap().len(), 6);
}

#[test]
fn a_running_server_tells_what_it_could_not_read() {
    let api = served();
    let grace = of("grace");
    api.gate.folder.write("objects/bad.yaml", "kind: [Desk\n");
    let get = |path: &str| api.get(Some(&grace), path);
    until("the problem in the answers", || {
        let problems = get(CALLS[0]).json()["profiles"][0]["problems"].clone();
        problems.as_array().is_some_and(|all| all.len() == 1)
    });
    for path in &CALLS[1..5] {
        let problems = get(path).json()["problems"].clone();
        let first = problems[0].as_str().unwrap_or_default();
        assert!(first.contains("objects/bad.yaml:"), "{path}: {problems}");
    }
    let (error, _) = get("/api/v1/graph/path?from=Badge:hq/b9&to=Robot:r1").error(404);
    assert_eq!(
        error["details"]["problems"].as_array().unwrap().len(),
        1,
        "{error}"
    );
    let url = format!("http://127.0.0.1:{}", api.port);
    for (command, code) in [
        ("graph path Badge:hq/b1 Robot:r1", 0),
        ("graph path Badge:hq/b1 Robot:r2", 5),
        ("graph neighbors Robot:r9", 5),
        ("graph export -o dot", 5),
        (
            "can-i get badges/b1 -n hq --as robot:r2 --as-group robots --authorizer office",
            5,
        ),
        (
            "can-i delete badges/b1 -n hq --as robot:r2 --as-group robots --authorizer office",
            1,
        ),
    ] {
        let mut all: Vec<&str> = command.split(' ').collect();
        all.extend(["--server", &url, "--token", &grace]);
        let ran = run(&all);
        assert_eq!(ran.code, Some(code), "{command}: {}{}", ran.out, ran.err);
        super::told(&ran, &["warning: ", "objects/bad.yaml:"]);
    }
}
