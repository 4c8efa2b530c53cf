//! No secret is stored, logged or shown.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{kept, with_socket};
use crate::harness::{Review, Setup, run_in};

/// Tells everybody what it sees, in every way a policy can.
const CHATTY: &str = r#"
    console.log(JSON.stringify(object), object.data && object.data.key);
    console.error("whole:", object);
    const value = object.spec && object.spec.containers ? object.spec.containers[0].env[0].value
        : object.data ? atob_(object.data.key) : object.spec.password;
    warn("saw " + value);
    object.metadata.annotations = {copied: value};
    if (object.metadata.name.startsWith("refused")) return "no: " + value;
    return true;
    function atob_(text) {
        const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits = "";
        for (const c of text) if (c !== "=") bits += letters.indexOf(c).toString(2).padStart(6, "0");
        let out = "";
        for (let i = 0; i + 8 <= bits.length; i += 8) out += String.fromCharCode(parseInt(bits.slice(i, i + 8), 2));
        return out;
    }
"#;

fn secret_of(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"},
        "data": {"key": STANDARD.encode(value)}})
}

fn pod_of(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "app", "image": "x", "env": [{"name": "KEY", "value": value}]}]}})
}

fn custom_of(name: &str, value: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Database",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"password": value}})
}

#[test]
fn no_planted_secret_survives_anywhere() {
    let mut config = with_socket(json!({}));
    config["policies"] = json!([{"name": "chatty", "code": CHATTY}]);
    config["decisions"] = json!({"mask": ["$.spec.password"], "jsonLines": "lines.jsonl"});
    let mut gate = Setup::new(config).start();
    let mut planted = Vec::new();
    let makers: [fn(&str, &str) -> Value; 3] = [secret_of, pod_of, custom_of];
    for (number, make) in makers.into_iter().enumerate() {
        for (name, is_refused) in [("taken", false), ("refused", true)] {
            let value = format!("PLANTED-{number}-{name}-\"zq7x\"\n");
            let review = Review::create(&make(name, &value));
            let verdict = gate.ask("/mutate", &review);
            // The caller gets the truth; what is kept does not have it.
            assert_eq!(verdict.is_allowed(), !is_refused, "{}", verdict.message());
            if is_refused {
                assert!(
                    verdict.message().contains("PLANTED"),
                    "{}",
                    verdict.message()
                );
            }
            planted.push(value);
        }
    }
    let found = kept(&gate.folder, &["--data-dir", "data"], planted.len());
    let mut shown = String::new();
    for decision in &found {
        let id = decision["id"].as_str().unwrap();
        for format in ["text", "json"] {
            let ran = run_in(
                &gate.folder,
                &["explain", id, "--data-dir", "data", "-o", format],
            );
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            shown += &ran.out;
        }
        shown += &super::ask(&gate, &format!("/api/v1/decisions/{id}")).text();
        shown += &decision.to_string();
    }
    let exported = run_in(&gate.folder, &["decisions", "export", "--data-dir", "data"]);
    assert_eq!(
        exported.out.lines().count(),
        planted.len(),
        "{}",
        exported.err
    );
    shown += &exported.out;
    assert!(shown.contains("(masked)"));
    gate.terminate();
    gate.wait();
    assert!(gate.log().contains("whole:"), "policies write to the log");
    look_into(gate.folder.root(), &mut |name, bytes| {
        if name != "portcullis.yaml" {
            assert_clean(name, bytes, &planted);
        }
    });
    assert_clean("what is shown", shown.as_bytes(), &planted);
}

#[test]
fn tokens_as_names_are_on_no_line_of_the_log() {
    const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
    let mut config = with_socket(json!({}));
    config["policies"] = json!([{"name": "no", "code": "return 'no'"}]);
    let mut gate = Setup::new(config).start();
    let review = Review::create(&secret_of("s", "x"))
        .set("name", JWT)
        .set("namespace", JWT)
        .set("uid", JWT)
        .set("userInfo", json!({"username": JWT, "groups": [JWT]}));
    gate.ask("/validate", &review).denied("no");
    let found = kept(&gate.folder, &["--data-dir", "data"], 1);
    assert_eq!(
        (&found[0]["user"], &found[0]["name"]),
        (&json!("(masked)"), &json!("(masked)"))
    );
    gate.terminate();
    gate.wait();
    assert!(gate.log().contains("denied"), "{}", gate.log());
    look_into(gate.folder.root(), &mut |name, bytes| {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("eyJhbGci"), "a token is in {name}");
    });
}

fn look_into(folder: &Path, look: &mut dyn FnMut(&str, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_into(&path, look);
        } else if let Ok(bytes) = std::fs::read(&path) {
            look(&path.file_name().unwrap().to_string_lossy(), &bytes);
        }
    }
}

fn assert_clean(name: &str, bytes: &[u8], planted: &[String]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(!text.contains("PLANTED"), "a secret is in {name}");
    for value in planted {
        let encoded = STANDARD.encode(value);
        let whole = encoded.trim_end_matches('=');
        let needle = &whole[..whole.len() - 2];
        assert!(!text.contains(needle), "a secret in base64 is in {name}");
    }
}
