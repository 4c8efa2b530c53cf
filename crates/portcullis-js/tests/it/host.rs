//! Host calls.

use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use portcullis_core::{HostFunction, PolicyLimit, PolicyMode, PolicyOutcome, clock};
use portcullis_js::{
    Evaluation, GlobalContext, Host, HostRequest, Input, Limits, Plan, PolicySet, PolicyVerdict,
    Pool, PoolOptions,
};
use serde_json::{Value, json};

use crate::support::*;

/// A host that is a function.
struct Fake<F>(F);

impl<F> fmt::Debug for Fake<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl<F: Fn(&HostRequest<'_>) -> Result<Value, String> + Send + Sync> Host for Fake<F> {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        (self.0)(request)
    }
}

fn start(
    set: PolicySet,
    limits: Limits,
    threads: usize,
    host: impl Fn(&HostRequest<'_>) -> Result<Value, String> + Send + Sync + 'static,
) -> Pool {
    let options = PoolOptions {
        threads,
        queue: 200,
    };
    let context = GlobalContext::new(1 << 20);
    crate::start::start(set, limits, options, context, Arc::new(Fake(host)))
}

/// What the policies say if the host answers like this.
fn ask(
    policies: &[(&str, &str)],
    host: impl Fn(&HostRequest<'_>) -> Result<Value, String> + Send + Sync + 'static,
) -> Evaluation {
    let pool = start(set("", policies), limits(), 1, host);
    pool.evaluate(input(pod())).unwrap()
}

/// A door that stays closed until opened.
#[derive(Debug, Clone, Default)]
struct Door(Arc<(Mutex<bool>, Condvar)>);

impl Door {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let mut is_open = self.0.0.lock().unwrap();
        while !*is_open {
            is_open = self.0.1.wait(is_open).unwrap();
        }
    }
}

fn submit(pool: &Pool, input: Input) -> Receiver<Evaluation> {
    let (sender, receiver) = mpsc::channel();
    let deadline = clock::monotonic() + pool.limits().deadline;
    pool.submit(input, deadline, move |e| drop(sender.send(e.unwrap())))
        .unwrap();
    receiver
}

#[test]
fn arguments_go_out_and_answers_come_in() {
    let code = "const f = forwardToAdmissionController(1, undefined, () => 1, {a: [undefined, NaN], d: new Date(0)}, 'x');
        if (f.list[1] !== 'b' || f.none !== null) return 'answer';
        return cosignVerify()";
    let e = ask(&[("P", code)], |r| match r.function {
        HostFunction::ForwardToAdmissionController => {
            assert_eq!(r.original.to_value()["kind"], "Pod");
            Ok(json!({"list": ["a", "b"], "none": null, "got": r.arguments}))
        }
        _ => Ok(json!(true)),
    });
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert_eq!(e.host_calls.len(), 2);
    let first = &e.host_calls[0];
    let arguments =
        json!([1, null, null, {"a": [null, null], "d": "1970-01-01T00:00:00.000Z"}, "x"]);
    assert_eq!(json!(first.arguments), arguments);
    assert_eq!(first.result.as_ref().unwrap()["got"], arguments);
    assert_eq!(
        (first.policy.as_str(), first.function),
        ("P", HostFunction::ForwardToAdmissionController)
    );
    assert_eq!(e.host_calls[1].function, HostFunction::CosignVerify);
}

#[test]
fn errors_are_thrown_can_be_caught_and_say_where() {
    let fail = |_: &HostRequest<'_>| Err("no key".to_owned());
    let e = ask(&[("P", "\n  slsaVerify({})")], fail);
    let d = denied(&e);
    assert!(
        d.denial
            .message
            .starts_with("P: unable to evaluate policy:Error: no key at P:2:"),
        "{d:?}"
    );
    assert_eq!((e.steps[0].line, &e.steps[0].source), (Some(2), &None));
    let code = "try { slsaVerify() } catch (e) { return e instanceof Error && e.message === 'no key' && Object.getPrototypeOf(e) === Error.prototype }";
    let e = ask(&[("P", code)], fail);
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert_eq!(e.host_calls[0].error.as_deref(), Some("no key"));
    let e = ask(&[("P", "cosignVerify('k')")], |_| {
        panic!("a fault of the host")
    });
    assert!(
        denied(&e)
            .denial
            .message
            .contains("Error: cosignVerify: it failed"),
        "{e:?}"
    );
    assert!(p("cosignVerify('k')").denial().is_some(), "no host at all");
}

#[test]
fn what_has_no_json_never_goes_out() {
    let host = |_: &HostRequest<'_>| -> Result<Value, String> { panic!("called") };
    for code in [
        "const a = []; a.push(a); cosignVerify(a)",
        "cosignVerify({ get x() { throw 1 } })",
        "cosignVerify('\\ud800')",
        "cosignVerify('x'.repeat(1e6))",
        "object.x = object; cosignVerify('k')",
        "object.x = () => 1; cosignVerify('k')",
    ] {
        let code = format!("try {{ {code} }} catch (e) {{ return e instanceof TypeError }}");
        let e = ask(&[("P", &code)], host);
        assert_ne!(e.verdict, PolicyVerdict::None, "{code}");
        assert!(
            e.denial().is_none_or(|d| d.denial.message.contains("diff")),
            "{e:?}"
        );
        assert!(e.host_calls.is_empty());
    }
}

#[test]
fn the_object_is_the_one_the_policy_sees() {
    let policies = [
        ("A", "object.a = 1; cosignVerify('A')"),
        ("W", "object.w = 1; object = {}; cosignVerify('W')"),
        ("B", "object.b = 1; cosignVerify('B')"),
        ("C", "cosignVerify('C')"),
    ];
    let (sender, receiver) = mpsc::channel();
    let sender: Mutex<Sender<(Value, Value)>> = Mutex::new(sender);
    let host = move |r: &HostRequest<'_>| {
        let seen = json!([r.object.get("a"), r.object.get("w"), r.object.get("b")]);
        let sent = sender.lock().unwrap().send((r.arguments[0].clone(), seen));
        sent.map_err(|e| e.to_string())?;
        assert_eq!(r.original.get("a"), None);
        Ok(Value::Null)
    };
    let pool = start(set("", &policies), limits(), 1, host);
    let mut i = input(pod());
    let run = Plan::Run(PolicyMode::Enforce);
    i.plan = vec![
        run,
        Plan::Run(PolicyMode::Warn),
        run,
        Plan::Run(PolicyMode::DryRun),
    ];
    let e = pool.evaluate(i).unwrap();
    assert_eq!(e.verdict, PolicyVerdict::None, "{e:?}");
    let seen: Vec<_> = receiver.try_iter().collect();
    assert_eq!(
        seen,
        [
            (json!("A"), json!([1, null, null])),
            (json!("W"), json!([1, 1, null])),
            (json!("B"), json!([1, null, 1])),
            (json!("C"), json!([1, null, 1])),
        ]
    );
    let names: Vec<_> = e.host_calls.iter().map(|c| c.policy.as_str()).collect();
    assert_eq!(names, ["A", "W", "B", "C"]);
}

#[test]
fn policies_may_await_and_have_names_of_their_own() {
    let e = ask(
        &[(
            "P",
            "await null; const r = await cosignVerify('k'); await null; return r",
        )],
        |_| Ok(json!("no")),
    );
    assert_eq!(denied(&e).denial.message, "P: no");
    let e = ask(
        &[(
            "P",
            "function cosignVerify() { return true } return cosignVerify()",
        )],
        |_| Err("called".to_owned()),
    );
    assert_eq!(e.verdict, PolicyVerdict::Allow);
    let code = "cosignVerify = 1; globalThis.slsaVerify = 1; cosignVerify.x = 1;
        return typeof cosignVerify === 'function' && typeof slsaVerify === 'function' && cosignVerify.x === undefined && Object.isFrozen(cosignVerify)";
    let e = ask(&[("P", code)], |_| Ok(Value::Null));
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
}

#[test]
fn calls_made_while_the_object_is_read_back_are_recorded() {
    let code = "let asks = true; Object.defineProperty(object, 'x', { enumerable: true,
        get() { if (!asks) return 1; asks = false; return cosignVerify('k') } }); return true";
    let e = ask(&[("P", code)], |r| Ok(json!(r.object.get("x").is_some())));
    assert!(!e.host_calls.is_empty());
    assert!(e.host_calls.iter().all(|c| c.policy == "P"), "{e:?}");
}

#[test]
fn there_are_only_so_many_calls() {
    let code = "let n = 0; try { for (;;) { cosignVerify(n); n++ } } catch (e) { return n + ' ' + e.message }";
    let e = ask(&[("P", code)], |_| Ok(Value::Null));
    assert_eq!(
        denied(&e).denial.message,
        "P: 256 cosignVerify: more than 256 calls in one evaluation"
    );
    assert_eq!(e.host_calls.len(), 256);
    let e = ask(&[("P", code)], |_| Ok(json!("x".repeat(1 << 20))));
    assert!(
        denied(&e).denial.message.contains("too large"),
        "{:?}",
        e.verdict
    );
    assert!(e.host_calls.len() < 9);
}

#[test]
fn those_that_wait_keep_nobody_from_computing() {
    const WAITING: usize = 64;
    let door = Door::default();
    let (arrived, arrivals) = mpsc::channel();
    let (closed, arrived) = (door.clone(), Mutex::new(arrived));
    let code = "if (object.trivial) return true; cosignVerify('k'); return 'waited'";
    let pool = start(set("", &[("P", code)]), limits(), 2, move |_| {
        arrived.lock().unwrap().send(()).unwrap();
        closed.pass();
        Ok(Value::Null)
    });
    let waiting: Vec<_> = (0..WAITING).map(|_| submit(&pool, input(pod()))).collect();
    for _ in 0..WAITING {
        arrivals.recv_timeout(Duration::from_secs(20)).unwrap();
    }
    assert!(pool.threads() >= WAITING);
    let e = pool.evaluate(input(json!({"trivial": 1}))).unwrap();
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    for receiver in &waiting {
        assert!(receiver.try_recv().is_err(), "nobody was answered yet");
    }
    door.open();
    for receiver in waiting {
        let e = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(denied(&e).denial.message, "P: waited");
    }
    assert_eq!(pool.abandoned(), 0);
}

#[test]
fn one_that_holds_the_global_context_and_waits_keeps_it_and_gets_its_turn() {
    let code = "if (object.trivial) return true; const g = ac.GlobalContext; const n = g.n || 0; cosignVerify('k'); g.n = n + 1; return 'n' + n";
    let pool = start(set("", &[("P", code)]), limits(), 1, |_| {
        std::thread::sleep(Duration::from_millis(2));
        Ok(Value::Null)
    });
    let waiting: Vec<_> = (0..10).map(|_| submit(&pool, input(pod()))).collect();
    let e = pool.evaluate(input(json!({"trivial": 1}))).unwrap();
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    let mut seen: Vec<_> = waiting
        .into_iter()
        .map(|r| {
            let e = r.recv_timeout(Duration::from_secs(20)).unwrap();
            denied(&e).denial.message.clone()
        })
        .collect();
    seen.sort();
    let wanted: Vec<_> = (0..10).map(|n| format!("P: n{n}")).collect();
    assert_eq!(seen, wanted);
}

fn short() -> Limits {
    Limits {
        deadline: Duration::from_millis(200),
        ..Limits::default()
    }
}

#[test]
fn a_deadline_that_passes_in_a_call_refuses() {
    let policies = [
        ("A", "if (object.fine) return true"),
        (
            "B",
            "try { cosignVerify('k') } catch {} try { cosignVerify('k') } catch {} return true",
        ),
    ];
    let pool = start(set("", &policies), short(), 1, |r| {
        while clock::monotonic() < r.deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Value::Null)
    });
    patiently(&pool, input(json!({"fine": 1})));
    let e = pool.evaluate(input(pod())).unwrap();
    let d = denied(&e);
    assert_eq!(d.limit, Some(PolicyLimit::Deadline));
    assert!(d.denial.message.starts_with("B: "), "{d:?}");
    assert_eq!(e.steps[1].outcome, PolicyOutcome::Error);
    assert!(e.host_calls.len() <= 1, "none after the deadline");
    assert_eq!(pool.abandoned(), 0);
}

#[test]
fn a_host_that_never_returns_is_given_up() {
    let door = Door::default();
    let closed = door.clone();
    let policies = [
        ("Good", "if (object.fine) return true"),
        (
            "Bad",
            "ac.GlobalContext.n = 1; cosignVerify('k'); return true",
        ),
    ];
    let context = GlobalContext::new(1000);
    let options = PoolOptions {
        threads: 1,
        queue: 10,
    };
    let host = Fake(move |_: &HostRequest<'_>| {
        closed.pass();
        Ok(Value::Null)
    });
    let set = set("", &policies);
    let host = Arc::new(host);
    let pool = crate::start::start(set, short(), options, context.clone(), host);
    patiently(&pool, input(json!({"fine": 1})));
    for n in 1..=12 {
        let e = pool.evaluate(input(pod())).unwrap();
        let d = denied(&e);
        assert_eq!(d.limit, Some(PolicyLimit::Deadline));
        assert!(d.denial.message.starts_with("Bad: "), "{d:?}");
        assert_eq!(e.steps[0].outcome, PolicyOutcome::Skip);
        assert_eq!(e.steps[1].limit, Some(PolicyLimit::Deadline));
        assert_eq!(pool.abandoned(), n);
        let e = patiently(&pool, input(json!({"fine": 1})));
        assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    }
    patiently(&pool, input(json!({"fine": 1})));
    let mut open = input(pod());
    open.failures_pass = true;
    let e = pool.evaluate(open).unwrap();
    assert_eq!((&e.verdict, &e.object), (&PolicyVerdict::None, &None));
    assert_eq!(e.steps[1].outcome, PolicyOutcome::Error);
    door.open();
    while pool.abandoned() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(*context.value(), json!({}), "what came late is not taken");
}

#[test]
fn the_cluster_is_looked_up_by_kind_namespace_and_name() {
    let code = "const node = kube.get('v1', 'Node', 'n');
        kube.get('v1', 'Pod', 'a', 'b');
        kube.get('v1', 'Node', null, 'n');
        kube.get('v1', 'Node', '', 'n');
        kube.list('v1', 'Pod');
        kube.list('v1', 'Pod', { namespace: 'a', labelSelector: 'x=y', limit: 3 });
        object.loop = object;
        if (kube.get('v1', 'None', 'n') !== null) return 'no null';
        delete object.loop;
        return node.spec.name";
    let answer = |r: &HostRequest<'_>| {
        assert_eq!(r.object, &Value::Null);
        Ok(match r.arguments.get(1) {
            Some(Value::String(kind)) if kind == "None" => Value::Null,
            _ => json!({"spec": {"name": "found"}}),
        })
    };
    let e = ask(&[("P", code)], answer);
    assert_eq!(denied(&e).denial.message, "P: found");
    let calls: Vec<_> = e.host_calls.iter().map(|c| json!(c.arguments)).collect();
    let expected = [
        json!(["v1", "Node", null, "n"]),
        json!(["v1", "Pod", "a", "b"]),
        json!(["v1", "Node", null, "n"]),
        json!(["v1", "Node", null, "n"]),
        json!(["v1", "Pod"]),
        json!(["v1", "Pod", {"namespace": "a", "labelSelector": "x=y", "limit": 3}]),
        json!(["v1", "None", null, "n"]),
    ];
    assert_eq!(calls, expected);
    assert_eq!(e.host_calls[0].function, HostFunction::KubeGet);
    assert_eq!(e.host_calls[5].function, HostFunction::KubeList);
    assert_eq!(e.host_calls[0].policy, "P");
}

#[test]
fn what_was_found_in_the_cluster_can_not_be_changed() {
    let code = "const list = kube.list('v1', 'Pod');
        const all = [list, list[0], list[0].metadata, list[0].metadata.labels, list[0].spec];
        if (!all.every(Object.isFrozen)) return 'not frozen';
        list[0].metadata.labels.a = 'changed';
        if (list[0].metadata.labels.a !== 'b') return 'changed';
        object.metadata.labels = list[0].metadata.labels;
        return kube.list('v1', 'Pod')[0].metadata.labels.a";
    let answer = |_: &HostRequest<'_>| {
        Ok(json!([{"metadata": {"labels": {"a": "b"}}, "spec": [{"x": [1]}]}]))
    };
    let e = ask(&[("P", code)], answer);
    assert_eq!(denied(&e).denial.message, "P: b");
    let strict = "'use strict'; kube.list('v1', 'Pod')[0].spec.push(1)";
    let e = ask(&[("P", strict)], answer);
    assert!(denied(&e).denial.message.contains("TypeError"), "{e:?}");
}

#[test]
fn look_ups_that_fail_deny_and_can_be_caught() {
    let unknown =
        |_: &HostRequest<'_>| Err("kube.get: objects of v1/Pod are not synced yet".to_owned());
    let e = ask(
        &[("P", "kube.get('v1', 'Pod', 'a', 'b'); return true")],
        unknown,
    );
    let denial = denied(&e);
    assert!(denial.failure);
    assert!(
        denial
            .denial
            .message
            .starts_with("P: unable to evaluate policy:Error: kube.get: objects of v1/Pod are not synced yet at P:1:"),
        "{denial:?}"
    );
    let caught =
        "try { kube.get('v1', 'Pod', 'a', 'b') } catch (e) { return 'caught ' + e.message }";
    let e = ask(&[("P", caught)], unknown);
    assert_eq!(
        denied(&e).denial.message,
        "P: caught kube.get: objects of v1/Pod are not synced yet"
    );
}

#[test]
fn policies_for_jspolicy_look_up_the_cluster_by_its_names() {
    let code = "if (get('Node', 'v1', 'none') !== undefined) return 'not undefined';
        get('Pod', 'v1', 'a/b', { cache: true });
        list('Pod', 'v1', { namespace: 'a', labelSelector: '', cache: 'smart' });
        list('Pod', 'v1');
        try { get('Pod', 'v1', 'a/b', { cache: false }) } catch (e) { return e.message }";
    let e = ask(&[("P", code)], |_| Ok(Value::Null));
    let calls: Vec<_> = e.host_calls.iter().map(|c| json!(c.arguments)).collect();
    let expected = [
        json!(["v1", "Node", null, "none"]),
        json!(["v1", "Pod", "a", "b"]),
        json!(["v1", "Pod", {"namespace": "a"}]),
        json!(["v1", "Pod", {}]),
    ];
    assert_eq!(calls, expected, "{e:?}");
    let message = &denied(&e).denial.message;
    assert!(
        message.contains("get() is not available with cache: false"),
        "{message}"
    );
}

#[test]
fn nothing_can_be_left_on_what_looks_up_the_cluster() {
    let code = "try { kube.mark = 1 } catch {} try { kube.get.mark = 1 } catch {} try { kube.get = 1 } catch {}
        try { kube = 1 } catch {}
        if (kube.mark || kube.get.mark || typeof kube.get !== 'function') warn('left')";
    let e = ask(&[("P", code), ("Q", code)], |_| Ok(Value::Null));
    assert!(e.warnings.is_empty() && e.denial().is_none(), "{e:?}");
}
