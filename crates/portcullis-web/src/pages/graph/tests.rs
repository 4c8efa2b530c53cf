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
        html.contains("name=\"search\"") && html.contains("name=\"from\""),
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
    let all = "href=\"/debug/resource-dependency-graph?kind=Pod&#38;namespace=shop&#38;name=web\">250 more";
    assert!(html.contains(all), "{html}");
    let whole = "/debug/resource-dependency-graph?profile=node&#38;target=Node\">3 vertices";
    assert!(html.contains(whole), "{html}");
}

#[test]
fn a_part_of_a_name_finds_vertices() {
    let asked = "/api/v1/graph/vertices?profile=node&text=we+%3C";
    let search = |items: Value, is_cut: bool| {
        let found = json!({"items": items, "is_cut": is_cut});
        let vertex = "/api/v1/graph/neighbors?profile=node&vertex=Pod%3Ashop%2Fweb";
        fake()
            .with(asked, found)
            .with(vertex, neighbors(1))
            .page_with("/graph?profile=node&search=we+%3C", 200)
    };
    let html = search(json!(["Pod:shop/web", "Pod:<b>/web"]), true);
    let link = "href=\"/graph?profile=node&#38;vertex=Pod%3Ashop%2Fweb\"";
    assert!(html.contains(link) && !html.contains("<b>"), "{html}");
    assert!(html.contains("2 vertices found. There are more"), "{html}");
    assert!(html.contains("value=\"we &#60;\""), "{html}");
    assert!(!html.contains("<svg"), "{html}");
    let html = search(json!([]), false);
    assert!(html.contains("No vertex has this"), "{html}");
    // The only one is shown at once.
    let html = search(json!(["Pod:shop/web"]), false);
    assert!(
        html.contains("1 vertex found") && html.contains("<svg"),
        "{html}"
    );
}

#[test]
fn a_vertex_that_is_not_there_can_be_searched_by_its_name() {
    let asked = "/api/v1/graph/neighbors?vertex=Pod%3Aweb";
    let html = fake()
        .failing(asked, 404, "there is no vertex `Pod:web`")
        .page_with("/graph?vertex=Pod:web", 404);
    assert!(html.contains("href=\"/graph?search=web\""), "{html}");
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
