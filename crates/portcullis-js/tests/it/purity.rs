//! Changes are noticed, in whatever way they are made: no policy counts as one that only reads if it
//! does not.

use portcullis_core::PolicyMode;
use portcullis_js::{Plan, PolicySet, PolicySource, SourceName, Sources};
use proptest::prelude::*;
use serde_json::json;

use crate::support::*;

/// Expressions that read, and others that write, some of them in hiding.
const EXPRESSIONS: &[&str] = &[
    "object.a.b",
    "object.list.length",
    "object.list.concat([1])",
    "object.list.slice(1).join()",
    "object.list['pu' + 'sh'](5)",
    "object.list.map((x) => x + 1)",
    "object.list.map(object.list['pu' + 'sh'], object.list)",
    "object.list.map((object.list['pu' + 'sh']), object.list)",
    "object.list.forEach((x) => { object.n = x })",
    "object.list.filter(function (x) { return delete object.a })",
    "object.list.some(x => object.list.pop())",
    "[object.a].reduce(Object['ass' + 'ign'], object)",
    "[object, { z: 1 }].reduce(Object['ass' + 'ign'])",
    "`${object.list['po' + 'p']()}`",
    "object.list['po' + 'p']`x`",
    "`${object.list['po' + 'p']`x`}`",
    "`a ${object.n} b`",
    "(() => object.a = 5)()",
    "(x => object.a = x)(5)",
    "object.n++",
    "--object.n",
    "object\n.n++",
    "object. // c\n n++",
    "object. /* c */ n = 7",
    "object.\n// c\nn = 7",
    "object. // c\n n = 7",
    "object['n']--",
    "++object['n']",
    "++(object.n)",
    "object.list[0]++\nobject",
    "object.list[0]\n++\nobject.n",
    "(object.list[0])++",
    "`\n// ${object.n = 4}\n`",
    "'\\\n// ' + (object.n = 4)",
    "/*\n// */ (object.n = 4)",
    "// c\r(object.n = 4)",
    "(k = object.n)",
    "(k = object.n = 4)",
    "(k = object).n = 4",
    "object.n += 1",
    "object.n <<= 2",
    "object.n >>>= 1",
    "object.n **= 2",
    "object.z ??= 1",
    "object.z ||= 1",
    "object.n &&= 9",
    "delete object.n",
    "delete\u{feff}object.n",
    "delete/**/object.n",
    "JSON.stringify(object, object.list['po' + 'p'])",
    "JSON.stringify(object)",
    "Object.keys(object).join()",
    "Object.entries(object).length",
    "Object.entries(object).map(([k, v]) => k + v)",
    "String(object.list)",
    "object.name.replace(/x/g, (m) => m)",
    "object.name.replace('p', () => { object.q = 1; return '' })",
    "new Set(object.list).size",
    "new (class { constructor() { object.k = 1 } })()",
    "object.name === 'p' ? object.n : (object.m)",
    "object?.list?.[1]",
    "object.list?.['pu' + 'sh']?.(1)",
    "[...object.list]",
    "({ ...object }).n",
    "({ get test() { return object.t = 1 } }).test",
    "({ toString() { object.u = 1; return 'u' } }) + ''",
    "object.list.sort((a, b) => b - a)",
    "object.list.toSorted((a, b) => b - a)",
    "eval('object.e = 1')",
    "Reflect.set(object, 'r', 1)",
    "Object.assign(object, { s: 1 })",
    "Object.defineProperty(object, 'd', { value: 1, enumerable: true })",
    "[object.x] = [1]",
    "({ y: object.y } = { y: 1 })",
    "object.list.length = 0",
    "obj\\u0065ct.w = 1",
    "this.constructor.assign(object, { v: 1 })",
    "object.list.push\n(7)",
    "object.list.push // test\n(7)",
    "object.list.push/* test */(7)",
    "Array.from([1], object.list['pu' + 'sh'], object.list)",
    "object.list['\\160ush'](1)",
];

/// What is done with them.
const STATEMENTS: &[&str] = &[
    "const v = E;",
    "var i = 0, k = 1; i++; --k; i = k; (E);",
    "for (var i = 0; i < 2; i++) { (E) }",
    "// a comment\nvar k;\n// another\n(E);",
    "if (E) ;",
    "for (const x of [E]) x;",
    "for (object.t of [E]);",
    "for (object.t in { k: E });",
    "const f = (x) => (E); f(1);",
    "function test() { return (E) } test();",
    "try { throw (E) } catch (e) { e }",
    "switch (E) { case 1: break }",
    "warn(String(E));",
    "const { a, list } = object; (E);",
    "const { q = (E) } = {};",
    "console.log(E, `x ${1}`);",
    "[1].forEach((x) => { E });",
    "with (object) { (E) }",
];

/// Runs each program alone, and with one after it for which the object is read back anyway. Gives how
/// many could be compiled, and how many changed the object.
fn compare(programs: impl Iterator<Item = String>) -> (usize, usize) {
    let policy = |(index, code): (usize, String)| PolicySource::body(index.to_string(), code);
    let mut sources = Sources {
        policies: programs.enumerate().map(policy).collect(),
        ..Sources::default()
    };
    // It can't be determined from this text that it changes nothing, so the object is read back.
    let force = "const f = (x) => x; f(1)";
    sources.policies.push(PolicySource::body("force", force));
    if let Err(faults) = PolicySet::compile(&sources) {
        let is_faulty = |policy: &PolicySource| {
            let name = SourceName::Policy(policy.name.clone());
            faults.iter().any(|fault| fault.source == name)
        };
        sources.policies.retain(|policy| !is_faulty(policy));
    }
    let count = sources.policies.len();
    let pool = pool_of(PolicySet::compile(&sources).unwrap(), limits(), 1);
    let mut changes = 0;
    for index in 0..count - 1 {
        let run = |forced: bool| {
            let mut i = input(json!({"name": "p", "n": 3, "list": [1, 2, 3], "a": {"b": 1}}));
            i.plan = vec![Plan::Skip; count];
            i.plan[index] = Plan::Run(PolicyMode::Enforce);
            if forced {
                i.plan[count - 1] = Plan::Run(PolicyMode::Enforce);
            }
            pool.evaluate(i).unwrap().object
        };
        let object = run(false);
        changes += usize::from(object.is_some());
        assert_eq!(object, run(true), "{:?}", sources.policies[index].code);
    }
    (count - 1, changes)
}

#[test]
fn no_change_is_missed() {
    let all = |s: &&str| {
        let s = (*s).to_owned();
        EXPRESSIONS.iter().map(move |e| s.replace('E', e))
    };
    let (count, changes) = compare(STATEMENTS.iter().flat_map(all));
    assert!(count > 800, "{count}");
    assert!(changes > 300 && changes < count, "{changes}");
}

#[test]
fn words_that_are_names_and_odd_comments_hide_nothing() {
    let name = |word: &str| format!("var {word} = object; const k = 'n'; ({word}[k] = 9)");
    let words = [
        "let", "yield", "await", "async", "of", "get", "set", "static", "target", "from", "as",
    ];
    let odd = [
        "object.\n<!-- c\nn = 9",
        "object.\n--> c\nn = 9",
        "const test = Object['ass' + 'ign']; test(object, { n: 9 })",
        "const o = { test: Object['ass' + 'ign'] }; o.test(object, { n: 9 })",
        "warn = Object['ass' + 'ign']; warn(object, { n: 9 })",
        "o = object; 'o.n = 9'.replace(/.+/, eval)",
        "var await = Object['ass' + 'ign']; await (object, { n: 9 })",
    ];
    let programs: Vec<String> = words
        .map(name)
        .into_iter()
        .chain(odd.map(str::to_owned))
        .collect();
    let (count, changes) = compare(programs.into_iter());
    assert!(count >= 15, "{count}");
    assert!(changes >= 14, "{changes}");
}

/// One of the texts, with `E` and `F` for expressions.
fn filled(
    forms: &'static [&'static str],
    inner: impl Strategy<Value = String> + Clone,
) -> impl Strategy<Value = String> {
    let forms = proptest::sample::select(forms);
    let fill = |(form, e, f): (&str, String, String)| form.replace('E', &e).replace('F', &f);
    (forms, inner.clone(), inner).prop_map(fill)
}

fn expression() -> BoxedStrategy<String> {
    let leaves = proptest::sample::select(
        &[
            "object",
            "object.a",
            "object.list",
            "object.n",
            "object.name",
            "k",
            "v",
            "let",
            "of",
            "async",
            "yield",
            "Object",
            "Object.assign",
            "Object['ass' + 'ign']",
            "object.list['pu' + 'sh']",
            "console",
            "'n'",
            "'push'",
            "1",
            "/n/g",
            "({})",
            "[]",
            "null",
            "eval",
            "'v.n = 7'",
            "globalThis",
            "this",
            "arguments",
        ][..],
    );
    leaves
        .prop_map(str::to_owned)
        .prop_recursive(4, 24, 3, |inner| {
            filled(
                &[
                    "(E)",
                    "E.n",
                    "E[F]",
                    "E?.[F]",
                    "E?.a",
                    "E.list.map(F)",
                    "E.map((v) => F)",
                    "E.map(function (v) { return F })",
                    "[E].forEach((v) => { F })",
                    "[E, F].reduce((v, k) => v)",
                    "[E].reduce(F, E)",
                    "E.test(F)",
                    "E.includes(F)",
                    "E.concat(F)",
                    "E.replace(/n/, F)",
                    "'n'.replace('n', (v) => F)",
                    "E.replace('p', 'q')",
                    "String(E)",
                    "warn(E)",
                    "test(E, F)",
                    "E(F)",
                    "E?.(F)",
                    "E`x`",
                    "`a ${E} b`",
                    "{ n: E }.n",
                    "({ n: E, ...F })",
                    "({ test: E }).test(F, { n: 7 })",
                    "({ toString: () => E }) + F",
                    "({ get n() { return E } }).n",
                    "E = F",
                    "E.n = F",
                    "E[F] = 7",
                    "v = E",
                    "k = E",
                    "let = E",
                    "warn = E",
                    "[v] = [E]",
                    "[E.n] = [F]",
                    "({ n: E.n } = { n: 7 })",
                    "E++",
                    "++E",
                    "v++",
                    "--E.n",
                    "delete E.n",
                    "E.n += 1",
                    "E.z ??= F",
                    "E || F",
                    "E, F",
                    "E ? F : E",
                    "typeof E",
                    "!E",
                    "E in F",
                    "E instanceof F",
                    "new E(F)",
                    "(() => E)()",
                    "(async () => E)()",
                    "E.list.push(F)",
                    "E.list.sort()",
                    "Object.keys(E)",
                    "Object.entries(E).map(([k, v]) => F)",
                    "E /* c */ .n = 7",
                    "E\n.n\n= 7",
                    "E / F / E",
                    "E <!-- F",
                    "E.hasOwn(F, 'n')",
                    "E.min(F)",
                    "E.log(F, { n: 7 })",
                    "E.at(F)",
                    "E.has(F)",
                ],
                inner,
            )
        })
        .boxed()
}

fn program() -> impl Strategy<Value = String> {
    filled(
        &[
            "E",
            "(E)",
            "var k = 'n', v = object; E",
            "var let = E; let.n = 7; F",
            "const v = E; F",
            "const { n: v, a } = E; F",
            "let [v = E] = [F]",
            "var k = 'n'; for (var v of [E]) F",
            "for (var v in E) F",
            "for (v of [object]) E",
            "if (E) F; else E",
            "try { throw E } catch (v) { F }",
            "try { E } catch {} F",
            "switch (E) { case F: E }",
            "function test(v, k) { return E } F",
            "var test = E; test(F, { n: 7 })",
            "const o = { n: E }; F",
            "class v { static n = E } F",
            "l: for (;;) { E; break l }",
            "do { E } while (0)",
            "var v = object\nE\n(F)",
            "// E\nF",
            "v => E\n/F/g",
            "E\n<!-- c\nF",
            "with (object) { E }",
            "return E",
            "var v = async () => E; F",
            "const v = (v) => E; [object].map(v)",
            "var yield = object, k = 'n'; E; yield[k] = F",
        ],
        expression(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// Whatever is made of these parts: if it is taken for one that only reads, it does.
    #[test]
    fn no_change_of_a_random_program_is_missed(programs in proptest::collection::vec(program(), 60)) {
        compare(programs.into_iter());
    }
}
