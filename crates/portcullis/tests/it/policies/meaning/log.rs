//! What policies write, the positions of errors, and who is named in the answer.

use serde_json::{Value, json};

use crate::harness::Gate;
use crate::policies::{fruit, named, native, review_of};

#[test]
fn console_output_is_logged_with_policy_and_line() {
    let code = "console.log('hello', req.name, {a: [1]})\n\nconsole.warn('careful')\nconsole.error('bad')\nreturn true";
    let mut config = native(&[("Talks", code)]);
    config["log"] = json!({"format": "json"});
    let gate = Gate::start(config);
    gate.ask("/validate", &named("web")).allowed();
    let log = gate.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (message, level, line) in [
        ("hello web {\"a\":[1]}", "INFO", 1),
        ("careful", "WARN", 3),
        ("bad", "ERROR", 4),
    ] {
        let found = lines.iter().find(|l| l["message"] == message);
        let found = found.unwrap_or_else(|| panic!("`{message}` is not in: {log}"));
        assert_eq!(found["level"], level);
        assert_eq!(found["policy"], "Talks");
        assert_eq!(found["line"], line);
    }
}

#[test]
fn what_a_policy_writes_is_one_line_each() {
    let code = "console.log('a\\n2026-01-01T00:00:00Z  INFO forged\\u001b[31m'); return true";
    let gate = Gate::start(native(&[("P", code)]));
    gate.ask("/validate", &named("web")).allowed();
    let log = gate.log();
    assert!(!log.contains('\u{1b}'), "{log}");
    let forged = |line: &str| line.starts_with("2026-01-01T00:00:00Z");
    assert!(!log.lines().any(forged), "{log}");
}

#[test]
fn lines_in_messages_count_from_one() {
    let gate = Gate::start(native(&[
        ("Fine", ""),
        (
            "Throws",
            "if (req.name === 'first') null.x\n\nif (req.name === 'third') throw new Error('here')\nfunction f() {\n  undefinedName()\n}\nf()",
        ),
    ]));
    for (name, place) in [("first", ":1:"), ("third", ":3:"), ("other", ":5:")] {
        let verdict = gate.ask("/validate", &named(name));
        verdict.denied("Throws: unable to evaluate policy:");
        let message = verdict.message();
        assert!(message.contains(place), "`{place}` is not in: {message}");
    }
}

#[test]
fn errors_in_globals_say_so() {
    let mut config = native(&[("P", "return check()")]);
    config["globals"] = "function check() {\n  throw new Error('of all')\n}".into();
    let gate = Gate::start(config);
    let verdict = gate.ask("/validate", &named("any"));
    verdict.denied("of all");
    verdict.denied("globals:2");
}

#[test]
fn the_answer_names_plugin_and_policy() {
    let gate = Gate::start(native(&[
        ("First", "if (req.name === 'first') return false"),
        (
            "Second",
            "if (req.name === 'second') throw 1; if (req.name === 'yes') return true",
        ),
    ]));
    for (name, policy) in [("first", "First"), ("second", "Second")] {
        let verdict = gate.ask("/validate", &named(name));
        assert_eq!(verdict.annotation("plugin"), Some("Policies"));
        assert_eq!(verdict.annotation("policy"), Some(policy));
        let id = verdict.annotation("decision-id").unwrap();
        assert!(gate.log().contains(id), "the decision is not in the log");
    }
    let verdict = gate.ask("/validate", &named("yes"));
    assert_eq!(verdict.annotation("policy"), None);
    let verdict = gate.ask("/validate", &named("neither"));
    assert_eq!(verdict.annotation("plugin"), Some("Policies"));
    assert_eq!(verdict.annotation("policy"), None);
}

#[test]
fn nothing_of_an_object_is_logged_by_itself() {
    const SECRET: &str = "hunter2-planted-secret";
    let mut config = native(&[("P", "object.x = 1; return req.name === 'yes'")]);
    config["log"] = json!({"filter": "trace"});
    let gate = Gate::start(config);
    let mut planted = fruit();
    planted["metadata"]["labels"]["token"] = SECRET.into();
    gate.ask("/mutate", &review_of(&planted).set("name", "yes"))
        .allowed();
    gate.ask("/mutate", &review_of(&planted)).denied("");
    assert!(!gate.log().contains(SECRET), "{}", gate.log());
}
