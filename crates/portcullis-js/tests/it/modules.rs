//! ES modules, as function bodies.

use portcullis_core::PolicyOutcome;
use portcullis_js::{
    CompileFault, Evaluation, Input, ModuleSource, PolicyCode, PolicySet, PolicySource,
    PolicyVerdict, Pool, SourceName, Sources,
};
use serde_json::json;

use crate::support::*;

fn module(name: &str, header: &str, code: &str, exports: &str) -> ModuleSource {
    let getters: Vec<_> = exports
        .split_whitespace()
        .map(|pair| {
            let (name, local) = pair.split_once('=').unwrap_or((pair, pair));
            format!("get {name}() {{ return {local} }}")
        })
        .collect();
    ModuleSource {
        name: name.to_owned(),
        header: header.to_owned(),
        code: code.to_owned(),
        footer: format!("return {{__proto__: null, {}}};", getters.join(", ")),
    }
}

fn sources(globals: &str, modules: Vec<ModuleSource>, policies: &[usize]) -> Sources {
    Sources {
        globals: globals.to_owned(),
        modules,
        policies: policies
            .iter()
            .enumerate()
            .map(|(index, module)| PolicySource {
                name: format!("P{index}"),
                code: PolicyCode::Module(*module),
            })
            .collect(),
        marks: 0,
    }
}

fn start(globals: &str, modules: Vec<ModuleSource>, policies: &[usize]) -> Pool {
    let set = PolicySet::compile(&sources(globals, modules, policies)).unwrap();
    pool_of(set, limits(), 1)
}

fn run(modules: Vec<ModuleSource>) -> Evaluation {
    start("", modules, &[0]).evaluate(input(pod())).unwrap()
}

#[test]
fn a_default_export_is_the_policy() {
    let e = run(vec![module(
        "p.js",
        "",
        "function policy() { return this === undefined && arguments.length === 0 && object.kind === 'Pod' && req.UID === 'u1' }",
        "default=policy",
    )]);
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    let e = run(vec![module(
        "p.js",
        "",
        "const policy = async () => { await null; deny('late') }",
        "default=policy",
    )]);
    assert_eq!(denied(&e).denial.message, "P0: late");
    for exports in ["", "default=5", "default=undefined"] {
        let e = run(vec![module("p.js", "", "", exports)]);
        assert_eq!(
            denied(&e).denial.message,
            "P0: unable to evaluate policy:its default export is not a function"
        );
        assert_eq!(e.steps[0].outcome, PolicyOutcome::Error);
    }
}

#[test]
fn modules_import_run_once_and_are_strict() {
    let modules = vec![
        module(
            "p.js",
            "const {default: a, b: c} = $module(1); const all = $module(1); const {get} = $module(2);",
            "function policy() { return [a, c(), all.b(), get(), typeof this, shared].join() }",
            "default=policy",
        ),
        module(
            "lib/a.js",
            "const {next} = $module(2);",
            "next(); const b = () => next();",
            "default=next b",
        ),
        module(
            "lib/count.js",
            "",
            "let n = 0; const next = () => ++n; const get = () => n;",
            "next get",
        ),
        module(
            "q.js",
            "const {get} = $module(2);",
            "const policy = () => { try { undeclared = 1 } catch { return 'n=' + get() } }",
            "default=policy",
        ),
    ];
    let pool = start("const shared = 'g';", modules, &[0, 3]);
    for _ in 0..2 {
        // The second evaluation is as the first: nothing at the top level survives.
        let e = pool.evaluate(input(pod())).unwrap();
        let d = denied(&e);
        assert!(d.denial.message.ends_with(",2,3,3,undefined,g"), "{d:?}");
    }
    let mut i = input(pod());
    i.plan = vec![
        portcullis_js::Plan::Skip,
        portcullis_js::Plan::Run(portcullis_core::PolicyMode::Enforce),
    ];
    let e = pool.evaluate(i).unwrap();
    assert_eq!(denied(&e).denial.message, "P1: n=0");
    assert!(pool.realms_made() <= pool.threads() as u64);
}

#[test]
fn policies_of_one_evaluation_share_modules() {
    let modules = vec![
        module("count.js", "", "let n = 0; const next = () => ++n;", "next"),
        module(
            "p.js",
            "const {next} = $module(0);",
            "const policy = () => { if (next() > 1) return 'n' }",
            "default=policy",
        ),
    ];
    let pool = start("", modules, &[1, 1, 1]);
    let outcomes = |i: Input| -> Vec<PolicyOutcome> {
        let e = pool.evaluate(i).unwrap();
        e.steps.iter().map(|s| s.outcome).collect()
    };
    let wanted = [
        PolicyOutcome::Pass,
        PolicyOutcome::Deny,
        PolicyOutcome::Skip,
    ];
    assert_eq!(outcomes(input(pod())), wanted);
    assert_eq!(outcomes(input(pod())), wanted);
    // One that only warns has a world of its own.
    let mut i = input(pod());
    let warn = portcullis_js::Plan::Run(portcullis_core::PolicyMode::Warn);
    i.plan = vec![warn, warn, warn];
    assert_eq!(outcomes(i), [PolicyOutcome::Pass; 3]);
}

#[test]
fn cycles_are_errors() {
    let modules = vec![
        module(
            "lib/a.js",
            "const {b} = $module(1);",
            "const a = 1",
            "a default=a",
        ),
        module("lib/b.js", "const {a} = $module(0);", "const b = 1", "b"),
    ];
    let e = run(modules);
    let d = denied(&e);
    assert!(
        d.denial
            .message
            .contains("Error: import cycle through lib/a.js at lib/b.js:1:1"),
        "{d:?}"
    );
    assert_eq!(e.steps[0].source.as_deref(), Some("lib/b.js"));
    let e = run(vec![module("a.js", "$module(0);", "", "")]);
    assert!(
        denied(&e)
            .denial
            .message
            .contains("import cycle through a.js")
    );
}

#[test]
fn places_lead_back_to_the_module() {
    let modules = vec![
        module(
            "p.js",
            "const {f} = $module(1);",
            "function policy() {\n  if (object.own)\n    throw new Error('own');\n  f();\n}",
            "default=policy",
        ),
        module(
            "lib/images.ts",
            "",
            "\n\n\nfunction f() {\n  object.none.where }",
            "f",
        ),
    ];
    let pool = start("", modules, &[0]);
    let e = pool.evaluate(input(json!({"own": 1}))).unwrap();
    let step = &e.steps[0];
    assert_eq!((step.line, &step.source), (Some(3), &None), "{e:?}");
    assert!(denied(&e).denial.message.contains(" at p.js:3:"), "{e:?}");
    let e = pool.evaluate(input(json!({}))).unwrap();
    let step = &e.steps[0];
    assert_eq!(step.source.as_deref(), Some("lib/images.ts"));
    assert_eq!(step.line, Some(5));
    let column = step.column.unwrap();
    assert!(
        denied(&e)
            .denial
            .message
            .ends_with(&format!(" at lib/images.ts:5:{column}")),
        "{e:?}"
    );
    let globals = "\nfunction g() { null.x }";
    let e = pool_of(set(globals, &[("P", "g()")]), limits(), 1);
    let e = e.evaluate(input(pod())).unwrap();
    let step = &e.steps[0];
    assert_eq!(
        (step.source.as_deref(), step.line),
        (Some("globals"), Some(2))
    );
}

#[test]
fn a_module_that_throws_is_an_error_of_each_policy_that_imports_it() {
    let modules = vec![
        module("bad.js", "", "\nthrow new Error('top')", ""),
        module(
            "p.js",
            "const {x} = $module(0);",
            "const policy = () => true",
            "default=policy",
        ),
        module("q.js", "", "const policy = () => true", "default=policy"),
    ];
    let pool = start("", modules, &[1, 1, 2]);
    let e = pool
        .evaluate(Input {
            failures_pass: true,
            ..input(pod())
        })
        .unwrap();
    let outcomes: Vec<_> = e.steps.iter().map(|s| s.outcome).collect();
    assert_eq!(
        outcomes,
        [
            PolicyOutcome::Error,
            PolicyOutcome::Error,
            PolicyOutcome::Allow
        ]
    );
    for step in &e.steps[..2] {
        assert_eq!(
            (step.source.as_deref(), step.line),
            (Some("bad.js"), Some(2))
        );
        assert!(step.message.as_ref().unwrap().contains("Error: top"));
    }
    let e = run(vec![module("loop.js", "", "(function f() { f() })()", "")]);
    assert_eq!(denied(&e).limit, Some(portcullis_core::PolicyLimit::Stack));
}

#[test]
fn faults_name_the_module() {
    let faults = |modules: Vec<ModuleSource>| -> Vec<CompileFault> {
        PolicySet::compile(&sources("", modules, &[0])).unwrap_err()
    };
    let named = |name: &str| SourceName::Module(name.to_owned());
    let f = faults(vec![
        module("a.js", "", "const a = 1;\nconst b = ;", ""),
        module("b.js", "", "with (object) {}", ""),
        module("c.js", "", "} }); ({ m() {", ""),
        module("d.js", "", "return 1 /*", ""),
    ]);
    let found: Vec<_> = f.iter().map(|f| (&f.source, f.line)).collect();
    assert_eq!(found[0], (&named("a.js"), 2), "{f:?}");
    assert_eq!(found[1], (&named("b.js"), 1), "{f:?}");
    assert_eq!(found[2].0, &named("c.js"), "{f:?}");
    assert_eq!(found[3].0, &named("d.js"), "{f:?}");
    assert_eq!(f[0].to_string().split(':').next(), Some("a.js"));
    let f = faults(vec![module("a.js", "let x;\n", "", "")]);
    assert_eq!(f[0].source, named("a.js"));
    let f = faults(Vec::new());
    assert_eq!(f[0].source, SourceName::Policy("P0".to_owned()));
}
