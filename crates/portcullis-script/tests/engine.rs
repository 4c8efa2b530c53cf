//! Prepared modules run, alone and together, with and without marks.

mod support;

use support::run;

#[test]
fn modules_import_each_other() {
    let files = [
        (
            "main.ts",
            "import d, { a, up as raise, 'x y' as xy } from './lib.js'\n\
             import * as lib from './lib.js'\nimport './effect.js'\n\
             export const before: number = a\nraise()\n\
             export const after = [a, lib.a, lib.default === d, d(), xy]",
        ),
        (
            "lib.js",
            "log('lib'); export let a = 1; export function up() { a++ }\n\
             export default () => 'd'; const xy = 'xy'; export { xy as 'x y' }",
        ),
        ("effect.js", "log('effect'); export {}"),
    ];
    // A name is bound to the value of the time of the import; the module's object follows it.
    let wanted = r#"[1,[1,2,true,"d","xy"],["lib","effect"]]"#;
    assert_eq!(run(&files, "[main.before, main.after, seen]"), wanted);
}

#[test]
fn exports_are_passed_on() {
    let files = [
        (
            "main.js",
            "export * from './a.js'; export * from './b.js'; export * as b from './b.js'\n\
             export { default, x as y, bump } from './b.js'; export const own = 'main'\n\
             const Object = null",
        ),
        (
            "a.js",
            "export const first = 'a', own = 'a'; export default 'a'",
        ),
        (
            "b.js",
            "export const first = 'b'; export let x = 1; export default 'b'\n\
             export const bump = () => { x++ }",
        ),
    ];
    let result = "(main.bump(), [main.first, main.own, main.default, main.x, main.y, main.b.x, \
                  Object.keys(main).sort().join()])";
    let wanted = r#"["a","main","b",2,2,2,"b,bump,default,first,own,x,y"]"#;
    assert_eq!(run(&files, result), wanted);
    let files = [
        files[0],
        files[1],
        (
            "b.js",
            "export * from './a.js'; export let x, bump, first; export default 3",
        ),
    ];
    assert_eq!(run(&files, "[main.default, main.own]"), r#"[3,"main"]"#);
}

#[test]
fn default_exports_have_their_value() {
    for (text, wanted) in [
        (
            "log(f()); export default function f() { return 1 }",
            "[1,1]",
        ),
        ("export default function () { return 1 }\n(log(2))", "[2,1]"),
        ("export default function(){ return 1 } (log(2))", "[2,1]"),
        (
            "export default class { static call() { return 1 } }\n[log(2)]",
            "[2,1]",
        ),
        (
            "export default class extends Array { static call() { return this.of(5).length } }",
            "[1]",
        ),
        ("export default () => 1", "[1]"),
        (
            "export default (function () { return this === undefined })",
            "[true]",
        ),
        ("export default{ call: () => 1 }", "[1]"),
        (
            "let a = () => 1\nexport { a as default }\n(log(3))",
            "[3,1]",
        ),
        (
            "log(this === undefined)\nexport default () => 1",
            "[true,1]",
        ),
    ] {
        let result = "[...seen, main.default.call()]";
        assert_eq!(run(&[("main.js", text)], result), wanted, "{text}");
    }
    let generator = "export default function*() { yield 1; yield 2 }";
    assert_eq!(
        run(&[("main.js", generator)], "[...main.default()]"),
        "[1,2]"
    );
    let later = "export default async function() { return await 5 }";
    assert_eq!(run(&[("main.js", later)], "main.default()").as_str(), "5");
}

#[test]
fn statements_stay_apart() {
    for (text, wanted) in [
        ("let a = log\nimport './e.js'\n(b => log(2))", "[1]"),
        ("import './e.js'\n[log(2)]", "[1,2]"),
        ("import './e.js'\n(function () { log(2) })()", "[1,2]"),
        (
            "import './e.js'; let a = log\nexport { a }\n(log(2))",
            "[1,2]",
        ),
        (
            "import './e.js'; let a = log\nexport const b = log(2)\n;[log(3)]",
            "[1,2,3]",
        ),
        (
            "import './e.js'; let a = log(5)\nexport * from './e.js'\n`${log(3)}`",
            "[1,5,3]",
        ),
        ("import './e.js'; let a: number\n(log(2))", "[1,2]"),
        ("import './e.js'; let a = log as any\n(log(2))", "[1,2]"),
        (
            "import './e.js'; let a = log\ntype A = 1\n(log(2))",
            "[1,2]",
        ),
        (
            "import './e.js'; let a = log\ninterface A {}\n[log(2)]",
            "[1,2]",
        ),
        (
            "import './e.js'; let a = (b: 1):\n 1 |\n 2 => b; log(a(2))",
            "[1,2]",
        ),
        (
            "import './e.js'; if (true) type = 3\nvar type: any; log(type)",
            "[1,3]",
        ),
        (
            "import './e.js'; class A { b = 1\n d: 3 = 3\n c?: 2; }; log(new A().d)",
            "[1,3]",
        ),
    ] {
        let files = [("main.ts", text), ("e.js", "log(1); export {}")];
        assert_eq!(run(&files, "seen"), wanted, "{text}");
    }
}

#[test]
fn imports_are_constant_and_names_clash() {
    let lib = ("lib.js", "export let a = 1");
    let assigned = run(
        &[("main.js", "import { a } from './lib.js'; a = 2"), lib],
        "1",
    );
    assert!(assigned.starts_with("thrown TypeError"), "{assigned}");
    let twice = run(
        &[("main.js", "import { a } from './lib.js'; let a"), lib],
        "1",
    );
    assert!(twice.starts_with("refused"), "{twice}");
    let sloppy = run(&[("main.js", "undeclared = 2; export {}")], "1");
    assert!(sloppy.starts_with("thrown ReferenceError"), "{sloppy}");
}

#[test]
fn a_module_gives_nothing_it_does_not_export() {
    let result = "[main.toString === undefined, Object.keys(main)]";
    assert_eq!(
        run(&[("main.js", "export let a")], result),
        r#"[true,["a"]]"#
    );
}
