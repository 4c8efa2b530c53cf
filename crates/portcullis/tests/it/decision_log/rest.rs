//! Decisions over REST, where that needs a process. What is listed and found is tested in portcullis-server.

use serde_json::json;

use super::gate;

#[test]
fn other_users_of_this_machine_are_refused() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    let gate = gate(&json!({"listeners": [
        {"name": "api", "unix": {"path": "api.sock", "mode": "0666"}, "serves": ["api"]},
    ]}));
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(gate.folder.root(), open).unwrap();
    let mut curl = std::process::Command::new("curl");
    curl.args(["-s", "--unix-socket"])
        .arg(gate.folder.path("api.sock"));
    curl.arg("http://x/api/v1/decisions")
        .arg("-w")
        .arg("%{http_code}");
    std::os::unix::process::CommandExt::uid(&mut curl, 65_534);
    let output = curl.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("missing_token") && text.ends_with("401"),
        "{text}"
    );
}
