//! `failure: open`: an error counts as no opinion of that policy.

use serde_json::json;

use crate::tests::harness::Gate;
use portcullis_testing::policies::{fruit, named};

fn gate(failure: &str, action: &str) -> Gate {
    let broken = "object.broken = 1\n\
        if (req.name === 'throw') throw new Error('broken')\n\
        if (req.name === 'deep') (function f() { f() })()\n\
        if (req.name === 'odd') return 7\n\
        if (req.name === 'no') return 'a plain no'";
    let policies = json!([
        {"name": "First", "code": "object.first = 1"},
        {"name": "Broken", "code": broken},
        {"name": "Last", "code": "object.last = 1; if (req.namespace === 'shut') return 'shut'"},
    ]);
    let plugins = json!([{"name": "Policies", "failure": failure}]);
    Gate::start(json!({
        "policies": policies, "defaultAction": action, "admission": {"plugins": plugins},
    }))
}

fn changes(verdict: &crate::tests::harness::Verdict) -> Vec<String> {
    let after = verdict.patched(&fruit());
    let keys = ["first", "broken", "last"].into_iter();
    keys.filter(|key| after.get(*key).is_some())
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_error_is_no_opinion() {
    let gate = gate("open", "allow");
    for name in ["throw", "deep", "odd"] {
        let verdict = gate.ask("/mutate", &named(name));
        verdict.allowed();
        assert_eq!(changes(&verdict), ["first", "last"], "{name}");
    }
    let verdict = gate.ask("/mutate", &named("fine"));
    assert_eq!(changes(&verdict), ["first", "broken", "last"]);
}

#[test]
fn a_refusal_is_one_all_the_same() {
    let gate = gate("open", "allow");
    let verdict = gate.ask("/mutate", &named("no"));
    verdict.denied("Broken: a plain no");
    // Of a later policy, too.
    let verdict = gate.ask("/mutate", &named("throw").set("namespace", "shut"));
    verdict.denied("Last: shut");
}

#[test]
fn the_default_action_still_rejects() {
    gate("open", "reject")
        .ask("/mutate", &named("throw"))
        .denied("default");
}

#[test]
fn time_that_is_used_up_leaves_none_for_the_others() {
    let policies = json!([
        {"name": "Slow", "code": "for (;;);"},
        {"name": "Last", "code": "return 'asked'"},
    ]);
    for (action, is_open) in [("allow", true), ("reject", false)] {
        let gate = Gate::start(json!({
            "policies": policies, "defaultAction": action, "limits": {"deadline": "500ms"},
            "admission": {"plugins": [{"name": "Policies", "failure": "open"}]},
        }));
        let verdict = gate.ask("/mutate", &named("any"));
        assert_eq!(verdict.is_allowed(), is_open, "{}", verdict.message());
    }
}

#[test]
fn closed_is_what_there_is_without_a_word() {
    let gate = gate("closed", "allow");
    for (name, needle) in [
        ("throw", "broken"),
        ("deep", "stack"),
        ("odd", "unknown return"),
    ] {
        let verdict = gate.ask("/mutate", &named(name));
        verdict.denied("Broken: ");
        verdict.denied(needle);
        assert_eq!(verdict.0["status"]["reason"], "INTERNAL_ERROR");
    }
    let policies = json!([{"name": "P", "code": "throw 1"}]);
    let gate = Gate::start(json!({"policies": policies, "defaultAction": "allow"}));
    gate.ask("/validate", &named("any")).denied("P: ");
}
