use serde_json::{Value, json};

use super::*;

/// Requirements as `key operator value,value`.
fn shown(all: &[Requirement]) -> Vec<String> {
    let one = |r: &Requirement| format!("{} {} {}", r.key, r.operator, r.values.join(","));
    all.iter().map(|r| one(r).trim().to_owned()).collect()
}

fn raw(parse: fn(Option<Object<Selector>>) -> Vec<Requirement>, text: &str) -> Vec<String> {
    sent(parse, &json!({ "rawSelector": text }))
}

fn sent(parse: fn(Option<Object<Selector>>) -> Vec<Requirement>, selector: &Value) -> Vec<String> {
    let selector = serde_json::from_str(&selector.to_string()).unwrap();
    shown(&parse(Some(selector)))
}

#[test]
fn field_texts() {
    for (text, wanted) in [
        ("", &[][..]),
        ("a=b", &["a In b"]),
        ("a==b,spec.c!=d", &["a In b", "spec.c NotIn d"]),
        ("a=,b=x", &["a In", "b In x"]),
        (r"a=x\,y\=\\", &[r"a In x,y=\"]),
        ("a=b,,", &["a In b"]),
        ("a", &[]),
        ("a=b,c", &[]),
        ("a=b=c", &[]),
        ("a===b", &[]),
        (r"a=\x", &[]),
        (r"a=x\", &[]),
    ] {
        assert_eq!(raw(of_fields, text), wanted, "{text}");
    }
}

#[test]
fn label_texts() {
    for (text, wanted) in [
        ("", &[][..]),
        ("  ", &[]),
        ("a=b", &["a In b"]),
        (" a == b , x.io/c != d ", &["a In b", "x.io/c NotIn d"]),
        ("a in (b, c),d notin (e)", &["a In b,c", "d NotIn e"]),
        ("a,!b", &["a Exists", "b DoesNotExist"]),
        ("a=,b", &["a In", "b Exists"]),
        ("a in (),b in (x,)", &["a In", "b In x,"]),
        ("in=notin,in in (in)", &["in In notin", "in In in"]),
        ("a=b,", &[]),
        (",a=b", &[]),
        ("a=b c=d", &[]),
        ("a in b", &[]),
        ("a in (b", &[]),
        ("a in (b c)", &[]),
        ("a in (b))", &[]),
        ("a > 5", &[]),
        ("a=b,c<4", &[]),
        ("!a=b", &[]),
        ("!!a", &[]),
        ("a=b=c", &[]),
        ("-a=b", &[]),
        ("a=b-", &[]),
        ("A.io/a=b", &[]),
        ("a/b/c=d", &[]),
        ("/a=b", &[]),
        ("é=b", &[]),
        ("a=b,é", &[]),
    ] {
        assert_eq!(raw(of_labels, text), wanted, "{text}");
    }
}

#[test]
fn requirements_replace_the_text_and_invalid_ones_are_left_out() {
    let fields = json!({"rawSelector": "x=y", "requirements": [
        {"key": "a", "operator": "In", "values": ["b"]},
        {"key": "b", "operator": "In", "values": ["b", "c"]},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "="  , "values": ["e"]},
        {"key": "e", "operator": "NotIn", "values": ["f"]},
        {"key": "f", "operator": "In"}]});
    assert_eq!(sent(of_fields, &fields), ["a In b", "e NotIn f"]);
    let labels = json!({"rawSelector": "x=y", "requirements": [
        {"key": "a", "operator": "In", "values": ["b", "c"]},
        {"key": "a b", "operator": "In", "values": ["b"]},
        {"key": "b", "operator": "In", "values": []},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "Exists", "values": ["x"]},
        {"key": "e", "operator": "DoesNotExist"},
        {"key": "f", "operator": "Gt", "values": ["1"]},
        {"key": "g", "operator": "NotIn", "values": ["-"]}]});
    assert_eq!(
        sent(of_labels, &labels),
        ["a In b,c", "c Exists", "e DoesNotExist"]
    );
    let bad = json!({"rawSelector": "x=y", "requirements": [{"key": "a", "operator": "?"}]});
    assert!(sent(of_labels, &bad).is_empty() && sent(of_fields, &bad).is_empty());
    let empty = json!({"rawSelector": "x=y", "requirements": []});
    assert_eq!(sent(of_labels, &empty), ["x In y"]);
    assert_eq!(sent(of_fields, &empty), ["x In y"]);
    assert!(of_fields(None).is_empty() && of_labels(None).is_empty());
}

#[test]
fn any_short_text_is_read() {
    let signs = [
        "a", "in", "=", "!", ",", "(", ")", " ", "\\", "<", "é", "/", "-",
    ];
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        let longer = |text: &String| signs.map(|sign| format!("{text}{sign}"));
        texts = texts.iter().flat_map(longer).collect();
        for text in &texts {
            let fields = parse_fields(text).unwrap_or_default();
            assert!(fields.iter().all(is_field_requirement), "{text}");
            let labels = parse_labels(text).unwrap_or_default();
            assert!(labels.iter().all(is_label_requirement), "{text}");
        }
    }
}
