//! `ScopedAccess`: what agents write is held to what they are responsible for.

use serde_json::{Value, json};

use portcullis_testing::garden::{bastion, config, garden, gardenlet};

use super::with_objects;
use crate::tests::harness::{Gate, Review, Setup, pod};

fn gate() -> Gate {
    let mut config = config("gardener");
    config["admission"] = json!({"order": ["ScopedAccess"]});
    with_objects(Setup::new(config), &garden()).start()
}

fn by(seed: &str, review: Review) -> Review {
    let (username, groups) = gardenlet(seed);
    review.set("userInfo", json!({"username": username, "groups": groups}))
}

/// The response to a review.
fn response(gate: &Gate, review: &Review) -> Value {
    gate.post("/validate", &review.value()).json()["response"].clone()
}

#[test]
fn an_agent_writes_for_its_own_seed_only() {
    let gate = gate();
    let create = |on: &str| by("one", Review::create(&bastion("b", on)));
    assert_eq!(response(&gate, &create("one"))["allowed"], true);
    let refused = response(&gate, &create("two"));
    assert_eq!(refused["allowed"], false);
    assert_eq!(refused["status"]["code"], 403);
    let message = refused["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("object does not belong to seed \"one\""),
        "{message}"
    );
}

#[test]
fn people_who_are_no_agents_are_not_its_business() {
    let gate = gate();
    let review = Review::create(&bastion("b", "two"));
    assert_eq!(response(&gate, &review)["allowed"], true);
}

#[test]
fn what_it_was_not_registered_for_is_refused() {
    let gate = gate();
    let refused = response(&gate, &by("one", Review::create(&pod())));
    assert_eq!(refused["status"]["code"], 400, "{refused}");
}

#[test]
fn objects_are_looked_up_among_those_that_are_watched() {
    let gate = gate();
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "garden-a"}});
    for (seed, name, code) in [
        ("one", "crane.ca-kubelet", None),
        ("two", "crane.ca-kubelet", Some(403)),
        ("one", "stork.ca-kubelet", Some(403)),
        ("one", "anything", Some(403)),
    ] {
        let answer = response(&gate, &by(seed, Review::create(&map(name))));
        assert_eq!(answer["allowed"], code.is_none(), "{seed} {name}: {answer}");
        if let Some(code) = code {
            assert_eq!(answer["status"]["code"], code, "{answer}");
        }
    }
}

#[test]
fn without_profiles_it_lets_everything_pass() {
    let gate = Gate::of(&["ScopedAccess"]);
    let review = by("one", Review::create(&bastion("b", "two")));
    assert_eq!(response(&gate, &review)["allowed"], true);
}
