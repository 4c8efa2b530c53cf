//! A server whose store is a real PostgreSQL, started for this test, stopped and started again.

use portcullis_testing::Postgres;
use serde_json::json;

use super::{creation, items, kept, with_socket};
use crate::harness::{Answer, Connection, Gate, Setup, chain, run_in, until};

fn place_hold(gate: &Gate) -> Answer {
    let mut connection = Connection::unix(&gate.folder.path("api.sock")).unwrap();
    let path = "/api/tenant/default/project/foo/autohold";
    connection.ask("POST", path, br#"{"job": "unit"}"#).unwrap()
}

#[test]
fn decisions_are_kept_in_postgresql_and_wait_for_it_while_it_is_away() {
    let database = Postgres::start(&[]);
    let url = database.url("postgres");
    let mut config = with_socket(chain(&["AlwaysAdmit"]));
    config["store"] = json!({"url": url});
    let mut gate = Setup::new(config).start();
    gate.ask("/validate", &creation("before", "alice"))
        .allowed();
    kept(&gate.folder, &["--store", &url], 1);
    assert_eq!(items(&gate, "")[0]["name"], "before");
    assert_eq!(place_hold(&gate).status, 200);
    assert!(!gate.folder.path("data/portcullis.db").exists());

    database.stop();
    place_hold(&gate).error(503);
    for number in 0..20 {
        let name = format!("p{number}");
        gate.ask("/validate", &creation(&name, "bob")).allowed();
    }
    until("the fault is shown", || {
        let ready = gate.get("/readyz?verbose").text();
        ready.contains("[-]store failed, still ready: ") && ready.contains("unavailable")
    });
    let ran = run_in(&gate.folder, &["decisions", "list", "--store", &url]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);

    assert!(database.begin());
    until("holds are placed again", || place_hold(&gate).status == 200);
    kept(&gate.folder, &["--store", &url, "--door", "kubernetes"], 21);
    assert_eq!(items(&gate, "?user=bob").len(), 20);
    let id = items(&gate, "?limit=1")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let explained = run_in(&gate.folder, &["explain", &id, "--store", &url]);
    assert!(explained.out.starts_with("allowed"), "{}", explained.out);
    gate.terminate();
    assert!(gate.wait().success());
}
