//! Helpers shared by tests.

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::{Document, Tree, json as strict};
use portcullis_js::{
    Evaluation, GlobalContext, Input, Limits, NoHost, PlainSubject, PolicyDenial, PolicySet,
    PolicySource, PolicyVerdict, Pool, PoolOptions, Sources,
};
use serde_json::{Value, json};

use crate::start::start;

pub(crate) fn set(globals: &str, policies: &[(&str, &str)]) -> PolicySet {
    let sources = Sources {
        globals: globals.to_owned(),
        policies: policies
            .iter()
            .map(|(name, code)| PolicySource::body(*name, *code))
            .collect(),
        ..Sources::default()
    };
    PolicySet::compile(&sources).unwrap()
}

pub(crate) fn limits() -> Limits {
    Limits {
        deadline: Duration::from_secs(20),
        ..Limits::default()
    }
}

pub(crate) fn pool_of(set: PolicySet, limits: Limits, threads: usize) -> Pool {
    let options = PoolOptions { threads, queue: 64 };
    let context = GlobalContext::new(1 << 20);
    start(set, limits, options, context, Arc::new(NoHost))
}

/// A pool of one thread with generous time.
pub(crate) fn pool(globals: &str, policies: &[(&str, &str)]) -> Pool {
    pool_of(set(globals, policies), limits(), 1)
}

pub(crate) fn pod() -> Value {
    json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {"containers": [{"name": "apple", "image": "img", "args": ["a", "b", "c"]}]}})
}

/// An object as it comes: a text of which nothing is read yet.
pub(crate) fn tree(object: &Value) -> Tree {
    let text = object.to_string();
    let scanned = strict::scan(text.as_bytes()).unwrap();
    Document::from_scanned(&scanned, scanned.text())
        .tree()
        .unwrap()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests write the value in place"
)]
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
        object: Arc::new(tree(&object)),
        ..Input::new(&Value::Null)
    }
}

pub(crate) fn run(policies: &[(&str, &str)]) -> Evaluation {
    pool("", policies).evaluate(input(pod())).unwrap()
}

/// What one policy named P says about the pod.
pub(crate) fn p(code: &str) -> Evaluation {
    run(&[("P", code)])
}

pub(crate) fn denied(evaluation: &Evaluation) -> &PolicyDenial {
    match &evaluation.verdict {
        PolicyVerdict::Deny(denial) => denial,
        other => panic!("{other:?} {:?}", evaluation.steps),
    }
}

pub(crate) fn message(code: &str) -> String {
    denied(&p(code)).denial.message.clone()
}

/// The pod after an allow with a change.
pub(crate) fn changed(code: &str) -> Value {
    let evaluation = p(code);
    assert_eq!(evaluation.verdict, PolicyVerdict::Allow, "{code}");
    evaluation.object.unwrap()
}

/// Evaluates with much more time than the pool's limits say: for those who must not fail because
/// the machine is busy.
pub(crate) fn patiently(pool: &Pool, input: Input) -> Evaluation {
    let (sender, receiver) = std::sync::mpsc::channel();
    let deadline = portcullis_core::clock::monotonic() + Duration::from_secs(60);
    pool.submit(input, deadline, move |e| drop(sender.send(e)))
        .unwrap();
    receiver.recv().unwrap().unwrap()
}
