//! What each form of module syntax and of types becomes.

mod support;

use support::{js, ts};

const STRICT: &str = "\"use strict\";";

fn footer(getters: &str) -> String {
    format!("return {{ __proto__: null{getters} }};")
}

#[test]
fn imports() {
    for (text, code, header) in [
        (
            "import a from './a'; a",
            ";                    a",
            " const {default: a} = $module(0);",
        ),
        ("import './a'\n(b)", ";           \n(b)", " $module(0);"),
        (
            "import {} from './a'",
            ";                   ",
            " $module(0);",
        ),
        (
            "import * as a from './a'",
            ";                       ",
            " const a = $module(0);",
        ),
        (
            "import a, * as b from './a'",
            ";                          ",
            " const b = $module(0); const {default: a} = b;",
        ),
        (
            "import a, {b, c as d, 'e f' as g} from './a'",
            ";                                           ",
            " const {default: a, b, c: d, \"e f\": g} = $module(0);",
        ),
        (
            "import {\r\n  a // of b\r\n} from './bb' // rest",
            ";       \r\n           \r\n              // rest",
            " const {a} = $module(1);",
        ),
        (
            "import a from './a';import b from './bb'",
            ";                   ;                   ",
            " const {default: a} = $module(0); const {default: b} = $module(1);",
        ),
    ] {
        let script = js(text);
        assert!(script.is_module());
        assert_eq!(script.code(), code, "{text}");
        let place = |specifier: &str| specifier.len() - 3;
        assert_eq!(script.header(place), format!("{STRICT}{header}"), "{text}");
        assert_eq!(script.footer(), footer(""), "{text}");
        assert!(script.exports().is_empty());
    }
}

#[test]
fn exports() {
    for (text, code, names, getters) in [
        (
            "export const a = 1",
            "       const a = 1",
            "a",
            ", get a() { return a }",
        ),
        (
            "export let a, b = 2",
            "       let a, b = 2",
            "a b",
            ", get a() { return a }, get b() { return b }",
        ),
        (
            "export function f() {}",
            "       function f() {}",
            "f",
            ", get f() { return f }",
        ),
        (
            "export async function* f() {}",
            "       async function* f() {}",
            "f",
            ", get f() { return f }",
        ),
        (
            "export class A {}",
            "       class A {}",
            "A",
            ", get A() { return A }",
        ),
        (
            "export const {a, b: [c, ...d], e = 1, ...f} = g",
            "       const {a, b: [c, ...d], e = 1, ...f} = g",
            "a c d e f",
            ", get a() { return a }, get c() { return c }, get d() { return d }, \
             get e() { return e }, get f() { return f }",
        ),
        (
            "let a, b; export {a, b as c, a as default, b as 'd e'}\n(x)",
            "let a, b; ;                                           \n(x)",
            "a c default d e",
            ", get a() { return a }, get c() { return b }, get default() { return a }, \
             get \"d e\"() { return b }",
        ),
        ("export {}", ";        ", "", ""),
        (
            "{ var a } export {a}",
            "{ var a } ;         ",
            "a",
            ", get a() { return a }",
        ),
    ] {
        let script = js(text);
        assert_eq!(script.code(), code, "{text}");
        assert_eq!(script.exports().join(" "), names, "{text}");
        assert_eq!(script.header(|_| 0), STRICT);
        assert_eq!(script.footer(), footer(getters), "{text}");
    }
}

#[test]
fn default_exports() {
    for (text, code, value) in [
        (
            "export default function f() {}",
            "               function f() {}",
            "f",
        ),
        (
            "export default class A {}",
            "               class A {}",
            "A",
        ),
        (
            "export default async function f() {}",
            "               async function f() {}",
            "f",
        ),
        (
            "export default function () {}",
            "         function $main () {}",
            "$main",
        ),
        (
            "export default function(){}(a)",
            "         function $main(){}(a)",
            "$main",
        ),
        (
            "export default function*(){}",
            "         function* $main(){}",
            "$main",
        ),
        (
            "export default async function* /* x */ (){}",
            "         async function* $main /* x */ (){}",
            "$main",
        ),
        (
            "export default async function(){}",
            "         async function $main(){}",
            "$main",
        ),
        ("export default class{}", "         class $main{}", "$main"),
        (
            "export default class extends A{}",
            "         class $main extends A{}",
            "$main",
        ),
        (
            "export\ndefault\nclass{}",
            "      \n  class\n$main{}",
            "$main",
        ),
        (
            "export default\nfunction(){}",
            "      function\n   $main(){}",
            "$main",
        ),
        ("export default 1", "const  $main = 1", "$main"),
        ("export default(x)", "const  $main =(x)", "$main"),
        ("export default[x]", "const  $main =[x]", "$main"),
        ("export default{x}", "const  $main ={x}", "$main"),
        ("export default () => 1", "const  $main = () => 1", "$main"),
        (
            "export default async x => x",
            "const  $main = async x => x",
            "$main",
        ),
        (
            "export default (function f() {})",
            "const  $main = (function f() {})",
            "$main",
        ),
        (
            "export/*é*/default/*x*/x",
            "const      $main =/*x*/x",
            "$main",
        ),
        (
            "export // default\n default\n x",
            "const            \n $main =\n x",
            "$main",
        ),
    ] {
        let script = js(text);
        assert_eq!(script.code(), code, "{text}");
        assert_eq!(script.exports(), ["default"]);
        let getter = format!(", get default() {{ return {value} }}");
        assert_eq!(script.footer(), footer(&getter), "{text}");
    }
}

#[test]
fn exports_of_other_modules() {
    for (text, names, header, getters) in [
        (
            "export {a, b as c, default, default as d, 'e f' as g} from './a'",
            "a c default d g",
            " const $from0 = $module(4);",
            ", get a() { return $from0.a }, get c() { return $from0.b }, \
             get default() { return $from0.default }, get d() { return $from0.default }, \
             get g() { return $from0[\"e f\"] }",
        ),
        (
            "export * as ns from './a'",
            "ns",
            " const $from0 = $module(4);",
            ", get ns() { return $from0 }",
        ),
        ("export {} from './a'", "", " $module(4);", ""),
        (
            "import a from './b'; export {a}; export {b} from './a'",
            "a b",
            " const {default: a} = $module(4); const $from1 = $module(4);",
            ", get a() { return a }, get b() { return $from1.b }",
        ),
    ] {
        let script = js(text);
        assert_eq!(script.exports().join(" "), names, "{text}");
        assert_eq!(script.header(|_| 4), format!("{STRICT}{header}"), "{text}");
        assert_eq!(script.footer(), footer(getters), "{text}");
        assert_eq!(script.code().trim_start_matches([' ', ';']), "", "{text}");
    }
}

#[test]
fn imports_are_told_with_their_places() {
    let text = "import './é'; import a, {b as c} from './x.js'\nexport * from 'y'\n\
                export * as n from 'z'; import * as m from 'z'";
    let script = js(text);
    let told: Vec<_> = script
        .imports()
        .iter()
        .map(|i| {
            let names: Vec<_> = i
                .names
                .iter()
                .map(|n| format!("{}@{}", n.name, n.column))
                .collect();
            let specifier = &i.specifier;
            (
                specifier.as_str(),
                i.line,
                i.column,
                names.join(" "),
                i.wildcard,
                i.star,
            )
        })
        .collect();
    let no = String::new;
    let wanted = [
        ("./é", 1, 8, no(), false, false),
        ("./x.js", 1, 39, "default@22 b@26".to_owned(), false, false),
        ("y", 2, 15, no(), false, true),
        ("z", 3, 20, no(), true, false),
        ("z", 3, 44, no(), true, false),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn types_are_blanked() {
    for (text, code) in [
        ("let a: number = 1 as const", "let a         = 1         "),
        ("let a: number\n(b)", "let a        \n(b)"),
        ("let a = b as any\n(c)", "let a = b;      \n(c)"),
        ("let a = b satisfies C\n[d]", "let a = b;           \n[d]"),
        ("type A = 1\n(b)", ";         \n(b)"),
        ("a\ntype A = 1\n(b)", "a\n;         \n(b)"),
        (
            "a\ninterface A { b: 1 }\n[b]",
            "a\n;                   \n[b]",
        ),
        (
            "let f = (a: A): B\n | C => a",
            "let f = (a       \n   ) => a",
        ),
        ("let a = b!.c!", "let a = b .c "),
        ("f<A>(b)", "f   (b)"),
        (
            "function f(a: 1): 1\nfunction f(a) {}",
            ";                  \nfunction f(a) {}",
        ),
        (
            "function f(this: A, a?: B) {}",
            "function f(         a    ) {}",
        ),
        (
            "class A<T> implements B { private c?: T; static readonly d = 1 }",
            "class A                 {         c    ; static          d = 1 }",
        ),
        (
            "abstract class A { abstract b(): void; c!: D }",
            "         class A {                     c     }",
        ),
        (
            "declare const a: 1; declare global { var b: 1 }",
            ";                                              ",
        ),
        (
            "import type { A } from './a'; let a: A",
            ";                             let a   ",
        ),
        ("return a as B", "return a     "),
        (
            "if (a as B) return await (b as C)",
            "if (a     ) return await (b     )",
        ),
    ] {
        let script = ts(text);
        assert_eq!(script.code(), code, "{text}");
        assert!(!script.is_module(), "{text}");
        assert_eq!((script.header(|_| 0), script.footer()), Default::default());
    }
}

#[test]
fn types_in_modules() {
    for (text, code, header, names) in [
        (
            "import {type A, b} from './a'; export type C = A; export interface D {}",
            ";                                                                      ",
            " const {b} = $module(0);",
            "",
        ),
        (
            "import a, {type B} from './a'; export type {C} from './b'; export {a, type D}",
            ";                                                          ;                 ",
            " const {default: a} = $module(0);",
            "a",
        ),
        (
            "export default function <T>(a: T): T { return a }",
            "         function $main    (a   )    { return a }",
            "",
            "default",
        ),
        (
            "export default function f(a: 1): 1\nexport default function f(a: any) {}",
            ";                                 \n               function f(a     ) {}",
            "",
            "default",
        ),
        (
            "export default { a } satisfies B",
            "const  $main = { a }            ",
            "",
            "default",
        ),
        (
            "export abstract class A { abstract b(): void }",
            "                class A {                    }",
            "",
            "A",
        ),
    ] {
        let script = ts(text);
        assert_eq!(script.code(), code, "{text}");
        assert_eq!(script.header(|_| 0), format!("{STRICT}{header}"), "{text}");
        assert_eq!(script.exports().join(" "), names, "{text}");
    }
}

#[test]
fn bodies_are_let_through() {
    for text in [
        "return 1",
        "",
        "\"use strict\"; return await a",
        "var a = 010; with (a) b; c = 1; delete a",
        "function f(a, a) {} let await2; var yield = 1",
        "not even (JavaScript",
        "var importance = 1; exports.a = 1",
        "// import a from 'b'\n`\nexport default 1\n`",
        "}; {",
    ] {
        let script = js(text);
        assert_eq!(script.code(), text);
        assert!(!script.is_module(), "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_dropped() {
    assert_eq!(js("\u{feff}return 1").code(), "return 1");
    assert_eq!(ts("\u{feff}export let a: 1").code(), "       let a   ");
}
