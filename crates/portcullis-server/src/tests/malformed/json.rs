//! Bodies that are not a review.

use serde_json::{Value, json};

use crate::tests::harness::{Answer, Gate, Review, pod, request};

fn good() -> String {
    Review::create(&pod()).text()
}

fn with(key: &str, value: impl Into<Value>) -> Vec<u8> {
    let mut review = Review::create(&pod()).value();
    review[key] = value.into();
    review.to_string().into_bytes()
}

fn asked(key: &str, value: impl Into<Value>) -> Vec<u8> {
    Review::create(&pod()).set(key, value).text().into_bytes()
}

/// The answers to these bodies at both kinds of paths; the gate lives.
#[track_caller]
fn refused(bodies: &[Vec<u8>], check: impl Fn(&Answer, &str)) {
    let gate = Gate::of(&["AlwaysAdmit"]);
    for body in bodies {
        for path in ["/validate", "/mutate/x"] {
            let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
            let answer = gate.post_bytes(path, body);
            assert_eq!(answer.status, 400, "{text}: {}", answer.text());
            check(&answer, &text);
        }
    }
    gate.judges();
}

/// 400 in the one shape, with line and column.
#[track_caller]
fn malformed(bodies: &[Vec<u8>]) {
    refused(bodies, |answer, _| {
        answer.place();
    });
}

#[test]
fn a_syntax_error_is_told_with_line_and_column() {
    let body = b"{\n  \"kind\": \"AdmissionReview\",\n  \"request\": {,}\n}".to_vec();
    refused(&[body], |answer, _| {
        assert_eq!(answer.place(), (3, 15));
        let (error, _) = answer.error(400);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("line 3") && message.contains("column 15"),
            "{message}"
        );
    });
}

#[test]
fn truncated_text_is_malformed() {
    let good = good().into_bytes();
    let short = [good.len() / 2, good.len() - 1, 1].map(|n| good[..n].to_vec());
    malformed(&short);
    malformed(&[
        b"{\"a".to_vec(),
        b"{\"a\\u12".to_vec(),
        b"tru".to_vec(),
        b"-".to_vec(),
        b"1e".to_vec(),
    ]);
}

#[test]
fn an_empty_body_is_malformed() {
    malformed(&[b"".to_vec(), b"  \n".to_vec()]);
}

#[test]
fn what_is_no_object_is_malformed() {
    let listed = format!("[{}]", good());
    malformed(&["null", "[]", "\"x\"", "42", "true", &listed].map(|text| text.as_bytes().to_vec()));
}

#[test]
fn a_missing_request_is_malformed() {
    let bare = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    malformed(&[
        bare.to_string().into_bytes(),
        with("request", Value::Null),
        with("request", json!([])),
        with("request", json!({})),
        with("request", "x"),
    ]);
}

#[test]
fn a_missing_uid_is_malformed_and_named() {
    let bodies = [
        Review::create(&pod()).without("uid").text().into_bytes(),
        asked("uid", Value::Null),
        asked("uid", ""),
        asked("uid", 7),
    ];
    refused(&bodies, |answer, text| {
        answer.place();
        assert!(answer.text().contains("uid"), "{text}: {}", answer.text());
    });
}

#[test]
fn other_missing_fields_are_malformed_and_named() {
    for field in ["operation", "kind", "resource"] {
        let body = Review::create(&pod()).without(field).text().into_bytes();
        refused(&[body], |answer, _| {
            assert!(answer.text().contains(field), "{}", answer.text())
        });
    }
}

#[test]
fn an_unknown_operation_is_malformed() {
    malformed(&["", "create", "PATCH", "CREATE ", "GET"].map(|name| asked("operation", name)));
}

#[test]
fn another_kind_or_version_is_malformed() {
    malformed(&[
        with("kind", "Pod"),
        with("kind", Value::Null),
        with("apiVersion", "admission.k8s.io/v2"),
        with("apiVersion", "admission.k8s.io"),
        with("apiVersion", "v1"),
        with("apiVersion", "authorization.k8s.io/v1"),
    ]);
}

#[test]
fn fields_of_the_wrong_type_are_malformed() {
    malformed(&[
        asked("operation", json!(["CREATE"])),
        asked("userInfo", "alice"),
        asked("kind", "Pod"),
        asked("resource", json!([])),
        asked("dryRun", "yes"),
        asked("namespace", json!({})),
        asked("name", 7),
        asked("object", "x"),
        asked("oldObject", json!([1])),
        asked("userInfo", json!({"groups": "all"})),
    ]);
}

#[test]
fn a_key_twice_is_malformed_wherever_it_stands() {
    let twice = |key: &str| {
        let (wanted, doubled) = (format!("\"{key}\":"), format!("\"{key}\":null,\"{key}\":"));
        let body = good().replacen(&wanted, &doubled, 1);
        assert_ne!(body, good());
        body.into_bytes()
    };
    malformed(
        &[
            "kind", "request", "uid", "object", "spec", "image", "username",
        ]
        .map(twice),
    );
    // The same key in another spelling.
    malformed(&[good()
        .replacen("\"uid\":", "\"\\u0075id\":null,\"uid\":", 1)
        .into_bytes()]);
}

#[test]
fn text_after_the_document_is_malformed() {
    malformed(
        &[good() + &good(), good() + "x", good() + "\0", good() + "{}"].map(String::into_bytes),
    );
}

#[test]
fn what_json_does_not_know_is_malformed() {
    let odd = |text: &str| {
        good()
            .replacen("\"dryRun\":false", &format!("\"dryRun\":{text}"), 1)
            .into_bytes()
    };
    malformed(
        &[
            "NaN",
            "'x'",
            "01",
            "+1",
            ".5",
            "0x1",
            "False",
            "/*c*/false",
            "false,",
        ]
        .map(odd),
    );
    malformed(&[format!("\u{feff}{}", good()).into_bytes()]);
}

#[test]
fn deep_nesting_is_malformed_and_harmless() {
    const DEPTH: usize = 100_000;
    let deep = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    let within = good().replacen(
        "\"containers\"",
        &format!("\"deep\":{deep},\"containers\""),
        1,
    );
    malformed(&[
        deep.into_bytes(),
        within.into_bytes(),
        "{\"a\":".repeat(DEPTH).into_bytes(),
    ]);
}

#[test]
fn text_that_is_not_utf_8_is_malformed() {
    let with = |bytes: &[u8]| {
        let good = good();
        let (before, after) = good.split_once("alice").unwrap();
        [before.as_bytes(), bytes, after.as_bytes()].concat()
    };
    let utf_16: Vec<u8> = good().encode_utf16().flat_map(u16::to_le_bytes).collect();
    // A byte that never stands, an overlong form, half a surrogate pair, a cut character.
    malformed(&[
        with(b"al\xffce"),
        with(b"\xc0\xaf"),
        with(b"\xed\xa0\x80"),
        with(b"\xe2\x82"),
        utf_16,
    ]);
    malformed(&[with(b"\\ud800"), with(b"\\udc00x"), with(b"\x01")]);
}

#[test]
fn a_body_shorter_than_declared_is_never_an_allow() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let body = good();
    let length = (body.len() + 5).to_string();
    let whole = request(
        "POST",
        "/validate",
        &[("Content-Length", &length)],
        body.as_bytes(),
    );
    let answer = gate.raw_then_close(&whole).expect("dropped");
    answer.error(400);
    gate.judges();
}

#[test]
fn an_object_that_is_missing_or_written_otherwise_is_malformed() {
    let renamed = |name: &str| good().replace("\"object\":", &format!("\"{name}\":"));
    for operation in ["CREATE", "UPDATE"] {
        let of = |text: String| {
            text.replace("\"CREATE\"", &format!("\"{operation}\""))
                .into_bytes()
        };
        let null = Review::create(&pod()).set("object", Value::Null).text();
        malformed(&[
            of(renamed("Object")),
            of(renamed("OBJECT")),
            of(renamed("x")),
            of(null),
        ]);
    }
}
