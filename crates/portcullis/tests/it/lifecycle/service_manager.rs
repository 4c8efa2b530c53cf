//! What a service manager is told: datagrams to a socket of the test.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use portcullis_testing::PATIENCE;
use serde_json::json;

use crate::harness::{Folder, Gate, Setup, chain};

/// Receives until a message has this line; the lines of that message.
#[track_caller]
fn told(socket: &UnixDatagram, line: &str) -> Vec<String> {
    let mut buffer = [0; 4096];
    loop {
        let length = socket
            .recv(&mut buffer)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        let message = std::str::from_utf8(&buffer[..length]).unwrap();
        let lines: Vec<String> = message.lines().map(str::to_owned).collect();
        if lines.iter().any(|one| one == line) {
            return lines;
        }
    }
}

#[track_caller]
fn status(lines: &[String]) -> &str {
    let status = lines.iter().find_map(|line| line.strip_prefix("STATUS="));
    status.unwrap_or_else(|| panic!("no status: {lines:?}"))
}

/// The time of a message about a reload.
#[track_caller]
fn since(lines: &[String]) -> u64 {
    let mut lines = lines.iter();
    let since = lines.find_map(|line| line.strip_prefix("MONOTONIC_USEC="));
    since
        .and_then(|since| since.parse().ok())
        .expect("the time")
}

fn goes_through_its_life(socket: &UnixDatagram, mut gate: Gate) {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    told(socket, "READY=1");
    told(socket, "STATUS=ready");
    for _ in 0..3 {
        told(socket, "WATCHDOG=1");
    }
    let mut config = chain(&["AlwaysAdmit", "Policies"]);
    config["policies"] = json!([{"name": "first", "code": "return true"}]);
    gate.configure(config.clone());
    let first = since(&told(socket, "RELOADING=1"));
    let ready = told(socket, "READY=1");
    let changes = status(&ready);
    assert!(changes.starts_with("configuration reloaded: "), "{changes}");
    assert!(changes.contains("policies added first ("), "{changes}");

    config["policies"] = json!("not a list");
    gate.configure(config);
    let second = since(&told(socket, "RELOADING=1"));
    assert!(second > first);
    let ready = told(socket, "READY=1");
    let why = status(&ready);
    let kept = "the last good configuration stays in force: ";
    assert!(why.starts_with(kept) && why.contains("policies"), "{why}");

    gate.terminate();
    told(socket, "STOPPING=1");
    assert!(gate.wait().success(), "{}", gate.log());
}

fn setup(named: String) -> Setup {
    Setup::new(chain(&["AlwaysAdmit"]))
        .variable("NOTIFY_SOCKET", named)
        .variable("WATCHDOG_USEC", "200000")
}

#[test]
fn a_service_manager_at_a_path_is_told_from_start_to_end() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let gate = setup(path.display().to_string()).start();
    goes_through_its_life(&socket, gate);
}

#[test]
fn a_service_manager_with_an_abstract_socket_is_told_the_same() {
    let name = format!("portcullis-it-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    let gate = setup(format!("@{name}")).start();
    goes_through_its_life(&socket, gate);
}

#[test]
fn a_service_manager_that_is_gone_or_odd_keeps_nothing_from_working() {
    let gone = Folder::new().path("gone").display().to_string();
    for named in [gone, "vsock:2:1234".to_owned(), String::new()] {
        let mut gate = setup(named).start();
        gate.hang_up();
        gate.lives();
    }
}

#[test]
fn a_server_that_is_not_ready_says_why() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    });
    let managed = json!({"secret": "n/s", "service": "n/s", "kubeconfig": "kubeconfig"});
    let listener = json!({
        "name": "hooks", "tcp": "127.0.0.1:0", "tls": {"managed": managed}, "serves": ["kubernetes"],
    });
    let setup = setup(path.display().to_string());
    let setup = setup
        .listener(listener)
        .file("kubeconfig", kubeconfig.to_string());
    let _gate = setup.start_unready();
    // A service that waits for this server must not be what this server waits for.
    told(&socket, "READY=1");
    let mut seen = String::new();
    while !seen.starts_with(
        "not ready: certificates: there is no certificate yet: cannot read the Secret `n/s`",
    ) {
        let mut buffer = [0; 4096];
        let length = socket
            .recv(&mut buffer)
            .unwrap_or_else(|error| panic!("{error}: {seen}"));
        let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
        if let Some(status) = message.trim_end().strip_prefix("STATUS=") {
            seen = status.to_owned();
        }
    }
}
