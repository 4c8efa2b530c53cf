//! Every described call is guarded as declared.

use serde_json::{Value, json};

use super::Api;
use portcullis_testing::tokens::{admin, claims, token};

fn operations(api: &Api) -> Vec<(String, String, Value)> {
    let description = api.get(None, "/openapi.json").json();
    let paths = description["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            if ["get", "post", "delete", "put", "patch"].contains(&method.as_str()) {
                all.push((method.to_uppercase(), path.clone(), operation.clone()));
            }
        }
    }
    assert!(all.len() >= 25, "{}", all.len());
    all
}

#[test]
fn nobody_gets_in_where_a_permission_is_declared() {
    let api = Api::start(&json!([
        {"tenant": {"name": "t1", "anonymous-read-access": false}},
        {"api-root": {"anonymous-read-access": false}},
    ]));
    let stranger = token("op", &claims("op", "eve"));
    let mut guarded = 0;
    for (method, path, operation) in operations(&api) {
        let (id, needs) = (
            &operation["operationId"],
            &operation["x-portcullis-permission"],
        );
        let path = path
            .replace("{tenant}", "t1")
            .replace("{project}", "foo")
            .replace("{id}", "1")
            .replace("{name}", "x")
            .replace("{token}", "unknown");
        let body = operation["requestBody"]["content"]["application/json"]["example"].clone();
        let ask = |who: Option<&str>| {
            let body = (!body.is_null()).then_some(&body);
            api.call(who, &method, &path, body)
        };
        let is_public = operation["security"] == json!([]);
        if !needs.is_object() {
            // Sign-in is not configured on this server, so there are no sessions.
            let with_tokens = [
                "verifyRunner",
                "registerRunner",
                "unregisterRunner",
                "forgetRunnerManager",
                "resetRunnerToken",
                "requestJob",
                "updateJob",
                "appendTrace",
                "uploadArtifact",
                "downloadArtifact",
            ];
            if with_tokens.iter().any(|own| id == own) {
                ask(None).error(403);
                continue;
            }
            let signed_in = [
                "tenants",
                "rootAuthorizations",
                "tenantAuthorizations",
                "roles",
                "checkRoles",
                "admissionCallback",
                "claimJobs",
            ];
            if signed_in.iter().any(|own| id == own) {
                ask(None).error(401);
            } else {
                assert!(is_public || id == "session", "{id} declares nothing");
            }
            continue;
        }
        guarded += 1;
        assert!(!is_public, "{id}");
        ask(None).error(401);
        let (error, _) = ask(Some(&stranger)).error(403);
        assert_eq!(error["details"]["permission"], needs["permission"], "{id}");
        if id == "followDecisions" {
            continue;
        }
        let answer = ask(Some(&admin()));
        assert!(
            ![401, 403, 500].contains(&answer.status),
            "{id}: {}",
            answer.text()
        );
    }
    assert!(guarded >= 15, "{guarded}");
}

#[test]
fn what_takes_another_method_says_which() {
    let api = Api::start(&json!([{"tenant": {"name": "t1"}}]));
    for (method, path, allow) in [
        ("POST", "/api/tenants", "GET, HEAD"),
        ("GET", "/api/tenant/t1/promote", "POST"),
        ("PUT", "/api/tenant/t1/autohold/1", "GET, HEAD, DELETE"),
        (
            "DELETE",
            "/api/tenant/t1/project/a/b/autohold",
            "GET, HEAD, POST",
        ),
    ] {
        let answer = api.call(None, method, path, None);
        answer.error(405);
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
    for path in [
        "/api",
        "/api/",
        "/api/nothing",
        "/api/tenant/t1",
        "/api/tenant//status",
        "/auth",
    ] {
        api.get(None, path).error(404);
    }
    assert_eq!(api.call(None, "HEAD", "/api/info", None).status, 200);
}
