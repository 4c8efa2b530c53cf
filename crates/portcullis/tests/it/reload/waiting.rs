//! What happens while a reload waits for a graph that never catches up.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::becomes;
use crate::harness::{Gate, chain, until};

/// An API server that takes connections and never answers; how many there were.
fn silent() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for connection in listener.incoming() {
            held.push(connection);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, taken)
}

/// A gate whose reload waits for the objects of a cluster that does not answer.
fn waiting() -> Gate {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let (port, taken) = silent();
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("http://127.0.0.1:{port}")}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    });
    gate.folder.write("kubeconfig", kubeconfig.to_string());
    let mut config = chain(&["AlwaysDeny"]);
    config["graph"] =
        json!({"profiles": [{"name": "node", "profile": "node", "kubeconfig": "kubeconfig"}]});
    config["authorization"] = json!({"chains": {"node": ["node"]}});
    gate.configure(config);
    gate.hang_up();
    until("the cluster is asked", || taken.load(Ordering::SeqCst) > 0);
    gate
}

#[test]
fn a_signal_to_end_is_obeyed() {
    for is_interrupt in [false, true] {
        let mut gate = waiting();
        match is_interrupt {
            true => gate.interrupt(),
            false => gate.terminate(),
        }
        // Waits less long than the reload would, which is a minute.
        assert_eq!(gate.wait().code(), Some(0));
        let log = gate.log();
        let signal = if is_interrupt { "SIGINT" } else { "SIGTERM" };
        assert!(
            log.contains(&format!("{signal} received, draining")),
            "{log}"
        );
        assert!(log.contains("stopped"), "{log}");
    }
}

#[test]
fn another_signal_to_reload_starts_it_anew() {
    let gate = waiting();
    gate.configure(chain(&["AlwaysDeny"]));
    gate.hang_up();
    becomes(&gate, false);
    until("the log says what changed", || {
        gate.log()
            .contains("plug-ins added AlwaysDeny, removed AlwaysAdmit")
    });
}
