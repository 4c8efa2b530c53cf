//! What an acjs file may contain, and what `check` and `serve` say about it.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{AcjsSetup, Folder, acjs, free_port, run_in, until};
use crate::policies::{fruit, review_of};

fn with_socket() -> Value {
    let mut config = acjs(&[("P", "return true")]);
    config["listener"] = json!({"path": {"socketPath": "acjs.sock"}});
    config
}

/// The exit code of `check`, and what it says.
fn checked(config: &Value) -> (Option<i32>, String) {
    let folder = Folder::new();
    folder.write("acjs.yaml", config.to_string());
    let ran = run_in(&folder, &["check", "-config-file", "acjs.yaml"]);
    (ran.code, format!("{}{}", ran.out, ran.err))
}

#[test]
fn unknown_keys_are_warnings() {
    let mut config = with_socket();
    config["colour"] = "red".into();
    config["policies"][0]["owner"] = "me".into();
    config["listener"]["path"]["permission"] = "0666".into();
    let (code, said) = checked(&config);
    assert_eq!(code, Some(0), "{said}");
    for key in ["colour", "owner", "permission"] {
        assert!(said.contains(key), "`{key}` is not named: {said}");
    }
    let server = AcjsSetup::new(config).start();
    server.ask(&review_of(&fruit())).allowed();
    for key in ["colour", "owner", "permission"] {
        let told = |line: &str| line.contains("WARN") && line.contains(key);
        assert!(server.log().lines().any(told), "{}", server.log());
    }
}

#[test]
fn an_unknown_default_action_rejects_with_a_warning() {
    let mut config = acjs(&[("P", "")]);
    config["defaultAction"] = "permit".into();
    let server = AcjsSetup::new(config.clone()).start();
    server.ask(&review_of(&fruit())).denied("");
    assert!(server.log().contains("permit"), "{}", server.log());
    config["listener"] = with_socket()["listener"].clone();
    let (code, said) = checked(&config);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("permit"), "{said}");
}

#[test]
fn without_a_listener_of_acjs_the_same_is_a_fault() {
    let listener =
        json!({"name": "a", "tcp": format!("127.0.0.1:{}", free_port()), "serves": ["kubernetes"]});
    let plain = json!({"listeners": [listener]});
    assert_eq!(checked(&plain).0, Some(0));
    for (key, value) in [("colour", "red"), ("defaultAction", "permit")] {
        let mut config = plain.clone();
        config[key] = value.into();
        let (code, said) = checked(&config);
        assert_eq!(code, Some(3), "{key}: {said}");
        assert!(said.contains(key), "{said}");
    }
}

#[test]
fn one_listener_of_one_kind() {
    let mut two_lists = with_socket();
    let listener = json!({"name": "a", "tcp": "127.0.0.1:1", "serves": ["kubernetes"]});
    two_lists["listeners"] = json!([listener]);
    let mut two_kinds = with_socket();
    two_kinds["listener"]["tls"] = json!({
        "privateKeyPath": "k", "certificatePath": "c", "listenOn": "127.0.0.1:1",
    });
    let mut none = with_socket();
    none["listener"] = json!({});
    for config in [two_lists, two_kinds, none] {
        let (code, said) = checked(&config);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("listener"), "{said}");
    }
}

#[test]
fn other_faults_are_faults() {
    let mut twice = acjs(&[("P", "return true"), ("P", "return true")]);
    twice["listener"] = with_socket()["listener"].clone();
    let mut broken = acjs(&[("Fine", "return true"), ("Broken", "\nreturn (")]);
    broken["listener"] = with_socket()["listener"].clone();
    let mut params = with_socket();
    params["listener"]["path"]["params"] = "0660:root".into();
    for (config, needle) in [(twice, "`P`"), (broken, "Broken"), (params, "0660:root")] {
        let (code, said) = checked(&config);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(needle), "`{needle}` is not named: {said}");
    }
}

#[test]
fn params_are_the_mode_of_the_socket() {
    for (params, mode) in [
        (None, 0o600),
        (Some("0660"), 0o660),
        (Some("666:-:-"), 0o666),
    ] {
        let mut config = with_socket();
        if let Some(params) = params {
            config["listener"]["path"]["params"] = params.into();
        }
        let server = AcjsSetup::new(config).start();
        let there = std::fs::metadata(server.socket()).unwrap();
        assert_eq!(there.permissions().mode() & 0o777, mode, "{params:?}");
    }
}

#[test]
fn a_change_of_the_file_is_seen_and_a_fault_keeps_the_last_good_one() {
    let text = |code: &str| {
        format!(
            "listener: {{path: {{socketPath: acjs.sock}}}}\npolicies: [{{name: P, code: \"{code}\"}}]\n"
        )
    };
    let server = AcjsSetup::text(text("return 'one'")).start();
    let said = || server.ask(&review_of(&fruit())).message().to_owned();
    assert_eq!(said(), "P: one");
    server.folder.replace("acjs.yaml", text("return 'two'"));
    until("the new policy answers", || said() == "P: two");
    server.folder.replace("acjs.yaml", text("return ("));
    let name = "portcullis_config_last_reload_successful";
    until("the metric tells", || {
        server.metrics().total(name, &[]) < 0.5
    });
    assert_eq!(said(), "P: two");
    server.folder.replace("acjs.yaml", text("return 'three'"));
    until("the repair counts", || said() == "P: three");
}

#[test]
fn other_keys_of_a_configuration_are_good_there() {
    let mut config = with_socket();
    config["limits"] = json!({"deadline": "5s"});
    config["admission"] = json!({"plugins": [{"name": "AlwaysPullImages"}]});
    let server = AcjsSetup::new(config).start();
    let verdict = server.ask(&review_of(&fruit()));
    let patched = verdict.patched(&fruit());
    assert_eq!(
        patched["spec"]["containers"][0]["imagePullPolicy"],
        "Always"
    );
}

#[test]
fn words_without_quotes_are_text() {
    let text = "\
listener:
  path:
    socketPath: acjs.sock
    params: 0660
policies:
- name: 404
  code: return 'x'
";
    let server = AcjsSetup::text(text.to_owned()).start();
    assert_eq!(server.ask(&review_of(&fruit())).message(), "404: x");
    let there = std::fs::metadata(server.socket()).unwrap();
    assert_eq!(there.permissions().mode() & 0o777, 0o660);
}

#[test]
fn a_policy_without_a_name_is_taken() {
    let text = "\
listener: {path: {socketPath: acjs.sock}}
policies:
- code: return 'x'
";
    let server = AcjsSetup::text(text.to_owned()).start();
    server.ask(&review_of(&fruit())).denied("x");
}

#[test]
fn a_file_as_people_write_it() {
    let text = "\
# one listener, two policies
listener:
  path:
    socketPath: acjs.sock
    params: \"0660\"
globals: |
  function isFruit(name) { return ['apple', 'pear'].includes(name) }
policies:
- name: no fruit
  code: |
    for (const c of object.spec.containers)
      if (isFruit(c.name))
        return `${c.name} is fruit`
- name: rest
  code: return true
defaultAction: Reject
";
    let server = AcjsSetup::text(text.to_owned()).start();
    let verdict = server.ask(&review_of(&fruit()));
    assert_eq!(verdict.message(), "no fruit: apple is fruit");
    let mut other = fruit();
    other["spec"]["containers"][0]["name"] = "web".into();
    server.ask(&review_of(&other)).allowed();
}
