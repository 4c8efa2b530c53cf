//! Cases 1 to 11, 22 and 23: what a returned value means, the default action, `globals`.

use serde_json::{Value, json};

use super::Want::{Default, No, NoLike, Yes};
use super::{ERROR, VIOLATES, check, check_fruit};
use crate::harness::acjs;
use crate::policies::fruit;

const CHOOSY: &str =
    "if (object.spec.containers[0].name.includes('apple')) return 'fruit not allowed'";

fn with(mut config: Value, key: &str, value: &str) -> Value {
    config[key] = value.into();
    config
}

#[test]
fn returned_values() {
    check_fruit(vec![
        (1, acjs(&[("P", "return true")]), Yes),
        (
            2,
            acjs(&[("P", "return false")]),
            No(VIOLATES, "P: request denied by policy"),
        ),
        (
            3,
            acjs(&[("P", CHOOSY)]),
            No(VIOLATES, "P: fruit not allowed"),
        ),
        (
            9,
            acjs(&[("P", "return null")]),
            NoLike(ERROR, "P: unknown return value from policy ("),
        ),
        (
            10,
            acjs(&[("P", "return 1")]),
            NoLike(ERROR, "P: unknown return value from policy ("),
        ),
        (
            11,
            acjs(&[("P", "throw new Error('boom')")]),
            NoLike(ERROR, "P: unable to evaluate policy:Error: boom"),
        ),
    ]);
}

#[test]
fn without_an_opinion_the_default_decides() {
    let mut pear = fruit();
    pear["spec"]["containers"][0]["name"] = json!("pear");
    check(&pear, vec![(4, acjs(&[("P", CHOOSY)]), Default)]);
    let silent = acjs(&[("P", "")]);
    check_fruit(vec![
        (5, with(silent.clone(), "defaultAction", "ALLOW"), Yes),
        (6, with(silent, "defaultAction", "permit"), Default),
    ]);
}

#[test]
fn the_first_opinion_counts() {
    check_fruit(vec![
        (
            7,
            acjs(&[("A", "return 'a'"), ("B", "return true")]),
            No(VIOLATES, "A: a"),
        ),
        (8, acjs(&[("A", "return true"), ("B", "return 'b'")]), Yes),
    ]);
}

#[test]
fn globals_are_there_for_every_policy() {
    let sum = acjs(&[("P", "return 's=' + add(1, 2)")]);
    let sum = with(sum, "globals", "function add(a, b) { return a + b }");
    let both = acjs(&[("A", "if (K !== 3) return 'no K'"), ("B", "return true")]);
    check_fruit(vec![
        (22, sum, No(VIOLATES, "P: s=3")),
        (23, with(both, "globals", "const K = 3"), Yes),
    ]);
}
