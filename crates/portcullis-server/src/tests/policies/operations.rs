//! Operations without an object, and what surrounds one.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Review};
use portcullis_testing::policies::{fruit, native, review_of};

#[test]
fn a_deletion_has_an_old_object_only() {
    let code = "return [req.operation, object, oldObject && oldObject.metadata.name].join(' ')";
    let gate = Gate::start(native(&[("P", code)]));
    let review = review_of(&fruit())
        .set("operation", "DELETE")
        .set("oldObject", fruit())
        .set("object", Value::Null);
    for path in ["/validate", "/mutate"] {
        let verdict = gate.ask(path, &review);
        assert_eq!(verdict.message(), "P: DELETE  p");
    }
    let missing = review.without("object");
    assert_eq!(gate.ask("/validate", &missing).message(), "P: DELETE  p");
}

#[test]
fn a_connection_is_judged_by_its_options() {
    let code = "if (req.operation !== 'CONNECT') return 'no'\n\
        return object.command[0] === 'sh' ? `no shell in ${req.name}/${req.subResource}` : true";
    let gate = Gate::start(native(&[("P", code)]));
    let connect = |command: &str| {
        let object = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": [command]});
        Review::create(&object)
            .set("operation", "CONNECT")
            .set("subResource", "exec")
            .set("name", "web")
    };
    gate.ask("/validate", &connect("ls")).allowed();
    let verdict = gate.ask("/validate", &connect("sh"));
    assert_eq!(verdict.message(), "P: no shell in web/exec");
}

#[test]
fn an_update_has_both() {
    let code =
        "return object.metadata.labels.a === oldObject.metadata.labels.a || 'a may not change'";
    let gate = Gate::start(native(&[("P", code)]));
    let mut after = fruit();
    after["metadata"]["labels"]["b"] = "2".into();
    let update = |object: &Value| {
        review_of(object)
            .set("operation", "UPDATE")
            .set("oldObject", fruit())
    };
    gate.ask("/validate", &update(&after)).allowed();
    after["metadata"]["labels"]["a"] = "2".into();
    gate.ask("/validate", &update(&after))
        .denied("a may not change");
}

#[test]
fn a_change_where_there_is_no_object_is_not_a_patch() {
    let code = "if (object === null) { oldObject.x = 1; return true }";
    let gate = Gate::start(native(&[("P", code)]));
    let review = review_of(&fruit())
        .set("operation", "DELETE")
        .set("oldObject", fruit())
        .set("object", Value::Null);
    let verdict = gate.ask("/mutate", &review);
    verdict.allowed();
    assert_eq!(verdict.patch(), None);
}

#[test]
fn large_numbers_that_nobody_touches_stay_as_they_are() {
    let code = "object.metadata.labels.seen = 'yes'; return true";
    let gate = Gate::start(native(&[("P", code)]));
    let mut large = fruit();
    large["spec"]["big"] = json!(9_007_199_254_740_993_u64);
    let verdict = gate.ask("/mutate", &review_of(&large));
    let mut wanted = large.clone();
    wanted["metadata"]["labels"]["seen"] = "yes".into();
    assert_eq!(verdict.patched(&large), wanted);
}
