//! Records of calls of the API.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use portcullis_core::{DecisionId, Door, OpinionKind, Peer, UnixPeer};
use portcullis_record::{Action, Answer, Body, Decision, Material, Miss, TraceOutcome, Written};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::masker;

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    all.iter().map(pair).collect()
}

fn allowed() -> Action {
    Action {
        id: DecisionId::new(SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123)),
        permission: "enqueue".into(),
        method: "POST".into(),
        path: "/api/tenant/example/project/org%2Ffoo/enqueue".into(),
        peer: Peer {
            address: Some("127.0.0.1:41004".parse().unwrap()),
            ..Peer::default()
        },
        tenant: Some("example".into()),
        parameters: pairs(&[
            ("project", "org/foo"),
            ("pipeline", "gate"),
            ("ref", "main"),
        ]),
        user: "alice".into(),
        issuer: Some("https://id.example".into()),
        allowed: true,
        message: String::new(),
        rule: Some("al".into()),
        role: Some("fooenq".into()),
        misses: Vec::new(),
        rules: vec!["al".into()],
        roles: vec!["fooenq".into()],
        status: 200,
        duration: Duration::from_micros(3),
    }
}

fn refused() -> Action {
    Action {
        parameters: pairs(&[("project", "bar")]),
        allowed: false,
        message: "no role permits enqueue on project bar".into(),
        rule: None,
        role: None,
        misses: vec![Miss {
            rule: "al".into(),
            role: "fooenq".into(),
            name: "project".into(),
            wanted: json!(["org/foo", "glob:org/x*"]),
            got: Some("bar".into()),
        }],
        status: 403,
        ..allowed()
    }
}

fn written(action: Action) -> Written {
    let received = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_120);
    let trace = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    let material = Material::of_action(action, received, "sha256:gate".into(), trace);
    masker().write(&material).unwrap()
}

fn read(action: Action) -> Decision {
    let written = written(action);
    let decision = Decision::from_line(&written.line).unwrap();
    assert_eq!(decision.summary, written.summary);
    assert!(!written.line.contains('\n'));
    decision
}

#[test]
fn a_call_that_was_allowed_is_told_whole() {
    let line: Value = serde_json::from_str(&written(allowed()).line).unwrap();
    let id = line["id"].as_str().unwrap().to_owned();
    assert_eq!(
        line,
        json!({
            "id": id, "time": "2026-09-21T14:13:20.123000Z", "door": "api",
            "operation": "enqueue", "kind": "Pipeline", "namespace": "example", "name": "org/foo",
            "user": "alice", "verdict": "allow", "mutated": false, "message": "",
            "plugin": "Roles", "policy": "fooenq", "digest": null, "gate": "sha256:gate",
            "duration_us": 3, "warnings": [],
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "patch": [],
            "trace": [{"plugin": "Roles", "outcome": "allow", "duration_us": 3, "roles":
                {"rule": "al", "role": "fooenq", "rules": ["al"], "roles": ["fooenq"]}}],
            "input": {
                "http": {"method": "POST", "uri": "/api/tenant/example/project/org%2Ffoo/enqueue",
                    "headers": [], "address": "127.0.0.1:41004"},
                "received": "2026-09-21T14:13:20.120000000Z",
                "action": {"tenant": "example", "issuer": "https://id.example", "status": 200,
                    "parameters": {"project": "org/foo", "pipeline": "gate", "ref": "main"}},
            },
        })
    );
}

#[test]
fn a_refusal_says_what_was_missed() {
    let decision = read(refused());
    assert_eq!(decision.summary.door, Door::Api);
    assert_eq!(decision.summary.verdict, Answer::Deny);
    assert_eq!(decision.summary.policy, None);
    // What `--policy` finds.
    assert_eq!(decision.summary.concerned, ["Roles", "fooenq"]);
    let step = &decision.trace[0];
    let deny = TraceOutcome::Opinion(OpinionKind::Deny);
    assert!(step.outcome == deny && step.detail.is_none(), "{step:?}");
    let roles = step.roles.as_ref().unwrap();
    assert_eq!(roles.misses, refused().misses);
    assert_eq!((roles.rule.as_ref(), roles.role.as_ref()), (None, None));
    assert_eq!(decision.input.action.unwrap().status, 403);
    assert!(decision.input.masked.is_empty());
}

#[test]
fn the_kind_is_what_the_action_is_on() {
    for (permission, kind) in [
        ("read", "Tenant"),
        ("autohold", "Autohold"),
        ("dequeue", "Pipeline"),
        ("promote", "Pipeline"),
        ("tenant-state", "Tenant"),
        ("retry-job", "Job"),
        ("manage-controllers", "Controller"),
        ("manage-runners", "Runner"),
        ("manage-exemptions", "Exemption"),
        ("read-decisions", "Decision"),
        ("read-graph", "Graph"),
        ("manage-sessions", "Session"),
        ("playground", "Policy"),
        ("something-new", "Api"),
    ] {
        let action = Action {
            permission: permission.into(),
            ..allowed()
        };
        assert_eq!(read(action).summary.kind, kind, "{permission}");
    }
    let root = Action {
        permission: "read".into(),
        tenant: None,
        parameters: Vec::new(),
        ..allowed()
    };
    let summary = read(root).summary;
    assert_eq!(
        (summary.kind.as_str(), summary.namespace.as_str()),
        ("Api", "")
    );
    assert_eq!(summary.name, "");
    let promoted = Action {
        permission: "promote".into(),
        parameters: pairs(&[("pipeline", "gate")]),
        ..allowed()
    };
    assert_eq!(read(promoted).summary.name, "gate");
}

#[test]
fn peers_are_told_and_bodies_never() {
    let mut action = allowed();
    action.peer = Peer {
        unix: Some(UnixPeer {
            uid: 7,
            gid: 8,
            pid: Some(9),
        }),
        ..Peer::default()
    };
    let mut material =
        Material::of_action(action, SystemTime::UNIX_EPOCH, "sha256:gate".into(), None);
    // Any bytes will do: the body is not read.
    material.body = Body(Arc::new(b"{\"reason\": \"hunter22\", \xff".to_vec()));
    let line = masker().write(&material).unwrap().line;
    assert!(!line.contains("hunter22"), "{line}");
    let http = Decision::from_line(&line).unwrap().input.http;
    assert_eq!(http.unix.unwrap().uid, 7);
    assert_eq!(http.address, None);
}

#[test]
fn what_looks_like_a_secret_is_masked_wherever_it_is() {
    let action = Action {
        path: format!(
            "/api/tenant/{JWT}/project/{}/enqueue",
            JWT.replace('.', "%2e")
        ),
        tenant: Some(JWT.into()),
        parameters: pairs(&[("project", JWT), ("a/b_token", "hunter22"), ("ref", "main")]),
        user: format!("user {JWT}"),
        issuer: Some(JWT.into()),
        message: format!("no role for {JWT} with hunter22 in aHVudGVyMjI"),
        rule: Some(JWT.into()),
        role: Some(JWT.into()),
        rules: vec![JWT.into()],
        roles: vec![format!("a {JWT}"), "hunter22".into()],
        misses: vec![Miss {
            name: "project".into(),
            wanted: json!([JWT, {"x": JWT}]),
            got: Some("hunter22".into()),
            ..Miss::default()
        }],
        ..refused()
    };
    let decision = read(action);
    let summary = &decision.summary;
    assert_eq!(
        decision.input.http.uri,
        "/api/tenant/(masked)/project/(masked)/enqueue"
    );
    assert_eq!(
        decision.input.masked,
        [
            "/http/uri",
            "/action/parameters/project",
            "/action/parameters/a~1b_token"
        ]
    );
    assert_eq!(summary.namespace, "(masked)");
    assert_eq!(summary.name, "(masked)");
    assert_eq!(summary.user, "user (masked)");
    assert_eq!(
        summary.message,
        "no role for (masked) with (masked) in (masked)"
    );
    let input = decision.input.action.as_ref().unwrap();
    assert_eq!(input.parameters["ref"], "main");
    assert_eq!(input.parameters["a/b_token"], "(masked)");
    let roles = decision.trace[0].roles.as_ref().unwrap();
    assert_eq!(roles.roles, ["a (masked)", "(masked)"]);
    assert_eq!(
        roles.misses[0].wanted,
        json!(["(masked)", {"x": "(masked)"}])
    );
    let line = serde_json::to_string(&decision).unwrap();
    assert!(
        !line.contains("eyJ") && !line.contains("hunter22"),
        "{line}"
    );
}

#[test]
fn a_secret_that_is_written_across_slashes_hides_the_path() {
    let hidden = JWT.replace('e', "%65");
    for path in [format!("/api/x/{hidden}"), format!("/api/x?y={hidden}")] {
        let action = Action { path, ..allowed() };
        let decision = read(action);
        assert!(decision.input.http.uri.ends_with("(masked)"));
        assert_eq!(decision.input.masked, ["/http/uri"]);
    }
    let key = "/a/-----BEGIN%20PRIVATE%20KEY-----/MIIB/-----END%20PRIVATE%20KEY-----/b";
    let action = Action {
        path: key.into(),
        ..allowed()
    };
    assert_eq!(read(action).input.http.uri, "(masked)");
}

#[test]
fn long_texts_and_lists_are_bounded() {
    let long = "x".repeat(100_000);
    let miss = Miss {
        got: Some(long.clone()),
        wanted: json!(vec![long.clone(); 300]),
        ..Miss::default()
    };
    let action = Action {
        path: format!("/{long}"),
        tenant: Some(long.clone()),
        parameters: pairs(&[("project", &long)]),
        user: format!("{}{JWT}", "y".repeat(1010)),
        rules: vec!["r".into(); 5000],
        roles: vec!["r".into(); 5000],
        misses: vec![miss; 130],
        ..refused()
    };
    let written = written(action);
    let decision = Decision::from_line(&written.line).unwrap();
    assert_eq!(decision.summary.namespace.len(), 1024);
    // Cut only after the secret was taken out.
    assert!(decision.summary.user.ends_with("yy(masked)"));
    let step = &decision.trace[0];
    assert_eq!(step.detail.as_deref(), Some("30 more conditions failed"));
    let roles = step.roles.as_ref().unwrap();
    assert_eq!((roles.misses.len(), roles.rules.len()), (100, 100));
}

#[test]
fn a_record_without_what_its_door_needs_is_none() {
    let line = written(allowed()).line;
    let mut value: Value = serde_json::from_str(&line).unwrap();
    value["input"].as_object_mut().unwrap().remove("action");
    let error = Decision::from_line(&value.to_string()).unwrap_err();
    assert!(error.to_string().contains("`action`"), "{error}");
    value["door"] = json!("kubernetes");
    let error = Decision::from_line(&value.to_string()).unwrap_err();
    assert!(error.to_string().contains("`review`"), "{error}");
}

/// Where a token is planted.
const PLACES: usize = 12;

fn plant(action: &mut Action, place: usize, token: &str) {
    match place {
        0 => action.path = format!("/api/tenant/{token}/status"),
        1 => action.path = format!("/api/tenant/{}/status", token.replace('.', "%2E")),
        2 => action.path.push_str(&format!("?a=b&x={token}")),
        3 => action.parameters = pairs(&[("project", token), ("ref", "main")]),
        4 => action.parameters.push(("change".into(), token.into())),
        5 => action.tenant = Some(token.into()),
        6 => action.user = token.into(),
        7 => action.message = format!("no: {token}"),
        8 => action.issuer = Some(format!("{token}!")),
        9 => action.roles.push(token.into()),
        10 => action.method = token.into(),
        _ => action.misses.push(Miss {
            wanted: token.into(),
            got: Some(token.into()),
            ..Miss::default()
        }),
    }
}

proptest! {
    #[test]
    fn no_planted_secret_survives(
        token in "eyJ[a-zA-Z0-9_-]{9,20}\\.[a-zA-Z0-9]{12,20}\\.[a-zA-Z0-9_-]{12,20}",
        opaque in "[a-zA-Z0-9]{9,24}",
        places in proptest::collection::vec(0..PLACES, 1..6),
        is_allowed: bool,
    ) {
        let mut action = if is_allowed { allowed() } else { refused() };
        for place in places {
            plant(&mut action, place, &token);
        }
        action.parameters.push(("api_key".into(), opaque.clone()));
        action.message.push_str(&format!(" because of {opaque}"));
        action.path.push_str(&format!("/{opaque}"));
        action.roles.push(STANDARD_NO_PAD.encode(&opaque));
        let signature = token.rsplit('.').next().unwrap();
        let written = written(action);
        let encoded = STANDARD_NO_PAD.encode(&opaque);
        let needles = [token.as_str(), signature, &opaque, &encoded[..encoded.len() - 2]];
        let summary = serde_json::to_string(&written.summary).unwrap();
        for text in [&written.line, &summary] {
            for needle in needles {
                prop_assert!(!text.contains(needle), "{needle} in {text}");
            }
        }
        Decision::from_line(&written.line).unwrap();
    }

    #[test]
    fn whatever_is_sent_is_written_and_read_back(
        path in "\\PC{0,60}", name in "\\PC{0,20}", value in "\\PC{0,60}", user in "\\PC{0,60}",
    ) {
        let action = Action {
            path: path.clone(),
            parameters: vec![(name.clone(), value.clone()), ("project".into(), value)],
            user: user.clone(),
            ..refused()
        };
        let decision = read(action);
        prop_assert_eq!(decision.summary.user, user);
        prop_assert!(decision.input.action.unwrap().parameters.contains_key(&name));
    }
}
