//! The metadata of a policy is read without running it.

mod support;

use portcullis_script::{Language, prepare};
use serde_json::json;
use support::{js, ts};

#[test]
fn literals_are_read() {
    let script = ts(
        "export const policy: Policy = Object.freeze({\n  match: [{ kinds: ['Pod', `a\\n`], 'x y': -1.5 }] as const,\n  mode: (\"audit\") satisfies Mode, a: null, 1: true, big: 9007199254740991,\n} as const)",
    );
    let metadata = script.metadata().unwrap();
    let wanted = json!({
        "match": [{ "kinds": ["Pod", "a\n"], "x y": -1.5 }],
        "mode": "audit", "a": null, "1": true, "big": 9_007_199_254_740_991_i64,
    });
    assert_eq!(metadata.value, wanted);
    let place = |pointer: &str| (metadata.places[pointer].key, metadata.places[pointer].value);
    assert_eq!(place(""), ((1, 31), (1, 45)));
    assert_eq!(place("/match"), ((2, 3), (2, 10)));
    assert_eq!(place("/match/0/kinds"), ((2, 13), (2, 20)));
    assert_eq!(place("/match/0/kinds/1"), ((2, 28), (2, 28)));
    assert_eq!(place("/match/0/x y"), ((2, 36), (2, 43)));
    assert_eq!(place("/1"), ((3, 44), (3, 47)));
}

#[test]
fn a_constant_may_be_exported_later() {
    let script = js("const a = { b: 1 };\nexport { a as policy }");
    let metadata = script.metadata().unwrap();
    assert_eq!(metadata.value, json!({ "b": 1 }));
    assert_eq!(metadata.places[""].value, (1, 11));
}

#[test]
fn there_may_be_none() {
    for text in [
        "const policy = f()",
        "export const other = f()",
        "const policy = f(); export {}",
    ] {
        assert_eq!(js(text).metadata(), None, "{text}");
    }
}

#[test]
fn anything_else_is_refused() {
    for (text, column) in [
        ("export const policy = { a: b }", 28),
        ("export const policy = { a }", 25),
        ("export const policy = { ...a }", 25),
        ("export const policy = { [a]: 1 }", 25),
        ("export const policy = { a() {} }", 25),
        ("export const policy = { __proto__: {} }", 25),
        ("export const policy = [...a]", 24),
        ("export const policy = [,]", 23),
        ("export const policy = `a${b}`", 23),
        ("export const policy = /a/", 23),
        ("export const policy = 1n", 23),
        ("export const policy = 1e999", 23),
        ("export const policy = undefined", 23),
        ("export const policy = Object.assign({})", 23),
        ("export const policy = -a", 23),
        ("export let policy = {}", 12),
        ("export function policy() {}", 17),
        ("export const { policy } = a", 16),
        ("import { policy } from 'a'; export { policy }", 38),
        ("export { policy } from 'a'", 10),
        ("export * as policy from 'a'", 8),
    ] {
        let faults = prepare(text, Language::JavaScript).unwrap_err();
        let message = "`policy` must be a literal: it is read before the policy runs";
        assert_eq!(faults[0].message, message, "{text}");
        assert_eq!(faults[0].column, column, "{text}");
    }
}
