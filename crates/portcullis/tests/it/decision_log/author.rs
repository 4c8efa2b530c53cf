//! What the author of a policy says of it, in answers and records.

use portcullis_testing::policies::{fruit, review_of};
use serde_json::json;

use super::{ask, creation, items, with_socket};
use crate::harness::{AcjsSetup, Setup, acjs, eventually, run_in};

const LINK: &str = "https://example.org/pods";

#[test]
fn a_denial_says_where_more_is_said_and_the_record_has_it() {
    let policy = |name: &str, mode: &str, code: &str| {
        json!({"name": name, "code": code, "mode": mode, "link": LINK, "severity": "high",
            "description": "Pods have an owner.", "category": "ownership"})
    };
    let policies = [
        policy("passes", "enforce", ""),
        policy("warns", "warn", "return 'no team'"),
        policy("denies", "enforce", "return 'no owner'"),
    ];
    let config = json!({"policies": policies, "defaultAction": "allow"});
    let gate = Setup::new(with_socket(config)).start();
    let answer = gate.ask("/validate", &creation("a", "alice"));
    assert_eq!(answer.message(), "denies: no owner");
    let warnings = answer.0["warnings"].clone();
    let wanted = [
        format!("warns: no team (see {LINK})"),
        format!("denies: see {LINK}"),
    ];
    assert_eq!(warnings, json!(wanted));
    let listed = eventually("the decision is recorded", || {
        items(&gate, "").first().cloned()
    });
    let id = listed["id"].as_str().unwrap();
    let record = ask(&gate, &format!("/api/v1/decisions/{id}")).json();
    let steps = record["trace"][0]["policies"].as_array().unwrap();
    for (step, (name, severity)) in steps.iter().zip([
        ("passes", json!(null)),
        ("warns", json!("high")),
        ("denies", json!("high")),
    ]) {
        assert_eq!(
            (&step["name"], &step["severity"]),
            (&json!(name), &severity),
            "{step}"
        );
        assert_eq!(step["link"] == LINK, !severity.is_null(), "{step}");
        for (key, value) in [
            ("description", "Pods have an owner."),
            ("category", "ownership"),
        ] {
            assert_eq!(step[key] == value, !severity.is_null(), "{step}");
        }
    }
    let explained = run_in(&gate.folder, &["explain", id, "--data-dir", "data"]);
    let row = "no owner [severity: high] [category: ownership] (Pods have an owner.) \
               see https://example.org/pods";
    assert!(
        explained.out.contains(row),
        "{}{}",
        explained.out,
        explained.err
    );
}

#[test]
fn answers_to_acjs_stay_as_they_are() {
    let mut config = acjs(&[("P", "return 'no'")]);
    config["policies"][0]["link"] = LINK.into();
    let server = AcjsSetup::new(config).start();
    let answer = server.ask(&review_of(&fruit()));
    assert_eq!(answer.message(), "P: no");
    assert_eq!(answer.0["warnings"], json!(null));
}
