//! What is rejected, where, and with which message.
#![allow(
    clippy::panic,
    clippy::string_slice,
    reason = "functions of tests may fail"
)]

use portcullis_script::{Language, prepare};

fn faults(text: &str, language: Language) -> Vec<String> {
    match prepare(text, language) {
        Ok(script) => panic!("{text} became {}", script.code()),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn in_typescript() {
    for (text, wanted) in [
        ("let é = 1; enum A { B }", "1:12: `enum` is not supported"),
        ("enum A { B }\nreturn 1", "1:1: `enum` is not supported"),
        ("/* 𝒳 */ const enum A { B }", "1:9: `enum` is not supported"),
        (
            "import type { é } from 'é'; return 1; enum A {}",
            "1:39: `enum` is not supported",
        ),
        (
            "namespace A { export let a = 1 }",
            "1:1: `namespace` is not supported",
        ),
        (
            "class A { constructor(private a: 1) {} }",
            "1:31: parameter properties are not",
        ),
        (
            "import a = require('a')",
            "1:1: `import x = …` is not supported",
        ),
        (
            "export = 1",
            "1:1: `export =` is not supported: write `export default`",
        ),
        ("\n @a class B {}", "2:2: decorators are not supported"),
        (
            "class B { @a b() {} }",
            "1:11: decorators are not supported",
        ),
        (
            "const a = <b>c</b>",
            "1:16: `<T>value` is not supported, nor is JSX",
        ),
        (
            "const a = <b c='d'/>",
            "1:14: `<T>value` is not supported, nor is JSX",
        ),
        (
            "const a = <b>c",
            "1:11: `<T>value` is not supported, nor is JSX",
        ),
        ("let a: 1 = ;", "1:12: expression expected"),
        ("let a: 1;\r\nlet b: = 1", "2:8: unexpected token `=`"),
        ("using a = b()", "1:1: `using` is not supported"),
        (
            "export {}; return 1",
            "1:12: `return` outside of a function",
        ),
        (
            "interface A {} export { A }",
            "1:25: `A` is not declared in this file; a type is",
        ),
        ("}; {", "1:1: expression expected"),
        ("let a = -1 as any ** 2", "1:9: put parentheses around"),
    ] {
        let found = faults(text, Language::TypeScript);
        assert!(found[0].starts_with(wanted), "{text}\n{found:?}");
    }
}

#[test]
fn in_javascript() {
    for (text, wanted) in [
        ("export const a = ;", "1:18: expression expected"),
        (
            "export let a; with (a) {}",
            "1:15: `with` is not allowed in a module",
        ),
        ("export let a = 010", "1:16: "),
        ("a; import(b)", "1:4: `import()` is not supported"),
        ("with (a) import(b)", "1:10: `import()` is not supported"),
        (
            "export let a = () => import(b)",
            "1:22: `import()` is not supported",
        ),
        (
            "export let a = import.meta",
            "1:16: `import.meta` is not supported",
        ),
        ("export {}\n  await a", "2:3: `await` in a module must"),
        ("export let a = [await b]", "1:17: `await` in a module must"),
        (
            "export {}; for await (const a of b);",
            "1:12: `await` in a module must",
        ),
        (
            "export {}; if (a) return",
            "1:19: `return` outside of a function",
        ),
        (
            "import a from 'a' with { type: 'json' }",
            "1:24: import attributes",
        ),
        (
            "export * from 'a' with { type: 'json' }",
            "1:24: import attributes",
        ),
        (
            "import defer * as a from 'a'",
            "1:1: write `import` without",
        ),
        ("export { a }", "1:10: `a` is not declared"),
        ("let a; export { a, a }", "1:20: `a` is exported twice"),
        (
            "export default 1; export default 2",
            "1:19: `default` is exported twice",
        ),
        (
            "let $main2; export {}",
            "1:5: names that begin with `$main`",
        ),
        (
            "import $module from 'a'",
            "1:8: names that begin with `$module`",
        ),
        (
            "export let a = $cover",
            "1:16: names that begin with `$cover`",
        ),
        (
            "export function f($from) {}",
            "1:19: names that begin with `$from`",
        ),
        ("arguments; export {}", "1:1: `arguments` is not available"),
        (
            "export\ndefault\nfunction(){}",
            "1:1: write `export default` in one line",
        ),
        ("'é'; export let a = =", "1:21: "),
        (
            "export default <a/>",
            "1:16: `<T>value` is not supported, nor is JSX",
        ),
        (
            "export let a\n@b class C {}",
            "2:1: decorators are not supported",
        ),
    ] {
        let found = faults(text, Language::JavaScript);
        assert!(found[0].starts_with(wanted), "{text}\n{found:?}");
    }
}

#[test]
fn what_is_allowed_inside_of_functions() {
    for text in [
        "export {}; async function f() { await a; for await (const b of c) return }",
        "export {}; const f = async () => { await a; return }",
        "export default { async a() { await b }, get c() { return arguments } }",
        "export class A { static { b } c = () => 1; [d]() { return arguments } }",
        "export default [a.import.meta, a.$main, { $cover: 1 }]",
    ] {
        assert!(prepare(text, Language::JavaScript).is_ok(), "{text}");
    }
}

#[test]
fn all_faults_of_a_module_are_told_in_order() {
    let text = "export { a }\nimport(b)\nexport { c }";
    let found = faults(text, Language::JavaScript);
    let starts: Vec<_> = found
        .iter()
        .filter_map(|f| f.split_once(": "))
        .map(|f| f.0)
        .collect();
    assert_eq!(starts, ["1:10", "2:1", "3:10"]);
}

#[test]
fn messages_are_plain() {
    let text = "export const a = `${";
    for language in [Language::JavaScript, Language::TypeScript] {
        for fault in faults(text, language) {
            assert!(
                !fault.contains("SyntaxError") && !fault.contains("Some("),
                "{fault}"
            );
        }
    }
}
