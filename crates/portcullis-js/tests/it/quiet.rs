//! Changes are seen, whatever way they are made: no policy is taken for one that only reads if it
//! does not.

use portcullis_js::{Mode, Plan, PolicySet, PolicySource, SourceName, Sources};
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

#[test]
fn no_change_is_missed() {
    let policy = |(index, code): (usize, String)| PolicySource::body(index.to_string(), code);
    let mut sources = Sources {
        policies: STATEMENTS
            .iter()
            .flat_map(|s| EXPRESSIONS.iter().map(|e| s.replace('E', e)))
            .enumerate()
            .map(policy)
            .collect(),
        ..Sources::default()
    };
    // It can't be told from this text that it changes nothing, so that the object is read back.
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
    assert!(count > 800, "{count}");
    let pool = pool_of(PolicySet::compile(&sources).unwrap(), limits(), 1);
    let mut changes = 0;
    for index in 0..count - 1 {
        let run = |forced: bool| {
            let mut i = input(json!({"name": "p", "n": 3, "list": [1, 2, 3], "a": {"b": 1}}));
            i.plan = vec![Plan::Skip; count];
            i.plan[index] = Plan::Run(Mode::Enforce);
            if forced {
                i.plan[count - 1] = Plan::Run(Mode::Enforce);
            }
            pool.evaluate(i).unwrap().object
        };
        let object = run(false);
        changes += usize::from(object.is_some());
        assert_eq!(object, run(true), "{:?}", sources.policies[index].code);
    }
    assert!(changes > 300 && changes < count, "{changes}");
}
