//! `ac.GlobalContext` is kept across reloads.

use serde_json::{Value, json};

use super::{named, native};
use crate::harness::{Gate, Verdict, until};

const COUNT: &str = "\
    const g = ac.GlobalContext\n\
    if (req.name === 'count') { g.n = (g.n || 0) + 1; return true }\n\
    if (req.name === 'read') return JSON.stringify(g)";

fn config(version: u32) -> Value {
    let code = format!("{COUNT}\nif (req.name === 'version') return 'v{version}'");
    let mut config = native(&[("P", &code)]);
    // Many threads want it at the same time.
    config["limits"] = json!({"deadline": "20s", "requestDeadline": "25s"});
    config
}

fn held(gate: &Gate) -> Value {
    let verdict = gate.ask("/validate", &named("read"));
    let text = verdict.message().strip_prefix("P: ").unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {}", verdict.message()))
}

/// Counts from several threads, each on a connection of its own.
fn count(gate: &Gate, threads: usize, requests: usize) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                let mut connection = gate.connect();
                let review = named("count");
                for _ in 0..requests {
                    let answer = connection.post("/validate", &review.value()).unwrap();
                    Verdict::of(&answer, &review).allowed();
                }
            });
        }
    });
}

#[test]
fn it_is_kept_across_reloads() {
    let gate = Gate::start(config(1));
    count(&gate, 2, 5);
    for version in 2..5 {
        gate.configure(config(version));
        gate.hang_up();
        until("the new policy answers", || {
            let verdict = gate.ask("/validate", &named("version"));
            verdict.message() == format!("P: v{version}")
        });
    }
    count(&gate, 2, 5);
    assert_eq!(held(&gate)["n"], 20);
}

#[test]
fn counting_goes_on_while_policies_change() {
    let gate = Gate::start(config(1));
    std::thread::scope(|scope| {
        let counting = scope.spawn(|| count(&gate, 4, 40));
        for version in 2..6 {
            gate.configure(config(version));
            gate.hang_up();
            until("the new policy answers", || {
                let verdict = gate.ask("/validate", &named("version"));
                verdict.message() == format!("P: v{version}")
            });
        }
        counting.join().unwrap();
    });
    assert_eq!(held(&gate)["n"], 160);
}
