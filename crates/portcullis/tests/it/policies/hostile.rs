//! Policies that try to use more than they may, while others are evaluated.

mod attacks;
mod guarded;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;

use super::{named, native};
use crate::harness::{Connection, Gate, Review, Verdict, eventually, until};
use attacks::{ATTACKS, POLLUTION, PROBE};

fn gate() -> Gate {
    let mut policies = vec![("Probe", PROBE.to_owned())];
    let attack = |name: &str, code: &str| format!("if (req.name !== '{name}') return\n{code}");
    let made: Vec<(String, String)> = ATTACKS
        .iter()
        .map(|(name, code, _)| (*name, *code))
        .chain([("pollution", POLLUTION)])
        .map(|(name, code)| (format!("Bad-{name}"), attack(name, code)))
        .collect();
    policies.extend(
        made.iter()
            .map(|(name, code)| (name.as_str(), code.clone())),
    );
    let policies: Vec<(&str, &str)> = policies.iter().map(|(n, c)| (*n, c.as_str())).collect();
    let mut config = native(&policies);
    config["limits"] = json!({"deadline": "500ms"});
    Gate::start(config)
}

/// Asserts one denial that names policy and limit.
#[track_caller]
fn refused(gate: &Gate, name: &str, limits: &[&str]) {
    let review = named(name);
    let message = eventually("the policy is reached in time", || {
        let verdict = gate.ask("/mutate", &review);
        assert!(!verdict.is_allowed(), "{name} was let in");
        // Where the machine is busy the time may be over before any policy runs.
        let is_late = verdict.annotation("policy").is_none();
        if is_late {
            verdict.denied("deadline");
        }
        (!is_late).then(|| verdict.message().to_owned())
    });
    assert!(
        message.starts_with(&format!("Bad-{name}: ")),
        "{name}: the policy is not named: {message}"
    );
    assert!(
        limits.iter().any(|limit| message.contains(limit)),
        "{name}: no limit of {limits:?} is named: {message}"
    );
}

/// Sends ordinary requests on one connection until it is stopped. Time may be short while
/// others use it up, but every request is answered, and nothing else goes wrong.
fn stand_by(gate: &Gate, is_over: &AtomicBool, let_in: &AtomicU32) {
    let mut connection = Connection::tcp(gate.port).unwrap();
    while !is_over.load(Ordering::Relaxed) {
        let review: Review = named("fine");
        let answer = connection.post("/validate", &review.value());
        let verdict = Verdict::of(&answer.expect("a request failed"), &review);
        if verdict.is_allowed() {
            let_in.fetch_add(1, Ordering::Relaxed);
        } else {
            verdict.denied("deadline");
        }
    }
}

#[test]
fn each_attack_is_one_refusal_and_others_are_answered_meanwhile() {
    let mut gate = gate();
    let (is_over, let_in) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let others = [(); 2].map(|()| scope.spawn(|| stand_by(&gate, &is_over, &let_in)));
        let attacks = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for (name, _, limits) in ATTACKS {
                let before = let_in.load(Ordering::Relaxed);
                refused(&gate, name, limits);
                until("somebody else is let in", || {
                    let_in.load(Ordering::Relaxed) > before
                });
            }
            refused(&gate, "pollution", &["deadline"]);
        }));
        is_over.store(true, Ordering::Relaxed);
        for other in others {
            other.join().expect("somebody else was hindered");
        }
        if let Err(why) = attacks {
            std::panic::resume_unwind(why);
        }
    });
    gate.lives();
    // Enough to be asked of every thread, in new and in old realms.
    for _ in 0..20 {
        until("an ordinary request is let in", || {
            let verdict = gate.ask("/validate", &named("fine"));
            assert!(
                verdict.is_allowed() || verdict.message().contains("deadline"),
                "{}",
                verdict.message()
            );
            verdict.is_allowed()
        });
    }
}

/// The most memory that a process ever had, in MiB.
fn most_memory(gate: &Gate) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gate.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kibibytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kibibytes.parse::<u64>().unwrap() / 1024
}

#[test]
fn memory_that_is_refused_is_never_had() {
    let gate = gate();
    for (name, _, limits) in ATTACKS
        .iter()
        .filter(|(.., limits)| limits.contains(&"memory"))
    {
        refused(&gate, name, limits);
    }
    let most = most_memory(&gate);
    assert!(most < 512, "{most} MiB");
}

#[test]
fn a_large_stack_is_no_way_out() {
    let mut config = native(&[("Deep", "(function f() { f() })()")]);
    config["limits"] = json!({"stack": "16Mi"});
    let mut gate = Gate::start(config);
    let review = named("any");
    let answer = gate.raw(&crate::harness::request(
        "POST",
        "/validate",
        &[],
        review.text().as_bytes(),
    ));
    gate.lives();
    Verdict::of(&answer.expect("no answer"), &review).denied("limit exceeded");
}

#[test]
fn a_call_that_does_not_look_at_the_clock_is_given_up() {
    let code = "if (req.name === 'fine') return true\n\
        const h = 'a'.repeat(6e6); return h.indexOf('a'.repeat(3e6) + 'b') < 0";
    let mut config = native(&[("Search", code)]);
    config["limits"] = json!({"deadline": "500ms"});
    let mut gate = Gate::start(config);
    let verdict = gate.ask("/validate", &named("search"));
    verdict.denied("Search: ");
    verdict.denied("deadline");
    until("an ordinary request is let in", || {
        gate.ask("/validate", &named("fine")).is_allowed()
    });
    gate.lives();
}

#[test]
fn many_attacks_at_the_same_time_are_all_answered() {
    let mut gate = gate();
    std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..16)
            .map(|n| {
                let gate = &gate;
                scope.spawn(move || {
                    let (name, ..) = ATTACKS[n % ATTACKS.len()];
                    let review = named(name);
                    let verdict = gate.ask("/validate", &review);
                    assert!(!verdict.is_allowed(), "{name} was let in");
                    verdict.denied("limit exceeded");
                })
            })
            .collect();
        for attacker in attackers {
            attacker.join().unwrap();
        }
    });
    until("an ordinary request is let in", || {
        gate.ask("/validate", &named("fine")).is_allowed()
    });
    gate.lives();
}
