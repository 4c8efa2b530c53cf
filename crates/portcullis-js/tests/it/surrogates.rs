//! Strings with half of a surrogate pair, which Rust strings and JSON can't hold.

use portcullis_js::PolicyVerdict;
use serde_json::json;

use crate::support::*;

#[test]
fn what_is_said_is_shown_as_far_as_it_can_be() {
    for (code, wanted) in [
        ("return 'a\\ud800b'", "P: a\u{fffd}b"),
        ("return 'a\\udc00'", "P: a\u{fffd}"),
        ("return '\\ud83d\\ude00\\ud83d'", "P: \u{1f600}\u{fffd}"),
        ("deny('no \\ud800 x')", "P: no \u{fffd} x"),
        ("return Symbol('s\\ud800')", "P: s\u{fffd}"),
        (
            "return ['x\\ud800']",
            "P: unknown return value from policy (array: x\u{fffd})",
        ),
    ] {
        assert_eq!(message(code), wanted, "{code}");
    }
    for code in [
        "throw 'bad \\ud800 text'",
        "throw new Error('bad \\ud800 text')",
        "await Promise.reject('bad \\ud800 text')",
    ] {
        let text = message(code);
        assert!(text.contains("bad \u{fffd} text"), "{text}");
    }
    let e = p("deny('x', 'REASON\\ud800')");
    assert_eq!(denied(&e).denial.reason, "REASON\u{fffd}");
}

#[test]
fn warnings_and_the_console_keep_the_rest() {
    let e = p(
        "warn('one \\ud800 two'); console.log('three \\udfff four', { k: 'five' }); console.error({ 'k\\ud800': 1 }); return true",
    );
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert_eq!(e.warnings, ["P: one \u{fffd} two"]);
    let lines: Vec<&str> = e.console.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines[0], "three \u{fffd} four {\"k\":\"five\"}");
    assert_eq!(lines[1], "{\"k\\ud800\":1}");
}

#[test]
fn an_object_with_one_is_refused_with_its_place() {
    for (code, place) in [
        ("object.spec.x = 'a\\ud800'", "/spec/x"),
        ("object.spec['k\\ud800'] = 1", "/spec/k\u{fffd}"),
        (
            "object.spec.containers[0].args[1] = '\\udc00'",
            "/spec/containers/0/args/1",
        ),
    ] {
        let text = message(&format!("{code}; return true"));
        assert!(text.contains("half of a surrogate pair"), "{text}");
        assert!(text.ends_with(&format!(" at {place}")), "{text}");
    }
    let text = message("ac.GlobalContext.x = '\\ud800'; return true");
    assert!(
        text.contains("half of a surrogate pair") && text.contains("/x"),
        "{text}"
    );
}

#[test]
fn base64_of_one_is_that_of_what_stands_for_it() {
    assert_eq!(
        p("return btoa('\\ud800') === '77+9'").verdict,
        PolicyVerdict::Allow
    );
    let text = message("return atob('YQ=\\ud800')");
    assert!(text.contains("atob"), "{text}");
    let pool = pool(
        "",
        &[("P", "return 'x\\ud800'.length + object.name.length === 4")],
    );
    assert_eq!(
        pool.evaluate(input(json!({"name": "ab"}))).unwrap().verdict,
        PolicyVerdict::Allow
    );
}
