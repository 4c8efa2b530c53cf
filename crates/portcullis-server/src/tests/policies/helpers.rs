//! `allow`, `deny`, `warn`, promises, and variables that policies share.

use crate::tests::harness::Gate;
use portcullis_testing::policies::{named, native};

/// A gate whose one policy does what the request's name says.
fn gate(code: &str) -> Gate {
    Gate::start(native(&[("P", code)]))
}

#[test]
fn allow_and_deny_end_a_policy() {
    let gate = gate(
        "switch (req.name) {\n\
         case 'allow': allow(); break\n\
         case 'deny': deny('not this one'); break\n\
         case 'coded': deny('too many', 'TooMany', 429); break\n\
         case 'empty': deny(); break\n\
         case 'caught': try { deny('caught') } catch { allow() } break\n\
         }\n\
         return 'it went on'",
    );
    gate.ask("/validate", &named("allow")).allowed();
    let verdict = gate.ask("/validate", &named("deny"));
    assert_eq!(verdict.message(), "P: not this one");
    assert_eq!(verdict.0["status"]["reason"], "VIOLATES_POLICY");
    assert_eq!(verdict.0["status"]["code"], 403);
    let verdict = gate.ask("/validate", &named("coded"));
    assert_eq!(verdict.message(), "P: too many");
    assert_eq!(verdict.0["status"]["reason"], "TooMany");
    assert_eq!(verdict.0["status"]["code"], 429);
    gate.ask("/validate", &named("empty")).denied("P: ");
    gate.ask("/validate", &named("other")).denied("it went on");
}

#[test]
fn the_code_of_a_refusal_is_that_of_an_error() {
    let gate = gate("deny('no', 'No', Number(req.name))");
    for code in ["100", "200", "302"] {
        let verdict = gate.ask("/validate", &named(code));
        assert_eq!(verdict.0["status"]["code"], 403, "{code}");
    }
}

#[test]
fn a_code_that_is_none_is_left_out() {
    let gate = gate("deny('no', 'No', req.name === 'none' ? null : Number(req.name))");
    for code in ["0", "-1", "999", "4.5", "text", "none"] {
        let verdict = gate.ask("/validate", &named(code));
        assert_eq!(verdict.0["status"]["code"], 403, "{code}");
    }
}

#[test]
fn what_was_said_first_counts() {
    let gate = gate("try { deny('caught') } catch { return true }");
    gate.ask("/validate", &named("any")).denied("P: caught");
}

#[test]
fn warnings_come_with_allows_and_refusals() {
    let gate = Gate::start(native(&[
        ("A", "warn('first'); warn('second')"),
        ("B", "warn('third'); return req.name === 'yes'"),
    ]));
    for name in ["yes", "no"] {
        let verdict = gate.ask("/validate", &named(name));
        assert_eq!(verdict.is_allowed(), name == "yes");
        assert_eq!(verdict.warnings(), ["A: first", "A: second", "B: third"]);
    }
}

#[test]
fn a_long_warning_is_cut_and_whole_in_the_annotation() {
    let gate = gate("warn('x'.repeat(500)); return true");
    let verdict = gate.ask("/validate", &named("any"));
    let warnings = verdict.warnings();
    assert!(warnings[0].chars().count() <= 120, "{warnings:?}");
    let whole = format!("P: {}", "x".repeat(500));
    assert_eq!(verdict.annotation("warnings"), Some(whole.as_str()));
}

#[test]
fn promises_are_awaited() {
    let gate = gate(
        "const later = (value) => new Promise((resolve) => resolve(value))\n\
         switch (await later(req.name)) {\n\
         case 'true': return later(true)\n\
         case 'text': return later(later('a text'))\n\
         case 'reject': return Promise.reject(new Error('rejected'))\n\
         case 'never': return new Promise(() => {})\n\
         case 'deny': await later(1); deny('after waiting')\n\
         }",
    );
    gate.ask("/validate", &named("true")).allowed();
    for (name, needle) in [
        ("text", "P: a text"),
        ("reject", "rejected"),
        ("never", "never"),
        ("deny", "P: after waiting"),
    ] {
        let verdict = gate.ask("/validate", &named(name));
        let needle = if name == "never" { "settled" } else { needle };
        verdict.denied(needle);
    }
    gate.ask("/validate", &named("undefined")).denied("default");
}

#[test]
fn undeclared_variables_are_shared_within_one_review() {
    let gate = Gate::start(native(&[
        (
            "A",
            "if (typeof found !== 'undefined') return 'of another review: ' + found\nfound = req.name",
        ),
        ("B", "return 'found ' + found"),
    ]));
    for name in ["one", "two", "three", "four"] {
        let verdict = gate.ask("/validate", &named(name));
        assert_eq!(verdict.message(), format!("B: found {name}"));
    }
}

#[test]
fn declared_variables_are_the_policy_s_own() {
    let gate = Gate::start(native(&[
        ("A", "var a = 1; let b = 2; const c = 3; function d() {}"),
        (
            "B",
            "return [typeof a, typeof b, typeof c, typeof d].join()",
        ),
    ]));
    let verdict = gate.ask("/validate", &named("any"));
    let nothing = "B: undefined,undefined,undefined,undefined";
    assert_eq!(verdict.message(), nothing);
}

#[test]
fn a_policy_may_use_names_of_ours_for_itself() {
    let gate = gate("var allow = 'mine'; let warn = 1; return allow + warn");
    gate.ask("/validate", &named("any")).denied("P: mine1");
}
