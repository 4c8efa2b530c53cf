//! `ac.GlobalContext`: exact and bounded.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Review, Verdict};
use portcullis_testing::policies::{named, native};

const COUNT: &str = "\
    const g = ac.GlobalContext\n\
    if (req.name === 'count') { g.n = (g.n || 0) + 1; return true }\n\
    if (req.name === 'nest') { (g.by ||= {})[req.namespace] ||= []; g.by[req.namespace].push(g.by[req.namespace].length); return true }\n\
    if (req.name === 'refuse') { g.refused = (g.refused || 0) + 1; return 'no' }\n\
    if (req.name === 'read') return JSON.stringify(g)";

fn config() -> Value {
    let mut config = native(&[("P", COUNT)]);
    // Many threads want it at the same time.
    config["limits"] = json!({"deadline": "20s", "requestDeadline": "25s"});
    config
}

fn held(gate: &Gate) -> Value {
    let verdict = gate.ask("/validate", &named("read"));
    let text = verdict.message().strip_prefix("P: ").unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {}", verdict.message()))
}

/// Asks from several threads, each on a connection of its own.
fn from_many(
    gate: &Gate,
    threads: usize,
    requests: usize,
    review: impl Fn(usize) -> Review + Sync,
) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let review = &review;
            scope.spawn(move || {
                let mut connection = gate.connect();
                for _ in 0..requests {
                    let review = review(thread);
                    let answer = connection.post("/validate", &review.value()).unwrap();
                    Verdict::of(&answer, &review).allowed();
                }
            });
        }
    });
}

#[test]
fn counting_from_many_threads_is_exact() {
    const THREADS: usize = 8;
    const REQUESTS: usize = 40;
    let gate = Gate::start(config());
    from_many(&gate, THREADS, REQUESTS, |_| named("count"));
    assert_eq!(held(&gate)["n"], THREADS * REQUESTS);
    from_many(&gate, THREADS, 10, |n| {
        named("nest").set("namespace", format!("ns{n}"))
    });
    let wanted: Vec<usize> = (0..10).collect();
    for n in 0..THREADS {
        assert_eq!(held(&gate)["by"][format!("ns{n}")], json!(wanted));
    }
}

#[test]
fn a_refusal_keeps_what_was_written() {
    let gate = Gate::start(config());
    for _ in 0..3 {
        gate.ask("/validate", &named("refuse")).denied("P: no");
    }
    assert_eq!(held(&gate)["refused"], 3);
}

#[test]
fn an_error_keeps_what_was_written_and_a_limit_does_not() {
    let code = "const g = ac.GlobalContext\n\
        if (req.name === 'throw') { g.thrown = 1; throw new Error('after a change') }\n\
        if (req.name === 'deep') { g.deep = 1; (function f() { f() })() }\n\
        return JSON.stringify(g)";
    let gate = Gate::start(native(&[("P", code)]));
    gate.ask("/validate", &named("throw"))
        .denied("after a change");
    gate.ask("/validate", &named("deep")).denied("stack");
    let verdict = gate.ask("/validate", &named("read"));
    assert_eq!(verdict.message(), "P: {\"thrown\":1}");
}

#[test]
fn past_its_cap_it_throws_and_stays_as_it_was() {
    let code = "const g = ac.GlobalContext\n\
        if (req.name === 'grow') { g.text = 'x'.repeat(10000); return true }\n\
        if (req.name === 'small') { g.small = (g.small || 0) + 1; return true }\n\
        return JSON.stringify(g)";
    let mut config = native(&[("P", code)]);
    config["limits"] = json!({"globalContext": "1Ki"});
    let gate = Gate::start(config);
    gate.ask("/validate", &named("small")).allowed();
    let verdict = gate.ask("/validate", &named("grow"));
    verdict.denied("GlobalContext");
    assert_eq!(verdict.0["status"]["reason"], "INTERNAL_ERROR");
    gate.ask("/validate", &named("small")).allowed();
    let verdict = gate.ask("/validate", &named("read"));
    assert_eq!(verdict.message(), "P: {\"small\":2}");
}
