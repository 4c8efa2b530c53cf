//! Running graphs: readiness, metrics, reload, and faults that are reported.

use std::fmt::Write;

use serde_json::{Value, json};

use portcullis_testing::garden::{
    bastion, comes_true, config, garden, gardenlet, may, place, review, seed,
};

use super::{gate, with_objects};
use crate::harness::{Setup, until};

#[test]
fn it_is_ready_only_when_the_graph_has_caught_up() {
    let mut text = String::new();
    for number in 0..3000 {
        let _ = writeln!(text, "---\n{}", bastion(&format!("b{number}"), "one"));
    }
    let setup = with_objects(Setup::new(config("gardener")), &[seed("one")]);
    let gate = setup.file("objects/many.yaml", text).start();
    for number in [0, 1499, 2999] {
        let request = format!("get bastions.operations.gardener.cloud garden-a/b{number}");
        assert!(may(&gate, "one", &request));
        assert!(!may(&gate, "two", &request));
    }
    assert!(gate.get("/readyz?verbose").text().contains("[+]graph ok"));
}

#[test]
fn changes_checks_and_sizes_are_counted() {
    let gate = gate(&garden());
    let size = |name: &str| gate.metrics().total(name, &[("profile", "gardener")]);
    let (vertices, edges) = (
        size("portcullis_graph_vertices"),
        size("portcullis_graph_edges"),
    );
    assert!(vertices > 10.0 && edges > 10.0, "{vertices} {edges}");
    may(&gate, "one", "get cloudprofiles.core.gardener.cloud local");
    let checks = gate.metrics().total(
        "portcullis_graph_path_check_duration_seconds_count",
        &[("from_kind", "CloudProfile"), ("to_kind", "Seed")],
    );
    assert!(checks >= 1.0, "{checks}");
    gate.folder.write(
        &place(&bastion("b", "one")),
        bastion("b", "one").to_string(),
    );
    comes_true(
        &gate,
        "one",
        "get bastions.operations.gardener.cloud garden-a/b",
        true,
    );
    let updates = gate.metrics().total(
        "portcullis_graph_update_duration_seconds_count",
        &[("kind", "Bastion"), ("operation", "CreateOrUpdate")],
    );
    assert!(updates >= 1.0, "{updates}");
    assert!(size("portcullis_graph_vertices") > vertices);
    assert!(size("portcullis_graph_edges") > edges);
    assert!(size("portcullis_graph_lag_seconds") < 60.0);
}

#[test]
fn a_reload_keeps_what_is_known_and_never_refuses_for_want_of_it() {
    let gate = gate(&garden());
    let mut other = config("gardener");
    other["authorization"]["chains"]["second"] = json!(["gardener"]);
    gate.configure(other);
    let asked = review(&gardenlet("one"), "get secrets garden-a/infra");
    until("the new chain", || {
        assert!(may(&gate, "one", "get secrets garden-a/infra"));
        let answer = gate.post("/authorize/second", &asked);
        answer.status == 200 && answer.json()["status"]["allowed"] == true
    });
    // Another profile over the same objects is there whole, or not yet.
    let mut strict = config("gardener");
    strict["graph"]["profiles"][0]["compat"] = json!("upstream");
    gate.configure(strict);
    let unknown = "delete configmaps garden-a/unheard-of";
    until("the other answers", || {
        assert!(may(&gate, "one", "get secrets garden-a/infra"));
        may(&gate, "one", unknown)
    });
}

#[test]
fn serve_takes_a_directory_for_the_profiles_that_name_none() {
    let config = json!({
        "graph": {"profiles": [{"name": "gardener", "profile": "gardener"}]},
        "authorization": {"chains": {"gardener": ["gardener"]}},
    });
    let gate = with_objects(Setup::new(config.clone()), &garden())
        .arguments(&["--objects", "objects"])
        .start();
    assert!(may(&gate, "one", "get secrets garden-a/infra"));
    let ran = Setup::new(config).run();
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("--objects DIR"), "{}", ran.err);
}

#[test]
fn faults_are_told_with_their_place() {
    let entry = |more: Value| {
        let mut config = config("gardener");
        for (key, value) in more.as_object().unwrap() {
            config["graph"]["profiles"][0][key] = value.clone();
        }
        config
    };
    for (config, wanted) in [
        (
            entry(json!({"profile": "gardner"})),
            "did you mean `gardener`?",
        ),
        (entry(json!({"profile": "torn.yaml"})), "torn.yaml:1:"),
        (entry(json!({"compat": "perhaps"})), "perhaps"),
        (entry(json!({"objects": "nowhere"})), "nowhere"),
        (entry(json!({"kubeconfig": "k"})), "can't be combined"),
        (
            entry(json!({"objects": null, "kubeconfig": "torn.yaml"})),
            "the kubeconfig",
        ),
        (
            entry(json!({"objects": null, "kubeconfig": "k"})),
            "its current-context is not one of its contexts",
        ),
        (entry(json!({"name": ""})), "the name is empty"),
        (
            json!({"authorization": {"chains": {"c": ["gardener"]}}}),
            "unknown authorizer `gardener`",
        ),
    ] {
        let setup = with_objects(Setup::new(config), &[]);
        let ran = setup.file("torn.yaml", "kind: [\n").file("k", "{}").run();
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
    }
}
