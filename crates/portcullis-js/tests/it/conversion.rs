//! JSON in and out.

use proptest::prelude::*;
use std::sync::Arc;

use portcullis_js::PlainSubject;
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn large_integers_stay_exact() {
    let object = json!({"a": 9_007_199_254_740_993_i64, "b": u64::MAX, "c": [1, {"d": -9_007_199_254_740_993_i64}], "f": 1.0, "z": -0.0});
    let run = |code: &str| {
        pool("", &[("P", code)])
            .evaluate(input(object.clone()))
            .unwrap()
            .object
    };
    assert_eq!(run("return true"), None);
    assert_eq!(run("object.a = object.a; return true"), None);
    let mut wanted = object.clone();
    wanted["x"] = json!(1);
    assert_eq!(run("object.x = 1; return true"), Some(wanted));
    let mut wanted = object.clone();
    wanted["c"] = json!([{"d": -9_007_199_254_740_993_i64}]);
    assert_eq!(run("object.c.shift(); return true"), Some(wanted));
    assert_eq!(
        run("object.a = 18446744073709551615n; return true").unwrap()["a"],
        json!(u64::MAX)
    );
}

#[test]
fn what_has_no_json_is_an_error_that_says_where() {
    for (code, what) in [
        ("object.spec.x = () => 1", "function"),
        ("object.spec.x = NaN", "NaN"),
        ("object.spec.x = 1 / 0", "inf"),
        ("object.spec.x = Symbol()", "symbol"),
        ("object.spec.x = object", "itself"),
        ("object.spec.x = 2n ** 64n", "too large"),
        ("object.spec.x = '\\ud800'", "half of a surrogate pair"),
    ] {
        let m = message(&format!("{code}; return true"));
        assert!(
            m.starts_with("P: unable to calculate the object diff:"),
            "{m}"
        );
        assert!(m.contains("/spec/x") && m.contains(what), "{m}");
    }
}

#[test]
fn lists_without_end_are_too_large() {
    for length in ["2 ** 31 - 1", "2 ** 31", "2 ** 32 - 1"] {
        let m = message(&format!("object.spec.x = new Array({length}); return true"));
        assert!(m.contains("memory"), "{m}");
        let m = message(&format!("warn(new Array({length})); return 'after'"));
        assert_ne!(m, "P: after");
    }
}

#[test]
fn undefined_is_null() {
    let o = changed(
        "object.spec.x = undefined; object.spec.containers[0].args[5] = 1; object.y = [undefined]; return true",
    );
    assert_eq!(o["spec"].get("x"), Some(&Value::Null));
    let args = &o["spec"]["containers"][0]["args"];
    assert_eq!(*args, json!(["a", "b", "c", null, null, 1]));
    assert_eq!(o["y"], json!([null]));
    let run = |code: &str| {
        pool("", &[("P", code)])
            .evaluate(input(json!({"a": null})))
            .unwrap()
            .object
    };
    assert_eq!(run("object.a = undefined; return true"), None);
    assert_eq!(
        run("delete object.a; object.b = undefined; return true"),
        Some(json!({"b": null}))
    );
}

#[test]
fn dates_and_collections_have_json() {
    let o = changed(
        "object.x = [new Date(0), new Set([1]), new Map([['a', 2]]), new String('s'), new Number(3), Object.create(null), new (class { y = 1 })()]; return true",
    );
    assert_eq!(
        o["x"],
        json!(["1970-01-01T00:00:00.000Z", [1], [["a", 2]], "s", 3, {}, {"y": 1}])
    );
    let e = pool("", &[("P", "object.e = new Date(0)")])
        .evaluate(input(json!({"e": {}})))
        .unwrap();
    assert_eq!(e.object.unwrap()["e"], "1970-01-01T00:00:00.000Z");
}

#[test]
fn an_own_proto_key_is_a_key() {
    let object =
        serde_json::from_str::<Value>(r#"{"__proto__": {"a": 1}, "constructor": "c", "n": {}}"#)
            .unwrap();
    let pool = pool(
        "",
        &[(
            "P",
            "if (object.a !== undefined) return 'inherited'; object.x = 1; return true",
        )],
    );
    let e = pool.evaluate(input(object.clone())).unwrap();
    let mut wanted = object;
    wanted["x"] = json!(1);
    assert_eq!(e.object, Some(wanted));
}

/// An object whose members are large enough to come into being at the first look.
fn large() -> Value {
    let part = |name: &str| {
        let list: Vec<_> = (0..30)
            .map(|i| json!({"name": format!("{name}{i}"), "n": 9_007_199_254_740_993_i64}))
            .collect();
        json!({"list": list, "inner": {"list": list, "x": 1}})
    };
    json!({"a": part("a"), "b": part("b"), "c": {"x": 1}, "__proto__": part("p")})
}

#[test]
fn parts_that_are_put_off_behave_like_any_other() {
    let run = |code: &str| {
        let e = pool("", &[("P", &format!("{code}; return true"))])
            .evaluate(input(large()))
            .unwrap();
        assert_eq!(
            e.verdict,
            portcullis_js::PolicyVerdict::Allow,
            "{code}: {e:?}"
        );
        e.object
    };
    for code in [
        "",
        "object.a",
        "object.a.inner.list[3].name",
        "object.a = object.a",
        "JSON.stringify(object)",
        "if (Object.keys(object).length !== 4 || Object.entries(object)[0][1].inner.x !== 1) return 'keys'",
        "if (object.a !== object.a || object.a.inner !== { ...object.a }.inner) return 'identity'",
        "Object.freeze(object); if (object.a !== object.a) return 'identity'",
        "if (Object.create(object).a !== object.a) return 'inherited'",
        "const b = object.b; delete object.b; object.b = b",
        "Object.create(object).a = 1",
    ] {
        assert_eq!(run(code), None, "{code}");
    }
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = large();
        change(&mut value);
        Some(value)
    };
    assert_eq!(
        run("object.a.inner.x = 2"),
        with(&|v| v["a"]["inner"]["x"] = json!(2))
    );
    assert_eq!(run("object.a = 5"), with(&|v| v["a"] = json!(5)));
    assert_eq!(
        run("delete object.a"),
        with(&|v| drop(v.as_object_mut().unwrap().remove("a")))
    );
    assert_eq!(
        run("delete object.a.inner"),
        with(&|v| drop(v["a"].as_object_mut().unwrap().remove("inner")))
    );
    assert_eq!(
        run("object.c.copy = object.a"),
        with(&|v| v["c"]["copy"] = v["a"].clone())
    );
    assert_eq!(
        run("[object.a, object.b] = [object.b, object.a]"),
        with(&|v| {
            let (a, b) = (v["a"].take(), v["b"].take());
            v["a"] = b;
            v["b"] = a;
        })
    );
    assert_eq!(
        run("Object.freeze(object); object.a.inner.x = 2"),
        with(&|v| v["a"]["inner"]["x"] = json!(2))
    );
    assert_eq!(
        run("object.c = Object.defineProperties({}, Object.getOwnPropertyDescriptors(object.a))"),
        with(&|v| v["c"] = v["a"].clone())
    );
    assert_eq!(
        run(
            "Object.defineProperty(object.c, 'y', Object.getOwnPropertyDescriptor(object, 'a')); object.a.inner.x = 2"
        ),
        with(&|v| {
            v["a"]["inner"]["x"] = json!(2);
            v["c"]["y"] = v["a"].clone();
        })
    );
    // A policy's own getters see deferred values as any code does, also while the object is read back.
    assert_eq!(
        run(
            "Object.defineProperty(object.c, 'x', { enumerable: true, get() { return object.a.inner.x + object.b.inner.x } })"
        ),
        with(&|v| v["c"]["x"] = json!(2))
    );
    assert_eq!(
        run(
            "Object.defineProperty(object.c, 'x', { enumerable: true, get() { return object.a } })"
        ),
        with(&|v| v["c"]["x"] = v["a"].clone())
    );
    assert_eq!(
        run(
            "const d = Object.getOwnPropertyDescriptor(object, 'a'); Object.defineProperty(object, 'a', { enumerable: true, get() { return d.get.call(this).inner.x } })"
        ),
        with(&|v| v["a"] = json!(1))
    );
    assert_eq!(
        run("object.a.list.shift()"),
        with(&|v| drop(v["a"]["list"].as_array_mut().unwrap().remove(0)))
    );
    assert_eq!(
        run("object.a.list.reverse()"),
        with(&|v| v["a"]["list"].as_array_mut().unwrap().reverse())
    );
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 300, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..12).prop_map(|m| m.into_iter().collect()),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-d/~\"0-9]{1,3}",
        Just("__proto__".to_owned()),
        Just("constructor".to_owned()),
        Just("toString".to_owned()),
        Just("length".to_owned()),
    ]
}

/// All places of a value, as lists of keys.
fn places(value: &Value, path: &mut Vec<Value>, all: &mut Vec<Vec<Value>>) {
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| {
            path.push(json!(i));
            all.push(path.clone());
            places(v, path, all);
            path.pop();
        }),
        Value::Object(map) => map.iter().for_each(|(k, v)| {
            path.push(json!(k));
            all.push(path.clone());
            places(v, path, all);
            path.pop();
        }),
        _ => {}
    }
}

fn put(value: &mut Value, path: &[Value], new: Value) {
    match path.split_first() {
        None => *value = new,
        Some((Value::String(k), rest)) => put(&mut value[k.as_str()], rest, new),
        Some((k, rest)) => put(
            &mut value[usize::try_from(k.as_u64().unwrap()).unwrap()],
            rest,
            new,
        ),
    }
}

#[test]
fn random_objects_come_back_as_they_were_or_as_they_were_changed() {
    let code = "if (req.path) {
            let at = object;
            for (const k of req.path.slice(0, -1)) at = Object.hasOwn(at, k) ? at[k] : undefined;
            Object.defineProperty(at, req.path.at(-1), { value: req.value, enumerable: true, configurable: true, writable: true });
        }
        return true";
    let pool = pool("", &[("P", code)]);
    let config = ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(object in any_json(), index in any::<prop::sample::Index>(), new in "[a-z]{0,5}")| {
        let mut i = input(object.clone());
        let e = pool.evaluate(i.clone()).unwrap();
        prop_assert_eq!(&e.object, &None, "{:?}", e.verdict);
        let mut all = Vec::new();
        places(&object, &mut Vec::new(), &mut all);
        if !all.is_empty() {
            let path = index.get(&all);
            i.subject = Arc::new(PlainSubject {
                req: json!({"path": path, "value": new}),
                ..PlainSubject::default()
            });
            let mut wanted = object.clone();
            put(&mut wanted, path, json!(new));
            let e = pool.evaluate(i).unwrap();
            let wanted = (wanted != object).then_some(wanted);
            prop_assert_eq!(&e.object, &wanted, "{:?}", e.verdict);
        }
    });
}
