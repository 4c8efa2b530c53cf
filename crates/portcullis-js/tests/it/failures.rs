//! `failure: open`: an error or an exceeded limit counts as no opinion.

use std::time::Duration;

use portcullis_core::{PolicyLimit, PolicyMode, PolicyOutcome};
use portcullis_js::{Evaluation, Input, Limits, Plan, PolicyVerdict};
use serde_json::{Value, json};

use crate::support::*;

fn open(object: Value) -> Input {
    Input {
        failures_pass: true,
        ..input(object)
    }
}

fn outcomes(e: &Evaluation) -> Vec<PolicyOutcome> {
    e.steps.iter().map(|s| s.outcome).collect()
}

fn with(policies: &[(&str, &str)]) -> Evaluation {
    pool("", policies).evaluate(open(pod())).unwrap()
}

use PolicyOutcome::{Allow, Deny, Error, Pass, Skip};

#[test]
fn an_error_is_no_opinion_and_what_it_changed_is_undone() {
    let e = with(&[
        ("A", "object.a = 1; object.spec.containers[0].image = 'a'"),
        (
            "B",
            "object.b = 1; object.a = 2; delete object.metadata; object.spec.containers.push(1); throw 1",
        ),
        (
            "C",
            "if (object.b || object.a !== 1 || !object.metadata) return 'half'; object.c = 1",
        ),
        ("D", "return 5"),
        ("E", "return true"),
        ("F", "return 'no'"),
    ]);
    assert_eq!(
        outcomes(&e),
        [Pass, Error, Pass, Error, Allow, Skip],
        "{e:?}"
    );
    assert_eq!(e.verdict, PolicyVerdict::Allow);
    assert!(e.steps[1].message.as_ref().unwrap().contains("unable"));
    let mut wanted = pod();
    wanted["a"] = json!(1);
    wanted["c"] = json!(1);
    wanted["spec"]["containers"][0]["image"] = json!("a");
    assert_eq!(e.object, Some(wanted));
}

#[test]
fn what_can_not_be_read_back_is_an_error_of_who_did_it() {
    let e = with(&[
        ("A", "object.a = 1"),
        ("B", "object.b = () => 1"),
        ("C", "if (object.b) return 'b'; return true"),
    ]);
    assert_eq!(outcomes(&e), [Pass, Error, Allow], "{e:?}");
    assert_eq!(e.object.unwrap()["a"], 1);
    let e = with(&[("A", "object.x = object; return true")]);
    assert_eq!((&e.verdict, &e.object), (&PolicyVerdict::None, &None));
}

#[test]
fn refusals_refuse_all_the_same() {
    let e = with(&[("A", "throw 1"), ("B", "object.b = 1; return 'b'")]);
    assert_eq!(denied(&e).denial.message, "B: b");
    assert_eq!(outcomes(&e), [Error, Deny]);
    assert_eq!(e.object, None);
}

#[test]
fn limits_are_no_opinion() {
    let e = with(&[
        ("A", "object.a = 1"),
        ("B", "object.b = 'x'.repeat(1e5); (function f() { f() })()"),
        ("C", "object.c = 1; return 'x'.repeat(2**29)"),
        (
            "D",
            "const a = object.list = []; try { for (;;) a.push({}) } catch {}",
        ),
        ("E", "return !object.b && !object.c && !object.list"),
    ]);
    assert_eq!(outcomes(&e), [Pass, Error, Error, Error, Allow], "{e:?}");
    let limits: Vec<_> = e.steps.iter().map(|s| s.limit).collect();
    assert_eq!(
        limits,
        [
            None,
            Some(PolicyLimit::Stack),
            Some(PolicyLimit::Memory),
            Some(PolicyLimit::Memory),
            None
        ]
    );
    let mut wanted = pod();
    wanted["a"] = json!(1);
    assert_eq!(e.object, Some(wanted));
}

#[test]
fn after_the_deadline_nothing_runs_and_nothing_is_changed() {
    let limits = Limits {
        deadline: Duration::from_millis(200),
        ..Limits::default()
    };
    let policies = [
        ("A", "if (object.fine) return true; object.a = 1"),
        ("B", "for (;;);"),
        ("C", "return 'c'"),
    ];
    let pool = pool_of(set("", &policies), limits, 1);
    patiently(&pool, open(json!({"fine": 1})));
    let e = pool.evaluate(open(pod())).unwrap();
    assert_eq!(outcomes(&e), [Pass, Error, Skip], "{e:?}");
    assert_eq!(e.steps[1].limit, Some(PolicyLimit::Deadline));
    assert_eq!((&e.verdict, &e.object), (&PolicyVerdict::None, &None));
    // Waiting in vain, and a native that does not look at the clock.
    let policies = [(
        "A",
        "if (object.fine) return true; const h = 'a'.repeat(1e6); for (;;) h.indexOf('a'.repeat(5e5) + 'b')",
    )];
    let limits = Limits {
        deadline: Duration::from_millis(100),
        ..Limits::default()
    };
    let pool = pool_of(set("", &policies), limits, 1);
    patiently(&pool, open(json!({"fine": 1})));
    let e = pool.evaluate(open(pod())).unwrap();
    assert_eq!((&e.verdict, &e.object), (&PolicyVerdict::None, &None));
    assert_eq!(outcomes(&e), [Error], "{e:?}");
    let (sender, receiver) = std::sync::mpsc::channel();
    let past = portcullis_core::clock::monotonic();
    pool.submit(open(pod()), past, move |e| sender.send(e.unwrap()).unwrap())
        .unwrap();
    let e = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(
        (&e.verdict, outcomes(&e)),
        (&PolicyVerdict::None, vec![Skip])
    );
}

#[test]
fn policies_that_only_warn_see_what_was_kept() {
    let mut i = open(pod());
    let run = Plan::Run(PolicyMode::Enforce);
    let warn = Plan::Run(PolicyMode::Warn);
    i.plan = vec![run, warn, run, warn, run];
    let policies = [
        ("A", "object.a = 1"),
        ("W", "object.w = 1; return object.a === 1 ? true : 'a'"),
        ("B", "object.b = 1; throw 1"),
        (
            "X",
            "return object.a === 1 && !object.b && !object.w ? undefined : 'x'",
        ),
        ("C", "return object.a === 1 && !object.b && !object.w"),
    ];
    let e = pool("", &policies).evaluate(i).unwrap();
    assert_eq!(outcomes(&e), [Pass, Allow, Error, Pass, Allow], "{e:?}");
    assert!(e.warnings.is_empty());
}

#[test]
fn a_global_context_that_is_too_large_is_put_back() {
    let e = with(&[
        ("A", "ac.GlobalContext.a = 1"),
        ("B", "ac.GlobalContext.b = 'x'.repeat(2 << 20)"),
        (
            "C",
            "return ac.GlobalContext.a === 1 && ac.GlobalContext.b === undefined",
        ),
    ]);
    assert_eq!(outcomes(&e), [Pass, Error, Allow], "{e:?}");
}

#[test]
fn policies_can_be_asked_after_a_refusal_and_the_first_one_counts() {
    let on = |object: Value| Input {
        asks_on: true,
        ..input(object)
    };
    let policies = [
        ("A", "object.a = 1"),
        ("B", "deny('first')"),
        ("C", "throw 1"),
        ("D", "warn('late'); return 'second ' + object.a"),
        ("E", "return true"),
        ("F", "return 'no'"),
    ];
    let e = pool("", &policies).evaluate(on(pod())).unwrap();
    assert_eq!(
        outcomes(&e),
        [Pass, Deny, Error, Deny, Allow, Skip],
        "{e:?}"
    );
    let PolicyVerdict::Deny(denial) = &e.verdict else {
        panic!("{e:?}")
    };
    assert_eq!(denial.denial.message, "B: first");
    assert_eq!(e.steps[3].message.as_deref(), Some("second 1"));
    assert_eq!((e.object, e.warnings), (None, Vec::new()));
    // Nothing can be relied on after a limit.
    let policies = [("A", "for (;;) {}"), ("B", "return 'no'")];
    let limits = Limits {
        deadline: Duration::from_millis(100),
        ..Limits::default()
    };
    let pool = pool_of(set("", &policies), limits, 1);
    let e = pool.evaluate(on(pod())).unwrap();
    assert_eq!(outcomes(&e), [Error, Skip], "{e:?}");
}
