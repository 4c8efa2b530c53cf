//! `portcullis serve` without a configuration.

use std::net::TcpListener;

use crate::harness::{Client, Demonstration, Review, pod, privileged};

#[test]
fn it_is_a_working_gate_and_says_where() {
    let gate = Demonstration::start();
    let review = Review::create(&privileged());
    Client::tcp(gate.hooks)
        .ask("/validate", &review)
        .denied("privileged");
    let review = Review::create(&pod());
    let verdict = Client::tcp(gate.hooks).ask("/mutate", &review);
    verdict.allowed();
    assert!(verdict.patch().is_some());
    assert!(gate.curl().starts_with("curl "), "{}", gate.told());
    assert!(
        gate.told()
            .contains(&format!("http://127.0.0.1:{}", gate.ops)),
        "{}",
        gate.told()
    );
    assert_eq!(gate.out(), "", "standard output carries data only");
}

#[test]
fn it_takes_other_ports_where_the_usual_ones_are_taken() {
    let (gate, taken) = Demonstration::start_after(|| {
        [8080, 9090].map(|port| TcpListener::bind(("127.0.0.1", port)))
    });
    // A port that another program had may be free since.
    for (taken, (port, usual)) in taken.iter().zip([(gate.hooks, 8080), (gate.ops, 9090)]) {
        assert!(taken.is_err() || port != usual, "{}", gate.told());
    }
    let review = Review::create(&pod());
    Client::tcp(gate.hooks).ask("/validate", &review).allowed();
    drop(taken);
}

#[test]
fn its_data_is_gone_with_it_and_its_home_untouched() {
    let gate = Demonstration::start();
    let folder = gate.end();
    let left: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|n| n != "log" && n != "out")
        .collect();
    assert_eq!(left, Vec::<String>::new());
}
