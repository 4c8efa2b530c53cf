//! `mode`: policies that only warn, or only leave a record.

use serde_json::{Value, json};

use crate::tests::harness::Gate;
use portcullis_testing::policies::{fruit, named};

/// A policy in a mode, before one that says what it sees of the first one's change.
fn gate(mode: &str, code: &str) -> Gate {
    let last = "return object.x === undefined ? true : 'changed'";
    let policies = json!([
        {"name": "Tried", "code": code, "mode": mode},
        {"name": "Last", "code": last},
    ]);
    Gate::start(json!({"policies": policies}))
}

const CODE: &str = "object.x = 1\n\
    if (req.name === 'no') return 'not this'\n\
    if (req.name === 'throw') throw new Error('broken')\n\
    if (req.name === 'loop') for (;;);\n\
    if (req.name === 'yes') return true";

fn with_deadline(mode: &str) -> Gate {
    let policies = json!([
        {"name": "Tried", "code": CODE, "mode": mode},
        {"name": "Last", "code": "return object.x === undefined ? true : 'changed'"},
    ]);
    Gate::start(json!({"policies": policies, "limits": {"deadline": "2s", "stack": "256Ki"}}))
}

#[test]
fn warn_turns_a_refusal_into_a_warning() {
    let gate = gate("warn", CODE);
    for (name, needle) in [("no", "Tried: not this"), ("throw", "broken")] {
        let verdict = gate.ask("/mutate", &named(name));
        verdict.allowed();
        assert_eq!(verdict.patch(), None, "{name}");
        let warnings = verdict.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(needle), "{warnings:?}");
        assert!(warnings[0].starts_with("Tried: "), "{warnings:?}");
    }
}

#[test]
fn dry_run_leaves_a_record_only() {
    let gate = gate("dry-run", &format!("warn('remark')\n{CODE}"));
    for name in ["no", "throw", "yes", "none"] {
        let verdict = gate.ask("/mutate", &named(name));
        verdict.allowed();
        assert_eq!(verdict.warnings(), Vec::<&str>::new(), "{name}");
        assert_eq!(verdict.patch(), None, "{name}");
    }
}

#[test]
fn an_allow_that_is_not_enforced_does_not_end_the_policies() {
    for mode in ["warn", "dry-run"] {
        let policies = json!([
            {"name": "Tried", "code": "return true", "mode": mode},
            {"name": "Last", "code": "return 'asked too'"},
        ]);
        let gate = Gate::start(json!({"policies": policies}));
        gate.ask("/validate", &named("any"))
            .denied("Last: asked too");
    }
}

#[test]
fn enforced_changes_are_seen_by_those_that_are_tried() {
    let policies = json!([
        {"name": "First", "code": "object.y = 1"},
        {"name": "Tried", "code": "if (object.y === 1) return 'seen'; object.y = 2", "mode": "warn"},
        {"name": "Last", "code": "return object.y === 1"},
    ]);
    let gate = Gate::start(json!({"policies": policies}));
    let verdict = gate.ask("/mutate", &named("any"));
    verdict.allowed();
    assert_eq!(verdict.warnings(), ["Tried: seen"]);
    let patched: Value = verdict.patched(&fruit());
    assert_eq!(patched["y"], 1);
}

#[test]
fn a_limit_counts_as_a_refusal_there_too() {
    let gate = with_deadline("warn");
    gate.ask("/mutate", &named("yes")).allowed();
    // No time is left for the policy that enforces.
    let verdict = gate.ask("/mutate", &named("loop"));
    verdict.denied("deadline");
    let deep = json!([
        {"name": "Tried", "code": "(function f() { f() })()", "mode": "warn"},
        {"name": "Last", "code": "return true"},
    ]);
    let verdict = Gate::start(json!({"policies": deep})).ask("/mutate", &named("any"));
    verdict.allowed();
    assert!(verdict.warnings()[0].contains("stack"), "{verdict:?}");
}
