mod lists;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The document with a patch applied, in which nothing is added over something else.
fn apply(document: &Value, patch: &[PatchOperation]) -> Value {
    let mut document = document.clone();
    for operation in patch {
        let was = operation.apply(&mut document).expect("a patch that fits");
        let is_add = matches!(operation, PatchOperation::Add { .. });
        assert_eq!(was.is_none(), is_add, "{operation:?}");
    }
    document
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..4_u8).prop_map(Value::from),
        "[ab/~]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::hash_map("[ab/~]{0,2}", inner, 0..5)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn applying_the_difference_gives_the_target(from in any_json(), to in any_json()) {
        prop_assert_eq!(apply(&from, &diff(&from, &to)), to);
    }

    #[test]
    fn equal_documents_have_no_difference(value in any_json()) {
        prop_assert!(diff(&value, &value).is_empty());
    }
}

#[test]
fn one_element_in_front_is_one_addition() {
    let from = json!({"c": [{"name": "a"}, {"name": "b"}, {"name": "c"}]});
    let to = json!({"c": [{"name": "x"}, {"name": "a"}, {"name": "b"}, {"name": "c"}]});
    let patch = serde_json::to_value(diff(&from, &to)).unwrap();
    assert_eq!(
        patch,
        json!([{"op": "add", "path": "/c/0", "value": {"name": "x"}}])
    );
}

#[test]
fn the_first_and_a_middle_element_gone_are_two_removals() {
    let from = json!([1, 2, 3, 4, 5]);
    let patch = serde_json::to_value(diff(&from, &json!([2, 3, 5]))).unwrap();
    assert_eq!(
        patch,
        json!([{"op": "remove", "path": "/0"}, {"op": "remove", "path": "/2"}])
    );
}

#[test]
fn a_changed_field_of_an_element_is_the_field_alone() {
    let from = json!([{"n": "a", "p": "Never"}, {"n": "b", "p": "Always"}]);
    let to = json!([{"n": "a", "p": "Always"}, {"n": "b", "p": "Always"}]);
    let patch = serde_json::to_value(diff(&from, &to)).unwrap();
    assert_eq!(
        patch,
        json!([{"op": "replace", "path": "/0/p", "value": "Always"}])
    );
}

#[test]
fn long_lists_do_not_take_quadratic_time() {
    let from: Value = (0..3000).collect::<Vec<i32>>().into();
    let to: Value = (1..3002).rev().collect::<Vec<i32>>().into();
    assert_eq!(apply(&from, &diff(&from, &to)), to);
}
