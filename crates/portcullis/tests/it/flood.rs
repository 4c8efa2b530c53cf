//! A flood of hostile clients, within bounds: the others are served, and memory stays small.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use crate::harness::{Client, Connection, Gate, Review, Verdict, pod, request};

/// Half-open connections.
const HALF_OPEN: usize = 200;
/// Ordinary requests that must be answered meanwhile.
const ORDINARY: usize = 300;
/// Resident memory of the gate: generous, as an unoptimised build is measured too.
const MEMORY_KIB: u64 = 256 << 10;

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Does something again and again until it is over, and says how often.
fn again<'scope>(
    scope: &'scope Scope<'scope, '_>,
    is_over: &'scope AtomicBool,
    mut act: impl FnMut() + Send + 'scope,
) -> ScopedJoinHandle<'scope, usize> {
    scope.spawn(move || {
        let mut times = 0;
        while !is_over.load(Ordering::Relaxed) {
            act();
            times += 1;
        }
        times
    })
}

/// The same garbage every time.
fn garbage(length: usize, seed: &mut u64) -> Vec<u8> {
    let next = || {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn ordinary_requests_are_answered_amid_a_hostile_crowd() {
    let mut gate = Gate::of(&["AlwaysAdmit"]);
    let port = gate.port;
    let review = Review::create(&pod());
    let whole = request("POST", "/validate", &[], review.text().as_bytes());
    let large = request("POST", "/validate", &[], &vec![b' '; 4 << 20]);
    let nested = request(
        "POST",
        "/validate",
        &[],
        "{\"a\":[".repeat(400_000).as_bytes(),
    );
    let length = (2 << 20).to_string();
    let unfinished = request(
        "POST",
        "/validate",
        &[("Content-Length", &length)],
        &vec![b'['; 1 << 20],
    );
    let half_open: Vec<Connection> = (0..HALF_OPEN)
        .map(|i| {
            let mut connection = Connection::tcp(port).unwrap();
            // A tenth of them with half of a large body.
            let begin = if i % 10 == 0 {
                &unfinished[..]
            } else {
                &whole[..i % 100]
            };
            connection.send(begin).unwrap();
            connection
        })
        .collect();
    let is_over = AtomicBool::new(false);
    let mut seed = 42;
    std::thread::scope(|scope| {
        let hostile = [
            again(scope, &is_over, || {
                if let Some(answer) = Client::tcp(port).raw(&large) {
                    answer.error(413);
                }
            }),
            again(scope, &is_over, || {
                if let Some(answer) = Client::tcp(port).raw(&nested) {
                    answer.error(400);
                }
            }),
            again(scope, &is_over, || {
                let bytes = garbage(20_000, &mut seed);
                let answer = Client::tcp(port).raw_then_close(&bytes);
                assert!(answer.is_none_or(|a| a.status >= 400 && !a.is_allow()));
            }),
        ];
        let mut kept = Connection::tcp(port).unwrap();
        for round in 0..ORDINARY {
            let answer = if round % 2 == 0 {
                kept.post("/validate", &review.value())
            } else {
                Connection::tcp(port)
                    .unwrap()
                    .post("/validate", &review.value())
            };
            Verdict::of(&answer.expect("an ordinary request failed"), &review).allowed();
        }
        is_over.store(true, Ordering::Relaxed);
        for thread in hostile {
            assert!(thread.join().expect("a hostile request was let in") > 0);
        }
    });
    let most = resident_kib(gate.pid());
    assert!(most < MEMORY_KIB, "{most} KiB at the most");
    drop(half_open);
    gate.lives();
}
