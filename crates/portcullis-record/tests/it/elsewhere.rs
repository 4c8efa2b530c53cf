//! What is masked in one place is masked in the whole record.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::DoorContext;
use portcullis_record::Masker;
use serde_json::{Value, json};

use crate::fixtures::{allowed, attributes, creation, denied, kept, masker, material, written};

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
const PASSWORD: &str = "hunter2-and-more";

fn secret() -> Value {
    let original = json!({"kind": "Secret", "data": {"p": STANDARD.encode(PASSWORD)}});
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {
            "name": "db",
            "labels": {"copy": PASSWORD, "app": "db"},
            "annotations": {
                "kapp.k14s.io/original": original.to_string(),
                "note": format!("it is {PASSWORD}!"),
                "encoded": STANDARD.encode(PASSWORD),
                "harmless": "{\"replicas\": 3}",
            },
        },
        "data": {"p": STANDARD.encode(PASSWORD)},
        "binaryData": {"b": STANDARD.encode("another-one-yet")},
        "spec": {"list": [PASSWORD, "fine"], "deep": {"x": {"y": STANDARD.encode("another-one-yet")}}},
    })
}

#[test]
fn values_of_a_secret_are_masked_wherever_they_stand() {
    let line = written(&masker(), &creation(&secret()), allowed()).line;
    for clear in [PASSWORD, &STANDARD.encode(PASSWORD), "another-one-yet"] {
        assert!(!line.contains(clear), "{clear}: {line}");
    }
    let object = kept(secret());
    let metadata = &object["metadata"];
    assert_eq!(metadata["labels"], json!({"copy": "(masked)", "app": "db"}));
    assert_eq!(metadata["name"], "db");
    assert_eq!(metadata["annotations"]["harmless"], "{\"replicas\": 3}");
    assert_eq!(object["spec"]["list"], json!(["(masked)", "fine"]));
}

#[test]
fn named_configured_and_random_values_are_masked_elsewhere_too() {
    let random = "k3jd93jfk20sl3kf";
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "labels": {"a": "letmein-please", "b": random, "c": "my-pin-code"}},
        "pin": "my-pin-code",
        "spec": {"containers": [{
            "image": "registry.example/app:1.2.3",
            "args": ["--password=letmein-please", "--image=registry.example/app:1.2.3"],
            "env": [
                {"name": "DB_PASSWORD", "value": "letmein-please"},
                {"name": "IMAGE", "value": "registry.example/app:1.2.3"},
                {"name": "X", "value": random},
                {"name": "LEVEL", "value": "information"},
            ],
        }]},
        "level": "information",
    });
    let masker = Masker::new(&["$.pin".to_owned()]).unwrap();
    let line = written(&masker, &creation(&pod), allowed()).line;
    for clear in ["letmein-please", random, "my-pin-code"] {
        assert!(!line.contains(clear), "{clear}: {line}");
    }
    // What is hardly a secret stays where no rule masks it: it is what policies are asked about.
    for plain in ["registry.example/app:1.2.3", "information"] {
        assert!(line.contains(plain), "{plain}: {line}");
    }
}

#[test]
fn short_values_and_names_mask_nothing_else() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db-secret", "labels": {"env": "prod"}},
        "stringData": {"env": "prod", "name": "db-secret", "version": "v1", "kind": "Secret", "flag": "true"},
    });
    let object = kept(secret);
    assert_eq!(object["metadata"]["name"], "db-secret");
    assert_eq!(object["metadata"]["labels"]["env"], "prod");
    assert_eq!(object["stringData"]["env"], "(masked)");
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("Secret"), &json!("v1"))
    );
}

#[test]
fn a_name_that_tells_a_secret_goes_with_its_object() {
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"},
        "password": PASSWORD, "spec": {"a": {PASSWORD: 1, "b": 2}, "c": {JWT: {}}, "d": 1},
    });
    let written = written(&masker(), &creation(&pod), denied("no"));
    assert!(!written.line.contains(PASSWORD) && !written.line.contains(JWT));
    assert_eq!(kept(pod)["spec"], json!({"a": {}, "c": {}, "d": 1}));
}

#[test]
fn tokens_as_names_are_masked_in_lists_too() {
    let mut review =
        creation(&json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": JWT}}));
    review["request"]["userInfo"] = json!({
        "username": format!("{JWT}{}", "a".repeat(2000)), "uid": JWT, "groups": [JWT, "dev"],
        "extra": {"x": [JWT]},
    });
    review["request"]["namespace"] = json!(JWT);
    let written = written(&masker(), &review, allowed());
    let summary = serde_json::to_string(&written.summary).unwrap();
    for text in [&written.line, &summary] {
        assert!(!text.contains("eyJhbGci"), "{text}");
    }
    assert_eq!(written.summary.name, "(masked)");
    assert_eq!(written.summary.user, "(masked)");
}

#[test]
fn other_headers_and_the_address_are_looked_through() {
    let body =
        creation(&json!({"kind": "Pod", "apiVersion": "v1", "password": PASSWORD})).to_string();
    let context = DoorContext {
        uri: format!("/validate?x={PASSWORD}"),
        headers: vec![
            ("x-note".to_owned(), format!("see {PASSWORD}")),
            ("host".to_owned(), "h".to_owned()),
        ],
        ..DoorContext::default()
    };
    let attributes = attributes(&body, context);
    let written = masker()
        .write(&material(&body, attributes, allowed()))
        .unwrap();
    assert!(!written.line.contains(PASSWORD), "{}", written.line);
    assert!(
        written.line.contains("\"/validate?(masked)\""),
        "{}",
        written.line
    );
    assert!(
        written.line.contains("[\"host\",\"h\"]"),
        "{}",
        written.line
    );
}
