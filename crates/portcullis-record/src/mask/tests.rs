//! The pass over the text masks the same as the pass over a tree.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::review::{self, Subject};
use super::value::{self, Context};
use super::{Header, Secret};
use crate::shape::MaskShape;

const KEYS: [&str; 27] = [
    "kind",
    "apiVersion",
    "data",
    "stringData",
    "items",
    "env",
    "Env",
    "variables",
    "value",
    "name",
    "key",
    "token",
    "TOKEN_2",
    "secret",
    "secrets",
    "secretName",
    "password",
    "passwordHash",
    "authorization",
    "a/b~c",
    "\"q\\",
    "é",
    "x-api-key",
    "metadata",
    "spec",
    "extraEnv",
    "kubectl.kubernetes.io/last-applied-configuration",
];

const TEXTS: [&str; 16] = [
    "Secret",
    "SecretList",
    "Job",
    "List",
    "v1",
    "ci.portcullis.dev/v1",
    "example.com/v1",
    "Authorization",
    "token",
    "plain",
    "",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.",
    "eyJhbGciOiJIUzI1NiJ9",
    "-----BEGIN EC PRIVATE KEY-----\nx",
    "\u{1f512}\n\t\"\\",
];

fn any_value() -> impl Strategy<Value = Value> {
    let text = proptest::sample::select(&TEXTS[..]);
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i16>().prop_map(Value::from),
        6 => text.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let key = proptest::sample::select(&KEYS[..]).prop_map(str::to_owned);
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => proptest::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON with escapes in places chosen by the bits of `odd`, members in either order.
fn write(value: &Value, odd: &mut u64, to: &mut String) {
    let mut next = || {
        *odd = odd.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *odd >> 61
    };
    let string = |text: &str, is_odd: bool, to: &mut String| {
        to.push('"');
        for (place, c) in text.chars().enumerate() {
            if is_odd && place % 3 == 1 && c.len_utf16() == 1 {
                to.push_str(&format!("\\u{:04x}", u32::from(c)));
            } else {
                let quoted = serde_json::to_string(&c).unwrap();
                let content = quoted.get(1..quoted.len() - 1);
                to.push_str(content.unwrap());
            }
        }
        to.push('"');
    };
    match value {
        Value::String(text) => string(text, next() == 0, to),
        Value::Array(list) => {
            to.push('[');
            for (place, element) in list.iter().enumerate() {
                to.push_str(if place > 0 { " , " } else { "" });
                write(element, odd, to);
            }
            to.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            if next() < 4 {
                members.reverse();
            }
            to.push('{');
            for (place, (key, member)) in members.into_iter().enumerate() {
                to.push_str(if place > 0 { "," } else { "" });
                let is_odd = odd.is_multiple_of(5);
                string(key, is_odd, to);
                to.push(':');
                write(member, odd, to);
            }
            to.push('}');
        }
        other => to.push_str(&other.to_string()),
    }
}

fn meant(secrets: &[Secret<'_>]) -> Vec<String> {
    let mut all: Vec<String> = secrets.iter().map(|s| s.meant().into_owned()).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_text_is_masked_like_a_tree(
        object in any_value(),
        odd in any::<u64>(),
        is_secret in any::<bool>(),
        is_indexed in any::<bool>(),
    ) {
        let mut text = String::new();
        write(&object, &mut (odd | 1), &mut text);
        let scanned = portcullis_core::json::scan(text.as_bytes()).unwrap();
        let header = Header { is_secret, ..Header::default() };
        let found = review::find(Subject {
            text: &text,
            index: is_indexed.then(|| scanned.index()),
            shape: &MaskShape::OBJECT,
            header,
            configured: None,
        }, "").unwrap();
        let mut kept = Vec::new();
        found.write(&text, &mut kept);
        let kept: Value = serde_json::from_slice(&kept).unwrap();

        let (mut expected, mut secrets) = (object.clone(), Vec::new());
        value::mask(&mut expected, Context::of_object(header), None, &mut secrets);
        prop_assert_eq!(&kept, &expected, "{}", text);
        prop_assert_eq!(meant(&found.secrets), meant(&secrets));
        for pointer in &found.pointers {
            let is = kept.pointer(pointer);
            prop_assert!(is == Some(&Value::from("(masked)")) || is == Some(&Value::from(0)));
        }
        prop_assert_eq!(found.pointers.len(), secrets.len());
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}:,\" \\\\a-e0-9]{0,40}") {
        let _ = review::find(Subject {
            text: &text,
            index: None,
            shape: &MaskShape::ADMISSION_REVIEW,
            header: Header::default(),
            configured: None,
        }, "");
    }
}
