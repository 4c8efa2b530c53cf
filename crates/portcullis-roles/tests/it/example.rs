//! The example file of the document that proposes roles, and every statement made about it.

use portcullis_core::Identity;
use portcullis_roles::{AccessDecision, Basis, Permission, Permitted};
use serde_json::{Value, json};

use super::support::{load, may, parameters, scope, who};

fn example() -> Value {
    json!([
        {"authorization-rule": {"name": "admin-user", "conditions": [{"preferred_username": "admin"}]}},
        {"authorization-rule": {"name": "alice", "conditions": [{"preferred_username": "alice"}]}},
        {"authorization-rule": {"name": "everyone", "conditions": [{"iss": "our-institution"}]}},
        {"role": {"name": "autohold", "permissions": {"autohold": true}}},
        {"role": {"name": "enqueue-post", "permissions": {
            "enqueue": {"conditions": {"pipeline": "post", "project": "foo"}}}}},
        {"tenant": {
            "name": "example",
            "anonymous-read-access": false,
            "role-mappings": {
                "admin-user": "admin",
                "everyone": ["read", "autohold"],
                "alice": "enqueue-post",
            },
        }},
    ])
}

fn user(name: &str) -> Identity {
    who(json!({"iss": "our-institution", "sub": name, "preferred_username": name}))
}

#[test]
fn it_means_what_the_document_says() {
    let load = load(&example());
    assert_eq!(load.warnings, []);
    let scope = scope(&load.roles, "example");

    // No anonymous access is allowed.
    assert!(!scope.anonymous_read());
    for permission in Permission::ALL {
        assert!(!may(scope, None, permission.name()));
    }
    // Anyone who can authenticate may read and place any autohold, and nothing else.
    let bob = user("bob");
    for permission in Permission::ALL {
        let wanted = [Permission::Read, Permission::Autohold].contains(permission);
        assert_eq!(
            may(scope, Some(&bob), permission.name()),
            wanted,
            "{permission}"
        );
    }
    assert!(may(
        scope,
        Some(&bob),
        "autohold project=any job=any ref=refs/heads/any"
    ));
    // The "admin" user has full access, also without anything but the name.
    for admin in [user("admin"), who(json!({"preferred_username": "admin"}))] {
        for permission in Permission::ALL {
            assert!(may(scope, Some(&admin), permission.name()), "{permission}");
        }
        assert!(scope.effective(Some(&admin)).is_admin);
    }
    // Alice may enqueue items for project "foo" into the "post" pipeline in that tenant.
    let alice = user("alice");
    for (what, wanted) in [
        ("enqueue project=foo pipeline=post", true),
        ("enqueue project=foo pipeline=check", false),
        ("enqueue project=bar pipeline=post", false),
        ("enqueue project=foo", false),
        ("enqueue", false),
        ("dequeue project=foo pipeline=post", false),
        ("read", true),
        ("autohold project=bar", true),
        ("promote pipeline=post", false),
    ] {
        assert_eq!(may(scope, Some(&alice), what), wanted, "{what}");
    }
    let answer = scope.check(
        Some(&alice),
        Permission::Enqueue,
        &parameters("project=foo pipeline=post"),
    );
    let AccessDecision::Allowed(Basis::Grant { rule, role }) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((rule.as_str(), role.as_str()), ("alice", "enqueue-post"));
    // Other institutions have no permissions here, and other tenants don't exist.
    assert!(!may(scope, Some(&who(json!({"iss": "elsewhere"}))), "read"));
    assert!(load.roles.tenant("other").is_none());
}

#[test]
fn what_alice_may_do_is_listed_with_its_conditions() {
    let load = load(&example());
    let effective = scope(&load.roles, "example").effective(Some(&user("alice")));
    assert!(!effective.is_admin);
    assert_eq!(effective.rules, ["alice", "everyone"]);
    assert_eq!(effective.roles, ["autohold", "enqueue-post", "read"]);
    let [
        (Permission::Read, Permitted::Always),
        (Permission::Autohold, Permitted::Always),
        (Permission::Enqueue, Permitted::When(grants)),
    ] = effective.permissions.as_slice()
    else {
        panic!("{effective:?}");
    };
    assert_eq!(grants.len(), 1);
    let conditions: Vec<_> = grants[0]
        .conditions
        .iter()
        .map(|(c, v)| (c.name(), v.clone()))
        .collect();
    assert_eq!(
        conditions,
        [("project", json!("foo")), ("pipeline", json!("post"))]
    );
}

#[test]
fn the_order_of_the_items_does_not_matter() {
    let Value::Array(mut items) = example() else {
        panic!("not a list");
    };
    items.reverse();
    let load = load(&Value::Array(items));
    assert_eq!(load.warnings, []);
    let scope = scope(&load.roles, "example");
    assert!(may(
        scope,
        Some(&user("alice")),
        "enqueue project=foo pipeline=post"
    ));
    assert!(!may(scope, None, "read"));
}
