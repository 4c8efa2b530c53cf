//! Sample decisions for tests, and their explanations.

use portcullis_record::Decision;

use super::text;
use crate::commands::text::terminal::Terminal;

const ALL: [(&str, &str, &str); 6] = [
    (
        "refusal",
        include_str!("samples/refusal.json"),
        include_str!("samples/refusal.txt"),
    ),
    (
        "policy",
        include_str!("samples/policy.json"),
        include_str!("samples/policy.txt"),
    ),
    (
        "changed",
        include_str!("samples/changed.json"),
        include_str!("samples/changed.txt"),
    ),
    (
        "access",
        include_str!("samples/access.json"),
        include_str!("samples/access.txt"),
    ),
    (
        "action",
        include_str!("samples/action.json"),
        include_str!("samples/action.txt"),
    ),
    (
        "granted",
        include_str!("samples/granted.json"),
        include_str!("samples/granted.txt"),
    ),
];

/// The sample of this name.
pub(in crate::commands) fn decision(name: &str) -> Decision {
    let (_, json, _) = ALL.iter().find(|(known, _, _)| *known == name).unwrap();
    Decision::from_line(json).unwrap()
}

#[test]
fn decisions_are_told_as_written_down() {
    for (name, _, wanted) in ALL {
        let told = text::write(&decision(name), Terminal::default());
        assert_eq!(told, wanted, "{name}:\n{told}");
    }
}

#[test]
fn odd_records_are_told_too() {
    let line = r#"{"id":"x","time":"","door":"kubernetes","operation":"","kind":"","namespace":"",
        "name":"","user":"\u001b[2J","verdict":"deny","mutated":false,"message":"P: could not decide: a\nb","plugin":"P",
        "policy":null,"digest":null,"duration_us":0,"patch":[{"op":"test"}],
        "trace":[{"plugin":"P","outcome":"timeout","detail":"late","policies":[]}],
        "input":{"review":[1],"http":{"method":"","uri":"","headers":[]},"received":""}}"#;
    let told = text::write(&Decision::from_line(line).unwrap(), Terminal::default());
    let first = told.lines().next().unwrap();
    assert_eq!(first, "denied because P could not decide: a\\nb");
    assert!(
        told.contains("who       \\u{1b}[2J, in no group\n"),
        "{told}"
    );
    assert!(told.contains("decided   none: P timed out\n"), "{told}");
    assert!(told.contains("  {\"op\":\"test\"}\n"), "{told}");
}
