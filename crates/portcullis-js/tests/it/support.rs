//! What tests share.

use std::sync::Arc;
use std::time::Duration;

use portcullis_js::{
    Denial, Evaluation, GlobalContext, Input, Limits, PlainSubject, PolicySet, PolicySource, Pool,
    PoolOptions, Verdict,
};
use serde_json::{Value, json};

pub(crate) fn set(globals: &str, policies: &[(&str, &str)]) -> PolicySet {
    let policies: Vec<_> = policies
        .iter()
        .map(|(name, code)| PolicySource {
            name: (*name).to_owned(),
            code: (*code).to_owned(),
        })
        .collect();
    PolicySet::compile(globals, &policies).unwrap()
}

pub(crate) fn limits() -> Limits {
    Limits {
        deadline: Duration::from_secs(20),
        ..Limits::default()
    }
}

pub(crate) fn pool_of(set: PolicySet, limits: Limits, threads: usize) -> Pool {
    let options = PoolOptions { threads, queue: 64 };
    Pool::start(set, limits, options, GlobalContext::new(1 << 20)).unwrap()
}

/// A pool of one thread with generous time.
pub(crate) fn pool(globals: &str, policies: &[(&str, &str)]) -> Pool {
    pool_of(set(globals, policies), limits(), 1)
}

pub(crate) fn pod() -> Value {
    json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {"containers": [{"name": "apple", "image": "img", "args": ["a", "b", "c"]}]}})
}

pub(crate) fn input(object: Value) -> Input {
    Input {
        subject: Arc::new(PlainSubject {
            req: json!({"UID": "u1", "Operation": "CREATE", "Namespace": "ns1", "Name": "p1",
            "operation": "CREATE", "namespace": "ns1", "name": "p1",
            "UserInfo": {"Username": "bob"}}),
            ac: json!({"HTTPRequest": {"RequestURI": "/a/b?x=1&y=%20",
            "Header": {"X-Ctrdac-Requesturi": ["/grpc"], "X-Two": ["1", "2"]},
            "URL": {"Path": "/a/b", "RawQuery": "x=1&y=%20"}},
            "User": null, "UserAuthNMethod": ""}),
        }),
        ..Input::new(object)
    }
}

pub(crate) fn run(policies: &[(&str, &str)]) -> Evaluation {
    pool("", policies).evaluate(input(pod())).unwrap()
}

/// What one policy named P says about the pod.
pub(crate) fn p(code: &str) -> Evaluation {
    run(&[("P", code)])
}

pub(crate) fn denied(evaluation: &Evaluation) -> &Denial {
    match &evaluation.verdict {
        Verdict::Deny(denial) => denial,
        other => panic!("{other:?} {:?}", evaluation.steps),
    }
}

pub(crate) fn message(code: &str) -> String {
    denied(&p(code)).message.clone()
}

/// The pod after an allow with a change.
pub(crate) fn changed(code: &str) -> Value {
    let evaluation = p(code);
    assert_eq!(evaluation.verdict, Verdict::Allow, "{code}");
    evaluation.object.unwrap()
}
