//! Cases 1 to 11, 22 and 23: what a returned value means, the default action, `globals`.

use serde_json::{Value, json};

use super::{check, check_fruit};
use portcullis_testing::policies::Want::{Default, No, NoLike, Yes};
use portcullis_testing::policies::{ERROR, VIOLATES, fruit, native};

const CHOOSY: &str =
    "if (object.spec.containers[0].name.includes('apple')) return 'fruit not allowed'";

fn with(mut config: Value, key: &str, value: &str) -> Value {
    config[key] = value.into();
    config
}

#[test]
fn returned_values() {
    check_fruit(vec![
        (1, native(&[("P", "return true")]), Yes),
        (
            2,
            native(&[("P", "return false")]),
            No(VIOLATES, "P: request denied by policy"),
        ),
        (
            3,
            native(&[("P", CHOOSY)]),
            No(VIOLATES, "P: fruit not allowed"),
        ),
        (
            9,
            native(&[("P", "return null")]),
            NoLike(ERROR, "P: unknown return value from policy ("),
        ),
        (
            10,
            native(&[("P", "return 1")]),
            NoLike(ERROR, "P: unknown return value from policy ("),
        ),
        (
            11,
            native(&[("P", "throw new Error('boom')")]),
            NoLike(ERROR, "P: unable to evaluate policy:Error: boom"),
        ),
    ]);
}

#[test]
fn without_an_opinion_the_default_decides() {
    let mut pear = fruit();
    pear["spec"]["containers"][0]["name"] = json!("pear");
    check(&pear, vec![(4, native(&[("P", CHOOSY)]), Default)]);
    let silent = native(&[("P", "")]);
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
            native(&[("A", "return 'a'"), ("B", "return true")]),
            No(VIOLATES, "A: a"),
        ),
        (8, native(&[("A", "return true"), ("B", "return 'b'")]), Yes),
    ]);
}

#[test]
fn globals_are_there_for_every_policy() {
    let sum = native(&[("P", "return 's=' + add(1, 2)")]);
    let sum = with(sum, "globals", "function add(a, b) { return a + b }");
    let both = native(&[("A", "if (K !== 3) return 'no K'"), ("B", "return true")]);
    check_fruit(vec![
        (22, sum, No(VIOLATES, "P: s=3")),
        (23, with(both, "globals", "const K = 3"), Yes),
    ]);
}
