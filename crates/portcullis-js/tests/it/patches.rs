//! What a policy changed, as a patch, applied by an independent implementation of RFC 6902.

use portcullis_core::patch;
use portcullis_js::{Evaluation, PolicyVerdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::*;

/// What no float holds.
const BIG: i64 = 9_007_199_254_740_993;

/// One change, in JavaScript. `$L` stands for a list of the object, `$K` for a key, `$V` for a value,
/// `$I` and `$J` for small numbers.
const EDITS: &[&str] = &[
    "$L.push($V)",
    "$L.push($V, {name: $V})",
    "$L.pop()",
    "$L.shift()",
    "$L.unshift($V)",
    "$L.splice($I, $J)",
    "$L.splice($I, $J, $V, $V)",
    "$L.splice($I, 0, {name: $V, at: $I})",
    "$L.sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)",
    "$L.reverse()",
    "$L.reverse(); $L.pop(); $L.push($V)",
    "$L[$I] = $V",
    "$L.length = Math.min($L.length, $I)",
    "$L.fill($V, $I, $I + 1)",
    "$L.copyWithin(0, $I)",
    "object.lists = $L.filter((_, n) => n % 2 === 0).concat([$V])",
    "object.lists = [...$L].sort().concat($L)",
    "object.map[$K] = $V",
    "object.map[$K] = {[$K]: [$V, {[$K]: $V}]}",
    "delete object.map[$K]",
    "for (const k of Object.keys(object.map)) object.map[k] = [object.map[k]]",
    "object.map = {...object.map, [$K]: $V}",
    "delete object.lists",
    "object.other = {big: object.big}",
    "object.nested.deep.list.push({...object.map})",
    "object.nested = {deep: {list: [...object.nested.deep.list]}}",
];

/// Keys that paths must escape, or that look like something else.
const KEYS: &[&str] = &[
    "a",
    "x/y",
    "~",
    "~1",
    "a~0b",
    "\"",
    "\\",
    "é",
    "😀",
    " ",
    "0",
    "-",
    "__proto__",
    "constructor",
    "\n",
];

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i32).prop_map(Value::from),
        "[a-c\"\\\\/~é]{0,3}".prop_map(Value::from),
        (0..3_u8).prop_map(|n| json!({"name": format!("c{n}"), "image": "i"})),
        prop::collection::vec((0..3_u8).prop_map(Value::from), 0..3).prop_map(Value::from),
    ]
}

fn objects() -> impl Strategy<Value = Value> {
    let list = || prop::collection::vec(values(), 0..7);
    let keys = prop::sample::select(KEYS);
    let map = prop::collection::btree_map(keys, values(), 0..5);
    (list(), map, list()).prop_map(|(list, map, deep)| {
        let map: serde_json::Map<_, _> = map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        json!({"big": BIG, "lists": list, "map": map, "nested": {"deep": {"list": deep}}})
    })
}

fn edits() -> impl Strategy<Value = String> {
    let one = (
        prop::sample::select(EDITS),
        prop::sample::select(KEYS),
        values(),
        0..6_usize,
        0..3_usize,
    );
    let one = one.prop_map(|(edit, key, value, i, j)| {
        let code = edit
            .replace("$L", "(object.lists ??= [])")
            .replace("$K", &Value::from(key).to_string())
            .replace("$I", &i.to_string())
            .replace("$J", &j.to_string())
            .replace("$V", &value.to_string());
        format!("{{ {code} }}")
    });
    prop::collection::vec(one, 1..5).prop_map(|all| all.join("\n"))
}

fn evaluated(code: &str, object: &Value) -> Evaluation {
    let code = format!("{code}\nwarn(JSON.stringify(object)); return true");
    pool("", &[("P", &code)])
        .evaluate(input(object.clone()))
        .unwrap()
}

/// What the object looks like from inside, big integers aside.
fn seen_inside(evaluation: &Evaluation) -> Value {
    let text = evaluation.warnings[0].trim_start_matches("P: ");
    serde_json::from_str(text).unwrap()
}

fn without_big(mut value: Value) -> Value {
    value["big"].take();
    if value.pointer("/other/big").is_some() {
        value["other"]["big"].take();
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn an_independent_implementation_gets_the_changed_object(object in objects(), code in edits()) {
        let evaluation = evaluated(&code, &object);
        prop_assert_eq!(&evaluation.verdict, &PolicyVerdict::Allow, "{}: {:?}", code, evaluation.steps);
        let changed = evaluation.object.clone().unwrap_or_else(|| object.clone());
        prop_assert_eq!(without_big(changed.clone()), without_big(seen_inside(&evaluation)), "{}", code);
        prop_assert_eq!(&changed["big"], &json!(BIG));
        if let Some(copied) = changed.pointer("/other/big") {
            prop_assert_eq!(copied, &json!(BIG));
        }
        let operations = patch::diff(&object, &changed);
        prop_assert_eq!(operations.is_empty(), object == changed);
        let text = serde_json::to_string(&operations).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&patch::diff(&object, &changed)).unwrap());
        let read: json_patch::Patch = serde_json::from_str(&text).unwrap();
        let mut patched = object.clone();
        json_patch::patch(&mut patched, &read).unwrap();
        prop_assert_eq!(patched, changed, "{}: {}", code, text);
    }
}

#[test]
fn a_change_of_one_element_is_one_operation() {
    let object = json!({"list": (0..40).collect::<Vec<_>>(), "map": {}});
    for (code, operations) in [
        ("object.list.push(1)", 1),
        ("object.list.unshift(-1)", 1),
        ("object.list.splice(20, 1)", 1),
        ("object.list[7] = 'x'", 1),
        ("object.map['a/b'] = 1; delete object.map['a/b']", 0),
    ] {
        let changed = evaluated(code, &object).object;
        let changed = changed.unwrap_or_else(|| object.clone());
        assert_eq!(patch::diff(&object, &changed).len(), operations, "{code}");
    }
}
