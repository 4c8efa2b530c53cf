//! The example of CI jobs: its policies, and its webhook program, as their users run them.

use std::process::{Child, Command, Stdio};

use super::copied;
use crate::harness::{
    Connection, Folder, Gate, Ran, free_port, program, repository, run_in, until,
};

/// The server of the example, on a port of its own.
struct Example {
    gate: Gate,
    token: String,
}

impl Example {
    /// Starts it, with a webhook allowed on this port.
    fn start(webhook: u16) -> Self {
        let folder = Folder::new();
        copied(&repository().join("examples/ci"), &folder, "");
        let file = folder.path("portcullis.yaml");
        let port = free_port();
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"));
        let text = text.replace("127.0.0.1:9000", &format!("127.0.0.1:{webhook}"));
        folder.write("portcullis.yaml", text);
        let ran = run_in(
            &folder,
            &[
                "token",
                "create",
                "--authenticator",
                "local",
                "--subject",
                "me",
                "--tenant",
                "*",
            ],
        );
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let token = ran.out.trim().to_owned();
        let mut command = program(folder.root());
        command.args(["serve", "--data-dir", "data"]);
        let gate = Gate::spawn(folder, port, command);
        Self { gate, token }
    }

    /// Runs a command against it.
    fn run(&self, arguments: &[&str]) -> Ran {
        let server = format!("http://127.0.0.1:{}", self.gate.port);
        let access = ["--server", &server, "--token", &self.token];
        run_in(&self.gate.folder, &[arguments, &access[..]].concat())
    }

    /// What `job why` says.
    fn why(&self, job: &str) -> String {
        let ran = self.run(&["job", "why", job]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    }

    /// Submits the job of the example, with some words replaced.
    fn submit(&self, changes: &[(&str, &str)]) {
        let folder = &self.gate.folder;
        let text = std::fs::read_to_string(folder.path("jobs/deploy.json")).unwrap();
        let text = changes.iter().fold(text, |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        folder.write("jobs/changed.json", text);
        let ran = self.run(&["job", "submit", "jobs/changed.json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn its_policies_deny_retag_and_keep_jobs_off_runners() {
    let example = Example::start(free_port());
    let tests = run_in(&example.gate.folder, &["test"]);
    assert_eq!(tests.code, Some(0), "{}{}", tests.out, tests.err);
    example.submit(&[]);
    let why = example.why("1");
    assert!(why.contains("Its tags are secure, zone_a."), "{why}");
    let shown = example.run(&["job", "show", "1", "-o", "json"]).out;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let decision = &shown["admission"]["decisions"][0];
    assert_eq!(decision["tags"]["add"], serde_json::json!(["zone_a"]));
    assert_eq!(
        decision["runners"]["rejected_ids"],
        serde_json::json!(["103"])
    );
    example.submit(&[("bank/ledger", "shop/web")]);
    let why = example.why("2");
    assert!(why.contains("shop/web is not on the list"), "{why}");
    until("the denial is in the log", || {
        let denied = example.run(&["decisions", "list", "--door", "ci", "--verdict", "deny"]);
        denied.out.contains("1-allowed-projects")
    });
}

#[test]
fn its_webhook_checks_signatures_and_answers() {
    let port = free_port();
    let example = Example::start(port);
    let url = format!("http://127.0.0.1:{port}/");
    let added = example.run(&["controller", "add", "hours", "--url", &url, "-o", "json"]);
    assert_eq!(added.code, Some(0), "{}", added.err);
    let added: serde_json::Value = serde_json::from_str(&added.out).unwrap();
    let controller = Command::new("python3")
        .args(["controller.py", &port.to_string()])
        .env("CONTROLLER_SECRET", added["secret"].as_str().unwrap())
        .current_dir(example.gate.folder.root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _controller = Running(controller);
    until("the webhook listens", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    // Nothing is believed that isn't signed.
    let unsigned = Connection::tcp(port)
        .unwrap()
        .post(
            "/",
            &serde_json::json!([{"id": 1, "ref": "main", "ref_protected": true}]),
        )
        .unwrap();
    assert_eq!(unsigned.status, 401);
    example.submit(&[]);
    until("the job is admitted", || {
        example
            .why("1")
            .contains("hours (instance level) accepted it.")
    });
}
