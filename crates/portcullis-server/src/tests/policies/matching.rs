//! `match`: which requests a policy applies to.

use serde_json::{Value, json};

use crate::tests::harness::{Folder, Gate, Review, examined};
use portcullis_testing::policies::{fruit, review_of};

/// A gate with one policy for each rule, which denies what it is asked about.
fn gate(rules: &[(&str, Value)]) -> Gate {
    let list = rules
        .iter()
        .map(|(name, rule)| json!({"name": name, "code": "return 'asked'", "match": rule}));
    Gate::start(json!({"policies": list.collect::<Vec<_>>(), "defaultAction": "allow"}))
}

/// The first policy that was evaluated for a review; none if it was allowed.
fn asked(gate: &Gate, path: &str, review: &Review) -> Option<String> {
    let verdict = gate.ask(path, review);
    assert_eq!(verdict.is_allowed(), verdict.annotation("policy").is_none());
    verdict.annotation("policy").map(str::to_owned)
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "prod-eu", "labels": {"tier": "front", "app": "web"}},
    })
}

#[test]
fn each_key_by_itself() {
    let gate = gate(&[
        ("deletions", json!({"operations": ["DELETE"]})),
        ("deployments", json!({"kinds": ["apps/Deployment"]})),
        ("production", json!({"namespaces": ["prod-*", "live"]})),
        ("fronts", json!({"labels": {"tier": "front"}})),
        ("hooks", json!({"paths": ["/validate/hooks/*"]})),
        ("jobs", json!({"doors": ["ci"]})),
    ]);
    let deletion = review_of(&fruit())
        .set("operation", "DELETE")
        .set("oldObject", fruit())
        .set("object", Value::Null);
    let mut labelled = fruit();
    labelled["metadata"]["labels"]["tier"] = "front".into();
    let plain = review_of(&fruit());
    for (path, review, who) in [
        ("/validate", deletion, Some("deletions")),
        (
            "/validate",
            Review::create(&deployment()),
            Some("deployments"),
        ),
        (
            "/validate",
            plain.clone().set("namespace", "prod-eu"),
            Some("production"),
        ),
        (
            "/validate",
            plain.clone().set("namespace", "live"),
            Some("production"),
        ),
        ("/validate", review_of(&labelled), Some("fronts")),
        ("/validate/hooks/a?timeout=5s", plain.clone(), Some("hooks")),
        ("/validate/hooks/a/b", plain.clone(), None),
        ("/validate", plain.clone().set("namespace", "preprod"), None),
        ("/validate", plain, None),
    ] {
        let found = asked(&gate, path, &review);
        assert_eq!(found.as_deref(), who, "{path} {}", review.text());
    }
}

#[test]
fn every_key_must_fit() {
    let rule = json!({
        "operations": ["CREATE", "UPDATE"], "kinds": ["Pod", "apps/v1/Deployment"],
        "namespaces": ["prod-*"], "labels": {"tier": "front", "app": "web"},
        "paths": ["/mutate/**"], "doors": ["kubernetes"],
    });
    let gate = gate(&[("all", rule)]);
    let fits = Review::create(&deployment());
    assert_eq!(asked(&gate, "/mutate/a/b", &fits).as_deref(), Some("all"));
    let mut other_label = deployment();
    other_label["metadata"]["labels"]["app"] = "api".into();
    let mut other_kind = deployment();
    other_kind["apiVersion"] = "apps/v2".into();
    for (path, review) in [
        ("/validate/a/b", fits.clone()),
        ("/mutate/a", fits.clone().set("namespace", "dev")),
        ("/mutate/a", Review::create(&other_label)),
        ("/mutate/a", Review::create(&other_kind)),
        (
            "/mutate/a",
            fits.set("operation", "DELETE")
                .set("oldObject", deployment())
                .set("object", Value::Null),
        ),
    ] {
        assert_eq!(asked(&gate, path, &review), None, "{path}");
    }
}

#[test]
fn labels_of_a_deletion_are_those_of_the_old_object() {
    let gate = gate(&[("fronts", json!({"labels": {"tier": "front"}}))]);
    let deletion = |old: Value| {
        Review::create(&deployment())
            .set("operation", "DELETE")
            .set("oldObject", old)
            .set("object", Value::Null)
    };
    let found = asked(&gate, "/validate", &deletion(deployment()));
    assert_eq!(found.as_deref(), Some("fronts"));
    let mut other = deployment();
    other["metadata"]["labels"] = json!({});
    assert_eq!(asked(&gate, "/validate", &deletion(other)), None);
}

#[test]
fn who_is_asked_is_settled_before_the_first_policy_runs() {
    let policies = json!([
        {"name": "Labels", "code": "object.metadata.labels.tier = 'front'"},
        {"name": "Fronts", "code": "return 'asked'", "match": {"labels": {"tier": "front"}}},
    ]);
    let gate = Gate::start(json!({"policies": policies, "defaultAction": "allow"}));
    let verdict = gate.ask("/mutate", &review_of(&fruit()));
    verdict.allowed();
    assert_eq!(
        verdict.patched(&fruit())["metadata"]["labels"]["tier"],
        "front"
    );
}

#[test]
fn what_matches_nothing_follows_the_default() {
    let rule = json!({"kinds": ["Nothing"]});
    let policy = json!({"name": "P", "code": "return false", "match": rule});
    for (action, is_open) in [("allow", true), ("reject", false)] {
        let config = json!({"policies": [policy], "defaultAction": action});
        let verdict = Gate::start(config).ask("/validate", &review_of(&fruit()));
        assert_eq!(verdict.is_allowed(), is_open, "{action}");
    }
}

#[test]
fn faulty_rules_are_faults() {
    for rule in [
        json!({"operations": ["PATCH"]}),
        json!({"kinds": []}),
        json!({"doors": ["windows"]}),
        json!({"colours": ["red"]}),
    ] {
        let folder = Folder::new();
        let policy = json!({"name": "P", "code": "return true", "match": rule});
        let config = json!({"policies": [policy]});
        folder.write("portcullis.yaml", config.to_string());
        let faults = examined(&folder);
        assert!(faults.contains("portcullis.yaml:"), "{rule}: {faults}");
    }
}
