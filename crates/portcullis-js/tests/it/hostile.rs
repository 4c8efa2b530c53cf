//! Policies that try to use more than they may: each is one denial that names policy and limit,
//! and others are answered meanwhile and afterwards.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use portcullis_core::PolicyLimit;
use portcullis_core::clock::Stopwatch;
use portcullis_js::{Evaluation, Limits, Plan, PolicyVerdict, Pool};
use serde_json::json;

use crate::support::*;

fn limits() -> Limits {
    Limits {
        deadline: Duration::from_millis(300),
        ..Limits::default()
    }
}

/// Runs a policy named Bad beside and before an ordinary one, in a pool of two threads.
fn attack(code: &str, limits: Limits) -> Evaluation {
    let set = set(
        "",
        &[
            ("Good", "return object.fine === 1 ? true : undefined"),
            ("Bad", code),
        ],
    );
    let pool = Arc::new(pool_of(set, limits, 2));
    let ordinary = |pool: &Pool| {
        let mut i = input(json!({"fine": 1}));
        i.plan = vec![Plan::Run(portcullis_core::PolicyMode::Enforce), Plan::Skip];
        patiently(pool, i).verdict
    };
    assert_eq!(ordinary(&pool), PolicyVerdict::Allow, "before: {code}");
    let attacker = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            let watch = Stopwatch::start();
            (pool.evaluate(input(json!({}))).unwrap(), watch.elapsed())
        })
    };
    thread::sleep(Duration::from_millis(20));
    assert_eq!(ordinary(&pool), PolicyVerdict::Allow, "meanwhile: {code}");
    let (evaluation, took) = attacker.join().unwrap();
    assert!(took < Duration::from_secs(30), "{took:?} {code}");
    for _ in 0..3 {
        assert_eq!(ordinary(&pool), PolicyVerdict::Allow, "afterwards: {code}");
    }
    evaluation
}

#[track_caller]
fn refused(code: &str, expected: &[PolicyLimit]) {
    // Those that must not end by the deadline get time even on a busy machine.
    let limits = match expected.contains(&Deadline) {
        true => limits(),
        false => crate::support::limits(),
    };
    let evaluation = attack(code, limits);
    let denial = denied(&evaluation);
    let limit = denial
        .limit
        .unwrap_or_else(|| panic!("{code}: {evaluation:?}"));
    assert!(expected.contains(&limit), "{code}: {evaluation:?}");
    assert!(
        denial.denial.message.starts_with("Bad: "),
        "{code}: {denial:?}"
    );
    assert!(
        denial.denial.message.contains(limit.as_str()),
        "{code}: {denial:?}"
    );
}

use PolicyLimit::{Deadline, Memory, Stack};

#[test]
fn loops() {
    refused("while (true) {}", &[Deadline]);
    refused(
        "try { while (true) {} } catch { return true } finally { return true }",
        &[Deadline],
    );
    refused(
        "for (;;) { try { for (;;); } finally { continue } }",
        &[Deadline],
    );
    refused(
        "const o = { get x() { for (;;); } }; return o.x",
        &[Deadline],
    );
    refused(
        "Object.defineProperty(object, 'x', { enumerable: true, get() { for (;;); } }); return true",
        &[Deadline],
    );
    refused("throw { toString() { for (;;); } }", &[Deadline]);
    refused("return /^(a+)+$/.test('a'.repeat(40) + 'b')", &[Deadline]);
}

#[test]
fn promise_jobs() {
    refused(
        "const again = () => Promise.resolve().then(again); await again()",
        &[Deadline, Memory],
    );
    refused("for (;;) await null", &[Deadline]);
}

#[test]
fn memory() {
    for code in [
        "'x'.repeat(2**30)",
        "'x'.repeat(2**29)",
        "'x'.padStart(2**30)",
        "new ArrayBuffer(2**30)",
        "new Uint8Array(2**30)",
    ] {
        refused(&format!("{code}; return true"), &[Memory]);
        refused(
            &format!("try {{ {code} }} catch {{}} return true"),
            &[Memory],
        );
    }
    refused("const a = []; for (;;) a.push({})", &[Memory, Deadline]);
    refused("let s = 'x'; for (;;) s += s", &[Memory]);
}

#[test]
fn memory_that_was_given_back_was_used_all_the_same() {
    refused(
        "let a = []; try { for (;;) a.push({}) } catch { a = null } return true",
        &[Memory, Deadline],
    );
    refused(
        "let a = []; try { for (let i = 0;; i++) a.push('text number ' + i) } catch { a = null } return true",
        &[Memory, Deadline],
    );
    refused(
        "let a = []; try { for (;;) a.push(new Uint8Array(1000)) } finally { return true }",
        &[Memory, Deadline],
    );
}

#[test]
fn depth() {
    refused("(function f() { f() })()", &[Stack]);
    refused(
        "try { (function f() { f() })() } catch { return true }",
        &[Stack],
    );
    refused(
        "(function f() { try { f() } finally { return } })(); return true",
        &[Stack, Deadline],
    );
    refused(
        "JSON.parse('['.repeat(100000)); return true",
        &[Stack, Memory],
    );
    refused(
        "let o = {}; for (let i = 0; i < 100000; i++) o = {o}; return JSON.stringify(o)",
        &[Stack, Memory],
    );
}

#[test]
fn natives_that_do_not_look_at_the_clock() {
    refused(
        "return new Array(2**31 - 1).join('ab')",
        &[Memory, Deadline],
    );
    refused("return String(new Array(2**32 - 1))", &[Memory, Deadline]);
    refused(
        "return [].concat(new Array(2**32 - 1), new Array(2**32 - 1))",
        &[Memory, Deadline],
    );
    refused("return new Array(2**32 - 1).fill(0)", &[Memory, Deadline]);
    refused("return Array.from({ length: 2**32 })", &[Memory, Deadline]);
    refused("return new Array(2**32 - 1).sort()", &[Memory, Deadline]);
    refused(
        "return Array.prototype.reverse.call({ length: 2**53 - 1 })",
        &[Memory, Deadline],
    );
    refused(
        "return 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e4))",
        &[Memory, Deadline],
    );
    refused(
        "return 'a'.repeat(1e6).replace(/a/g, '$&'.repeat(1e4))",
        &[Memory, Deadline],
    );
    refused("let n = 3n; for (;;) n = n * n", &[Memory, Deadline]);
    refused(
        "let n = 1n << 1000000n; for (;;) n = (n * n) >> 1000000n",
        &[Memory, Deadline],
    );
}

#[test]
fn a_large_result() {
    refused(
        "let a = ['x'.repeat(1000)]; for (let i = 0; i < 30; i++) a = [a, a]; object.a = a; return true",
        &[Memory, Deadline],
    );
}

#[test]
fn one_large_part_in_many_places() {
    let code = "if (object.trivial) return true;
        const d = Object.getOwnPropertyDescriptor(object, 'list');
        object.copies = {}; for (let i = 0; i < 10000; i++) Object.defineProperty(object.copies, 'c' + i, d);
        return true";
    let list = vec!["x".repeat(100); 1000];
    let pool = pool_of(set("", &[("P", code)]), crate::support::limits(), 1);
    let e = pool.evaluate(input(json!({"list": list}))).unwrap();
    assert_eq!(denied(&e).limit, Some(Memory), "{:?}", e.steps);
    let e = patiently(&pool, input(json!({"trivial": 1})));
    assert_eq!(e.verdict, PolicyVerdict::Allow);
}

#[test]
fn a_thread_that_does_not_come_back_is_replaced() {
    // Digits of a large integer, for which there is no call that could be replaced.
    let code = "const n = 3n ** 650000n; return `${n}${n}${n}${n}${n}${n}`.length > 0";
    let set = set(
        "",
        &[("Good", "if (object.fine) return true"), ("Bad", code)],
    );
    let pool = pool_of(set, limits(), 1);
    patiently(&pool, input(json!({"fine": 1})));
    let evaluation = pool.evaluate(input(json!({}))).unwrap();
    let denial = denied(&evaluation);
    assert_eq!(denial.limit, Some(Deadline));
    assert!(denial.denial.message.starts_with("Bad: "), "{denial:?}");
    assert_eq!(pool.abandoned(), 1);
    let e = patiently(&pool, input(json!({"fine": 1})));
    assert_eq!(e.verdict, PolicyVerdict::Allow);
}

#[test]
fn a_full_queue_answers_at_once_and_waiting_counts() {
    use portcullis_core::clock;
    use portcullis_js::{GlobalContext, PoolError, PoolOptions};
    use std::sync::mpsc;
    let options = PoolOptions {
        threads: 1,
        queue: 2,
    };
    let pool = Pool::start(
        set("", &[("P", "for (;;);")]),
        limits(),
        options,
        GlobalContext::new(0),
        Arc::new(portcullis_js::NoHost),
    )
    .unwrap();
    let (sender, receiver) = mpsc::channel();
    let mut full = 0;
    for _ in 0..8 {
        let sender = sender.clone();
        let deadline = clock::monotonic() + Duration::from_millis(300);
        match pool.submit(input(pod()), deadline, move |e| {
            sender.send(e.unwrap()).unwrap()
        }) {
            Ok(()) => {}
            Err(e) => {
                assert_eq!(e, PoolError::QueueFull);
                full += 1;
            }
        }
    }
    assert!(full >= 5, "{full}");
    for _ in 0..8 - full {
        let e = receiver.recv_timeout(Duration::from_secs(3)).unwrap();
        assert_eq!(denied(&e).limit, Some(Deadline));
    }
}

#[test]
fn ordinary_use_hits_nothing() {
    let code = r#"
        const list = Array.from({ length: 20000 }, (_, i) => ({ i, s: 'n' + i }));
        const text = list.map((x) => x.s).join(',');
        if (text.replaceAll('n', '<$&>').length !== text.length + 40000) return 'replaceAll';
        const template = "[$2$1$<q>$$$9$<none>$&]$";
        const expand = (n) => 'a-b'.repeat(n).replace(/(a)-(?<q>b)/g, template);
        if (expand(20000) !== expand(1).repeat(20000) || expand(1) !== '[bab$$9a-b]$') return 'replace ' + expand(1);
        if ('ab'.repeat(40000).replaceAll('b', "$'".slice(0, 1) + '$$-$&0123456789012') !== 'a$$-b0123456789012'.repeat(40000)) return 'template';
        let deep = 0; (function f(n) { deep = n; if (n < 50) f(n + 1) })(0);
        for (let i = 0; i < 20; i++) { const a = {}; const b = { a }; a.b = b; }
        return true"#;
    let e = p(code);
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
}

#[test]
fn short_evaluations_do_not_wait_for_long_ones() {
    let pool = pool_of(
        set("", &[("P", "if (object.fine) return true; for (;;) {}")]),
        limits(),
        1,
    );
    let (sender, receiver) = std::sync::mpsc::channel();
    let start = portcullis_core::clock::monotonic();
    for i in 0..6 {
        let sender = sender.clone();
        let object = json!({"fine": i == 5});
        let deadline = start + Duration::from_secs(if i == 5 { 20 } else { 8 });
        pool.submit(input(object), deadline, move |e| {
            sender.send((i, e.unwrap().verdict)).unwrap();
        })
        .unwrap();
    }
    let (first, verdict) = receiver.recv().unwrap();
    assert_eq!((first, verdict), (5, PolicyVerdict::Allow));
}
