//! Several listeners at once, each with its doors, all bound before the server reports ready.

use serde_json::{Value, json};

use super::{plain, socket};
use crate::harness::{
    Client, Connection, Folder, Gate, Review, Verdict, chain, free_port, pod, run_in,
};

fn with(listeners: &[Value]) -> Value {
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = listeners.into();
    config
}

fn get(port: u16, path: &str) -> crate::harness::Answer {
    Connection::tcp(port)
        .unwrap()
        .ask("GET", path, b"")
        .unwrap()
}

#[test]
fn ready_means_that_every_listener_is_bound() {
    let many: Vec<(u16, Value)> = (0..8)
        .map(|i| plain(&format!("tcp{i}"), &["kubernetes"]))
        .collect();
    let mut listeners: Vec<Value> = many.iter().map(|(_, listener)| listener.clone()).collect();
    listeners.extend((0..4).map(|i| socket(&format!("unix{i}"), "0600")));
    // Comes back with the first yes of /readyz.
    let gate = Gate::start(with(&listeners));
    let tcp = many.iter().map(|(port, _)| Connection::tcp(*port));
    let unix = (0..4).map(|i| Connection::unix(&gate.folder.path(&format!("unix{i}.sock"))));
    let connections: Vec<Connection> = tcp.chain(unix).map(Result::unwrap).collect();
    for mut connection in connections {
        let review = Review::create(&pod());
        Verdict::of(
            &connection.post("/validate", &review.value()).unwrap(),
            &review,
        )
        .allowed();
    }
}

#[test]
fn each_listener_serves_its_doors_only() {
    let (hooks, hooks_listener) = plain("hooks", &["kubernetes"]);
    let (health, health_listener) = plain("health", &["health"]);
    let (metrics, metrics_listener) = plain("metrics", &["metrics"]);
    let _gate = Gate::start(with(&[hooks_listener, health_listener, metrics_listener]));
    let review = Review::create(&pod()).value();
    for (port, doors) in [(hooks, "reviews"), (health, "health"), (metrics, "metrics")] {
        for (path, door) in [
            ("/livez", "health"),
            ("/readyz", "health"),
            ("/metrics", "metrics"),
        ] {
            let answer = get(port, path);
            if door == doors {
                assert_eq!(answer.status, 200, "{path}");
            } else {
                answer.error(404);
            }
        }
        for path in ["/validate", "/mutate", "/admit/x"] {
            let answer = Client::tcp(port).post(path, &review);
            if doors == "reviews" {
                assert_eq!(answer.status, 200, "{path}");
            } else {
                answer.error(404);
            }
        }
        get(port, "/api/info").error(404);
    }
}

#[test]
fn an_address_in_use_is_named_and_ends_the_start() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let folder = Folder::new();
    let taken = format!("127.0.0.1:{}", gate.port);
    let free = free_port();
    let config = json!({"listeners": [
        {"name": "fine", "tcp": format!("127.0.0.1:{free}"), "serves": ["health"]},
        {"name": "second", "tcp": taken, "serves": ["health"]},
    ]});
    folder.write("portcullis.yaml", config.to_string());
    let ran = run_in(
        &folder,
        &["serve", "--config", "portcullis.yaml", "--data-dir", "data"],
    );
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&["second", &taken]);
    // The same file is valid: checking starts nothing.
    assert_eq!(
        run_in(&folder, &["check", "--config", "portcullis.yaml"]).code,
        Some(0)
    );
}

#[test]
fn connections_are_kept_also_after_a_bad_request() {
    let gate = Gate::start(with(&[socket("local", "0600")]));
    let unix = Connection::unix(&gate.folder.path("local.sock"));
    for mut connection in [Connection::tcp(gate.port), unix].map(Result::unwrap) {
        let review = Review::create(&pod());
        for round in 0..12 {
            // What was understood as HTTP and rejected does not end the connection.
            match round {
                3 => drop(
                    connection
                        .ask("POST", "/validate", b"{bad")
                        .unwrap()
                        .error(400),
                ),
                5 => drop(connection.ask("POST", "/nope", b"{}").unwrap().error(404)),
                7 => drop(connection.ask("GET", "/validate", b"").unwrap().error(405)),
                9 => assert_eq!(connection.ask("HEAD", "/livez", b"").unwrap().status, 200),
                _ => {
                    let answer = connection.post("/validate", &review.value()).unwrap();
                    Verdict::of(&answer, &review).allowed();
                }
            }
        }
    }
}

#[test]
fn requests_sent_ahead_are_answered_in_order() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let mut connection = Connection::tcp(gate.port).unwrap();
    let reviews: Vec<Review> = (0..20)
        .map(|i| Review::create(&pod()).set("uid", format!("u{i}")))
        .collect();
    let bytes = reviews.iter().flat_map(|review| {
        crate::harness::request("POST", "/validate", &[], review.text().as_bytes())
    });
    connection.send(&bytes.collect::<Vec<u8>>()).unwrap();
    for review in &reviews {
        Verdict::of(&connection.receive().unwrap(), review).allowed();
    }
}
