//! Policies written for jsPolicy, and policies that have the same names for something else.

use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_js::{Evaluation, ModuleSource, Plan, PolicyCode, PolicySet, PolicySource, Sources};
use serde_json::{Value, json};

use crate::support::*;

/// What policies written for jsPolicy say about the pod.
fn jspolicy(policies: &[(&str, &str)]) -> Evaluation {
    let policy = |(name, code): &(&str, &str)| PolicySource {
        name: (*name).to_owned(),
        code: PolicyCode::JsPolicy((*code).to_owned()),
    };
    let sources = Sources {
        policies: policies.iter().map(policy).collect(),
        ..Sources::default()
    };
    pool_of(PolicySet::compile(&sources).unwrap(), limits(), 1)
        .evaluate(input(pod()))
        .unwrap()
}

fn object_after(evaluation: Evaluation) -> Option<Value> {
    assert!(evaluation.denial().is_none(), "{evaluation:?}");
    evaluation.object
}

#[test]
fn request_is_the_request_with_its_objects() {
    let same = "if (request !== req || request.object !== object) deny('other');
        deny(request.namespace + ' ' + request.object.metadata.name + ' ' + request.operation)";
    assert_eq!(message(same), "P: ns1 p CREATE");
    assert_eq!(
        message("const { object, name } = request; deny(object.kind + name)"),
        "P: Podp1"
    );
    assert_eq!(message("deny(String(request.oldObject))"), "P: null");
}

#[test]
fn mutate_replaces_the_object_and_ends_the_policy() {
    let code = "const next = JSON.parse(JSON.stringify(request.object));
        next.metadata.labels.team = 'a'; delete next.spec.containers[0].args;
        mutate(next); deny('not reached')";
    let mut wanted = pod();
    wanted["metadata"]["labels"]["team"] = json!("a");
    let container = wanted["spec"]["containers"][0].as_object_mut().unwrap();
    container.remove("args");
    let evaluation = p(code);
    assert_eq!(evaluation.steps[0].outcome, PolicyOutcome::Pass);
    assert_eq!(object_after(evaluation), Some(wanted));
}

#[test]
fn mutate_of_what_is_the_same_changes_nothing() {
    for code in [
        "mutate(request.object)",
        "mutate(object)",
        "mutate({ ...object })",
        "mutate(JSON.parse(JSON.stringify(object)))",
        "mutate(Object.freeze(JSON.parse(JSON.stringify(object))))",
        "mutate(Object.create(null, Object.getOwnPropertyDescriptors(object)))",
    ] {
        assert_eq!(object_after(p(code)), None, "{code}");
    }
}

#[test]
fn mutate_removes_and_adds_members_and_others_see_it() {
    let evaluation = run(&[
        (
            "A",
            "mutate({ kind: 'Pod', metadata: object.metadata, data: { a: 1 } })",
        ),
        (
            "B",
            "if (object.spec !== undefined) return 'spec is there'; object.data.b = 2",
        ),
    ]);
    let wanted = json!({"kind": "Pod", "metadata": pod()["metadata"], "data": {"a": 1, "b": 2}});
    assert_eq!(object_after(evaluation), Some(wanted));
}

#[test]
fn mutate_in_modes_that_keep_nothing_changes_nothing() {
    let mut asked = input(pod());
    asked.plan = vec![Plan::Run(PolicyMode::Warn), Plan::Run(PolicyMode::Enforce)];
    let policies = [
        ("A", "mutate({ kind: 'Other' })"),
        ("B", "if (object.kind !== 'Pod') return object.kind"),
    ];
    let evaluation = pool("", &policies).evaluate(asked).unwrap();
    assert_eq!(object_after(evaluation), None);
}

#[test]
fn mutate_of_something_else_is_an_error() {
    for (code, wanted) in [
        ("mutate()", "mutate() needs the object as it should be"),
        ("mutate(null)", "mutate() needs the object as it should be"),
        (
            "mutate([object])",
            "mutate() needs the object as it should be",
        ),
        ("mutate('x')", "mutate() needs the object as it should be"),
        (
            "mutate(new Map())",
            "mutate() needs the object as it should be",
        ),
        (
            "Object.freeze(object); mutate({})",
            "mutate(): the object was frozen",
        ),
        ("mutate({ a: object })", "it contains itself"),
        (
            "mutate({ a: () => 1 })",
            "a function can't be converted to JSON",
        ),
    ] {
        let text = message(code);
        assert!(text.contains(wanted), "{code}: {text}");
    }
    let pool = pool("", &[("P", "mutate({})")]);
    let evaluation = pool.evaluate(input(Value::Null)).unwrap();
    let text = &denied(&evaluation).denial.message;
    assert!(
        text.contains("mutate(): the request has no object"),
        "{text}"
    );
}

#[test]
fn mutate_leaves_exact_numbers_and_large_members_as_they_are() {
    let data: Vec<Value> = (0..200)
        .map(|n| json!({"n": n, "text": "x".repeat(20)}))
        .collect();
    let text = json!({"kind": "K", "big": 1, "data": data}).to_string();
    let text = text.replace("\"big\":1", "\"big\":9007199254740993");
    let object: Value = serde_json::from_str(&text).unwrap();
    let same = Object::of("mutate({ ...object })", &object);
    assert_eq!(same, None);
    let moved =
        "const next = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(object));
        delete next.kind; next.other = 1; mutate(next)";
    let mut wanted = object.clone();
    wanted.as_object_mut().unwrap().remove("kind");
    wanted["other"] = json!(1);
    assert_eq!(Object::of(moved, &object), Some(wanted));
}

struct Object;

impl Object {
    fn of(code: &str, object: &Value) -> Option<Value> {
        let pool = pool("", &[("P", code)]);
        object_after(pool.evaluate(input(object.clone())).unwrap())
    }
}

#[test]
fn exit_and_print_have_no_opinion() {
    let evaluation = run(&[
        (
            "A",
            "print('seen', object.kind, { a: 1 }); exit(); deny('not reached')",
        ),
        ("B", "try { exit() } catch {} return 'caught'"),
        ("C", "return 'asked'"),
    ]);
    assert_eq!(denied(&evaluation).denial.message, "C: asked");
    let [line] = evaluation.console.as_slice() else {
        panic!("{:?}", evaluation.console)
    };
    assert_eq!(
        (line.text.as_str(), line.line),
        ("seen Pod {\"a\":1}", Some(1))
    );
}

#[test]
fn allow_of_a_policy_for_jspolicy_ends_it_alone() {
    let policies = [
        ("A", "allow(); deny('not reached')"),
        ("B", "deny('asked')"),
    ];
    assert_eq!(denied(&jspolicy(&policies)).denial.message, "B: asked");
    assert!(run(&policies).denial().is_none());
}

#[test]
fn what_is_not_available_says_so() {
    for name in [
        "create",
        "update",
        "remove",
        "fetchSync",
        "readFileSync",
        "env",
        "sleep",
        "requeue",
    ] {
        let text = message(&format!("warn('x');\n  {name}('a', 'b')"));
        let wanted = format!("P: unable to evaluate policy:Error: {name}() is not available: ");
        assert!(text.starts_with(&wanted), "{text}");
        assert!(text.ends_with(" at P:2:3"), "{text}");
        assert_eq!(
            message(&format!(
                "try {{ {name}() }} catch (e) {{ return 'caught' }}"
            )),
            "P: caught"
        );
    }
}

#[test]
fn names_that_a_policy_makes_itself_are_its_own() {
    for code in [
        "function get(o, k) { return o[k] } return get(object, 'kind')",
        "const get = (o) => o.kind; return get(object)",
        "let list = () => 'Pod'; return list()",
        "var list = ['Pod']; return list[0]",
        "get = () => 'Pod'; return get()",
        "if (typeof get === 'undefined') get = () => 'Pod'; return get()",
        "return typeof mutate === 'undefined' && typeof request === 'undefined' && typeof exit === 'undefined' ? 'Pod' : 'no'",
        "const request = object; return request.kind",
        "class env { static kind = 'Pod' } return env.kind",
        "return (function (create) { return create('Pod') })((x) => x)",
        "for (const update of ['Pod']) return update",
        "const { remove } = { remove: () => 'Pod' }; return remove()",
        "{ function sleep() { return 'Pod' } } return sleep()",
        "[print] = [() => 'Pod']; return print()",
        "return ['get', 'list', 'mutate', 'request', 'print', 'exit'].some((n) => n in globalThis) ? 'global' : 'Pod'",
        "const m = new Map([[1, 'Pod']]); return m.get(1)",
    ] {
        assert_eq!(message(code), "P: Pod", "{code}");
    }
}

#[test]
fn names_of_globals_and_of_earlier_policies_come_first() {
    let with_globals = |globals: &str, code: &str| {
        let pool = pool(globals, &[("P", code)]);
        let evaluation = pool.evaluate(input(pod())).unwrap();
        denied(&evaluation).denial.message.clone()
    };
    let declared = "function get(o) { return o.kind }";
    assert_eq!(with_globals(declared, "return get(object)"), "P: Pod");
    let assigned = "list = (o) => o.kind; request = { name: 'n' }";
    assert_eq!(
        with_globals(assigned, "return list(object) + request.name"),
        "P: Podn"
    );
    let evaluation = run(&[
        ("A", "get = (o) => o.kind; request = 'r'"),
        ("B", "return get(object) + request"),
    ]);
    assert_eq!(denied(&evaluation).denial.message, "B: Podr");
}

#[test]
fn modules_are_lent_the_same_names() {
    let module = ModuleSource {
        name: "m.ts".to_owned(),
        header: String::new(),
        code: "function run() {\n  if (request.name === 'p1') get('Pod', 'v1', 'a/b');\n}"
            .to_owned(),
        footer: "return { default: run };".to_owned(),
    };
    let sources = Sources {
        modules: vec![module],
        policies: vec![PolicySource {
            name: "P".to_owned(),
            code: PolicyCode::Module(0),
        }],
        ..Sources::default()
    };
    let pool = pool_of(PolicySet::compile(&sources).unwrap(), limits(), 1);
    let evaluation = pool.evaluate(input(pod())).unwrap();
    let text = &denied(&evaluation).denial.message;
    assert!(
        text.contains("Error: kube.get is not available here"),
        "{text}"
    );
    assert!(text.ends_with(" at m.ts:2:30"), "{text}");
}

#[test]
fn nothing_can_be_left_on_what_is_lent() {
    let code = "const mark = 'mark';
        for (const f of [mutate, print, exit, get]) { try { f[mark] = 1 } catch {} if (f[mark]) warn('left') }
        if (false) { mutate(); print(); exit(); get() }
        try { exit() } catch (e) { try { e[mark] = 1 } catch {} if (e[mark]) warn('left') }";
    let pool = pool("", &[("P", code)]);
    for _ in 0..2 {
        let evaluation = pool.evaluate(input(pod())).unwrap();
        assert!(evaluation.denial().is_none(), "{evaluation:?}");
        assert!(evaluation.warnings.is_empty(), "{:?}", evaluation.warnings);
    }
}
