//! Which bodies are known to change nothing, and what else is determined of a body.
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use portcullis_script::{FunctionBody, Insight, examine};

fn insight(text: &str, awaits: bool) -> Insight {
    let mut insights = examine(&[FunctionBody { text, awaits }]);
    insights.pop().unwrap()
}

fn reads_only(text: &str) -> bool {
    insight(text, false).reads_only
}

#[test]
fn texts_that_only_read_are_known() {
    for text in [
        "",
        "if (object.metadata.name === 'bad') return 'bad name';",
        r"for (const c of [...(object.spec.initContainers || []), ...object.spec.containers]) {
            if (!/^(registry\.example\.com|ghcr\.io)\//.test(c.image)) return 'image ' + c.image + ' not allowed';
        }",
        "const { spec, metadata } = object; const n = spec.replicas; return n <= 5 && n != 2 || metadata.name == 'x'",
        "const bad = object.spec.containers.filter((c) => c.image.endsWith(':latest')).map(c => c.name);\nif (bad.length > 0) deny(`latest: ${bad.join()}`)",
        "for (const [k, v] of Object.entries(object.metadata.labels ?? {})) if (!k.includes('/')) return `no ${v}`",
        "// Every image.\nvar lists = [object.a, object.b], n = 0;\nfor (var i = 0; i < lists.length; i++) {\n  // one\n  n = n - 1; --n; ++i\n}",
        "object.a?.b?.includes('x'); object.list[0]; object.labels[`${k}`]; ({ a: 1, ...object })",
        "switch (object.kind) { case 'Pod': break; default: throw object.kind }",
        "try { object.x } catch { warn('no x') } finally { object.y }",
        "object.name.replace(/x/g, '').replaceAll('y', (m) => m.trim())",
        "let n = 0; n += 1; n ??= 2; outer: for (;;) { break outer }",
        "function helper(x) { return x.name } return object.n",
        "object. /* c */ x == 1 // c\n; object\n  .list\n  .map((x) => x) <= 3",
    ] {
        assert!(reads_only(text), "{text}");
    }
    assert!(insight("await object.x; return true", true).reads_only);
}

#[test]
fn everything_else_counts_as_a_change() {
    for text in [
        "object.x = 1",
        "object.x += 1",
        "object.x <<= 1",
        "object.x >>>= 1",
        "object.x ??= 1",
        "object.x++",
        "object\n.x++",
        "object. /* c */ x = 1",
        "object. // c\n x = 1",
        "++object.x",
        "--object['x']",
        "++(object.x)",
        "(object.x) = 1",
        "object.list[0]\n++\nobject.x",
        "`\n// ${object.x = 1}\n`",
        "/*\n// */ object.x = 1",
        "// c\u{2028}object.x = 1",
        "// c\robject.x = 1",
        "n = object.x = 1",
        "delete object.x",
        "object.list.push(1)",
        "object.list['pu' + 'sh'](1)",
        "object.list?.[k]?.(1)",
        "for (object.x of [1]);",
        "for (object.x in {a: 1});",
        "[object.x] = [1]",
        "[n] = [1]",
        "({ x: object.x } = { x: 1 })",
        "const { x = object.y = 1 } = {}",
        "const { [object.y = 1]: x } = {}",
        "const x = object.y = 1",
        "const f = (x) => x; f(object)",
        "f(object)",
        "Object.assign(object, {})",
        "[object].reduce(Object[k])",
        "[1].forEach(object.list[k], object.list)",
        "[1].map(...[Object[k]])",
        "object.name.replace(/.+/, eval)",
        "JSON.stringify(object, object.list[k])",
        "object.list[k]`x`",
        "with (object) { x }",
        "new Thing(object)",
        "obj\\u0065ct.x = 1",
        "object.\\u0070ush = 1",
        "eval(x)",
        "(() => object)().x.y()",
        "this.object",
        "arguments[0]",
        "class A { static x = object.y = 1 }",
        "function* f() { yield object }",
        "debugger",
        // A function of one kind under the name of another.
        "const test = Object['ass' + 'ign']; test(object, { a: 1 })",
        "const o = { test: Object['ass' + 'ign'] }; o.test(object, { a: 1 })",
        "const o = { 'test': Object['ass' + 'ign'] }; o.test(object, { a: 1 })",
        "const o = { [k]: Object['ass' + 'ign'] }; o.test(object, { a: 1 })",
        "const test = Object['ass' + 'ign'], o = { test }; o.test(object, { a: 1 })",
        "warn = Object['ass' + 'ign']; warn(object, { a: 1 })",
        "for (warn of [Object['ass' + 'ign']]) warn(object, { a: 1 })",
        "const { ['ass' + 'ign']: warn } = Object; warn(object, { a: 1 })",
        "[Object['ass' + 'ign']].map((warn) => warn(object, { a: 1 }))",
        "try { throw Object['ass' + 'ign'] } catch (String) { String(object, { a: 1 }) }",
        "function warn() {}",
        "({ toString() { object.u = 1 } }) + ''",
        "({ get x() { return object.u = 1 } }).x",
        "({ __proto__: object })",
        // Words that are names here.
        "var let = object.spec; const k = 'privileged'; (let[k] = false)",
        "var yield = object; yield[k] = 1",
        "var await = object; await[k] = 1",
        "var async = object; async[k] = 1",
        "var of = object; of[k] = 1",
        "var get = object, set = object, static = object; get.x = set.x = static.x = 1",
        "var await = Object.assign; await (object)",
        "yield (object)",
        // Comments of another age.
        "object.spec.\n<!-- c\nprivileged = false",
        "object.spec.\n--> c\nprivileged = false",
        "--> c\nobject.x",
        // Slashes and line ends.
        "a = b\n/object.x = 1/g",
        "if (a) /'/; object.x = 1; /'/",
        "return\nobject.x = 1",
        "object\n++\nn.x = 1",
        "`${`${object.x = 1}`}`",
        "not { a program",
    ] {
        assert!(!reads_only(text), "{text}");
    }
}

#[test]
fn what_would_be_refused_only_when_it_runs_is_found() {
    let faults = insight("const a = 1;\n  if (x) await import('./x.js')", true).faults;
    let [fault] = &faults[..] else {
        unreachable!("{faults:?}")
    };
    assert_eq!((fault.line, fault.column), (2, 16), "{fault}");
    assert!(fault.message.starts_with("`import()` is not supported"));
    assert_eq!(insight("é = import('x')", false).faults[0].column, 5);
    for text in [
        "// import('x')",
        "'import(x)'",
        "/import(x)/",
        "o.import(1)",
        "",
    ] {
        assert_eq!(insight(text, false).faults, [], "{text}");
    }
}
