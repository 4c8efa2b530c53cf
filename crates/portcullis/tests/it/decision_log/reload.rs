//! What a reload changes in the decision log.

use serde_json::json;

use super::{creation, gate, kept, with_socket};
use crate::harness::{chain, until};

#[test]
fn decisions_go_to_the_store_that_the_configuration_names_now() {
    let gate = gate(&json!({"store": {"url": "sqlite:one.db"}}));
    gate.ask("/validate", &creation("a", "alice")).allowed();
    kept(&gate.folder, &["--store", "sqlite:one.db"], 1);
    let mut config = with_socket(chain(&["AlwaysAdmit"]));
    config["store"] = json!({"url": "sqlite:two.db"});
    gate.configure(config.clone());
    gate.hang_up();
    until("the new store", || gate.folder.path("two.db").exists());
    until("the reload", || {
        gate.log().contains("configuration reloaded")
    });
    gate.ask("/validate", &creation("b", "alice")).allowed();
    let found = kept(&gate.folder, &["--store", "sqlite:two.db"], 1);
    assert_eq!(found[0]["name"], "b");
    assert_eq!(super::items(&gate, "").len(), 1, "REST reads the new one");

    // One that can't be opened leaves everything as it is.
    config["store"] = json!({"url": "sqlite:portcullis.yaml/x.db"});
    gate.configure(config);
    gate.hang_up();
    gate.last_reload_is(false);
    gate.ask("/validate", &creation("c", "alice")).allowed();
    kept(&gate.folder, &["--store", "sqlite:two.db"], 2);
}

#[test]
fn what_is_masked_changes_with_a_reload() {
    let gate = gate(&json!({}));
    let review = creation("a", "alice");
    gate.ask("/validate", &review).allowed();
    kept(&gate.folder, &["--data-dir", "data"], 1);
    let mut config = with_socket(chain(&["AlwaysAdmit"]));
    config["decisions"] = json!({"mask": ["$.spec.containers[*].image"]});
    gate.configure(config);
    gate.hang_up();
    until("the reload", || {
        gate.log().contains("configuration reloaded")
    });
    gate.ask("/validate", &review).allowed();
    let found = kept(&gate.folder, &["--data-dir", "data"], 2);
    let image = |place: usize| {
        let id = found[place]["id"].as_str().unwrap();
        let whole = super::ask(&gate, &format!("/api/v1/decisions/{id}")).json();
        whole["input"]["review"]["request"]["object"]["spec"]["containers"][0]["image"].clone()
    };
    assert_eq!(image(1), "registry.example/app:1");
    assert_eq!(image(0), "(masked)");
}
