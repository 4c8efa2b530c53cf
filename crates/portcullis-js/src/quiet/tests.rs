use super::*;

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
    ] {
        assert!(changes_nothing(text), "{text}");
    }
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
        "object.\nx++",
        "object. // c\nx++",
        "object. /* c */ x++",
        "object. /* c */ x = 1",
        "object. // c\n x = 1",
        "++object.x",
        "--object['x']",
        "++(object.x)",
        "object.list[0]++\nn",
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
        "for\n(object.x of [1]);",
        "[object.x] = [1]",
        "({ x: object.x } = { x: 1 })",
        "const { x = object.y = 1 } = {}",
        "const x = object.y = 1",
        "const f = (x) => x; f(object)",
        "f(object)",
        "f\n(object)",
        "object.f // test\n(1)",
        "object.f/* test */(1)",
        "Object.assign(object, {})",
        "[object].reduce(Object[k])",
        "[1].forEach(object.list[k], object.list)",
        "[1].map((object.list[k]), object.list)",
        "JSON.stringify(object, object.list[k])",
        "object.list[k]`x`",
        "`${object.list[k]`x`}`",
        "with (object) { x }",
        "new Thing(object)",
        "obj\\u0065ct.x",
        "eval(x)",
        "delete\u{feff}object.x",
        "(() => object)().x.y()",
        "this.object",
    ] {
        assert!(!changes_nothing(text), "{text}");
    }
}
