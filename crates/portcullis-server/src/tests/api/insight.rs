//! What the API says of the server itself: policies, status, roles.

use serde_json::{Value, json};

use super::Api;
use portcullis_testing::tokens::{admin, claims, of, token};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "root", "conditions": [{"preferred_username": "root"}]}},
        {"authorization-rule": {"name": "al", "conditions": [{"preferred_username": "alice"}]}},
        {"role": {"name": "builder", "permissions": {"submit-job": true,
            "cancel-job": {"conditions": {"project": "shop/web"}}}}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "projects": ["shop/*"],
            "role-mappings": {"root": "admin", "al": "builder"}}},
        {"tenant": {"name": "t2", "anonymous-read-access": false, "role-mappings": {"root": "admin"}}},
        {"api-root": {"anonymous-read-access": false, "role-mappings": {"root": "admin"}}},
    ])
}

fn policies() -> Value {
    json!({"policies": [
        {"name": "first", "match": {"kinds": ["Pod"]}, "code": "return true;", "severity": "high"},
        {"name": "a b/c", "mode": "dry-run", "code": "return 'no';"},
    ]})
}

#[test]
fn policies_are_listed_in_order_and_shown_with_their_text() {
    let api = Api::of(Some(&tenants()), &policies());
    let all = api.get(Some(&admin()), "/api/v1/policies").json();
    assert_eq!(all["items"][0]["name"], "first");
    assert_eq!(
        all["items"][0]["match"],
        json!({"doors": ["kubernetes"], "kinds": ["Pod"]})
    );
    assert_eq!(all["items"][0]["mode"], "enforce");
    assert_eq!(all["items"][0]["severity"], "high");
    assert_eq!(all["items"][0]["source"], "inline");
    assert_eq!(all["items"][0]["text"], Value::Null);
    // It stands in the configuration file, and has not changed since the start.
    assert_eq!(all["items"][0]["last_change"], Value::Null);
    assert_eq!(
        (&all["items"][1]["order"], &all["items"][1]["mode"]),
        (&json!(2), &json!("dry-run"))
    );
    assert_eq!(all["plugins"], json!(["Policies"]));
    let one = api.get(Some(&admin()), "/api/v1/policies/a%20b%2Fc").json();
    assert_eq!(one["text"], "return 'no';");
    assert!(
        one["digest"].as_str().unwrap().starts_with("sha256:"),
        "{one}"
    );
    let (error, _) = api.get(Some(&admin()), "/api/v1/policies/none").error(404);
    assert_eq!(error["message"], "unknown policy");
    api.get(Some(&of("alice")), "/api/v1/policies/first")
        .error(403);
}

#[test]
fn the_status_names_what_is_checked_and_no_secret() {
    let api = Api::start(&tenants());
    let answer = api.get(Some(&of("root")), "/api/v1/status");
    let status = answer.json();
    let checks = status["checks"].as_array().unwrap();
    let is_ok = |name: &str| {
        checks
            .iter()
            .any(|c| c["name"] == name && c["state"] == "ok")
    };
    assert!(is_ok("store") && is_ok("configuration"), "{status}");
    let store = &status["stores"][0];
    assert_eq!(store["reachable"], true);
    assert!(
        store["location"].as_str().unwrap().starts_with("sqlite:"),
        "{store}"
    );
    assert_eq!(status["last_reload"], Value::Null);
    assert_eq!(status["is_demonstration"], false);
    assert_eq!(status["decision_log"]["on"], true);
    assert_eq!(status["authenticators"][0]["driver"], "HS256");
    api.get(Some(&of("alice")), "/api/v1/status").error(403);
}

#[test]
fn the_status_is_not_for_anonymous_callers_who_may_read() {
    // Reading is open to anyone unless that is turned off.
    let api = Api::start(&serde_json::json!([{"tenant": {"name": "t1"}}]));
    assert_eq!(api.get(None, "/api/tenants").status, 200);
    api.get(None, "/api/v1/status").error(401);
    assert_eq!(api.get(Some(&of("kim")), "/api/v1/status").status, 200);
}

#[test]
fn members_of_one_tenant_see_it_in_the_list() {
    let api = Api::start(&json!([
        {"authorization-rule": {"name": "max", "conditions": [{"preferred_username": "max"}]}},
        {"tenant": {"name": "shop", "anonymous-read-access": false, "projects": ["shop/*", "lab"], "role-mappings": {"max": "read"}}},
        {"tenant": {"name": "plant", "anonymous-read-access": false}},
        {"authorization-rule": {"name": "olga", "conditions": [{"preferred_username": "olga"}]}},
        {"tenant": {"name": "yard", "projects": ["yard"], "role-mappings": {"olga": "admin"}}},
        {"api-root": {"anonymous-read-access": false}},
    ]));
    let listed = |who: &str| api.get(Some(&of(who)), "/api/tenants").json();
    let shop = json!({"name": "shop", "projects": 1, "by_pattern": true, "queue": 0});
    let yard = json!({"name": "yard", "projects": 1, "by_pattern": false, "queue": 0});
    assert_eq!(listed("max"), json!([shop, yard]));
    api.get(Some(&of("nina")), "/api/tenants").error(403);
    api.get(None, "/api/tenants").error(401);
    // A role counts also where anyone may read.
    assert_eq!(listed("olga"), json!([yard]));
    let jobs = |who: &str, tenant: &str| {
        let path = format!("/api/v1/jobs?tenant={tenant}");
        api.get(Some(&of(who)), &path)
    };
    assert_eq!(jobs("max", "shop").json()["items"], json!([]));
    for hidden in ["plant", "nowhere"] {
        let (error, _) = jobs("max", hidden).error(404);
        assert_eq!(error["message"], "unknown tenant");
    }
    let (error, _) = api
        .get(Some(&of("max")), "/api/v1/jobs?status=foo")
        .error(400);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("expected one of created, preparing"),
        "{message}"
    );
}

#[test]
fn rules_of_others_are_for_administrators() {
    let api = Api::start(&tenants());
    let roles = |who: &str| api.get(Some(who), "/api/v1/roles").json();
    let all = roles(&of("root"));
    let names: Vec<&Value> = all["places"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["tenant"])
        .collect();
    assert_eq!(names, [&Value::Null, &json!("t1"), &json!("t2")]);
    let rules = all["places"][1]["rules"].as_array().unwrap();
    let rules: Vec<(&Value, &Value)> = rules.iter().map(|r| (&r["name"], &r["is_own"])).collect();
    let (al, root) = (json!("al"), json!("root"));
    assert_eq!(rules, [(&al, &json!(false)), (&root, &json!(true))]);
    let own = roles(&of("alice"));
    assert_eq!(own["places"].as_array().unwrap().len(), 2, "{own}");
    assert_eq!(own["places"][0]["rules"], json!([]));
    let rule = &own["places"][1]["rules"][0];
    assert_eq!(
        (&rule["name"], &rule["requires"]),
        (&json!("al"), &Value::Null)
    );
    assert_eq!(rule["permissions"]["submit-job"], true);
    assert_eq!(
        rule["permissions"]["cancel-job"][0]["conditions"],
        json!({"project": "shop/web"})
    );
    let text = own.to_string();
    assert!(!text.contains("\"root\"") && !text.contains("t2"), "{text}");
}

#[test]
fn what_may_be_done_can_be_tried() {
    let api = Api::start(&tenants());
    let path = |query: &str| format!("/api/v1/roles/check?{query}");
    let said = |who: &str, query: &str| {
        let answer = api.get(Some(who), &path(query)).json();
        (
            answer["allowed"] == true,
            answer["reason"].as_str().unwrap().to_owned(),
        )
    };
    let alice = of("alice");
    let (allowed, why) = said(&alice, "permission=cancel-job&tenant=t1&project=shop/web");
    assert!(
        allowed && why.contains("`al`") && why.contains("`builder`"),
        "{why}"
    );
    let (allowed, why) = said(&alice, "permission=cancel-job&tenant=t1&project=shop/api");
    assert!(!allowed && why.contains("project is `shop/api`"), "{why}");
    let (allowed, why) = said(&alice, "permission=cancel-job&tenant=t1&project=other/x");
    assert!(!allowed && why.contains("does not hold"), "{why}");
    assert!(said(&of("root"), "permission=read-graph").0);
    let (error, _) = api.get(Some(&alice), &path("permission=fly")).error(400);
    assert!(
        error["message"].as_str().unwrap().contains("submit-job"),
        "{error}"
    );
    api.get(Some(&alice), &path("tenant=t1")).error(400);
}

#[test]
fn trying_does_not_tell_which_tenants_exist() {
    let api = Api::start(&tenants());
    let eve = token("op", &claims("op", "eve"));
    let said = |tenant: &str| {
        let path = format!("/api/v1/roles/check?permission=read&project=shop/web&tenant={tenant}");
        let mut answer = api.get(Some(&eve), &path).json();
        answer["tenant"] = Value::Null;
        answer
    };
    assert_eq!(said("t1"), said("nowhere"));
    assert_eq!(said("t1")["allowed"], false);
    let path = "/api/v1/roles/check?permission=read&tenant=nowhere";
    api.get(Some(&of("root")), path).error(404);
}

#[test]
fn administrators_ask_about_other_claims_and_others_do_not() {
    let api = Api::start(&tenants());
    let path = |tenant: &str, other: &Value| {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("permission", "cancel-job")
            .append_pair("project", "shop/web")
            .append_pair("tenant", tenant)
            .append_pair("claims", &other.to_string())
            .finish();
        format!("/api/v1/roles/check?{query}")
    };
    let root = of("root");
    let ask = |tenant: &str, other: &Value| api.get(Some(&root), &path(tenant, other));
    let said = ask("t1", &json!({"sub": "x", "preferred_username": "alice"})).json();
    assert_eq!(said["allowed"], true, "{said}");
    let why = said["reason"].as_str().unwrap();
    assert!(why.contains("`al` matches them"), "{why}");
    assert_eq!(said["here"]["rules"], json!(["al"]));
    assert_eq!(said["here"]["permissions"]["submit-job"], true, "{said}");
    let said = ask("t1", &json!({"sub": "x"})).json();
    let why = said["reason"].as_str().unwrap();
    assert_eq!(
        (&said["allowed"], why),
        (
            &json!(false),
            "none of their roles here permits `cancel-job`"
        )
    );
    assert_eq!(said["here"]["permissions"], json!({}), "{said}");
    // A token that would be rejected is nobody's.
    let said = ask("t1", &json!({"iss": "corp", "preferred_username": "alice"})).json();
    assert!(
        said["reason"].as_str().unwrap().contains("is rejected"),
        "{said}"
    );
    assert_eq!(said["here"], Value::Null);
    for wrong in ["[]", "{", "7"] {
        let path = format!("/api/v1/roles/check?permission=read&claims={wrong}");
        api.get(Some(&root), &path).error(400);
    }
    ask("nowhere", &json!({"sub": "x"})).error(404);
    // Who administers nothing there learns nothing, not even which tenants there are.
    let other = json!({"sub": "x"});
    let refusals = ["t1", "t2", "nowhere", ""].map(|tenant| {
        let (error, _) = api
            .get(Some(&of("alice")), &path(tenant, &other))
            .error(403);
        error
    });
    assert!(
        refusals.iter().all(|one| *one == refusals[0]),
        "{refusals:?}"
    );
}
