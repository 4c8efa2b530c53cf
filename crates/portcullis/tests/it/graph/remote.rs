//! The commands against a small server: their requests, and how they handle its answers.

use serde_json::{Value, json};

use super::json_of;
use crate::harness::{Ran, Rest, RestAnswer, RestCall, free_port, run};

#[track_caller]
fn there(server: &Rest, command: &str) -> Ran {
    let command: Vec<&str> = command.split(' ').collect();
    run(&[
        &command[..],
        &["--server", &server.url, "--token", "geheim"],
    ]
    .concat())
}

/// Knows two profiles, and answers everything else with this.
fn knowing(answer: Value) -> Rest {
    Rest::new(move |call: &RestCall| -> RestAnswer {
        let known = json!({
            "profiles": [{"name": "office"}, {"name": "other"}],
            "authorizers": ["office", "other", "local"],
        });
        match call.line.as_str() {
            "GET /api/v1/graph/profiles" => (200, known.to_string()),
            _ => (200, answer.to_string()),
        }
    })
}

fn path() -> Value {
    json!({"from": "A:x", "to": "B:y", "found": true, "path": ["A:x", "B:y"], "leads_to": []})
}

fn said(allowed: bool, error: Option<&str>) -> Value {
    json!({
        "allowed": allowed, "decision": if allowed { "allow" } else { "no_opinion" }, "reason": "because",
        "authorizer": "office", "error": error, "explanation": [], "hints": [],
    })
}

#[test]
fn vertices_are_asked_for_by_name() {
    let server = Rest::always(200, &path());
    let ran = there(&server, "graph path Secret:a/b%&c Seed:s --target Seed");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out, "A:x\n-> B:y\n");
    let call = server.call();
    assert_eq!(
        call.line,
        "GET /api/v1/graph/path?from=Secret%3Aa%2Fb%25%26c&to=Seed%3As&target=Seed"
    );
    assert_eq!(call.token.as_deref(), Some("geheim"));
    let answer = json!({
        "vertex": "A:x", "is_object": true, "incoming": [], "is_cut": false,
        "outgoing": [{"vertex": "B:y\u{1b}", "owners": ["C:z"]}],
    });
    let ran = there(&Rest::always(200, &answer), "graph neighbors A:x");
    assert_eq!(ran.out, "A:x\n  -> (1)\n    B:y\\u{1b}  (by C:z)\n");
}

#[test]
fn no_path_is_a_no() {
    let mut answer = path();
    answer["found"] = json!(false);
    answer["path"] = json!([]);
    let ran = there(&Rest::always(200, &answer), "graph path A:x B:y");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(1), "no path from A:x to B:y\n")
    );
}

#[test]
fn profiles_and_authorizers_are_looked_up_first() {
    let server = knowing(path());
    let ran = there(&server, "graph path A:x B:y --profile other");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<String> = server.calls().into_iter().map(|call| call.line).collect();
    assert_eq!(
        lines,
        [
            "GET /api/v1/graph/profiles",
            "GET /api/v1/graph/path?from=A%3Ax&to=B%3Ay&profile=other"
        ]
    );
    let ran = there(&server, "graph export --json --profile offise");
    assert_eq!(ran.code, Some(3));
    ran.says(&["there is no profile `offise`", "did you mean `office`?"]);
    let ran = there(&server, "can-i get pods --as u --authorizer locl");
    assert_eq!(ran.code, Some(3));
    ran.says(&["there is no authorizer `locl`", "did you mean `local`?"]);
}

#[test]
fn questions_are_asked_with_everything_that_was_said() {
    let server = knowing(said(true, None));
    let ran = there(
        &server,
        "can-i list shoots.core.gardener.cloud -n garden-a -l a=b --as u --as-group g,h --as-group i --authorizer local",
    );
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "yes: office allows it: because\n")
    );
    assert_eq!(
        server.calls().last().unwrap().line,
        "GET /api/v1/graph/can-i?verb=list&user=u&resource=shoots&group=core.gardener.cloud\
         &namespace=garden-a&selector=a%3Db&groups=g%2Ch&groups=i&authorizer=local"
    );
    let ran = there(
        &Rest::always(200, &said(false, None)),
        "can-i get pods --as u -o json",
    );
    assert_eq!(
        (ran.code, json_of(&ran)["allowed"].clone()),
        (Some(1), json!(false))
    );
    let late = Rest::always(200, &said(false, Some("office: not caught up")));
    let ran = there(&late, "can-i get pods --as u");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(5), "can't tell: office: not caught up\n")
    );
}

/// Exports this text from a graph with these problems.
fn exporting(text: &'static str, problems: Value) -> Rest {
    Rest::new(move |call: &RestCall| -> RestAnswer {
        let known = json!({"profiles": [{"name": "office", "problems": problems}]});
        match call.line.as_str() {
            "GET /api/v1/graph/profiles" => (200, known.to_string()),
            _ => (200, text.to_owned()),
        }
    })
}

#[test]
fn what_a_server_could_not_read_is_told_and_nothing_is_certain_without_it() {
    let problems = json!(["objects/a\u{1b}.yaml:1:2: not valid YAML"]);
    let told = "warning: objects/a\\u{1b}.yaml:1:2: not valid YAML";
    let mut no_path = path();
    no_path["problems"] = problems.clone();
    let ran = there(&Rest::always(200, &no_path), "graph path A:x B:y");
    assert_eq!(ran.code, Some(0), "a path is a path");
    super::told(&ran, &[told]);
    no_path["found"] = json!(false);
    no_path["path"] = json!([]);
    let mut unsure = said(false, None);
    unsure["problems"] = problems.clone();
    unsure["is_uncertain"] = json!(true);
    for (answer, command) in [
        (no_path, "graph path A:x B:y"),
        (unsure, "can-i get pods --as u"),
    ] {
        let ran = there(&Rest::always(200, &answer), command);
        assert_eq!(ran.code, Some(5), "{command}: {}", ran.out);
        assert!(ran.out.starts_with("can't tell"), "{}", ran.out);
        super::told(&ran, &[told]);
    }
    let ran = there(
        &exporting("{\"vertices\":[]}\n", problems.clone()),
        "graph export --json",
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(5), ""));
    ran.says(&[told, "the graph is incomplete"]);
    // A vertex that is not there may be in what could not be read.
    let server = Rest::new(move |call: &RestCall| -> RestAnswer {
        let known = json!({"profiles": [{"name": "office", "problems": problems}]});
        let missing =
            json!({"error": {"code": "unknown_vertex", "message": "no vertex"}, "request_id": "x"});
        match call.line.as_str() {
            "GET /api/v1/graph/profiles" => (200, known.to_string()),
            _ => (404, missing.to_string()),
        }
    });
    let ran = there(&server, "graph neighbors A:x");
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&[told, "can't tell"]);
}

#[test]
fn an_export_is_passed_on_as_it_is() {
    let text = "{\"vertices\":[\n],\n\"edges\":[\n]}\n";
    let server = exporting(text, json!([]));
    let ran = there(&server, "graph export --json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), text));
    let last = || server.calls().pop().unwrap().line;
    assert_eq!(last(), "GET /api/v1/graph/export?format=json");
    let server = exporting("digraph \"x\" {\n}\n", json!([]));
    let ran = there(&server, "graph export -o dot --target Seed");
    assert_eq!(ran.out, "digraph \"x\" {\n}\n");
    assert_eq!(
        server.calls().pop().unwrap().line,
        "GET /api/v1/graph/export?format=dot&target=Seed"
    );
}

#[test]
fn an_export_that_breaks_off_is_no_graph() {
    for text in [
        "",
        "{\"vertices\":[",
        "{\"vertices\":[\n],\n\"edges\":[\n]}",
    ] {
        let server = exporting(text, json!([]));
        let ran = there(&server, "graph export --json");
        assert_eq!(ran.code, Some(5), "{text}");
        assert!(ran.err.contains("the graph is incomplete"), "{}", ran.err);
    }
}

#[test]
fn refusals_have_the_codes_of_other_commands() {
    for (status, code) in [(401, 4), (403, 4), (404, 6), (400, 2), (503, 5), (500, 5)] {
        for command in [
            "graph path A:x B:y",
            "graph neighbors A:x",
            "graph export --json",
            "can-i get pods --as u",
        ] {
            let server = Rest::refusing(status, "this is why", &json!(null));
            let ran = there(&server, command);
            assert_eq!(ran.code, Some(code), "{command} {status}: {}", ran.err);
            ran.says(&["this is why"]);
        }
    }
    let gone = format!("http://127.0.0.1:{}", free_port());
    for command in [
        &["graph", "export", "--dot"][..],
        &["can-i", "get", "pods", "--as", "u"],
    ] {
        let ran = run(&[command, &["--server", &gone]].concat());
        assert_eq!(ran.code, Some(5), "{}", ran.err);
    }
    let senseless = Rest::always(200, &json!({"found": 1}));
    assert_eq!(there(&senseless, "graph path A:x B:y").code, Some(5));
}

#[test]
fn the_environment_names_a_server_too() {
    let server = Rest::always(200, &path());
    let folder = crate::harness::Folder::new();
    let ask = |more: &[&str]| {
        let mut program = crate::harness::program(folder.root());
        program.args(["graph", "path", "A:x", "B:y"]).args(more);
        program.envs([
            ("PORTCULLIS_SERVER", server.url.as_str()),
            ("PORTCULLIS_TOKEN", "geheim"),
        ]);
        program.output().unwrap().status.code()
    };
    assert_eq!(ask(&[]), Some(0));
    assert_eq!(server.call().token.as_deref(), Some("geheim"));
    // What is given comes first.
    assert_eq!(ask(&["--config", "nosuch.yaml"]), Some(3));
    assert_eq!(server.calls().len(), 1);
}
