//! `portcullis autohold` against a small server.

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, Rest, program, run};

#[track_caller]
fn autohold(server: &Rest, arguments: &[&str]) -> Ran {
    let access = ["--server", &server.url, "--token", "geheim"];
    run(&[&["autohold"], arguments, &access].concat())
}

fn hold(id: u64, project: &str) -> Value {
    json!({
        "id": id, "tenant": "t1", "project": project, "job": "unit", "ref_filter": ".*",
        "max_count": 1, "current_count": 0, "reason": "bob\u{1b} looks", "node_expiration": 86_400,
        "expired": null, "nodes": [], "placed_by": "bob", "placed_at": 60, "expires_at": null,
    })
}

#[test]
fn holds_are_listed() {
    let all = json!([hold(1, "foo"), hold(2, "org/p")]);
    let server = Rest::always(200, &all);
    let ran = autohold(&server, &["list", "--tenant", "t 1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(
        ran.out,
        "\
ID  PROJECT  JOB   REF  HELD    DURATION  STATE    REASON
1   foo      unit  .*   0 of 1  1d        waiting  bob\\u{1b} looks
2   org/p    unit  .*   0 of 1  1d        waiting  bob\\u{1b} looks
"
    );
    let call = server.call();
    assert_eq!(call.line, "GET /api/tenant/t%201/autohold");
    assert_eq!(call.token.as_deref(), Some("geheim"));
    let ran = autohold(&server, &["list", "--tenant", "t1", "-o", "json"]);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value, all);
    for project in ["org/p", "git.example.org/org/p"] {
        let flags = ["list", "--tenant", "t1", "--project", project, "-o", "json"];
        let value: Value = serde_json::from_str(&autohold(&server, &flags).out).unwrap();
        assert_eq!(value, json!([hold(2, "org/p")]), "{project}");
    }
    let none = autohold(&server, &["list", "--tenant", "t1", "--project", "p"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    assert_eq!(none.err, "no holds found\n");
}

#[test]
fn one_hold_is_shown() {
    let server = Rest::always(200, &hold(7, "foo"));
    let ran = autohold(&server, &["show", "7", "--tenant", "t1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(server.call().line, "GET /api/tenant/t1/autohold/7");
    for line in [
        "id         7",
        "placed at  1970-01-01T00:01:00Z",
        "placed by  bob",
    ] {
        assert!(ran.out.lines().any(|l| l == line), "{}", ran.out);
    }
}

#[test]
fn a_hold_is_placed() {
    let server = Rest::always(200, &json!(true));
    let base = [
        "place",
        "--tenant",
        "t1",
        "--project",
        "org/p",
        "--job",
        "unit",
    ];
    let ran = autohold(&server, &[&base[..], &["--reason", "bob looks"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert!(
        ran.err.contains("the next failing run of unit in org/p"),
        "{}",
        ran.err
    );
    let call = server.call();
    assert_eq!(call.line, "POST /api/tenant/t1/project/org%2Fp/autohold");
    assert_eq!(
        call.body,
        Some(json!({
            "job": "unit", "count": 1, "reason": "bob looks", "change": null, "ref": null,
            "node_hold_expiration": null,
        }))
    );
    let more = [
        "--reason",
        "x",
        "--ref",
        "refs/heads/main",
        "--count",
        "3",
        "--keep",
        "24h",
    ];
    autohold(&server, &[&base[..], &more, &["--for", "7200"]].concat());
    assert_eq!(
        server.calls()[1].body,
        Some(json!({
            "job": "unit", "count": 3, "reason": "x", "change": null, "ref": "refs/heads/main",
            "node_hold_expiration": 86_400, "expires_in": 7200,
        }))
    );
    let both = ["--reason", "x", "--ref", "a", "--change", "1,1"];
    assert_eq!(
        autohold(&server, &[&base[..], &both].concat()).code,
        Some(2)
    );
    assert_eq!(autohold(&server, &base).code, Some(2), "without a reason");
    assert_eq!(server.calls().len(), 2);
}

#[test]
fn a_hold_is_released() {
    let server = Rest::always(204, &json!(null));
    let ran = autohold(&server, &["release", "7", "--tenant", "t1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert_eq!(ran.err, "hold 7 released\n");
    let call = server.call();
    assert_eq!(
        (call.line.as_str(), call.body),
        ("DELETE /api/tenant/t1/autohold/7", None)
    );
}

#[test]
fn what_the_server_refuses_is_told() {
    let details = json!({
        "permission": "autohold", "conditions": [{"name": "job", "wanted": "lint", "got": "unit"}],
        "roles": ["hold-lint"], "rules": ["bob"],
    });
    for (status, code) in [
        (400, 2),
        (401, 4),
        (403, 4),
        (404, 6),
        (409, 1),
        (422, 2),
        (500, 5),
    ] {
        let server = Rest::refusing(status, "not like this", &details);
        let ran = autohold(&server, &["release", "7", "--tenant", "t1"]);
        assert_eq!(ran.code, Some(code), "{status}");
        ran.says(&["not like this", &status.to_string(), "01REQUEST"]);
        assert!(!ran.err.contains("geheim"));
        assert_eq!(server.calls().len(), 1, "{status} is asked again");
        let told = "your roles grant it where job is lint; here it is unit";
        assert_eq!(ran.err.contains(told), status == 403, "{}", ran.err);
    }
}

#[test]
fn the_server_is_named_by_flags_or_variables() {
    let ran = run(&["autohold", "list", "--tenant", "t1"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--server", "PORTCULLIS_SERVER"]);
    let server = Rest::always(200, &json!([]));
    let folder = Folder::new();
    let ran = program(folder.root())
        .args(["autohold", "list", "--tenant", "t1"])
        .env("PORTCULLIS_SERVER", &server.url)
        .env("PORTCULLIS_TOKEN", "leise")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(server.call().token.as_deref(), Some("leise"));
    let nobody = ["--server", "http://127.0.0.1:1", "--token", "geheim"];
    let ran = run(&[&["autohold", "release", "7", "--tenant", "t1"], &nobody[..]].concat());
    assert_eq!(ran.code, Some(5));
    ran.says(&["127.0.0.1:1"]);
    assert!(!ran.err.contains("geheim"));
}

#[test]
fn no_name_leads_elsewhere() {
    let server = Rest::always(200, &json!([]));
    for id in ["..", ".", ""] {
        assert_eq!(
            autohold(&server, &["show", id, "--tenant", "t1"]).code,
            Some(2)
        );
    }
    autohold(&server, &["show", "../../x?y#z", "--tenant", "t1"]);
    assert_eq!(
        server.call().line,
        "GET /api/tenant/t1/autohold/..%2F..%2Fx%3Fy%23z"
    );
}
