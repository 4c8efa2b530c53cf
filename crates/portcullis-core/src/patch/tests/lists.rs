//! Edits of lists: right, small, and in bounded time.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::{apply, diff};
use crate::patch::{Differ, EFFORT, FEW, Value};

/// One edit of a list, at a place that is taken modulo its length.
#[derive(Debug, Clone)]
enum Edit {
    Insert(usize),
    Remove(usize),
    Move(usize, usize),
    Copy(usize, usize),
    /// Changes a member of an element.
    Change(usize),
}

fn edits(most: usize) -> impl Strategy<Value = Vec<Edit>> {
    let place = 0..10_000_usize;
    vec(
        prop_oneof![
            place.clone().prop_map(Edit::Insert),
            place.clone().prop_map(Edit::Remove),
            (place.clone(), place.clone()).prop_map(|(a, b)| Edit::Move(a, b)),
            (place.clone(), place.clone()).prop_map(|(a, b)| Edit::Copy(a, b)),
            place.prop_map(Edit::Change),
        ],
        0..most,
    )
}

fn edited(list: &[Value], edits: &[Edit]) -> Vec<Value> {
    let mut list = list.to_vec();
    for (n, edit) in edits.iter().enumerate() {
        let at = |place: &usize, list: &[Value]| place % list.len().max(1);
        match edit {
            Edit::Insert(place) => {
                list.insert(at(place, &list), json!({"name": format!("new-{n}")}));
            }
            _ if list.is_empty() => {}
            Edit::Remove(place) => drop(list.remove(at(place, &list))),
            Edit::Move(from, to) => {
                let element = list.remove(at(from, &list));
                list.insert(at(to, &list), element);
            }
            Edit::Copy(from, to) => list.insert(at(to, &list), list[at(from, &list)].clone()),
            Edit::Change(place) => {
                let place = at(place, &list);
                match &mut list[place] {
                    Value::Object(members) => {
                        members.insert("changed".to_owned(), json!(n));
                    }
                    other => *other = json!([n]),
                }
            }
        }
    }
    list
}

fn containers(count: usize) -> Vec<Value> {
    (0..count)
        .map(|n| json!({"name": format!("c{n}"), "image": "registry.example/app:1", "env": [{"name": "A", "value": "1"}]}))
        .collect()
}

fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).unwrap().len()
}

/// Asserts that the difference is right, and not larger than the list unless it is short.
fn check(from: &[Value], to: &[Value]) -> usize {
    let (from, to) = (json!({"list": from}), json!({"list": to}));
    let patch = diff(&from, &to);
    assert_eq!(apply(&from, &patch), to);
    let whole = json!([{"op": "replace", "path": "/list", "value": to["list"]}]);
    assert!(
        patch.len() <= FEW || size(&patch) <= size(&whole),
        "{} operations of {} bytes, where the list takes {}",
        patch.len(),
        size(&patch),
        size(&whole)
    );
    patch.len()
}

proptest! {
    #[test]
    fn edits_of_lists_with_repetitions_are_right(list in vec(0..4_u8, 0..40), edits in edits(20)) {
        let list: Vec<Value> = list.into_iter().map(Value::from).collect();
        let to = edited(&list, &edits);
        check(&list, &to);
    }

    #[test]
    fn edits_of_named_elements_are_right_and_no_more_than_they_need(count in 0..300_usize, edits in edits(12)) {
        let list = containers(count);
        let to = edited(&list, &edits);
        // A move is a removal and an addition, and so is a change of what is moved.
        prop_assert!(check(&list, &to) <= 2 * edits.len(), "{edits:?}");
    }

    #[test]
    fn lists_inside_of_lists_are_right(lists in vec(vec(0..3_u8, 0..5), 0..12), outer in edits(4), inner in edits(6)) {
        let list: Vec<Value> = lists.into_iter().map(|l| json!({"name": l.len(), "in": l})).collect();
        let mut to = edited(&list, &outer);
        for (n, edit) in inner.chunks(2).enumerate() {
            if let Some(Value::Array(nested)) = to.get_mut(n).and_then(|e| e.get_mut("in")) {
                *nested = edited(nested, edit);
            }
        }
        check(&list, &to);
    }

    #[test]
    fn any_two_lists_are_never_more_than_the_second(from in vec(0..50_u8, 0..60), to in vec(0..50_u8, 0..60)) {
        let values = |list: Vec<u8>| list.into_iter().map(Value::from).collect::<Vec<_>>();
        check(&values(from), &values(to));
    }
}

#[test]
fn one_element_in_front_of_many_is_one_addition_and_as_large() {
    let list = containers(600);
    let mut to = list.clone();
    to.insert(0, json!({"name": "sidecar"}));
    to[1]["env"][0]["value"] = json!("2");
    let patch = diff(&json!({"list": list}), &json!({"list": to}));
    assert_eq!(
        json!(patch),
        json!([
            {"op": "add", "path": "/list/0", "value": {"name": "sidecar"}},
            {"op": "replace", "path": "/list/1/env/0/value", "value": "2"},
        ])
    );
}

#[test]
fn both_ends_of_a_long_list_changed_are_two_operations() {
    let from: Vec<Value> = (0..100_000).map(Value::from).collect();
    let mut to = from.clone();
    to.insert(0, json!("first"));
    to.push(json!("last"));
    assert_eq!(check(&from, &to), 2);
}

#[test]
fn what_takes_the_place_of_something_else_is_replaced_whole() {
    let from = json!([{"name": "a", "image": "i", "tty": true}, {"name": "b"}]);
    let to = json!([{"name": "x", "args": ["1"], "stdin": true}, {"name": "b"}]);
    assert_eq!(
        json!(diff(&from, &to)),
        json!([{"op": "replace", "path": "/0", "value": to[0]}])
    );
    // A name alone is shorter than all that stays.
    let to = json!([{"name": "x", "image": "i", "tty": true}, {"name": "b"}]);
    assert_eq!(
        json!(diff(&from, &to)),
        json!([{"op": "replace", "path": "/0/name", "value": "x"}])
    );
}

#[test]
fn a_few_changed_fields_are_named_even_where_the_list_is_short() {
    let list = |policy: &str| {
        let containers = (0..FEW).map(|n| json!({"name": n, "pull": policy}));
        containers.collect::<Vec<_>>()
    };
    let patch = json!(diff(&list("No").into(), &list("Yes").into()));
    assert_eq!(patch.as_array().unwrap().len(), FEW);
    assert_eq!(patch[1]["path"], "/1/pull");
}

#[test]
fn an_object_of_which_nearly_nothing_stays_is_replaced() {
    let object = |count: usize| {
        let members = (0..count).map(|n| (format!("key-{n}"), json!(n)));
        json!({"data": members.collect::<serde_json::Map<_, _>>(), "kind": "ConfigMap"})
    };
    let (many, few) = (object(1000), object(3));
    let patch = json!(diff(&many, &few));
    assert_eq!(
        patch,
        json!([{"op": "replace", "path": "/data", "value": few["data"]}])
    );
    // The document itself is taken apart.
    let patch = diff(&many["data"], &few["data"]);
    assert_eq!(patch.len(), 997);
    // One member of many is one operation.
    let mut changed = many.clone();
    changed["data"]["key-7"] = json!("x");
    assert_eq!(
        json!(diff(&many, &changed)),
        json!([{"op": "replace", "path": "/data/key-7", "value": "x"}])
    );
}

#[test]
fn who_may_not_count_replaces_nothing() {
    let members = |n: usize| (0..100).map(move |k| (format!("{n}-{k}"), json!(k)));
    let object = |n: usize| json!({"a": members(n).collect::<serde_json::Map<_, _>>()});
    let (from, to) = (object(1), object(2));
    let operations = |effort: usize| {
        let mut differ = Differ {
            path: String::new(),
            operations: Vec::new(),
            effort,
        };
        differ.values(&from, &to);
        assert_eq!(apply(&from, &differ.operations), to);
        assert!(differ.effort <= effort);
        differ.operations.len()
    };
    assert_eq!(operations(EFFORT), 1);
    assert_eq!(operations(1000), 200);
}

/// Ends at all only because no step takes quadratic time: each would take hours.
#[test]
fn long_lists_of_every_kind_are_compared() {
    const MANY: usize = 100_000;
    let numbers = |list: &mut dyn Iterator<Item = usize>| list.map(Value::from).collect::<Vec<_>>();
    let rising = numbers(&mut (0..MANY));
    let falling = numbers(&mut (0..MANY).rev());
    let same = numbers(&mut (0..MANY).map(|_| 7));
    let pairs = numbers(&mut (0..MANY).map(|n| n % 2));
    let triples = numbers(&mut (0..MANY).map(|n| n % 3));
    let of_one_name = |image: usize| {
        let list = (0..MANY).map(move |n| json!({"name": "x", "image": n * 2 + image}));
        list.collect::<Vec<_>>()
    };
    for (from, to) in [
        (rising.clone(), falling),
        (same, triples.clone()),
        (pairs, triples.clone()),
        (triples, rising),
        (of_one_name(0), of_one_name(1)),
    ] {
        let (from, to) = (json!({"list": from}), json!({"list": to}));
        let patch = diff(&from, &to);
        assert_eq!(patch.len(), 1, "the list is replaced");
        assert_eq!(apply(&from, &patch), to);
    }
}
