//! Defects that others had with the same configuration, and that must not occur here.

use portcullis_roles::{Permission, Permitted, Project};
use serde_json::{Value, json};

use super::support::{
    document, faults, load, may, parameters, role, roles, rule, scope, tenant, who,
};

fn all() -> Value {
    rule("all", json!([{"iss": "corp"}]))
}

fn one_role(permissions: Value) -> Value {
    document(&[
        all(),
        role("some", permissions),
        tenant(
            "t1",
            json!({"anonymous-read-access": false, "role-mappings": {"all": "some"}}),
        ),
    ])
}

/// Whether a caller with these claims matches a rule with these conditions.
fn matches(conditions: &Value, claims: &Value) -> bool {
    let document = document(&[
        rule("some", conditions.clone()),
        tenant("t1", json!({"role-mappings": {"some": "admin"}})),
    ]);
    let roles = roles(&document);
    may(scope(&roles, "t1"), Some(&who(claims.clone())), "promote")
}

#[test]
fn older_settings_beside_mappings_are_refused_not_half_ignored() {
    for key in ["admin-rules", "access-rules"] {
        let keys = json!({"role-mappings": {"all": "read"}, key: "all"});
        let faults = faults(&document(&[all(), tenant("t1", keys)]));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].message.contains(key) && faults[0].message.contains("t1"));
        assert_eq!(faults[0].path, format!("[1].tenant.{key}"));
    }
}

#[test]
fn a_role_of_ones_own_can_open_reading() {
    let roles = roles(&one_role(json!({"read": true})));
    let corp = who(json!({"iss": "corp"}));
    assert!(may(scope(&roles, "t1"), Some(&corp), "read"));
    assert!(!may(scope(&roles, "t1"), Some(&corp), "autohold"));
}

#[test]
fn every_permission_that_is_declared_can_be_used_in_a_role() {
    for permission in Permission::ALL {
        let roles = roles(&one_role(json!({permission.name(): true})));
        let corp = who(json!({"iss": "corp"}));
        assert!(
            may(scope(&roles, "t1"), Some(&corp), permission.name()),
            "{permission}"
        );
    }
}

#[test]
fn what_is_false_is_not_listed_and_conditions_are_shown() {
    let permissions =
        json!({"autohold": false, "enqueue": {"conditions": {"project": ["a", "b"]}}});
    let roles = roles(&one_role(permissions));
    let effective = scope(&roles, "t1").effective(Some(&who(json!({"iss": "corp"}))));
    let [(Permission::Enqueue, Permitted::When(grants))] = effective.permissions.as_slice() else {
        panic!("{effective:?}");
    };
    assert_eq!(grants[0].conditions[0].1, json!(["a", "b"]));
}

#[test]
fn a_pipeline_can_be_a_condition_and_a_list_too() {
    let roles = roles(&one_role(
        json!({"enqueue": {"conditions": {"pipeline": ["post", "glob:per*"]}}}),
    ));
    let corp = who(json!({"iss": "corp"}));
    for (pipeline, wanted) in [
        ("post", true),
        ("periodic", true),
        ("check", false),
        ("Post", false),
    ] {
        let what = format!("enqueue pipeline={pipeline}");
        assert_eq!(
            may(scope(&roles, "t1"), Some(&corp), &what),
            wanted,
            "{pipeline}"
        );
    }
}

#[test]
fn both_names_of_a_project_are_the_same_to_conditions() {
    let short = json!({"enqueue": {"conditions": {"project": "org/p"}}});
    let long = json!({"enqueue": {"conditions": {"project": "git.example.org/org/p"}}});
    for permissions in [short, long] {
        let document = document(&[
            all(),
            role("some", permissions),
            tenant(
                "t1",
                json!({
                    "role-mappings": {"all": "some"},
                    "source": {"git.example.org": {"untrusted-projects": ["org/p", "org/q"]}},
                }),
            ),
        ]);
        let roles = roles(&document);
        let tenant = roles.tenant("t1").unwrap();
        let corp = who(json!({"iss": "corp"}));
        for (named, wanted) in [
            ("org/p", true),
            ("git.example.org/org/p", true),
            ("org/q", false),
        ] {
            let project = tenant.project(named).unwrap();
            let with = parameters("").with_project(&project);
            let answer = tenant
                .scope()
                .check(Some(&corp), Permission::Enqueue, &with);
            assert_eq!(
                matches!(answer, portcullis_roles::AccessDecision::Allowed(_)),
                wanted,
                "{named}"
            );
        }
        assert_eq!(tenant.project("other/org/p"), None::<Project>);
    }
}

#[test]
fn what_grants_nothing_is_a_fault_or_a_warning() {
    assert_eq!(faults(&one_role(json!({"enqueue": {}}))).len(), 1);
    let warnings = load(&one_role(json!({}))).warnings;
    assert!(
        warnings
            .iter()
            .any(|w| w.message == "role `some` grants nothing"),
        "{warnings:?}"
    );
}

#[test]
fn nested_and_dotted_claims_mean_the_same() {
    let claims = json!({"resource_access": {"account": {"roles": ["aff", "x"]}}});
    for conditions in [
        json!([{"resource_access.account.roles": "aff"}]),
        json!([{"resource_access": {"account": {"roles": "aff"}}}]),
        json!([{"resource_access": {"account.roles": "aff"}}]),
        json!([{"resource_access.account": {"roles": ["other", "aff"]}}]),
    ] {
        assert!(matches(&conditions, &claims), "{conditions}");
    }
    // A list is any of its values, not a superset of the claim.
    assert!(matches(
        &json!({"resource_access": {"account": {"roles": ["aff"]}}}),
        &claims
    ));
}

#[test]
fn claims_of_any_name_and_kind_can_be_compared() {
    for (conditions, claims, wanted) in [
        (
            json!({"https://x/groups": "g"}),
            json!({"https://x/groups": ["g"]}),
            true,
        ),
        (
            json!({"https://x.y/groups": "g"}),
            json!({"https://x.y/groups": ["g"]}),
            true,
        ),
        (
            json!({"cognito:groups": "g"}),
            json!({"cognito:groups": ["g", "h"]}),
            true,
        ),
        (
            json!({"with-hyphen": "g"}),
            json!({"with-hyphen": "g"}),
            true,
        ),
        (json!({"a.b": "g"}), json!({"a.b": "g"}), true),
        (
            json!({"groups[*]": "g"}),
            json!({"groups": ["g", "h"]}),
            false,
        ),
        (
            json!({"orgs.name": "g"}),
            json!({"orgs": [{"name": "g"}]}),
            false,
        ),
        (json!({"level": 5}), json!({"level": 5}), true),
        (json!({"level": 5}), json!({"level": 5.0}), true),
        (json!({"level": 5}), json!({"level": "5"}), false),
        (json!({"level": "5"}), json!({"level": 5}), false),
        (json!({"level": [4, 5]}), json!({"level": [1, 5]}), true),
        (json!({"ok": true}), json!({"ok": true}), true),
        (json!({"ok": true}), json!({"ok": "true"}), false),
        (json!({"ok": true}), json!({"ok": 1}), false),
        (json!({"ok": false}), json!({"ok": false}), true),
        (json!({"ok": false}), json!({}), false),
        (
            json!({"a": {"ok": true}}),
            json!({"a": {"ok": [false, true]}}),
            true,
        ),
        (json!({"groups": "g"}), json!({"groups": []}), false),
        (json!({"groups": "g"}), json!({"groups": null}), false),
        (
            json!({"groups": "g"}),
            json!({"groups": {"g": true}}),
            false,
        ),
        (json!({"groups": "g"}), json!({"groups": [["g"]]}), false),
        (json!({"groups": ""}), json!({"groups": ""}), true),
        (json!([{}]), json!({}), true),
        (json!({}), json!({}), true),
        (json!([]), json!({"a": 1}), false),
        (json!([[], [[]]]), json!({"a": 1}), false),
        (json!([[{"a": 1}], [[{"b": 1}]]]), json!({"b": 1}), true),
    ] {
        assert_eq!(
            matches(&conditions, &claims),
            wanted,
            "{conditions} {claims}"
        );
    }
}

#[test]
fn a_template_at_the_root_never_matches_and_never_raises() {
    let document = document(&[
        rule("own", json!([{"groups": "{tenant.name}-admin"}])),
        json!({"api-root": {"role-mappings": {"own": "admin"}}}),
    ]);
    let load = load(&document);
    for groups in ["-admin", "{tenant.name}-admin", "None-admin"] {
        assert!(!may(
            load.roles.root(),
            Some(&who(json!({"groups": [groups]}))),
            "promote"
        ));
    }
    let warned = |w: &portcullis_document::Fault| {
        w.path == "[1].api-root.role-mappings.own" && w.message.contains("names the tenant")
    };
    assert!(load.warnings.iter().any(warned), "{:?}", load.warnings);
    assert!(
        load.roles
            .root()
            .who_can(Permission::Promote, &parameters(""))
            .is_empty()
    );
}

#[test]
fn double_names_are_refused_not_overwritten() {
    for (parts, word) in [
        (vec![all(), all()], "rule `all`"),
        (
            vec![
                role("r", json!({"autohold": true})),
                role("r", json!({"promote": true})),
            ],
            "role `r`",
        ),
        (
            vec![tenant("t", json!({})), tenant("t", json!({}))],
            "tenant `t`",
        ),
        (
            vec![json!({"api-root": {}}), json!({"api-root": {}})],
            "`api-root`",
        ),
        (
            vec![
                all(),
                json!({"admin-rule": {"name": "all", "conditions": {"a": "b"}}}),
            ],
            "rule `all`",
        ),
    ] {
        let faults = faults(&document(&parts));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].message.contains(word), "{faults:?}");
    }
}

#[test]
fn one_text_is_as_good_as_a_list_of_one() {
    let document = document(&[
        all(),
        tenant("t1", json!({"access-rules": "all"})),
        json!({"api-root": {"access-rules": "all"}}),
    ]);
    let roles = roles(&document);
    let corp = who(json!({"iss": "corp"}));
    for scope in [scope(&roles, "t1"), roles.root()] {
        assert!(may(scope, Some(&corp), "read"));
        assert!(!may(scope, None, "read"));
        assert!(!may(scope, Some(&who(json!({"iss": "op"}))), "read"));
    }
}

#[test]
fn without_anonymous_reading_and_without_mappings_nobody_reads() {
    let roles = roles(&document(&[
        all(),
        tenant("t1", json!({"anonymous-read-access": false})),
    ]));
    assert!(!may(
        scope(&roles, "t1"),
        Some(&who(json!({"iss": "corp"}))),
        "read"
    ));
    assert!(may(
        scope(&roles, "t1"),
        Some(&super::support::admin_of(&["t1"])),
        "read"
    ));
}

#[test]
fn the_older_name_of_a_rule_is_good() {
    let roles = roles(&document(&[
        json!({"admin-rule": {"name": "old", "conditions": {"sub": "a"}}}),
        tenant("t1", json!({"admin-rules": "old"})),
    ]));
    assert!(may(
        scope(&roles, "t1"),
        Some(&who(json!({"sub": "a"}))),
        "promote"
    ));
    assert!(may(scope(&roles, "t1"), None, "read"));
}
