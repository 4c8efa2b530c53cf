//! The same expressions, computed here and by the interpreter of the `cel` crate.

use std::time::UNIX_EPOCH;

use cel::{Context, Program};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Expression, ExpressionError, Scope};
use crate::lookups::Nothing;

/// Any object.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        (-3_i64..4).prop_map(|n| json!(n)),
        prop::sample::select(vec!["", "a", "b", "ab", "abc"]).prop_map(|t| json!(t)),
    ];
    let value = scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    });
    // Of null, `has` is an error there and false here: the object itself is always a map.
    prop::collection::btree_map("[abc]", value, 0..4)
        .prop_map(|m| Value::Object(m.into_iter().collect()))
}

/// Any expression over `self`.
pub(crate) fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "self",
            "self.a",
            "self.b",
            "self.a.b",
            "self.a.b.c",
            "self['c']",
            "self.a[0]",
            "true",
            "false",
            "null",
            "1",
            "-2",
            "'a'",
            "'ab'",
            "1.5",
            "[]",
            "[1, 2]",
            "{'a': 1}",
            "self.c.a",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (
                prop::sample::select(vec![
                    "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||", "in"
                ]),
                two.clone()
            )
                .prop_map(|(op, (a, b))| format!("({a}) {op} ({b})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
            two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            two.clone().prop_map(|(a, b)| format!("({a})[{b}]")),
            inner.clone().prop_map(|a| format!("({a}).a")),
            inner.clone().prop_map(|a| format!("size({a})")),
            (
                prop::sample::select(vec!["map", "filter", "all", "exists", "exists_one"]),
                two.clone()
            )
                .prop_map(|(f, (a, b))| format!("({a}).{f}(x, {})", b.replace("self.b", "x"))),
            (
                prop::sample::select(vec!["startsWith", "endsWith", "contains"]),
                two
            )
                .prop_map(|(f, (a, b))| format!("({a}).{f}({b})")),
            inner.prop_map(|a| format!("has(self.a) && ({a}) == self.b")),
        ]
    })
}

/// Whether two values are the same: a number is the same whatever its type.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Where both have a value it is the same one, and where one has none the other has none.
    #[test]
    fn values_agree_with_the_interpreter(text in expression(), object in object()) {
        let Ok(mine) = Expression::compile(&text, &["self"]) else {
            // Comprehensions nested too deeply.
            return Ok(());
        };
        let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
        scope.set("self", &object);
        let mine = mine.evaluate(&scope);
        let program = Program::compile(&text).unwrap();
        let mut context = Context::default();
        context.add_variable("self", &object).unwrap();
        let theirs = program.execute(&context);
        match (&mine, &theirs) {
            (Ok(mine), Ok(value)) => {
                let value = value.json().unwrap();
                prop_assert!(same(mine, &value), "{text} of {object}: {mine} and {value}");
            }
            (Err(ExpressionError::Missing | ExpressionError::Failed(_)), Err(_)) => {}
            // The crate appends the keys of a map to a list, which the language does not define.
            (Err(ExpressionError::Failed(why)), Ok(_)) if why.ends_with("of a list and a map") => {}
            _ => prop_assert!(false, "{text} of {object}: {mine:?} and {theirs:?}"),
        }
    }
}
