//! The commands that ask a server, against the server itself, with tokens that `token create` creates.

use serde_json::{Value, json};

use super::{KEY, TENANTS, ask, configuration};
use crate::harness::{Gate, Ran, Setup, free_port, run};

/// A server with the document's tenant.
struct Served {
    gate: Gate,
    url: String,
}

impl Served {
    #[track_caller]
    fn start() -> Self {
        let port = free_port();
        let address = format!("127.0.0.1:{port}");
        let mut config = configuration();
        config["listeners"] = json!([{"name": "api", "tcp": address, "serves": ["api"]}]);
        let setup = Setup::new(config).file("tenants.yaml", TENANTS);
        Self {
            gate: setup.file("key", KEY).start(),
            url: format!("http://{address}"),
        }
    }

    /// Runs a command as a user.
    #[track_caller]
    fn ask(&self, name: &str, arguments: &[&str]) -> Ran {
        let claim = format!("preferred_username={name}");
        let made = ask(
            &self.gate.folder,
            &[
                "token",
                "create",
                "--authenticator",
                "our-institution",
                "--subject",
                name,
                "--claim",
                &claim,
            ],
        );
        assert_eq!(made.code, Some(0), "{}", made.err);
        let access = ["--server", &self.url, "--token", made.out.trim()];
        run(&[arguments, &access].concat())
    }
}

#[test]
fn holds_are_placed_seen_and_released() {
    let served = Served::start();
    let place = [
        "autohold",
        "place",
        "--tenant",
        "example",
        "--project",
        "org/p",
        "--job",
        "unit",
        "--reason",
        "bob looks",
        "--keep",
        "24h",
    ];
    let ran = served.ask("bob", &place);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let list = ["autohold", "list", "--tenant", "example", "-o", "json"];
    let holds: Value = serde_json::from_str(&served.ask("alice", &list).out).unwrap();
    assert_eq!(holds[0]["project"], "org/p");
    assert_eq!(holds[0]["node_expiration"], 86_400);
    let id = holds[0]["id"].to_string();
    let id = id.trim_matches('"');
    let ran = served.ask("bob", &["autohold", "show", id, "--tenant", "example"]);
    assert!(ran.out.contains("bob looks"), "{}{}", ran.out, ran.err);
    let release = ["autohold", "release", id, "--tenant", "example"];
    assert_eq!(served.ask("bob", &release).code, Some(0));
    assert_eq!(served.ask("bob", &release).code, Some(6));
    assert_eq!(served.ask("bob", &list).out.trim(), "[]");
}

#[test]
fn tenants_are_paused_by_who_may() {
    let served = Served::start();
    let pause = [
        "tenant", "pause", "example", "--reason", "fire", "--for", "2h",
    ];
    let refused = served.ask("bob", &pause);
    assert_eq!(refused.code, Some(4));
    refused.says(&["tenant-state", "your roles here: autohold, read"]);
    let ran = served.ask("admin", &pause);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let show = ["tenant", "show", "example"];
    let told = served.ask("bob", &show).out;
    for line in ["new pipelines  paused", "reason         fire"] {
        assert!(told.lines().any(|l| l == line), "{told}");
    }
    assert_eq!(
        served.ask("admin", &["tenant", "resume", "example"]).code,
        Some(0)
    );
    assert!(
        served
            .ask("bob", &show)
            .out
            .contains("new pipelines  normal")
    );
    let tenants = served.ask("bob", &["tenant", "list"]).out;
    assert!(tenants.contains("example"), "{tenants}");
}

#[test]
fn pipelines_are_asked_for_by_who_may() {
    let served = Served::start();
    let enqueue = |pipeline| {
        served.ask(
            "alice",
            &[
                "pipeline",
                "enqueue",
                "--tenant",
                "example",
                "--project",
                "foo",
                "--pipeline",
                pipeline,
                "--change",
                "12,1",
            ],
        )
    };
    let unknown = enqueue("post");
    assert_eq!(unknown.code, Some(6), "{}", unknown.err);
    unknown.says(&["12,1", "foo", "post"]);
    let refused = enqueue("check");
    assert_eq!(refused.code, Some(4));
    refused.says(&["your roles grant it where pipeline is post; here it is check"]);
}

#[test]
fn who_sends_no_token_is_told() {
    let served = Served::start();
    let ran = run(&["tenant", "show", "example", "--server", &served.url]);
    assert_eq!(ran.code, Some(4));
    ran.says(&["401", "PORTCULLIS_TOKEN"]);
}
