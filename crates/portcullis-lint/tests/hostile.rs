//! Odd texts: they are looked at in bounded time, and nothing panics.

mod support;

use portcullis_lint::{Role, Subject, lint};
use portcullis_script::Language;
use proptest::prelude::*;
use support::of;

fn look(text: &str) {
    for language in [Language::JavaScript, Language::TypeScript] {
        for role in [Role::Policy(of(&["Pod", "apps/Deployment"])), Role::Module] {
            let subject = Subject {
                text,
                language,
                role,
                others: Vec::new(),
                watched: Some(Vec::new()),
            };
            if let Ok(found) = lint(&subject) {
                let lines = u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX);
                for finding in found {
                    if let portcullis_lint::Place::Text { line, column } = finding.place {
                        assert!((1..=lines).contains(&line) && column >= 1, "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn deep_and_long_texts_end() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("if (object.kind === 'A') {", "}"),
        ("x => (", ")"),
        ("f(", ")"),
    ] {
        for depth in [10, 100, 250] {
            look(&format!(
                "{}object.spec{}",
                open.repeat(depth),
                close.repeat(depth)
            ));
        }
    }
    for part in [
        "object.spec.volumes.map(x => x)",
        "object.kind === 'A' || req.name",
        "!object",
        "[object]",
        "a.b",
        "`${object.spec}`",
    ] {
        for joint in [" || ", " && ", " ?? ", " + ", ", ", " ? 1 : "] {
            let parts = vec![part; 150];
            look(&format!("x = {} 0", parts.join(joint)));
        }
    }
    let many: String = (0..2000)
        .map(|n| format!("const a{} = [a{n}, a{n}];\n", n + 1))
        .collect();
    look(&format!("const a0 = object.spec;\n{many}"));
    look(&"object.spec.foo;\n".repeat(5000));
    look(&"if (object.kind !== 'Pod') return;\n".repeat(2000));
    look("\u{feff}object.spec.é𝒳\n");
}

/// Parts of which odd programs are made.
fn part() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "object",
        "oldObject",
        "req",
        ".spec",
        ".metadata",
        ".kind",
        ".containers",
        "[0]",
        "?.",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "=>",
        "=",
        "===",
        "'Pod'",
        "`${",
        "}`",
        "if",
        "else",
        "for",
        "of",
        "in",
        "while",
        "switch",
        "case",
        ":",
        "break",
        "return",
        "const",
        "let",
        "var",
        "x",
        "y",
        "function",
        "async",
        "await",
        "class",
        "extends",
        "import",
        "export",
        "default",
        "from",
        "'./a.js'",
        ",",
        ";",
        "\n",
        "...",
        "&&",
        "||",
        "??",
        "!",
        "as",
        "any",
        "satisfies",
        "deny",
        "warn",
        "allow",
        "try",
        "catch",
        "finally",
        "throw",
        "new",
        "delete",
        "typeof",
        "NaN",
        "1",
        "/x/",
        "// c\n",
        "label",
        "get",
        "set",
        "static",
        "yield",
        "*",
        "with",
        "<T>",
        "@",
        "#a",
        "é",
        "\u{2028}",
    ]);
    words.prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_panics(parts in prop::collection::vec(part(), 0..40)) {
        look(&parts.join(" "));
    }

    #[test]
    fn statements_of_all_forms_are_followed(picks in prop::collection::vec(0..12_usize, 1..12)) {
        let forms = [
            "for (const c of object.spec.containers) { c.image }",
            "const { spec: { volumes = [] }, ...rest } = object;",
            "let x = object.spec; x = 1;",
            "switch (object.kind) { case 'Pod': object.spec.x; break; default: y }",
            "label: for (;;) { if (x) break label; else continue; }",
            "try { a() } catch ({ message }) { warn(message) } finally { b() }",
            "class A extends B { #p = object; static { object.x } get y() { return this.#p } }",
            "function* g(a = object.spec, [b, , ...c], { d }) { yield* a }",
            "const h = async ({ x }) => { await x?.y?.[z]?.(w) };",
            "object.metadata.labels ??= {}; delete object.spec.x; ({ x: object.kind } = y);",
            "do { x++ } while (typeof x === 'z' && !(y = 3));",
            "new (class { [object.spec.x]() {} })(...object.spec.containers);",
        ];
        let text: Vec<&str> = picks.iter().map(|pick| forms[*pick]).collect();
        look(&text.join("\n"));
    }
}
