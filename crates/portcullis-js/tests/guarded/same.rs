//! An evaluation in a process gives exactly the result of one in a thread.

use std::fmt;
use std::sync::Arc;

use portcullis_core::PolicyMode;
use portcullis_js::{
    Evaluation, GlobalContext, Host, HostRequest, Input, ModuleSource, Plan, PolicyCode, PolicySet,
    PolicySource, Pool, PoolOptions, Sources,
};
use serde_json::{Value, json};

use crate::start;
use crate::support::{input, limits, patiently, pod};

struct World;

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

impl Host for World {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        match request.arguments.first() {
            Some(Value::String(text)) if text == "bad" => Err("it is bad".to_owned()),
            _ => Ok(json!({"asked": request.arguments, "object": request.object,
                "headers": request.subject.headers().len()})),
        }
    }
}

/// Without times.
fn plain(mut evaluation: Evaluation) -> Evaluation {
    for step in &mut evaluation.steps {
        assert_eq!(step.started.is_some(), step.duration.is_some());
        (step.started, step.duration) = (None, None);
    }
    let Some(first) = evaluation.host_calls.first().map(|call| call.started) else {
        return evaluation;
    };
    for call in &mut evaluation.host_calls {
        (call.started, call.duration) = (first, std::time::Duration::ZERO);
    }
    evaluation
}

fn sources(policies: &[(&str, &str)]) -> Sources {
    let module = ModuleSource {
        name: "lib/m.ts".to_owned(),
        header: String::new(),
        code: "let n = 0;\nconst next = () => ++n;\nconst fail = () => { throw new Error('in module') };".to_owned(),
        footer: "return { next, fail, default: () => { if (next() > 5) return 'many'; $cover(1); console.info('m') } };".to_owned(),
    };
    let body = |(name, code): &(&str, &str)| PolicySource::body(*name, *code);
    let mut policies: Vec<_> = policies.iter().map(body).collect();
    policies.push(PolicySource {
        name: "Module".to_owned(),
        code: PolicyCode::Module(0),
    });
    Sources {
        globals: "var shared = 1; function helper(x) { return x + shared }".to_owned(),
        modules: vec![module],
        policies,
        marks: 3,
    }
}

const CASES: &[&str] = &[
    "return",
    "return true",
    "return 'no'",
    "return { message: 'm', reason: 'R', code: 422 }",
    "allow()",
    "deny('a', { reason: 'X', code: 409 })",
    "warn('w1'); warn('w2')",
    "console.log('a', {b: 1}); console.error('e'); console.debug(helper(1)); $cover(0)",
    "throw new Error('thrown')",
    "null.x",
    "await Promise.resolve(1); return 'awaited'",
    "object.metadata.labels.b = '2'; delete object.spec.containers[0].args",
    "object.z = Object.keys(object); object.n = [1.5, 1e21, -0, 9007199254740991]",
    "object.loop = object",
    "ac.GlobalContext.n = (ac.GlobalContext.n || 0) + 1; return 'n=' + ac.GlobalContext.n",
    "ac.GlobalContext.f = () => 1",
    "ac.GlobalContext.large = 'x'.repeat(2e6)",
    "return JSON.stringify([req, ac.HTTPRequest.Header.Get('x-two'), oldObject])",
    "const a = cosignVerify('k'); return JSON.stringify(a)",
    "try { cosignVerify('bad') } catch (e) { return String(e) }",
    "slsaVerify(() => 1, undefined, [NaN])",
    "object.x = 1; return JSON.stringify(cosignVerify('k').object.x)",
    "'x'.repeat(2 ** 30)",
    "(function f() { f() })()",
    "return '\\ud800'",
    "return 'é\\u0000\\n\"'",
    "return String(Object.getOwnPropertyNames(globalThis).sort())",
    "const { fail } = $module(0); fail()",
    "mutate({ ...request.object, data: { a: 1 } })",
    "print('p', request.name); exit(); deny('no')",
    "get('Pod', 'v1', 'a/b')",
    "get = () => object.kind; return get()",
    "return JSON.stringify([kube.get('v1', 'Node', 'n'), kube.get('v1', 'Pod', 'a', 'b'), kube.list('v1', 'Pod')])",
    "return JSON.stringify(kube.list('v1', 'Pod', { namespace: 'a', limit: 2 }))",
    "kube.get('bad', 'Pod', 'a', 'b')",
    "'use strict'; kube.get('v1', 'Node', 'n').asked.push(1)",
];

#[test]
fn every_case_has_the_same_outcome() {
    let host: Arc<dyn Host> = Arc::new(World);
    for code in CASES {
        let second = "if (object.metadata.labels.b) warn('changed'); return undefined";
        let sources = sources(&[("P", code), ("Q", second)]);
        let set = PolicySet::compile(&sources).unwrap();
        let options = PoolOptions {
            threads: 1,
            queue: 10,
        };
        let (one, other) = (GlobalContext::new(1 << 20), GlobalContext::new(1 << 20));
        let threads = Pool::start(
            set.clone(),
            limits(),
            options,
            one.clone(),
            Arc::clone(&host),
        );
        let threads = threads.unwrap();
        let processes = start::start(set, limits(), options, other.clone(), Arc::clone(&host));
        let modes = [PolicyMode::Enforce, PolicyMode::Warn, PolicyMode::DryRun];
        for (failures_pass, mode) in [false, true].into_iter().zip(modes.into_iter().cycle()) {
            for mode in [mode, PolicyMode::Warn, PolicyMode::Enforce] {
                let asked = || Input {
                    plan: vec![
                        Plan::Run(mode),
                        Plan::Run(PolicyMode::Enforce),
                        Plan::Run(PolicyMode::Enforce),
                    ],
                    failures_pass,
                    ..input(pod())
                };
                let wanted = plain(patiently(&threads, asked()));
                let got = plain(patiently(&processes, asked()));
                let got = with_times_of(got, &wanted);
                assert_eq!(got, wanted, "{code}");
            }
        }
        let skipped = || Input {
            plan: vec![Plan::Skip, Plan::Skip, Plan::Run(PolicyMode::DryRun)],
            ..input(pod())
        };
        let wanted = plain(patiently(&threads, skipped()));
        assert_eq!(plain(patiently(&processes, skipped())), wanted);
        assert_eq!(one.value(), other.value(), "{code}");
    }
}

/// Moments can't be the same.
fn with_times_of(mut got: Evaluation, wanted: &Evaluation) -> Evaluation {
    for (got, wanted) in got.host_calls.iter_mut().zip(&wanted.host_calls) {
        got.started = wanted.started;
    }
    got
}
