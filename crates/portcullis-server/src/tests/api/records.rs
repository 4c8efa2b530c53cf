//! What was done over the API, and what was denied, is in the decision log.

use serde_json::{Value, json};

use super::Api;
use crate::tests::harness::eventually;
use portcullis_testing::tokens::{admin, claims, of, token};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "al", "conditions": [{"preferred_username": "alice"}]}},
        {"role": {"name": "foo", "permissions": {"enqueue": {"conditions": {"project": "foo"}},
            "autohold": true}}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "role-mappings": {"al": "foo"}}},
    ])
}

fn found(api: &Api, filter: &str) -> Value {
    eventually("the decision is kept", || {
        let path = format!("/api/v1/decisions?door=api&{filter}");
        let items = api.get(Some(&admin()), &path).json()["items"].clone();
        items.get(0).cloned()
    })
}

#[test]
fn actions_and_refusals_are_recorded_with_their_reasons() {
    let api = Api::start(&tenants());
    let alice = of("alice");
    let hold = json!({"job": "unit", "reason": "geheim-4711"});
    api.post(Some(&alice), "/api/tenant/t1/project/bar/autohold", &hold);
    let body = json!({"pipeline": "post", "ref": "refs/heads/main"});
    api.post(Some(&alice), "/api/tenant/t1/project/bar/enqueue", &body)
        .error(403);
    api.get(
        Some(&token("op", &claims("op", "eve"))),
        "/api/tenant/t1/status",
    )
    .error(403);
    api.get(None, "/api/tenant/t1/status").error(401);

    let done = found(&api, "verdict=allow");
    let wanted = json!({"door": "api", "operation": "autohold", "kind": "Autohold", "namespace": "t1",
        "name": "bar", "user": "alice", "verdict": "allow", "policy": "foo"});
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&done[key], value, "{key}");
    }
    let refused = found(&api, "verdict=deny&user=alice");
    assert_eq!(
        (&refused["operation"], &refused["name"]),
        (&json!("enqueue"), &json!("bar"))
    );
    let id = refused["id"].as_str().unwrap();
    let whole = api.get(Some(&admin()), &format!("/api/v1/decisions/{id}"));
    assert!(
        whole.text().contains(r#""wanted":"foo""#),
        "{}",
        whole.text()
    );
    assert_eq!(found(&api, "user=eve")["operation"], "read");
    let all = api.get(Some(&admin()), "/api/v1/decisions").text();
    assert!(
        !all.contains("geheim-4711") && !whole.text().contains("Bearer"),
        "{all}"
    );
    assert_eq!(
        all.matches(r#""door":"api""#).count(),
        3,
        "reading and nobody are not recorded"
    );
}

#[test]
fn where_decisions_are_required_an_action_is_kept_before_it_is_done() {
    let required = json!({"decisions": {"required": true}});
    let api = Api::of(Some(&tenants()), &required);
    let path = "/api/tenant/t1/project/foo/autohold";
    let answer = api.post(Some(&of("alice")), path, &json!({"job": "unit"}));
    assert_eq!(answer.json(), json!(true));
    let kept = api.get(Some(&admin()), "/api/v1/decisions?door=api").json();
    assert_eq!(kept["items"].as_array().unwrap().len(), 1, "{kept}");
    let counted = api.gate.metrics();
    let labels = [("endpoint", "placeAutohold"), ("status", "200")];
    assert_eq!(counted.total("portcullis_api_requests_total", &labels), 1.0);
}
