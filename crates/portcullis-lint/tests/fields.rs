//! Fields that objects don't have, and the ways in which values are followed to them.

mod support;

use portcullis_script::Language;
use support::{findings, of, place};

/// What is found in the body of a policy for pods, and where.
fn places(code: &str) -> Vec<String> {
    let found = findings(of(&["Pod"]), Language::JavaScript, code);
    found.iter().map(|one| place(one).to_owned()).collect()
}

#[test]
fn a_field_that_no_pod_has_is_found_with_what_is_meant() {
    for (kinds, code, wanted) in [
        (
            vec!["Pod"],
            "if (object.spec.container) return 'x'",
            "unknown-field 1:17 PodSpec has no `container`, did you mean `containers`?",
        ),
        (
            vec!["apps/Deployment"],
            "if (object.spec.template.spec.containers[0].imagePullpolicy) return 'x'",
            "unknown-field 1:45 Container has no `imagePullpolicy`, did you mean `imagePullPolicy`?",
        ),
        (
            vec![],
            "if (!object.metadata.label) return 'x'",
            "unknown-field 1:22 ObjectMeta has no `label`, did you mean `labels`?",
        ),
        (
            vec!["Pod", "apps/Deployment"],
            "if (object.sepc) return 'x'",
            "unknown-field 1:12 none of Pod, Deployment has `sepc`, did you mean `spec`?",
        ),
        (
            vec!["Pod"],
            "if (object.spec.initContainers?.image) return 'x'",
            "unknown-field 1:33 a list has no `image`, each element has one: `.some(x => x.image ...)` or `for (const x of ...)`",
        ),
        (
            vec!["Pod"],
            "if (object.metadata.name.contains('x')) return 'x'",
            "unknown-field 1:26 a string has no `contains`, did you mean `includes`?",
        ),
        (
            vec!["Pod"],
            "if (request.object.spec.container) return 'x'",
            "unknown-field 1:25 PodSpec has no `container`, did you mean `containers`?",
        ),
        (
            vec!["Pod"],
            "if (req.userinfo.username === 'x') return 'x'",
            "unknown-field 1:9 `req` has no `userinfo`, did you mean `userInfo`?",
        ),
    ] {
        let found = findings(of(&kinds), Language::JavaScript, code);
        assert_eq!(found, [wanted], "{code}");
    }
}

#[test]
fn values_are_followed_through_the_code() {
    for code in [
        "for (const v of object.spec.volumes) if (v.hostpath) return 'x'",
        "for (const {hostpath} of object.spec.volumes) if (hostpath) return 'x'",
        "const { volumes = [] } = object.spec; for (const v of volumes) if (v.hostpath) return 'x'",
        "const { spec: { volumes: [first] } } = object; if (first.hostpath) return 'x'",
        "const spec = object.spec; const all = spec.volumes ?? []; if (all[0]?.hostpath) return 'x'",
        "if (object?.spec?.volumes?.some(v => v.hostpath)) return 'x'",
        "if (object.spec.volumes.every(function (v) { return v.hostpath })) return 'x'",
        "object.spec.volumes.forEach((v) => { if (v.hostpath) deny('x') })",
        "if (object.spec.volumes.map(v => v).filter(v => v.name).find(v => v.name === 'a').hostpath) return 'x'",
        "if ([object.spec].flatMap(s => s.volumes || []).at(0).hostpath) return 'x'",
        "for (const v of [...object.spec.volumes, ...(object.spec.volumes ?? [])]) if (v.hostpath) return 'x'",
        "for (const v of object.spec.volumes.concat(object.spec.volumes)) if (v.hostpath) return 'x'",
        "for (const v of (object.spec.volumes || []).slice(1)) v.hostpath = null",
        "const old = oldObject.spec.volumes[0]; if (old['hostpath']) return 'x'",
        "const { object: o } = req; if (o.spec.volumes[0].hostpath) return 'x'",
        "function bad() { return object.spec.volumes[0].hostpath }\nif (bad()) return 'x'",
        "for (let i = 0; i < object.spec.volumes.length; i++) if (object.spec.volumes[i].hostpath) return 'x'",
        "return object.spec.volumes[0].hostpath ? 'x' : true",
        "switch (object.spec.volumes[0].hostpath) { case 1: return 'x' }",
        "try { if (object.spec.volumes[0].hostpath) deny('x') } finally { warn('y') }",
        "export default () => object.spec.volumes.some(({hostpath}) => hostpath) && 'x'",
    ] {
        let found = places(code);
        assert_eq!(found.len(), 1, "{code}: {found:?}");
        assert!(found[0].starts_with("unknown-field "), "{code}: {found:?}");
    }
}

#[test]
fn what_can_not_be_followed_is_not_found_fault_with() {
    for code in [
        // Maps have any key, objects of any shape any member.
        "if (object.metadata.labels.anything || object.metadata.annotations['a/b']) return 'x'",
        "if (object.spec.containers[0].resources?.limits?.memory > 1) return object.spec.initContainers[0].name + 'ephemeralContainers'",
        "if (object.spec.containers[0].ports[0][req.name].anything) return 'x'",
        // Names that mean something else.
        "const spec = JSON.parse(atob(object.metadata.annotations.a)); if (spec.foo.bar) return 'x'",
        "function f(object) { return object.foo }\nreturn f({foo: 'x'})",
        "let spec = object.spec; spec = other(); if (spec.foo) return 'x'",
        "const all = [...object.spec.volumes]; all.push({foo: 1}); if (all.some(v => v.foo)) return 'x'",
        "const all = object.spec.volumes.map(v => ({foo: v.name})); if (all[0].foo) return 'x'",
        "const v = {...object.spec.volumes[0], foo: 1}; if (v.foo) return 'x'",
        "object = {foo: 1}; if (object.foo) return 'x'",
        "[object] = [{foo: 1}]; if (object.foo) return 'x'",
        "for (object of [{foo: 1}]) if (object.foo) return 'x'",
        "class A { foo = 1; bar() { return this.foo } }\nreturn new A().bar() ? 'x' : true",
        "if (object.hasOwnProperty('x') || object.spec.toString()) return 'x'",
        "var spec = object.spec\nif (req.name) var spec = {foo: 1}\nif (spec.foo) return 'x'",
        "var spec = object.spec\nif (req.name) { var spec = {foo: 1} }\nif (spec.foo) return 'x'",
        "if ('foo' in object.spec) return 'x'",
        "const f = v => v.foo; if (object.spec.volumes.some(f)) return 'x'",
        "const {...rest} = object.spec; if (rest.foo) return 'x'",
        "if (Object.values(object.spec).some(v => v.foo)) return 'x'",
        "if (object.spec.volumes.reduce((found, v) => found || v.name, {foo: 1}).foo) return 'x'",
    ] {
        assert_eq!(places(code), [""; 0], "{code}");
    }
}

#[test]
fn casts_and_annotations_are_believed() {
    for (code, count) in [
        (
            "const { foo } = object.spec as { foo: string }; if (foo) deny('x')",
            0,
        ),
        ("const spec: Mine = object.spec; if (spec.foo) deny('x')", 0),
        ("if ((object as any).spec.foo) deny('x')", 0),
        ("if (object.spec!.foo) deny('x')", 1),
        ("if ((object.spec satisfies unknown).foo) deny('x')", 1),
        (
            "for (const v of object.spec.volumes as Volume[]) if (v.foo) deny('x')",
            0,
        ),
        (
            "object.spec.volumes.forEach((v: Volume) => { if (v.foo) deny('x') })",
            0,
        ),
        (
            "export default function (): PolicyVerdict { if (object.spec.foo) return 'x' }",
            1,
        ),
        (
            "import type { A } from './a.ts'\nif (object.spec.foo as A) return 'x'",
            1,
        ),
    ] {
        let found = findings(of(&["Pod"]), Language::TypeScript, code);
        assert_eq!(found.len(), count, "{code}: {found:?}");
    }
}

#[test]
fn conditions_say_which_kind_it_is() {
    for (code, wanted) in [
        (
            "if (object.kind !== 'Pod') return\nif (object.spec.replicas) return 'x'",
            "2:17",
        ),
        (
            "if (object.kind === 'Pod' && object.spec.replicas) return 'x'",
            "1:42",
        ),
        (
            "if (object.kind !== 'Pod' || !object.spec.replicas) return\nwarn('x')",
            "1:43",
        ),
        (
            "if (req.operation === 'DELETE' || object.kind !== 'Pod') return\nif (object.spec.replicas) return 'x'",
            "2:17",
        ),
        (
            "switch (object.kind) { case 'Pod': case 'v': if (object.spec.replicas) return 'x' }",
            "",
        ),
        (
            "switch (req.kind.kind) { case 'Service': break; case 'Pod': if (object.spec.replicas) return 'x' }",
            "1:77",
        ),
        (
            "if (!['Pod', 'Service'].includes(object.kind)) return\nif (object.spec.replicas) return 'x'",
            "2:17",
        ),
        (
            "const kind = object.kind; return kind === 'Pod' ? object.spec.replicas && 'x' : true",
            "1:63",
        ),
        (
            "if (object.kind === 'Pod') { if (object.spec.replicas) return 'x' } else if (object.spec.replicas) return 'y'",
            "1:46",
        ),
        // Nothing is known of kinds that Kubernetes does not have, or where the kind may change.
        (
            "if (object.kind !== 'Certificate') return\nif (object.spec.replicas) return 'x'",
            "",
        ),
        (
            "if (object.kind !== 'Pod') object.kind = 'Pod'\nelse if (object.spec.replicas) return 'x'",
            "",
        ),
        (
            "if (object.kind === 'Pod') warn('x')\nif (object.spec.replicas) return 'x'",
            "",
        ),
    ] {
        let found = findings(of(&[]), Language::JavaScript, code);
        let places: Vec<&str> = found.iter().map(|one| place(one)).collect();
        match wanted {
            "" => assert_eq!(places, [""; 0], "{code}"),
            wanted => assert_eq!(places, [format!("unknown-field {wanted}")], "{code}"),
        }
    }
}

#[test]
fn long_chains_of_conditions_take_no_time() {
    let chain: Vec<String> = (0..180)
        .map(|n| format!("(object.kind === 'A{n}' || req.name)"))
        .collect();
    let code = format!("if ({}) return 'x'", chain.join(" && "));
    assert_eq!(places(&code).len(), 180);
}
