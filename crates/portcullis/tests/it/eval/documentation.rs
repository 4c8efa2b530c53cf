//! Guides mention every flag; that their commands print what is shown is checked by `docs_typed`.

use crate::harness::{repository, run};

/// Asserts that a guide says something of every flag of a command.
#[track_caller]
pub(crate) fn check_flags(name: &str, command: &str) {
    let text = std::fs::read_to_string(repository().join(name)).unwrap();
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = run(&words).out;
    // Those of every command are in a guide of their own.
    let own = help.split("\nGlobal options:\n").next().unwrap();
    let flags = own.split_whitespace().filter(|word| word.starts_with("--"));
    // A value that may be left out stands in brackets.
    let flags = flags.map(|word| word.split('[').next().unwrap_or(word));
    let flags = flags.map(|word| word.trim_end_matches([',', '.', ';', ':', ')']));
    for flag in flags.filter(|flag| !matches!(*flag, "--help" | "--filename")) {
        assert!(text.contains(flag), "{name} says nothing of {flag}");
    }
}

#[test]
fn every_flag_is_described() {
    check_flags("docs/eval.md", "eval");
}
