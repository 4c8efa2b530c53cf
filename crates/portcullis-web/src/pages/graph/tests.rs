//! The page of the graph.

use serde_json::{Value, json};

use crate::testing::Fake;

fn profiles(names: &[&str]) -> Value {
    let one = |name: &&str| {
        json!({"name": name, "description": null, "is_caught_up": true, "problems": [],
            "graphs": [{"target": "Node", "vertices": 3, "edges": 2}]})
    };
    let all: Vec<Value> = names.iter().map(one).collect();
    json!({"profiles": all, "authorizers": []})
}

fn fake() -> Fake {
    Fake::new().with("/api/v1/graph/profiles", profiles(&["node"]))
}

fn neighbors(incoming: usize) -> Value {
    let incoming = (0..incoming)
        .map(|i| json!({"vertex": format!("Secret:shop/s{i}"), "owners": ["Pod:shop/web"]}));
    json!({"vertex": "Pod:shop/web", "is_object": true, "incoming": incoming.collect::<Vec<_>>(),
        "outgoing": [{"vertex": "Node:<script>", "owners": []}], "is_cut": false})
}

#[test]
fn it_begins_with_a_search() {
    let html = fake().page_with("/graph", 200);
    assert!(
        html.contains("name=\"vertex\"") && html.contains("name=\"from\""),
        "{html}"
    );
    assert!(!html.contains("<svg"), "{html}");
    let none = Fake::new().with("/api/v1/graph/profiles", profiles(&[]));
    assert!(
        none.page_with("/graph", 200)
            .contains("No graph profile is configured")
    );
}

#[test]
fn a_vertex_has_its_neighbours_as_lists_and_as_a_picture() {
    let path = "/api/v1/graph/neighbors?vertex=Pod%3Ashop%2Fweb";
    let html = fake()
        .with(path, neighbors(2))
        .page_with("/graph?vertex=Pod:shop/web", 200);
    assert!(
        html.contains("<svg") && html.contains("Secret:shop/s1"),
        "{html}"
    );
    assert!(
        html.contains("href=\"/graph?vertex=Secret%3Ashop%2Fs1\""),
        "{html}"
    );
    assert!(!html.contains("<script>"), "{html}");
    assert!(!html.contains(" more"), "{html}");
}

#[test]
fn what_is_too_much_is_counted() {
    let path = "/api/v1/graph/neighbors?vertex=Pod%3Ashop%2Fweb";
    let html = fake()
        .with(path, neighbors(450))
        .page_with("/graph?vertex=Pod:shop/web", 200);
    assert!(
        html.contains("250 more") && !html.contains("Secret:shop/s449"),
        "{html}"
    );
    assert_eq!(html.matches("<rect").count(), 200);
}

#[test]
fn a_path_is_told_in_words_and_drawn() {
    let asked = "/api/v1/graph/path?from=A%3Aa&to=C%3Ac";
    let answer = |found: bool, path: Value, leads_to: Value| {
        let said =
            json!({"from": "A:a", "to": "C:c", "found": found, "path": path, "leads_to": leads_to});
        fake()
            .with(asked, said)
            .page_with("/graph?from=A:a&to=C:c", 200)
    };
    let html = answer(true, json!(["A:a", "B:b", "C:c"]), json!([]));
    assert!(html.contains("leads to") && html.contains("B:b"), "{html}");
    assert_eq!(html.matches("<rect").count(), 3);
    let html = answer(false, json!([]), json!(["D:d"]));
    assert!(
        html.contains("There is no path") && html.contains("D:d"),
        "{html}"
    );
    assert!(!html.contains("<svg"), "{html}");
}

#[test]
fn what_is_malformed_or_unknown_is_said_beside_the_form() {
    let asked = "/api/v1/graph/neighbors?vertex=x";
    let html = fake()
        .failing(asked, 400, "vertex: `x` is no vertex")
        .page_with("/graph?vertex=x", 400);
    assert!(
        html.contains("is no vertex") && html.contains("value=\"x\""),
        "{html}"
    );
    let html = fake().page_with("/graph?profile=other", 404);
    assert!(html.contains("Unknown graph profile."), "{html}");
    let refused = Fake::new().failing(
        "/api/v1/graph/profiles",
        403,
        "none of your roles here permits `read-graph`",
    );
    assert!(refused.page_with("/graph", 403).contains("read-graph"));
}
