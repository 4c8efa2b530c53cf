//! Marked code does what the code does, and records what runs.

mod support;

use proptest::prelude::*;
use support::{evaluate, js, ts};

#[test]
fn where_marks_stand() {
    for (text, marked) in [
        ("a; b", "$cover(0);a; $cover(1);b"),
        (
            "'use strict'; 'x'\n'y'; a; 'z'",
            "'use strict'; 'x'\n'y'; $cover(0);a; $cover(1);'z'",
        ),
        ("(a)\n'use strict'", "$cover(0);(a)\n$cover(1);'use strict'"),
        (
            "function f() { 'use strict'; a }",
            "function f() { 'use strict'; $cover(0);a }",
        ),
        (";; { a }", ";; { $cover(0);a }"),
        (
            "if (a) b; else c\nd",
            "$cover(0);if (a) {$cover(1);b;} else {$cover(2);c}\n$cover(3);d",
        ),
        (
            "if (a) b\nelse if (c) d // e\nelse f",
            "$cover(0);if (a) {$cover(1);b}\nelse {$cover(2);if (c) {$cover(3);d} // e\n\
             else {$cover(4);f}}",
        ),
        ("if (a)b;c", "$cover(0);if (a){$cover(1);b;}$cover(2);c"),
        ("if (a);else{b}", "$cover(0);if (a);else{$cover(1);b}"),
        ("for (;;) a", "$cover(0);for (;;) {$cover(1);a}"),
        ("for (a in b) c", "$cover(0);for (a in b) {$cover(1);c}"),
        (
            "for (a of b) for (c of d) e",
            "$cover(0);for (a of b) {$cover(1);for (c of d) {$cover(2);e}}",
        ),
        (
            "for await (a of b) c",
            "$cover(0);for await (a of b) {$cover(1);c}",
        ),
        ("while (a) b", "$cover(0);while (a) {$cover(1);b}"),
        (
            "do a\nwhile (b) c",
            "$cover(0);do {$cover(1);a}\nwhile (b) $cover(2);c",
        ),
        (
            "a: for (;;) { continue a }",
            "$cover(0);a: for (;;) { $cover(1);continue a }",
        ),
        (
            "switch (a) { case b: c; break; default: d }",
            "$cover(0);switch (a) { case b: $cover(1);c; $cover(2);break; default: $cover(3);d }",
        ),
        (
            "try { a } catch { b } finally { c }",
            "$cover(0);try { $cover(1);a } catch { $cover(2);b } finally { $cover(3);c }",
        ),
        (
            "let f = a => a, g = () => { b }",
            "$cover(0);let f = a => a, g = () => { $cover(1);b }",
        ),
        (
            "class A { static { a } b = () => { c }; d() { e } }",
            "$cover(0);class A { static { $cover(1);a } b = () => { $cover(2);c }; d() { $cover(3);e } }",
        ),
        ("with (a) b", "$cover(0);with (a) b"),
        ("if (a) function f() {}", "if (a) function f() {}"),
        (
            "var await = 1; await",
            "$cover(0);var await = 1; $cover(1);await",
        ),
        ("return `é${a}`; b", "$cover(0);return `é${a}`; $cover(1);b"),
        ("}; {", "}; {"),
        ("let $cover", "let $cover"),
    ] {
        assert_eq!(js(text).with_marks(0).0, marked, "{text}");
    }
}

#[test]
fn marks_have_the_lines_of_their_statements() {
    let script = ts(
        "import type { A } from 'a'\nimport b from './b'\n\nexport const c: A = 1\n\
                     export default function (\n) {\n  if (c)\n    return b\n  type D = 1\n}\n",
    );
    let (code, marks) = script.with_marks(7);
    let told: Vec<_> = marks.iter().map(|m| (m.id, m.line)).collect();
    assert_eq!(told, [(7, 4), (8, 7), (9, 8)]);
    assert_eq!(code.lines().count(), script.code().lines().count());
    for (id, line) in told {
        let line = code.lines().nth(line as usize - 1).unwrap();
        assert!(line.contains(&format!("$cover({id});")), "{code}");
    }
}

#[test]
fn what_runs_is_told() {
    let text = "let a = 1\nif (a)\n  a++\nelse\n  a--\nfunction f() {\n  return 1\n}\nreturn a";
    let (code, marks) = js(text).with_marks(1);
    let ids = evaluate(&format!(
        "(() => {{ const ids = []; const $cover = id => ids.push(id); (() => {{ {code} }})(); return ids }})()"
    ));
    let ids: Vec<u32> = serde_json::from_str(&ids).unwrap();
    let lines: Vec<_> = marks
        .iter()
        .filter(|m| ids.contains(&m.id))
        .map(|m| m.line)
        .collect();
    assert_eq!(lines, [1, 2, 3, 9]);
    assert_eq!(marks.len(), 6);
}

/// Statements, put together without regard for looks.
fn statement() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "log(1);",
        "log(2)\n",
        "n++\n",
        "{}",
        ";",
        "log(typeof h)\n",
        "var h = n\n",
        "'use strict'\n",
        "n += 2; log(n);",
        "[log(n)]\n;",
        "`${log(n)}`\n",
        "(x => log(x))(n);",
        "log(n) /* } */\n",
        "if (n > 9) throw n;",
        "log(((x) => { log(x); return x * 2 })(n));",
        "break;",
        "continue\n",
        "return n\n",
        "function h() { log('h') }",
        "log(/\\/}/.test('/}'))\n",
        "// {\n",
    ])
    .prop_map(str::to_owned);
    let cond = prop::sample::select(vec!["n % 2", "n > 3", "log(n)", "!n"]);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let cond = cond.clone();
        prop_oneof![
            (cond.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| format!("if ({c}) {{ {a} }} else {b}")),
            (cond.clone(), inner.clone()).prop_map(|(c, a)| format!("if ({c}) {a}")),
            (cond.clone(), inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b, d)| format!("if ({c}) {{{a}\n{b}}}\nelse if (n) {d}")),
            (cond, inner.clone()).prop_map(|(c, a)| format!("do {a} while (n++ < 5 && {c})\n")),
            inner.clone().prop_map(|a| format!("while (n++ < 6) {a}")),
            inner
                .clone()
                .prop_map(|a| format!("for (let i = 0; i < 2; i++) {a}")),
            inner
                .clone()
                .prop_map(|a| format!("for (const k of [1, 2]) {a}")),
            inner
                .clone()
                .prop_map(|a| format!("for (var k in {{ a: 1 }}) {a}")),
            inner.clone().prop_map(|a| format!(
                "l: while (n++ < 8) {{ {a}\nif (n > 3) break l; else continue l }}"
            )),
            inner.clone().prop_map(|a| format!("m: {{ {a}\nbreak m }}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!(
                "switch (n % 3) {{ case 0: {a}\ncase 1: {b}\ndefault: log('d') }}"
            )),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("try {{ {a} }} catch (e) {{ log(e); {b} }}")),
            inner
                .clone()
                .prop_map(|a| format!("(function () {{ {a}\n}})();")),
            prop::collection::vec(inner, 1..4).prop_map(|all| format!("{{ {} }}", all.join("\n"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn marked_code_does_the_same(parts in prop::collection::vec(statement(), 1..5)) {
        let text = parts.join("\n");
        let script = js(&text);
        prop_assert_eq!(script.code(), &text);
        let (code, marks) = script.with_marks(0);
        let run = |code: &str| evaluate(&format!(
            "(() => {{ let n = 0, steps = 0; const seen = []; const $cover = () => {{}}; \
             const log = x => {{ if (steps++ > 200) throw 'enough'; seen.push(String(x)); return x }}; \
             let end; try {{ end = (() => {{\n{code}\n}})() }} catch (e) {{ end = 'thrown ' + e }} \
             return [end, seen] }})()"
        ));
        let wanted = run(&text);
        let refused = wanted.starts_with("refused");
        // `break` and the like may stand where they make no sense.
        prop_assert!(refused || run(&code) == wanted, "{}\n{}\n{}", text, code, wanted);
        prop_assert!(refused || !marks.is_empty() || !code.contains("log"), "{}", code);
        prop_assert_eq!(code.lines().count(), text.lines().count());
    }
}
