//! The answers of the API: shapes, codes, details.

use serde_json::{Value, json};

use super::Api;
use crate::tests::harness::request;
use portcullis_testing::tokens::{admin, claims, from_now, of, token};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "root", "conditions": [{"preferred_username": "root"}]}},
        {"authorization-rule": {"name": "al", "conditions": [{"preferred_username": "alice"}]}},
        {"authorization-rule": {"name": "all", "conditions": [{"iss": "corp"}]}},
        {"role": {"name": "holder", "permissions": {"autohold": true}}},
        {"role": {"name": "fooenq", "permissions": {"enqueue": {"conditions":
            {"project": "foo", "pipeline": "post"}}}}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "projects": ["foo", "bar"],
            "role-mappings": {"root": "admin", "all": ["read", "holder"], "al": "fooenq"}}},
        {"tenant": {"name": "open", "role-mappings": {"root": "admin"},
            "source": {"git.example.org": {"untrusted-projects": ["org/p"], "config-projects": ["org/c"]}}}},
    ])
}

#[test]
fn case_46_what_may_i_do_here() {
    let api = Api::start(&tenants());
    let path = "/api/tenant/t1/authorizations";
    let answer = api.get(Some(&of("alice")), path).json();
    assert_eq!(answer["zuul"], json!({"admin": false, "scope": ["t1"]}));
    let conditions = json!({"project": "foo", "pipeline": "post"});
    let enqueue = json!([{"rule": "al", "role": "fooenq", "conditions": conditions}]);
    let permissions = json!({"read": true, "autohold": true, "enqueue": enqueue});
    assert_eq!(answer["permissions"], permissions);
    let root = api.get(Some(&of("root")), path).json();
    assert_eq!(root["zuul"]["admin"], true);
    let all = root["permissions"].as_object().unwrap();
    assert!(
        all.len() >= 15 && all.values().all(|v| *v == json!(true)),
        "{root}"
    );
    api.get(None, path).error(401);
    let everywhere = api.get(Some(&admin()), "/api/authorizations").json();
    assert_eq!(everywhere["zuul"], json!({"admin": true, "scope": ["*"]}));
    api.get(Some(&token("op", &claims("op", "eve"))), path)
        .error(403);
}

#[test]
fn a_refusal_names_what_is_missing_for_people_and_programs() {
    let api = Api::start(&tenants());
    let body = json!({"pipeline": "check", "change": "1,1"});
    let path = "/api/tenant/t1/project/foo/enqueue";
    let (error, _) = api.post(Some(&of("alice")), path, &body).error(403);
    assert_eq!(error["code"], "forbidden");
    let missed = json!({"name": "pipeline", "wanted": "post", "got": "check", "rule": "al", "role": "fooenq"});
    assert_eq!(
        error["details"],
        json!({"permission": "enqueue", "conditions": [missed],
            "roles": ["fooenq", "holder", "read"], "rules": ["al", "all"]})
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("pipeline is `check`") && message.contains("`post`"),
        "{message}"
    );
    let (error, _) = api.post(Some(&of("bob")), path, &body).error(403);
    assert_eq!(error["details"]["conditions"], json!([]));
    assert_eq!(
        error["message"],
        "none of your roles here permits `enqueue`"
    );
}

#[test]
fn every_401_says_how_to_do_better() {
    let api = Api::start(&tenants());
    let ask = |header: Option<&str>| {
        let headers: Vec<(&str, &str)> = header.iter().map(|h| ("Authorization", *h)).collect();
        let answer = api.raw(&request("GET", "/api/tenant/t1/status", &headers, b""));
        let (error, _) = answer.error(401);
        let challenge = answer.header("www-authenticate").unwrap().to_owned();
        (error["code"].as_str().unwrap().to_owned(), challenge)
    };
    let bearer = |mut change: Box<dyn FnMut(&mut Value)>| {
        let mut claims = claims("corp", "bob");
        change(&mut claims);
        format!("Bearer {}", token("corp", &claims))
    };
    let missing = |name: &'static str| {
        bearer(Box::new(move |c| {
            drop(c.as_object_mut().unwrap().remove(name))
        }))
    };
    for (header, code) in [
        (None, "missing_token"),
        (Some("Basic cm9vdDpyb290".to_owned()), "invalid_format"),
        (Some(of("bob")), "invalid_format"),
        (Some("Bearer ".to_owned()), "invalid_format"),
        (Some("Bearer a.b.c".to_owned()), "undecodable"),
        (Some(missing("exp")), "missing_claim"),
        (Some(missing("sub")), "missing_claim"),
        (Some(missing("aud")), "missing_claim"),
        (
            Some(bearer(Box::new(|c| c["nbf"] = json!(from_now(3600))))),
            "not_yet_valid",
        ),
        (
            Some(bearer(Box::new(|c| c["zuul"] = json!({"admin": 5})))),
            "bad_admin_claim",
        ),
    ] {
        let (got, challenge) = ask(header.as_deref());
        assert_eq!(got, code, "{header:?}");
        assert!(challenge.starts_with(r#"Bearer realm="R1""#), "{challenge}");
        let error = match code {
            "missing_token" => None,
            "invalid_format" => Some(r#"error="invalid_request""#),
            _ => Some(r#"error="invalid_token""#),
        };
        match error {
            None => assert!(!challenge.contains("error"), "{challenge}"),
            Some(error) => assert!(challenge.contains(error), "{challenge}"),
        }
    }
}

#[test]
fn who_asks_is_settled_before_the_body_is_read() {
    let api = Api::start(&tenants());
    for path in [
        "/api/tenant/t1/project/foo/enqueue",
        "/api/tenant/t1/state",
        "/api/tenant/t1/promote",
    ] {
        for body in [
            r#"{"pipeline""#,
            "[]",
            "",
            r#"{"a": 1, "a": 2}"#,
            r#"{"nosuch": 1}"#,
        ] {
            let ask = |who: Option<String>| {
                let header = who.map(|token| format!("Bearer {token}"));
                let headers: Vec<_> = header
                    .iter()
                    .map(|h| ("Authorization", h.as_str()))
                    .collect();
                api.raw(&request("POST", path, &headers, body.as_bytes()))
            };
            ask(None).error(401);
            assert_eq!(
                ask(Some(of("bob"))).status,
                403,
                "no role, no look at the body"
            );
            let (error, _) = ask(Some(of("root"))).error(400);
            assert_eq!(error["code"], "malformed", "{body}");
            assert!(error["details"]["line"].is_u64(), "{body}: {error}");
        }
    }
    let twice = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")];
    let answer = api.raw(&request("GET", "/api/tenant/t1/status", &twice, b""));
    answer.error(400);
}

#[test]
fn a_change_or_a_ref_and_nothing_means_nothing() {
    let api = Api::start(&tenants());
    let root = of("root");
    for action in ["enqueue", "dequeue", "autohold"] {
        let path = format!("/api/tenant/t1/project/foo/{action}");
        let mut body = json!({"change": "1,1", "ref": "refs/heads/main"});
        body[if action == "autohold" {
            "job"
        } else {
            "pipeline"
        }] = json!("x");
        let (error, _) = api.post(Some(&root), &path, &body).error(400);
        assert!(
            error["message"].as_str().unwrap().contains("combined"),
            "{error}"
        );
    }
    for absent in [json!(""), json!(null)] {
        let path = "/api/tenant/t1/project/foo/dequeue";
        let mut body = json!({"pipeline": "post", "change": absent, "ref": "refs/heads/main"});
        let (error, _) = api.post(Some(&root), path, &body).error(404);
        assert!(
            error["message"].as_str().unwrap().contains("no live job"),
            "{error}"
        );
        body["ref"] = absent;
        api.post(Some(&root), path, &body).error(400);
    }
}

#[test]
fn projects_go_by_both_of_their_names() {
    let api = Api::start(&tenants());
    let root = of("root");
    for project in [
        "org/p",
        "org%2Fp",
        "git.example.org/org/p",
        "git.example.org%2Forg%2Fp",
    ] {
        let path = format!("/api/tenant/open/project/{project}/autohold");
        let answer = api.post(Some(&root), &path, &json!({"job": "unit"}));
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!(true)),
            "{project}"
        );
    }
    let holds = api.get(None, "/api/tenant/open/autohold").json();
    let names: Vec<&Value> = holds
        .as_array()
        .unwrap()
        .iter()
        .map(|h| &h["project"])
        .collect();
    assert_eq!(names, [&json!("org/p"); 4]);
    let listed = api
        .get(None, "/api/tenant/open/project/org/p/autohold")
        .json();
    assert_eq!(listed.as_array().unwrap().len(), 4);
    let projects = api.get(None, "/api/tenant/open/projects").json();
    assert!(
        projects.to_string().contains("git.example.org/org/c"),
        "{projects}"
    );
    for odd in ["org/%2e%2e", "../org/p", "org/p%0A", "org%2F%2Fp"] {
        let path = format!("/api/tenant/open/project/{odd}/autohold");
        api.post(Some(&root), &path, &json!({"job": "unit"}))
            .error(400);
    }
    let path = "/api/tenant/open/project/other/p/autohold";
    api.post(Some(&root), path, &json!({"job": "unit"}))
        .error(404);
}

#[test]
fn without_a_tenants_file_there_is_one_tenant() {
    let api = Api::of(None, &json!({}));
    let names = api.get(Some(&admin()), "/api/tenants").json();
    assert_eq!(names[0]["name"], "default");
    let path = "/api/tenant/default/project/any/where/autohold";
    assert_eq!(
        api.post(Some(&admin()), path, &json!({"job": "u"})).json(),
        json!(true)
    );
    api.post(Some(&of("bob")), path, &json!({"job": "u"}))
        .error(403);
    api.post(None, path, &json!({"job": "u"})).error(401);
}
