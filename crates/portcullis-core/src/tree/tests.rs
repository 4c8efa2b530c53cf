use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::document::Document;
use crate::json;

/// The tree of a member of a scanned text.
fn tree(text: &str) -> Tree {
    let whole = format!("{{ \"before\": [1, {{}}], \"object\" : {text} , \"after\": [[]]}}");
    let scanned = json::scan(whole.as_bytes()).unwrap();
    let part = scanned.member("object").unwrap();
    Document::from_scanned(&scanned, part).tree().unwrap()
}

#[test]
fn parts_are_read_when_somebody_looks() {
    let long = "x".repeat(300);
    let text = json!({"name": "web", "large": {"a": [1, 2, {"b": long}], "c": null}, "small": {"d": [true]}});
    let tree = tree(&text.to_string());
    assert!(tree.is_unread());
    assert_eq!(tree.get("name").and_then(Tree::as_str), Some("web"));
    assert!(!tree.is_unread());
    let large = tree.get("large").unwrap();
    assert!(large.is_unread());
    assert_eq!(
        tree.get("small").unwrap().unread_text(),
        Some(r#"{"d":[true]}"#)
    );
    assert_eq!(large.to_value(), text["large"]);
    assert!(large.is_unread(), "a copy is no look");
    let list = large.get("a").unwrap();
    assert!(list.element(1).is_some() && list.element(3).is_none());
    assert_eq!(tree, text);
    assert_eq!(tree.to_value(), text);
}

#[test]
fn odd_texts_are_read_as_they_are_meant() {
    for text in [
        "{}",
        "{ }",
        "{\"a\\u0062\\\"\" : \"\\\\\", \"\\n\":-0.5e+3 , \"\":[ ] }",
        "{\"a\":[{},[],[{}],0,-1,18446744073709551615,1e400]}",
        "{\"ü\":\"é😀\\ud83d\\ude00\"}",
    ] {
        let Ok(wanted) = serde_json::from_str::<Value>(text) else {
            continue;
        };
        assert_eq!(tree(text).to_value(), wanted, "{text}");
        assert_eq!(tree(text), wanted, "{text}");
    }
}

#[test]
fn a_document_without_an_index_has_a_tree_too() {
    let mut document = Document::from_text("{\"a\": 1}");
    assert_eq!(document.tree().unwrap(), json!({"a": 1}));
    document.replace(json!({"a": 2})).unwrap();
    assert_eq!(document.tree().unwrap(), json!({"a": 2}));
    assert!(Document::from_text("{").tree().is_err());
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~é\"\\\\\n]{0,60}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\é]{0,12}", inner, 0..8)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn the_tree_says_what_the_text_says(value in prop::collection::btree_map("[a-z]{1,6}", values(), 0..8), pretty: bool) {
        let value: Value = value.into_iter().collect();
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let wanted: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&tree(&text), &wanted);
        prop_assert_eq!(tree(&text).to_value(), wanted);
    }
}
