//! `$cover` marks.

use portcullis_js::{ModuleSource, PolicyCode, PolicySet, PolicySource, Sources};
use serde_json::json;

use crate::support::*;

#[test]
fn marks_that_were_passed_are_listed_once_and_per_evaluation() {
    let sources = Sources {
        globals: "$cover(0); function f() { $cover(70); }".into(),
        modules: vec![ModuleSource {
            name: "m.js".into(),
            header: String::new(),
            code: "$cover(3); function policy() { $cover(4); }".into(),
            footer: "return {get default() { return policy }};".into(),
        }],
        policies: vec![
            PolicySource::body(
                "A",
                "$cover(2); f(); f(); if (object.more) { $cover(1); } $cover(99); $cover(-1); $cover()",
            ),
            PolicySource {
                name: "M".into(),
                code: PolicyCode::Module(0),
            },
        ],
        marks: 71,
    };
    let pool = pool_of(PolicySet::compile(&sources).unwrap(), limits(), 1);
    let covered = |object| pool.evaluate(input(object)).unwrap().covered;
    assert_eq!(covered(json!({"more": 1})), [0, 1, 2, 3, 4, 70]);
    assert_eq!(covered(json!({})), [0, 2, 3, 4, 70]);
    assert!(p("").covered.is_empty());
    assert!(message("$cover(1)").contains("ReferenceError"));
}
